"""legacy: what either side announces of its own accord: changed lists, updated resources."""

from urllib.parse import unquote

from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.session.recent import Recent
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Notification, Request
from mcpcheck.wire.record import Dir, header

_SUBSCRIBE, _UNSUBSCRIBE = "resources/subscribe", "resources/unsubscribe"
_UPDATED = "notifications/resources/updated"
_FENCES = ("ping", "tools/list", "tools/call", "resources/read", "resources/list")
_MOST_PARTS = 100


@rule("legacy.tools.list-changed.shape", on="notifications/tools/list_changed", sender=Dir.S2C)
@rule("legacy.prompts.list-changed.shape", on="notifications/prompts/list_changed", sender=Dir.S2C)
@rule("legacy.resources.list-changed.shape", on="notifications/resources/list_changed", sender=Dir.S2C)
@rule("legacy.roots.list-changed.shape", on="notifications/roots/list_changed", sender=Dir.C2S)
def list_changed_shape(note: Notification, session: Session) -> Verdicts:
    """Looks at the params of list_changed: none, or _meta alone. Others are suspect, since the schema leaves room.

    Params that are no object have a rule of their own.
    """
    if not isinstance(note.params or {}, dict):
        return
    more = [name for name in note.params or {} if name != "_meta"]
    if more:
        yield suspect(note, "no params beyond _meta", f"params has {shown(more[0])}")
    else:
        yield holds(note)


@rule("legacy.resources.updated.subscribed-only", on=(_SUBSCRIBE, _UNSUBSCRIBE, _UPDATED, *_FENCES))
class UpdatedSubscribedOnly:
    """Looks for the subscription behind each resources/updated, in sessions that the recording shows from their start.

    One is there if it was asked for, whatever came of that, for the same URI or for one above it. In a session without
    any, an update is broken; among subscriptions to other URIs it is suspect, for what belongs to a resource is the
    server's to say. So it is after an unsubscribe that was granted, once the server has answered a later request, too.
    """

    def __init__(self) -> None:
        self._sessions: Recent[str, int] = Recent()  # the frame of the last subscribe
        self._ended: Recent[tuple[str, str], int] = Recent()  # by URI: the frame that ended it; 0 while it lasts
        self._answered = 0  # stdio: the newest request of the client that has an answer

    def see(self, event: Request | Notification | Answer, session: Session) -> Verdicts:
        id = _session_id(session)
        if id is None:
            return
        match event:
            case Request():
                if event.dir is Dir.C2S and event.method == _SUBSCRIBE:
                    self._sessions[id] = event.record.n
                    self._ended[id, _alike(event.param("uri"))] = 0
            case Answer():
                self._take(event, id, session)
            case Notification():
                if event.dir is Dir.S2C and isinstance(event.param("uri"), str):
                    yield from self._updated(event, id, session)

    def _take(self, answer: Answer, id: str, session: Session) -> None:
        request = session.call.request if session.call else None
        if request is None or answer.dir is Dir.C2S or session.transport != "stdio":
            return
        self._answered = max(self._answered, request.record.n)
        key = id, _alike(request.param("uri"))
        again = self._sessions.get(id, 0) > request.record.n
        if request.method == _UNSUBSCRIBE and answer.has_result and key in self._ended and not again:
            self._ended[key] = answer.record.n

    def _updated(self, note: Notification, id: str, session: Session) -> Verdicts:
        ends = [self._ended[id, part] for part in _parts(note.param("uri")) if (id, part) in self._ended]
        uri = shown(note.param("uri"))
        if any(not end or end > self._answered for end in ends):
            yield holds(note)
        elif self._ended.forgetful or not session.whole or not session.told_capabilities:
            return
        elif ends:
            yield suspect(note, "no update after unsubscribe", f"one for {uri}", max(ends))
        elif id in self._sessions:
            yield suspect(note, "an update for a resource with a subscription", f"one for {uri}")
        else:
            yield broken(note, "an update for a resource with a subscription", f"one for {uri}, before any subscribe")


def _session_id(session: Session) -> str | None:
    """Which session a message belongs to, where the recording shows all of it: on HTTP, from its initialize on."""
    if session.transport == "stdio":
        return ""
    head = session.exchange.request if session.exchange else None
    id = header(head, "mcp-session-id") if head else None
    return id if id is not None and session.settled_version(id) is not None else None


def _alike(uri: object) -> str:
    """A URI without what two spellings of the same one may differ in."""
    return unquote(uri).casefold().rstrip("/") if isinstance(uri, str) else ""


def _parts(uri: str) -> list[str]:
    """The URI and those above it, spelled as they are kept; past a number of levels the nearest ones are left out."""
    whole = _alike(uri)
    ends = [at for at, sign in enumerate(whole[:10_000]) if sign in "/?#&"][:_MOST_PARTS]
    return [whole, *(whole[:end].rstrip("/") for end in ends)]
