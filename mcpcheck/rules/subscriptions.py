"""subscribe: what a subscription delivers, held against the request that opened it."""

from typing import Any
from urllib.parse import unquote

from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.rules.subscribe import ACKNOWLEDGED, OF_SUBSCRIPTIONS
from mcpcheck.session import ids
from mcpcheck.session.call import Call
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Notification, Request
from mcpcheck.wire.protocol import SUBSCRIPTION_ID
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir

_LISTEN = "subscriptions/listen"
_MEMBER = {
    "notifications/tools/list_changed": "toolsListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
}
_UPDATED = "notifications/resources/updated"


def _subscription(event: Notification | Answer, session: Session) -> Call | None:
    """The subscriptions/listen request that a message belongs to: by its stream, or by the subscription it names."""
    if event.dir is Dir.C2S:
        return None
    if session.exchange is not None:
        call = session.exchange.call
    elif isinstance(event, Answer):
        call = session.call
    else:
        call = session.listen(event.meta[SUBSCRIPTION_ID]) if SUBSCRIPTION_ID in event.meta else None
    return call if call is not None and call.request.method == _LISTEN else None


class _Lost:
    """Whether an acknowledgement on stdio did not say whose it is: then any subscription may have had its own."""

    def __init__(self) -> None:
        self.one = False

    def see(self, event: Notification | Answer, session: Session) -> bool:
        if session.exchange is not None:
            return False
        if isinstance(event, Notification) and event.method == ACKNOWLEDGED and event.dir is Dir.S2C:
            self.one = self.one or _subscription(event, session) is None
        return self.one


class _Begun:
    """The subscriptions that have had their first message, by the frame of their request."""

    def __init__(self) -> None:
        self._begun: Recent[int, None] = Recent()
        self._lost = _Lost()

    def first(self, event: Notification | Answer, session: Session) -> Call | None:
        """The subscription of which a message is the first. Progress, log messages and errors are none of its own."""
        call = _subscription(event, session)
        if self._lost.see(event, session) or call is None or not session.whole or self._begun.forgetful:
            return None
        own = event.has_result if isinstance(event, Answer) else event.method in OF_SUBSCRIPTIONS
        n = call.request.record.n
        if not own or n in self._begun:
            return None
        self._begun[n] = None
        return call


@rule("subscribe.ack.first", wakes="subscriptions/listen")
class AckFirst(_Begun):
    """Looks at the first message of each subscription: the acknowledgement, and no change and no result.

    A request that is refused opens none. On stdio the messages of others may come before it.
    """

    def see(self, event: Notification | Answer, session: Session) -> Verdicts:
        call = self.first(event, session)
        if call is None:
            return
        if isinstance(event, Notification) and event.method == ACKNOWLEDGED:
            yield holds(event)
        else:
            said = event.method if isinstance(event, Notification) else "the result"
            yield broken(event, "the acknowledgement as the first message", said, call.request.record.n)


@rule("subscribe.ack.nothing-before", wakes="subscriptions/listen")
class NothingBefore:
    """Looks for changes that a subscription tells before its acknowledgement; those behind its end have a rule."""

    def __init__(self) -> None:
        self._acknowledged: Recent[int, None] = Recent()
        self._lost = _Lost()

    def see(self, note: Notification, session: Session) -> Verdicts:
        if note.method not in OF_SUBSCRIPTIONS:
            return
        call = _subscription(note, session)
        if self._lost.see(note, session) or call is None or not session.whole or self._acknowledged.forgetful:
            return
        n = call.request.record.n
        if note.method == ACKNOWLEDGED:
            self._acknowledged[n] = None
        elif n in self._acknowledged:
            yield holds(note)
        elif call.open:
            yield broken(note, "nothing before the acknowledgement", note.method, n)


