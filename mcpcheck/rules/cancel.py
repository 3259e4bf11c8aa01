"""cancel: notifications that call a request off."""

from typing import Any

from mcpcheck.rules import shapes
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.session import ids
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Notification
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir

_METHOD = "notifications/cancelled"
_GRACE = 5.0
"""Seconds in which an answer has certainly reached the one who asked."""


@rule("cancel.notification.shape", on=_METHOD)
def notification_shape(note: Notification, session: Session) -> Verdicts:
    """Looks at the params of every notifications/cancelled: it names a request."""
    if note.method != _METHOD or ("params" in note.obj and not isinstance(note.params, dict)):
        return
    if "requestId" not in (note.params or {}):
        yield broken(note, "params.requestId", "there is none")
    else:
        yield from shapes.notified(note, session, _METHOD, "CancelledNotificationParams")


@rule("cancel.server.only-subscriptions", on=_METHOD)
def server_only_subscriptions(note: Notification, session: Session) -> Verdicts:
    """Looks at which request a server calls off: a subscription of the client, open or ended."""
    id = note.param("requestId")
    if note.method != _METHOD or note.dir is Dir.C2S or type(id) not in (str, int):
        return
    if session.listen(id) is not None:
        yield holds(note)
    elif session.whole:
        yield broken(note, "the id of a subscriptions/listen request", f"requestId is {shown(id)}")


def _own(note: Notification, session: Session) -> Verdicts:
    """Whether the sender has used the id before, in whatever era; what it sent may have been unreadable."""
    id: Any = note.param("requestId")
    if note.method != _METHOD or type(id) not in (str, int) or not session.whole:
        return
    if session.was_sent(note.dir, id):
        yield holds(note)
    else:
        yield broken(note, "the id of an earlier request of the sender", f"requestId is {shown(id)}")


@rule("cancel.client.own-request", on=_METHOD)
def client_own_request(note: Notification, session: Session) -> Verdicts:
    """Looks at which request a client calls off: one that it has sent before, with an id of the same type."""
    if note.dir is Dir.C2S:
        yield from _own(note, session)


@rule("legacy.cancel.request.same-direction", on=_METHOD)
def same_direction(note: Notification, session: Session) -> Verdicts:
    """Looks at which request either side calls off: one that it has sent before, with an id of the same type."""
    yield from _own(note, session)


@rule("cancel.client.in-progress")
class ClientInProgress:
    """Looks for the answer to what a client calls off. One that came more than five seconds before is suspect.

    One that came later may have crossed the cancellation. Where several clients may speak it is left alone.
    """

    def __init__(self) -> None:
        self._answered: Recent[ids.Key, tuple[int, float]] = Recent(1000)  # the frame and the time

    def see(self, event: Answer | Notification, session: Session) -> Verdicts:
        if not session.one_client:
            return
        if isinstance(event, Answer):
            if event.dir is Dir.S2C and session.call is not None:
                self._answered[ids.key(session.call.request.id)] = (event.record.n, event.record.t)
            return
        id = event.param("requestId")
        if event.method != _METHOD or event.dir is Dir.S2C or type(id) not in (str, int):
            return
        if session.open_call(Dir.C2S, id) is not None:
            yield holds(event)
            return
        n, answered = self._answered.get(ids.key(id), (0, event.record.t))
        waited = event.record.t - answered
        if waited > _GRACE and n > session.gap:
            said = f"id {shown(id)} was answered {waited:.0f} s before"
            yield suspect(event, "the id of a request in progress", said, n)
