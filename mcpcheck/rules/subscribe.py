"""subscribe: subscriptions/listen, its acknowledgement, its notifications and its end."""

from typing import Any

from mcpcheck.rules import shapes
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import result_of
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.rules.shapes import without
from mcpcheck.session import ids
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Notification, Request
from mcpcheck.wire.protocol import SUBSCRIPTION_ID
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir

ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
OF_SUBSCRIPTIONS = frozenset(
    {
        ACKNOWLEDGED,
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
        "notifications/resources/updated",
    }
)
_OF_REQUESTS = frozenset({"notifications/progress", "notifications/message"})


@rule("subscribe.request.shape", on="subscriptions/listen")
def request_shape(request: Request, session: Session) -> Verdicts:
    """Looks at the filter of every subscriptions/listen; all its members are optional."""
    if request.dir is Dir.C2S:
        yield from shapes.params(request, session, "subscriptions/listen", "SubscriptionsListenRequestParams")


@rule("subscribe.ack.shape", on=ACKNOWLEDGED)
def ack_shape(note: Notification, session: Session) -> Verdicts:
    """Looks at the filter that an acknowledgement confirms; its subscriptionId has a rule of its own."""
    if note.dir is not Dir.S2C or note.method != ACKNOWLEDGED or not isinstance(note.params or {}, dict):
        return
    given = without(note.params or {}, _meta={SUBSCRIPTION_ID: ""})
    yield from shapes.judge(note, session, "SubscriptionsAcknowledgedNotificationParams", given, "params")


def _listen(note: Notification, session: Session) -> bool:
    """Whether a notification is on the stream of an open subscription, or of its kind where streams are shared."""
    if session.exchange is not None:
        call = session.exchange.call
        return call is not None and call.open and call.request.method == "subscriptions/listen"
    return note.method in OF_SUBSCRIPTIONS


@rule("subscribe.notification.subscription-id")
def notification_subscription_id(note: Notification, session: Session) -> Verdicts:
    """Looks for subscriptionId in what a subscription delivers. Without it the end of one is suspect only.

    Progress on the stream of a subscription, and log messages there, have rules of their own.
    """
    if note.dir is Dir.C2S or note.method in _OF_REQUESTS or not _listen(note, session):
        return
    if isinstance(note.params, dict) and "_meta" in note.params and not isinstance(note.params["_meta"], dict):
        return
    if SUBSCRIPTION_ID in note.meta:
        yield holds(note)
    elif note.method == "notifications/cancelled":
        yield suspect(note, "subscriptionId in _meta", "there is none")
    else:
        yield broken(note, "subscriptionId in _meta", f"{note.method} without it")


@rule("subscribe.notification.id-elsewhere")
def notification_id_elsewhere(note: Notification, session: Session) -> Verdicts:
    """Looks for subscriptionId in progress and log messages: suspect, broken on stdio where it names an open one."""
    if note.dir is Dir.C2S or note.method not in _OF_REQUESTS or _on_listen_stream(session):
        return
    if SUBSCRIPTION_ID not in note.meta:
        yield holds(note)
        return
    id = note.meta[SUBSCRIPTION_ID]
    call = session.listen(id)
    if session.exchange is None and call is not None and call.open:
        yield broken(note, "no subscriptionId", f"{note.method} for the subscription {shown(id)}")
    else:
        yield suspect(note, "no subscriptionId", f"{note.method} with subscriptionId {shown(id)}")


def _on_listen_stream(session: Session) -> bool:
    call = session.exchange.call if session.exchange else None
    return call is not None and call.request.method == "subscriptions/listen"


@rule("subscribe.end.result-shape", on="subscriptions/listen")
def end_result_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at the result that ends a subscription. Data of its own in it is suspect."""
    found = result_of(answer, session)
    call = session.call
    if found is None or call is None or found[0] != "subscriptions/listen":
        return
    result = found[1]
    if result.get("resultType") != "complete" or not isinstance(result.get("_meta", {}), dict):
        return
    more = sorted(result.keys() - {"resultType", "_meta"})
    if SUBSCRIPTION_ID not in answer.meta:
        yield broken(answer, "subscriptionId in _meta", "there is none")
    elif ids.key(answer.meta[SUBSCRIPTION_ID]) != ids.key(call.request.id):
        said = f"subscriptionId is {shown(answer.meta[SUBSCRIPTION_ID])}"
        yield broken(answer, f"subscriptionId {shown(call.request.id)}, the id of the request", said)
    elif more:
        yield suspect(answer, "a result without data of its own", f"it has {', '.join(more)}")
    else:
        yield holds(answer)


@rule("subscribe.end.final", near=(SUBSCRIPTION_ID, "notifications/cancelled"))
class EndFinal:
    """Looks for notifications of a subscription behind its final result, or behind the server's cancellation of it.

    After the client's own cancellation another requirement speaks.
    """

    def __init__(self) -> None:
        self._cancelled: Recent[int, int] = Recent()  # by the frame of the request: that of its cancellation

    def see(self, event: Answer | Notification, session: Session) -> Verdicts:
        if isinstance(event, Answer):
            if session.call is not None and session.call.request.method == "subscriptions/listen":
                yield holds(event)
        elif event.dir is Dir.S2C:
            yield from self._heard(event, session)

    def _heard(self, note: Notification, session: Session) -> Verdicts:
        if note.method == "notifications/cancelled":
            call = session.call if note.record.exchange else session.listen(note.param("requestId"))
            if call is not None:
                self._cancelled[call.request.record.n] = note.record.n
            return
        if SUBSCRIPTION_ID not in note.meta:
            return
        id: Any = note.meta[SUBSCRIPTION_ID]
        call = session.listen(id)
        if call is None or (call.exchange.n if call.exchange else None) != note.record.exchange:
            return
        ended = [answer.record.n for answer in call.answers]
        since = self._cancelled.get(call.request.record.n, ended[-1] if ended else None)
        if since is not None and since > session.gap:
            said = f"{note.method} for {shown(id)}"
            yield broken(note, "nothing more for a subscription that has ended", said, since)
