"""legacy: what either side announces of its own accord: changed lists, updated resources."""

from urllib.parse import unquote

from mcpcheck.rules.legacy.fences import FENCES, Fences
from mcpcheck.rules.legacy.handshakes import Handshakes, name_of
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Notification, Request
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir

_SUBSCRIBE, _UNSUBSCRIBE = "resources/subscribe", "resources/unsubscribe"
_UPDATED = "notifications/resources/updated"
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


@rule("legacy.resources.updated.subscribed-only", on=("initialize", _SUBSCRIBE, _UNSUBSCRIBE, _UPDATED, *FENCES))
class UpdatedSubscribedOnly:
    """Looks for the subscription behind each resources/updated, in sessions that the recording shows from their start.

    One is there if it was asked for, whatever came of that, for the same URI or for one above it. In a session without
    any, an update is broken; among subscriptions to other URIs it is suspect, for what belongs to a resource is the
    server's to say. So it is after an unsubscribe that was granted, once the update cannot have been under way before.
    """

    def __init__(self) -> None:
        self._handshakes = Handshakes()
        self._fences = Fences()
        self._subscribed: Recent[str, int] = Recent()  # the frame of the last subscribe of a session
        self._ended: Recent[tuple[str, str], int] = Recent()  # by URI: the frame that ended it; 0 while it lasts

    def see(self, event: Request | Notification | Answer, session: Session) -> Verdicts:
        if isinstance(event, Answer):
            self._handshakes.learn(event, session)
        name = name_of(session)
        if name is None:
            return
        match event:
            case Request():
                if event.dir is Dir.C2S and event.method == _SUBSCRIBE:
                    self._subscribed[name] = event.record.n
                    self._ended[name, _alike(event.param("uri"))] = 0
            case Answer():
                self._take(event, name, session)
            case Notification():
                if event.dir is Dir.S2C and isinstance(event.param("uri"), str):
                    yield from self._updated(event, name, session)

    def _take(self, answer: Answer, name: str, session: Session) -> None:
        self._fences.learn(answer, session)
        request = session.call.request if session.call else None
        if request is None or request.method != _UNSUBSCRIBE or not answer.has_result:
            return
        key = name, _alike(request.param("uri"))
        again = self._subscribed.get(name, 0) > request.record.n
        if key in self._ended and not again:
            self._ended[key] = answer.record.n

    def _updated(self, note: Notification, name: str, session: Session) -> Verdicts:
        ends = [self._ended[name, part] for part in _parts(note.param("uri")) if (name, part) in self._ended]
        uri = shown(note.param("uri"))
        if any(not end or not self._fences.between(end, note, session) for end in ends):
            yield holds(note)
        elif self._ended.forgetful or not session.whole or self._handshakes.of(session) is None:
            return
        elif ends:
            yield suspect(note, "no update after unsubscribe", f"one for {uri}", max(ends))
        elif name in self._subscribed:
            yield suspect(note, "an update for a resource with a subscription", f"one for {uri}")
        else:
            yield broken(note, "an update for a resource with a subscription", f"one for {uri}, before any subscribe")


def _alike(uri: object) -> str:
    """A URI without what two spellings of the same one may differ in."""
    return unquote(uri).casefold().rstrip("/") if isinstance(uri, str) else ""


def _parts(uri: str) -> list[str]:
    """The URI and those above it, spelled as they are kept; past a number of levels the nearest ones are left out."""
    whole = _alike(uri)
    ends = [at for at, sign in enumerate(whole[:10_000]) if sign in "/?#&"][:_MOST_PARTS]
    return [whole, *(whole[:end].rstrip("/") for end in ends)]
