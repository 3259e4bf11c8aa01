"""legacy.base, legacy.batch: ids within a session, _meta, batches."""

from mcpcheck.rules.legacy.handshakes import name_of
from mcpcheck.rules.payloads import is_call, shown
from mcpcheck.rules.places import metas
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.session import ids
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Batch, Message, Request
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir

_BARE = frozenset({"2024-11-05", "2025-03-26"})
"""Revisions in which only params and results have a _meta."""

_OWN = frozenset({"params._meta", "result._meta"})


@rule("legacy.base.request.id-unique")
class RequestIdUnique:
    """Compares with every id that the sender has used since initialize, by value and by type.

    On HTTP a request whose first sending got no answer may be sent again as it was. Where the recording cannot tell
    one session from another, a clash is left alone.
    """

    def __init__(self) -> None:
        self._used: Recent[tuple[str, int, Dir, ids.Key], int] = Recent()  # the frame of the request
        self._begun: Recent[str, int] = Recent()  # by session: how often it was initialized

    def see(self, request: Request, session: Session) -> Verdicts:
        call = session.call
        if not is_call(request) or request.id is None or call is None or not session.whole:
            return
        name = name_of(session) or ""
        if request.method == "initialize":
            self._begun[name] = self._begun.get(name, 0) + 1
        place = name, self._begun.get(name, 0), request.dir, ids.key(request.id)
        n = self._used.get(place)
        self._used[place] = request.record.n
        if n is None or session.was_lost(request.dir, request.id):
            yield holds(request)
            return
        if session.one_client or name:
            yield broken(
                request, "an id that the session has not used", f"id {shown(request.id)} is that of frame {n}", n
            )


@rule("legacy.base.meta.object")
def meta_object(event: Request | Answer, session: Session) -> Verdicts:
    """Looks at the _meta of requests and results; notifications have a rule of their own.

    Since 2025-06-18 what they list or hold has one, too; before that it is a member like any other there.
    """
    for at, meta in metas(event, session):
        if session.revision in _BARE and at not in _OWN:
            continue
        if isinstance(meta, dict):
            yield holds(event)
        else:
            yield broken(event, "_meta is an object", f"{at} is {shown(meta)}")


@rule("legacy.base.meta.reserved-followed")
def meta_reserved_followed(event: Message, session: Session) -> Verdicts:
    """Looks for prefixes in which modelcontextprotocol or mcp is followed by another label: suspect."""
    for at, meta in metas(event, session):
        for key in meta if isinstance(meta, dict) else ():
            prefix, slash, _ = key.partition("/")
            labels = prefix.split(".") if slash else []
            if not labels:
                continue
            if any(label in {"modelcontextprotocol", "mcp"} for label in labels[:-1]):
                yield suspect(event, "a prefix of one's own", f"{at} has the key {shown(key)}")
            else:
                yield holds(event)


@rule("legacy.batch.request.not-empty")
def batch_not_empty(batch: Batch, session: Session) -> Verdicts:
    """Looks at the size of every array."""
    if batch.size:
        yield holds(batch)
    else:
        yield broken(batch, "at least one message", "an empty array")


@rule("legacy.batch.request.no-initialize")
def batch_no_initialize(batch: Batch, session: Session) -> Verdicts:
    """Looks for initialize among the elements of an array that a client sends."""
    if batch.dir is Dir.S2C or not batch.size:
        return
    if any(isinstance(item, dict) and item.get("method") == "initialize" for item in batch.text.value):
        yield broken(batch, "initialize by itself", "initialize in an array")
    else:
        yield holds(batch)


@rule("legacy.batch.request.no-mixing")
def batch_no_mixing(batch: Batch, session: Session) -> Verdicts:
    """Looks at the kinds of messages in an array. On stdio a mixture is suspect."""
    items = [item for item in batch.text.value if isinstance(item, dict)]
    asks = any("method" in item for item in items)
    answers = any("result" in item or "error" in item for item in items)
    if asks and answers:
        verdict = suspect if session.transport == "stdio" else broken
        yield verdict(batch, "requests and notifications, or responses", "both in one array")
    elif items:
        yield holds(batch)
