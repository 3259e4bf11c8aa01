"""legacy.sse: HTTP with SSE of 2024-11-05, the one stream and the address for POSTs."""

from mcpcheck.rules.http.send import accepted
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.wire import sse
from mcpcheck.wire.event import Answer, Message
from mcpcheck.wire.record import Dir, Kind


@rule("legacy.sse.client.post-target", sender=Dir.C2S)
def post_target(event: Message, session: Session) -> Verdicts:
    """Looks at where a client's messages go: to an address that an endpoint event has named.

    Another query is suspect, for a client may add to it. A POST that accepts an event stream is of another transport,
    which the server may offer beside this one.
    """
    head = session.exchange.request if session.exchange else None
    if head is None or not session.whole or session.streams.forgetful:
        return
    if head.method == "POST" and head.path in session.streams:
        yield holds(event)
    elif "text/event-stream" not in accepted(head):
        near = head.method == "POST" and session.streams.near(head.path)
        verdict = suspect if near else broken
        yield verdict(event, "a POST to the address of the endpoint event", f"{head.method} {shown(head.path)}")


@rule("legacy.sse.server.message-event", sender=Dir.S2C)
def message_event(event: Message, session: Session) -> Verdicts:
    """Looks at the names of events that hold a message: message, or none, which means the same."""
    if event.record.kind is not Kind.SSE:
        return
    name = sse.parse(event.record.data).event
    if name in {None, "", "message"}:
        yield holds(event)
    else:
        yield broken(event, "an event named message", f"the event is named {shown(name)}")


@rule("legacy.sse.server.response-on-stream", sender=Dir.S2C)
def response_on_stream(answer: Answer, session: Session) -> Verdicts:
    """Looks at where the answer to a POSTed request comes. A refusal of the POST may have a message for its body."""
    if session.call is None or session.call.stream is None:
        return
    status = session.exchange.status if session.exchange else None
    if answer.record.kind is Kind.SSE:
        yield holds(answer)
    elif answer.record.kind is Kind.BODY and status is not None and 200 <= status < 300:
        yield broken(answer, "the answer on the event stream", "the answer is the body of the POST's answer")
