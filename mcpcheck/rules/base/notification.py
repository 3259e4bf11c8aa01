"""base.notification and base.pattern: what goes without an answer, and who sends which kind of message."""

from collections import deque

from mcpcheck.rules.payloads import is_call, shown
from mcpcheck.rules.registry import Verdicts, broken, holds, rule
from mcpcheck.session.orphans import Orphan
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Message, Notification, Request
from mcpcheck.wire.record import Dir

_MOST = 100
"""How many notifications may wait for what comes after them."""


@rule("base.notification.shape")
def shape(event: Notification, session: Session) -> Verdicts:
    """Looks at the _meta of every notification; what a known one has to hold is judged by a rule of its own."""
    params = event.params
    if "params" in event.obj and not isinstance(params, dict):
        return  # base.message.params-object
    meta = params.get("_meta", {}) if params else {}
    if isinstance(meta, dict):
        yield holds(event)
    else:
        yield broken(event, "params._meta is an object", f"params._meta is {shown(meta)}")


@rule("base.notification.no-id")
def no_id(event: Request | Notification, session: Session) -> Verdicts:
    """Looks at messages whose method begins with notifications/."""
    if not event.method.startswith("notifications/"):
        return
    if isinstance(event, Request):
        yield broken(event, "no id", f"{event.method} has id {shown(event.id)}")
    else:
        yield holds(event)


@rule("base.notification.no-response")
class NoResponse:
    """Looks at answers that belong to no request, when a notification is all that they can be meant for.

    It holds where a later request of the same sender was answered first. On HTTP the refusal of a notification may
    have a body. A recording that begins in the middle is not judged.
    """

    def __init__(self) -> None:
        self._sent: dict[Dir, deque[Notification]] = {dir: deque(maxlen=_MOST) for dir in Dir}

    def see(self, event: Notification | Answer | Orphan, session: Session) -> Verdicts:
        match event:
            case Notification():
                self._sent[event.dir].append(event)
            case Answer() if session.call is not None:
                request = session.call.request
                sent = self._sent[request.dir]
                while sent and sent[0].record.n < request.record.n:
                    yield holds(sent.popleft())
            case Orphan() if event.kind == "notification" and session.whole:
                yield from self._answered(event, session)

    def _answered(self, event: Orphan, session: Session) -> Verdicts:
        note = event.notification
        status = session.exchange.status if session.exchange else None
        if note is not None and (status is None or 200 <= status < 300):
            if note in self._sent[note.dir]:
                self._sent[note.dir].remove(note)
            yield broken(event, "no answer", f"an answer to {note.method}", note.record.n)


@rule("base.pattern.server-no-requests", sender=Dir.S2C)
def server_no_requests(event: Message, session: Session) -> Verdicts:
    """Looks at everything that a server sends in the stateless era."""
    if event.dir is not Dir.S2C:
        return
    if isinstance(event, Request) and is_call(event):
        yield broken(event, "no request from the server", f"a request, {event.method}")
    else:
        yield holds(event)


@rule("base.pattern.client-no-responses", sender=Dir.C2S)
def client_no_responses(event: Message, session: Session) -> Verdicts:
    """Looks at everything that a client sends in the stateless era."""
    if event.dir is not Dir.C2S:
        return
    if isinstance(event, Answer):
        yield broken(event, "no response from the client", "an error" if event.has_error else "a result")
    else:
        yield holds(event)
