"""base.result: what every result has, whatever it answers."""

from typing import Any

from mcpcheck.rules.payloads import is_due, shown
from mcpcheck.rules.registry import Verdicts, broken, holds, rule
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer
from mcpcheck.wire.protocol import CLIENT_CAPABILITIES

_CORE = frozenset({"complete", "input_required"})
_OF_EXTENSIONS = {"io.modelcontextprotocol/tasks": "task"}


@rule("base.result.object")
def object(answer: Answer, session: Session) -> Verdicts:
    """Looks at every result; an answer that has an error, too, is judged by base.response.result-xor-error."""
    if not answer.has_result or answer.has_error or not is_due(answer, session):
        return
    if isinstance(answer.result, dict):
        yield holds(answer)
    else:
        yield broken(answer, "result is an object", f"result is {shown(answer.result)}")


@rule("base.result.shape")
def shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at resultType and _meta of every result; whether resultType is there is base.result.result-type."""
    result = answer.result
    if not isinstance(result, dict) or not is_due(answer, session):
        return
    if "resultType" in result and not isinstance(result["resultType"], str):
        yield broken(answer, "resultType is a string", f"resultType is {shown(result['resultType'])}")
    elif "_meta" in result and not isinstance(result["_meta"], dict):
        yield broken(answer, "_meta is an object", f"_meta is {shown(result['_meta'])}")
    else:
        yield holds(answer)


@rule("base.result.result-type")
def result_type(answer: Answer, session: Session) -> Verdicts:
    """Looks at every result that answers a request of the stateless era, also at the one that ends a subscription."""
    call = session.call or session.near
    if not isinstance(answer.result, dict) or call is None or not is_due(answer, session):
        return
    if "resultType" in answer.result:
        yield holds(answer)
    else:
        yield broken(answer, "resultType says what kind of result it is", "there is no resultType")


@rule("base.result.result-type-known")
def result_type_known(answer: Answer, session: Session) -> Verdicts:
    """Looks at the value of resultType.

    A value that neither side can have from an extension is broken. Extensions that both sides may have, and that are
    not known here, are left alone.
    """
    kind = answer.result.get("resultType") if isinstance(answer.result, dict) else None
    call = session.call or session.near
    if not isinstance(kind, str) or not is_due(answer, session):
        return
    if kind in _CORE:
        yield holds(answer)
        return
    asked = _extensions(call.request.meta.get(CLIENT_CAPABILITIES)) if call else None
    offered = _extensions(session.capabilities) if session.discovered else None
    shared = set(asked or ()) & set(offered or ()) if asked is not None and offered is not None else set(asked or ())
    if any(_OF_EXTENSIONS.get(name) == kind for name in shared):
        yield holds(answer)
    elif asked is not None and not asked:
        yield broken(answer, "complete or input_required", f"{shown(kind)}, though the request declares no extension")
    elif offered is not None and not offered:
        yield broken(answer, "complete or input_required", f"{shown(kind)}, though the server announces no extension")


def _extensions(capabilities: Any) -> frozenset[str]:
    """The extensions that capabilities name."""
    extensions = capabilities.get("extensions") if isinstance(capabilities, dict) else None
    return frozenset(extensions) if isinstance(extensions, dict) else frozenset()
