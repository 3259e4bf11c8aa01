"""pagination: what a client does with the cursors that it was given."""

from urllib.parse import unquote

from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import LISTS
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Request
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir, header

_NEAR = ("nextCursor", "cursor")


@rule("pagination.cursor.opaque", near=_NEAR)
class CursorOpaque:
    """Compares each cursor that a client sends to a list method with every nextCursor that came before, as exact texts.

    One that is a given cursor trimmed, unquoted or without its padding is broken. One that was never given at all is
    suspect in the handshake era on stdio, where the recording shows the whole session; elsewhere a client may have
    kept it from before.
    """

    def __init__(self) -> None:
        self._given: Recent[str, int] = Recent()  # the frame that gave it
        self._plain: Recent[str, str] = Recent()  # what is left of a cursor when one touches it, and the cursor

    def see(self, event: Request | Answer, session: Session) -> Verdicts:
        if isinstance(event, Answer):
            cursor = event.result.get("nextCursor") if isinstance(event.result, dict) else None
            if isinstance(cursor, str):
                self._given[cursor] = event.record.n
                self._plain[_touched(cursor)] = cursor
        elif event.dir is Dir.C2S and event.method in LISTS and isinstance(event.param("cursor"), str):
            yield from self._sent(event, event.param("cursor"), session)

    def _sent(self, request: Request, cursor: str, session: Session) -> Verdicts:
        if cursor in self._given:
            yield holds(request)
        elif self._given.forgetful or not session.whole:
            return
        elif _touched(cursor) in self._plain:
            given = self._plain[_touched(cursor)]
            frame = self._given.get(given)
            also = (frame,) if frame else ()
            yield broken(request, f"the cursor as it was given, {shown(given)}", f"cursor is {shown(cursor)}", *also)
        elif session.transport == "stdio" and not session.stateless and session.told_capabilities:
            yield suspect(request, "a cursor that this session has given", f"cursor is {shown(cursor)}")


def _touched(cursor: str) -> str:
    """A cursor as it comes out of the hands of a client that trims, unquotes or re-encodes it."""
    return unquote(cursor).strip().rstrip("=").replace("-", "+").replace("_", "/")


@rule("legacy.pagination.client.no-persist", near=_NEAR)
class CursorOfAnotherSession:
    """Looks at HTTP sessions that the recording shows from their beginning: a cursor that only another one was given.

    Suspect only: two servers' pages may be numbered alike, and a client may have made it up.
    """

    def __init__(self) -> None:
        self._givers: Recent[str, frozenset[str]] = Recent()  # the sessions that were given a cursor

    def see(self, event: Request | Answer, session: Session) -> Verdicts:
        id = _begun_session(session)
        if id is None:
            return
        if isinstance(event, Answer):
            cursor = event.result.get("nextCursor") if isinstance(event.result, dict) else None
            if isinstance(cursor, str):
                self._givers[cursor] = self._givers.get(cursor, frozenset()) | {id}
        elif event.dir is Dir.C2S and event.method in LISTS and isinstance(event.param("cursor"), str):
            givers = self._givers.get(event.param("cursor"))
            if givers and id in givers:
                yield holds(event)
            elif givers and session.whole and not self._givers.forgetful:
                said = f"{shown(event.param('cursor'))} was given to another session"
                yield suspect(event, "a cursor that this session has given", said)


def _begun_session(session: Session) -> str | None:
    """The id of the HTTP session that a message belongs to, where its initialize was seen."""
    head = session.exchange.request if session.exchange else None
    id = header(head, "mcp-session-id") if head else None
    return id if id is not None and session.settled_version(id) is not None else None
