"""legacy.ping: a request without parameters, and an empty answer."""

from mcpcheck.rules.payloads import malformed, shown
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Request
from mcpcheck.wire.protocol import METHOD_NOT_FOUND


@rule("legacy.ping.request.shape", on="ping")
def request_shape(request: Request, session: Session) -> Verdicts:
    """Looks at the params of every ping: none, or _meta alone. Others are suspect, since the schema leaves room.

    Params that are no object have a rule of their own.
    """
    params = request.obj.get("params", {})
    if request.method != "ping" or not isinstance(params, dict):
        return
    more = [name for name in params if name != "_meta"]
    if more:
        yield suspect(request, "no parameters", f"params has {shown(more[0])}")
    else:
        yield holds(request)


@rule("legacy.ping.response.empty", on="ping")
def response_empty(answer: Answer, session: Session) -> Verdicts:
    """Looks at the answer to every ping. Members beyond _meta are suspect, since the schema leaves room.

    An error says that the method is unknown, or it is left alone: it may come from another layer.
    """
    call = session.call
    if call is None or call.request.method != "ping" or malformed(call.request):
        return
    if answer.has_error:
        if answer.code == METHOD_NOT_FOUND and not answer.has_result:
            yield broken(answer, "an empty result", f"error {METHOD_NOT_FOUND}")
    elif isinstance(answer.result, dict):
        more = [name for name in answer.result if name != "_meta"]
        if more:
            yield suspect(answer, "an empty result", f"result has {shown(more[0])}")
        else:
            yield holds(answer)
