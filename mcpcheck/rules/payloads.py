"""What rules ask of a payload again and again."""

from typing import Any

from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Batch, Event, Message, NotMessage, Payload, Request
from mcpcheck.wire.record import Dir, Kind


def shown(value: Any, most: int = 80) -> str:
    """A value as it is named in a finding: JSON-like, and short."""
    words = _words(value)
    return words if len(words) <= most else words[: most - 3] + "..."


def _words(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case dict():
            return "an object"
        case list():
            return "an array"
        case bytes():
            return repr(value)[1:]
    return repr(value)


def by_itself(payload: Payload) -> bool:
    """Whether a payload is a whole JSON text, and no element of an array."""
    return isinstance(payload, Batch) or not isinstance(payload.text.value, list)


def alien(event: NotMessage, session: Session) -> bool:
    """Whether what stands on stdio was never meant as a message: a log line that happens to be JSON.

    So may be what stands in a body whose request head is lost.
    """
    if event.record.kind is not Kind.LINE and not unplaced(event, session):
        return False
    if not isinstance(event.value, dict):
        return by_itself(event)
    return not event.value.keys() & {"jsonrpc", "method", "result", "error"} and not answers_nothing(event, session)


def unplaced(event: Event, session: Session) -> bool:
    """Whether nobody can say if a body stands where a message has to: the head of its request is lost."""
    return event.record.kind is Kind.BODY and session.exchange is not None and session.exchange.request is None


def answers_nothing(event: NotMessage, session: Session) -> bool:
    """Whether an object is a response that has neither result nor error: it has the id of an open request."""
    if "id" not in event.value or event.value.keys() & {"method", "result", "error"}:
        return False
    return session.open_call(event.dir.other, event.id) is not None


def is_call(request: Request) -> bool:
    """Whether a message with an id is a request, and no notification that was given one."""
    return not request.method.startswith("notifications/")


def malformed(request: Request) -> bool:
    """Whether a receiver may say that it could not read this as a request object."""
    whole = request.obj.get("jsonrpc") == "2.0" and isinstance(request.obj.get("params", {}), dict)
    return not whole or type(request.id) not in (str, int)


def is_due(answer: Answer, session: Session) -> bool:
    """Whether a side that may answer has answered; a client's answer of the stateless era has a rule of its own."""
    return answer.dir is Dir.S2C or not session.stateless


def integral(number: Any) -> bool:
    """Whether a number is an integer to JSON Schema, though it is written with a fraction or an exponent."""
    return isinstance(number, float) and number.is_integer()


def whole_message(event: Payload) -> bool:
    """Whether an event is a message of its own line, body or stream event."""
    return isinstance(event, Message) and not event.in_batch
