"""base.message: what every message has to be, whoever sends it and whatever it says."""

from mcpcheck.rules.payloads import alien, answers_nothing, by_itself, shown, unplaced, whole_message
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.session.strays import Stray
from mcpcheck.wire.event import Batch, Message, Notification, NotMessage, Request
from mcpcheck.wire.record import Kind


@rule("base.message.jsonrpc-version")
def jsonrpc_version(event: Message | NotMessage, session: Session) -> Verdicts:
    """Looks at every object that has a method, a result or an error; what lacks all three is no message at all."""
    obj = event.obj if isinstance(event, Message) else event.value
    if not isinstance(obj, dict) or not obj.keys() & {"method", "result", "error"}:
        return
    if obj.get("jsonrpc") == "2.0":
        yield holds(event)
    else:
        said = shown(obj["jsonrpc"]) if "jsonrpc" in obj else "absent"
        yield broken(event, 'jsonrpc is "2.0"', f"jsonrpc is {said}")


@rule("base.message.single-object")
def single_object(event: Message | Batch | NotMessage, session: Session) -> Verdicts:
    """Looks at the top level of every JSON text. A lone value on stdio is judged as text that does not belong there."""
    if isinstance(event, Batch):
        yield broken(event, "one message, a JSON object", f"an array of {event.size}")
    elif isinstance(event, NotMessage):
        if not isinstance(event.value, dict) and by_itself(event) and not alien(event, session):
            yield broken(event, "one message, a JSON object", shown(event.value))
    elif whole_message(event):
        yield holds(event)


@rule("base.message.form")
def form(event: Message | NotMessage, session: Session) -> Verdicts:
    """Looks at the members of every object. An answer with neither result nor error is judged by the response rules."""
    if isinstance(event, Message):
        yield holds(event)
        return
    value = event.value
    if not isinstance(value, dict):
        if not by_itself(event):
            yield broken(event, "a message, a JSON object", f"an array holds {shown(value)}")
    elif "method" not in value:
        if not alien(event, session) and not answers_nothing(event, session):
            yield broken(event, "a method, a result or an error", f"members {', '.join(value) or 'none'}")
    elif not isinstance(value["method"], str):
        yield broken(event, "method is a string", f"method is {shown(value['method'])}")
    else:
        also = " and ".join(sorted(value.keys() & {"result", "error"}))
        yield broken(event, "either a method, or a result or an error", f"method together with {also}")


@rule("base.message.params-object")
def params_object(event: Request | Notification, session: Session) -> Verdicts:
    """Looks at params where they are present, in requests and notifications."""
    if "params" not in event.obj:
        return
    if isinstance(event.params, dict):
        yield holds(event)
    else:
        yield broken(event, "params is an object", f"params is {shown(event.params)}")


@rule("base.message.utf8")
def utf8(event: Message | Batch | NotMessage | Stray, session: Session) -> Verdicts:
    """Looks at the bytes of what is meant as a message. A byte order mark on HTTP is suspect; stderr is free."""
    if isinstance(event, Stray):
        if event.kind == "encoding":
            yield broken(event, "a message in UTF-8", f"{shown(event.data)}")
    elif by_itself(event):
        mark = event.text.fault("bom")
        if mark and event.record.kind is not Kind.LINE:
            yield suspect(event, "a message without a byte order mark", mark.detail)
        elif not event.record.data.isascii():
            yield holds(event)


@rule("base.message.json")
def json(event: Message | Batch | NotMessage | Stray, session: Session) -> Verdicts:
    """Looks at the text of what is meant as a message. A name that stands twice in one object is suspect.

    Text on standard output that was never meant as a message is judged by stdio.server.stdout-pure, such text in an
    event stream by http.sse.event-data, and a doubled key of inputRequests by mrtr.input-requests.keys-unique.
    """
    if isinstance(event, Stray):
        alone = event.record.kind is Kind.BODY and not unplaced(event, session)
        meant = event.kind == "broken" or (event.kind == "text" and alone)
        if meant:
            fault = event.lines[0].text.faults[-1]
            yield broken(event, "one JSON text (RFC 8259)", fault.detail)
        return
    if not by_itself(event):
        return
    constant = event.text.fault("constant")
    doubled = [fault for fault in event.text.faults if fault.kind == "doubled-key" and fault.where is not _asked(event)]
    if constant:
        yield broken(event, "one JSON text (RFC 8259)", constant.detail)
    elif doubled:
        yield suspect(event, "names that differ within one object", doubled[0].detail)
    else:
        yield holds(event)


def _asked(event: Message | Batch | NotMessage) -> object:
    """The inputRequests of a result."""
    result = event.obj.get("result") if isinstance(event, Message) else None
    return result.get("inputRequests") if isinstance(result, dict) else None


@rule("base.message.rpc-prefix")
def rpc_prefix(event: Request | Notification, session: Session) -> Verdicts:
    """Looks at every method name. rpc.discover, which another specification defines, is left alone."""
    if event.method == "rpc.discover":
        return
    if event.method.startswith("rpc."):
        yield broken(event, 'a method outside "rpc."', f"method is {shown(event.method)}")
    else:
        yield holds(event)