@rule("subscribe.ack.subset", on=ACKNOWLEDGED)
def ack_subset(note: Notification, session: Session) -> Verdicts:
    """Compares what an acknowledgement confirms with what was asked for. A server may leave out what it likes.

    A URI that is spelled otherwise is suspect; members of extensions are left alone.
    """
    call = _subscription(note, session)
    wanted = call.request.param("notifications") if call else None
    confirmed = note.param("notifications")
    if note.method != ACKNOWLEDGED or call is None or not isinstance(wanted, dict) or not isinstance(confirmed, dict):
        return
    n, expected = call.request.record.n, "what the request asked for, or less"
    more = [name for name in _MEMBER.values() if confirmed.get(name) is True and wanted.get(name) is not True]
    uris = _uris(wanted)
    others = [uri for uri in _uris(confirmed) if uri not in uris]
    if more:
        yield broken(note, expected, f"{', '.join(more)} besides", n)
    elif others:
        known = {_plain(uri) for uri in uris}
        judged = suspect if all(_plain(uri) in known for uri in others) else broken
        yield judged(note, expected, f"{shown(others[0])} besides", n)
    else:
        yield holds(note)


def _uris(filter: dict[str, Any]) -> list[str]:
    uris = filter.get("resourceSubscriptions")
    return [uri for uri in uris if isinstance(uri, str)] if isinstance(uris, list) else []


def _plain(uri: str) -> str:
    """A URI without what may be spelled in several ways."""
    return unquote(uri).lower().rstrip("/")


@rule("subscribe.filter.honoured", on=(*_MEMBER, _UPDATED))
def filter_honoured(note: Notification, session: Session) -> Verdicts:
    """Looks for changes of a kind that the request of the subscription did not ask for.

    An update of a resource that is not listed there, and does not begin like one, is suspect: it may be part of one.
    """
    call = _subscription(note, session)
    wanted = call.request.param("notifications") if call else None
    if call is None or not isinstance(wanted, dict):
        return
    n, asked = call.request.record.n, "the kinds of change that the request asked for"
    if note.method in _MEMBER:
        if wanted.get(_MEMBER[note.method]) is True:
            yield holds(note)
        else:
            yield broken(note, asked, f"{note.method} without {_MEMBER[note.method]}", n)
    elif note.method == _UPDATED:
        uri, uris = note.param("uri"), _uris(wanted)
        if not uris:
            yield broken(note, asked, f"{note.method} without resourceSubscriptions", n)
        elif isinstance(uri, str):
            if any(_plain(uri).startswith(_plain(known)) for known in uris):
                yield holds(note)
            else:
                yield suspect(note, "a resource of resourceSubscriptions, or a part of one", f"uri is {shown(uri)}", n)


@rule("subscribe.notification.id-value", on=(_LISTEN, *OF_SUBSCRIPTIONS))
class IdValue:
    """Compares subscriptionId with the id of the request that opened the subscription, its JSON type included.

    On stdio, where nothing else connects the two, an id is wrong for certain where it differs from that of a
    subscription in its type or spelling alone. Another that nobody has used has a rule of its own.
    """

    def __init__(self) -> None:
        self._spelled: Recent[str, Request] = Recent(1000)

    def see(self, event: Request | Notification, session: Session) -> Verdicts:
        if isinstance(event, Request):
            if event.method == _LISTEN and type(event.id) in (str, int):
                self._spelled[_spelled(event.id)] = event
            return
        if event.dir is Dir.C2S or event.method not in OF_SUBSCRIPTIONS or SUBSCRIPTION_ID not in event.meta:
            return
        id, call = event.meta[SUBSCRIPTION_ID], _subscription(event, session)
        request = call.request if call else None
        if request is None and session.exchange is None and session.whole:
            request = self._spelled.get(_spelled(id))
        if request is None:
            return
        if _same(request.id, id):
            yield holds(event)
        else:
            said = f"subscriptionId is {shown(id)}"
            yield broken(event, f"subscriptionId {shown(request.id)}, the id of the request", said, request.record.n)


def _spelled(id: Any) -> str:
    return str(id).strip().lower()


def _same(id: Any, told: Any) -> bool:
    """Whether two ids are one value of one JSON type; 1 and 1.0 are."""
    if isinstance(told, float) and type(id) is int:
        return told == id
    return ids.key(id) == ids.key(told)
