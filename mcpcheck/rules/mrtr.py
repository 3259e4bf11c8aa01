"""mrtr: results that ask for input, and the requests that bring it."""

from collections.abc import Iterator
from typing import Any

from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import inputs, result_of
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.session import ids
from mcpcheck.session.call import Call
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Request
from mcpcheck.wire.protocol import CLIENT_CAPABILITIES, INPUT_METHODS, MODERN_METHODS
from mcpcheck.wire.record import Dir

_CAPABILITY = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
_MARKS = {"elicitation/create": "action", "sampling/createMessage": "model", "roots/list": "roots"}
"""The member that a result of each kind has, and no other."""


def _asking(answer: Answer, session: Session) -> dict[str, Any] | None:
    """The result, where it is one that asks for input."""
    found = result_of(answer, session)
    return found[1] if found and found[1].get("resultType") == "input_required" else None


@rule("mrtr.result.shape", on=INPUT_METHODS, near=("inputRequests", "requestState"))
def result_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at results that ask for input; the members of one that stand in another kind of result are suspect."""
    result = _asking(answer, session)
    if result is None:
        found = result_of(answer, session)
        if found and found[0] in INPUT_METHODS and found[1].get("resultType") == "complete":
            left = [name for name in ("inputRequests", "requestState") if name in found[1]]
            if left:
                yield suspect(answer, 'resultType is "input_required"', f"{left[0]} in a complete result")
        return
    requests, state = result.get("inputRequests", {}), result.get("requestState", "")
    if not isinstance(requests, dict):
        yield broken(answer, "inputRequests is an object", f"inputRequests is {shown(requests)}")
    elif not isinstance(state, str):
        yield broken(answer, "requestState is a string", f"requestState is {shown(state)}")
    else:
        yield holds(answer)


@rule("mrtr.result.at-least-one", on=INPUT_METHODS)
def result_at_least_one(answer: Answer, session: Session) -> Verdicts:
    """Looks at what a result that asks for input has. Empty inputRequests without a state are suspect."""
    result = _asking(answer, session)
    if result is None:
        return
    if "inputRequests" not in result and "requestState" not in result:
        yield broken(answer, "inputRequests or requestState", "neither of them")
    elif result.get("inputRequests") == {} and "requestState" not in result:
        yield suspect(answer, "something that is asked for", "inputRequests is empty and there is no requestState")
    else:
        yield holds(answer)


@rule("mrtr.result.supported-methods")
def result_supported_methods(answer: Answer, session: Session) -> Verdicts:
    """Looks at which method a result that asks for input answers. Methods of extensions are left alone."""
    found = result_of(answer, session)
    if found is None:
        return
    method, result = found
    if result.get("resultType") != "input_required":
        if method in MODERN_METHODS - INPUT_METHODS:
            yield holds(answer)
    elif method in INPUT_METHODS:
        yield holds(answer)
    elif method in MODERN_METHODS:
        yield broken(answer, f"input_required for {', '.join(sorted(INPUT_METHODS))} only", f"it answers {method}")


@rule("mrtr.result.declared-capability", on=INPUT_METHODS, near="inputRequests")
def result_declared_capability(answer: Answer, session: Session) -> Verdicts:
    """Compares the kinds of input that are asked for with the clientCapabilities of the very request."""
    call = session.call or session.near
    declared = call.request.meta.get(CLIENT_CAPABILITIES) if call else None
    if not isinstance(declared, dict):
        return
    for at, entry in inputs(answer, session):
        method = entry.get("method") if isinstance(entry, dict) else None
        capability = _CAPABILITY.get(method) if isinstance(method, str) else None
        if capability is None:
            continue
        if capability in declared:
            yield holds(answer)
        else:
            n = call.request.record.n if call else answer.record.n
            yield broken(answer, f"no {method} without {capability}", f"{at}, which the request does not declare", n)


@rule("mrtr.input-requests.kind", on=INPUT_METHODS, near="inputRequests")
def input_requests_kind(answer: Answer, session: Session) -> Verdicts:
    """Looks at the method of each input request. Its params have rules of their own, by kind.

    jsonrpc and id in it are suspect: the objects are bare.
    """
    for at, entry in inputs(answer, session):
        if not isinstance(entry, dict):
            yield broken(answer, "an object with a method", f"{at} is {shown(entry)}")
        elif not isinstance(entry.get("method"), str) or entry["method"] not in _CAPABILITY:
            expected = f"one of {', '.join(_CAPABILITY)}"
            yield broken(answer, expected, f"{at}.method is {shown(entry.get('method'))}")
        elif entry.keys() & {"jsonrpc", "id"}:
            yield suspect(answer, "a bare object with method and params", f"{at} has jsonrpc or id")
        else:
            yield holds(answer)


@rule("mrtr.input-requests.keys-unique", on=INPUT_METHODS, near="inputRequests")
def input_requests_keys_unique(answer: Answer, session: Session) -> Verdicts:
    """Looks at the text of inputRequests for a key that stands twice; a usual reader hides it."""
    result = _asking(answer, session)
    asked = result.get("inputRequests") if result else None
    if not isinstance(asked, dict):
        return
    doubled = [fault for fault in answer.text.faults if fault.kind == "doubled-key" and fault.where is asked]
    if doubled:
        yield broken(answer, "keys that differ", doubled[0].detail)
    elif asked:
        yield holds(answer)


@rule("mrtr.client.new-id", on=INPUT_METHODS, near=("inputResponses", "requestState"))
def client_new_id(request: Request, session: Session) -> Verdicts:
    """Compares the id of a request that brings input with that of the request it repeats.

    Where several clients may speak, and no state tells whose request that was, the same id is suspect only.
    """
    attempt = session.attempt
    if attempt is None:
        return
    if ids.key(attempt.request.id) == ids.key(request.id):
        judged = broken if session.one_client or isinstance(request.param("requestState"), str) else suspect
        n = attempt.request.record.n
        yield judged(request, "another id than that of the request it repeats", f"id {shown(request.id)} again", n)
    else:
        yield holds(request)


@rule("mrtr.input-responses.shape", on=INPUT_METHODS, near="inputResponses")
def input_responses_shape(request: Request, session: Session) -> Verdicts:
    """Looks at inputResponses: bare results, each of the kind that was asked for under its key.

    Their members have rules of their own. A key that nobody asked for is suspect.
    """
    if request.dir is Dir.S2C or request.method not in INPUT_METHODS:
        return
    if not isinstance(request.params, dict) or "inputResponses" not in request.params:
        return
    responses = request.params["inputResponses"]
    if not isinstance(responses, dict):
        yield broken(request, "inputResponses is an object", f"inputResponses is {shown(responses)}")
        return
    for key, value in responses.items():
        yield from _response(request, session, key, value)


def _response(request: Request, session: Session, key: str, value: Any) -> Verdicts:
    at = f"inputResponses[{shown(key)}]"
    asked = _asked(session.attempt, key)
    fault = _other_kind(value, asked)
    if not isinstance(value, dict):
        yield broken(request, "a bare result, an object", f"{at} is {shown(value)}")
    elif fault:
        yield broken(request, f"a bare answer to {asked}" if asked else "a bare result", f"{at} {fault}")
    elif session.attempt is not None and asked is None and session.whole:
        yield suspect(request, "keys that were asked for", f"nobody asked for {shown(key)}")
    else:
        yield holds(request)


def _other_kind(value: Any, asked: str | None) -> str:
    """What shows that an answer is wrapped, or one of another kind than was asked for."""
    if not isinstance(value, dict):
        return ""
    marks = value.keys() & set(_MARKS.values())
    if not marks and value.keys() & {"result", "method", "error", "jsonrpc"}:
        return f"is wrapped: it has {', '.join(value)}"
    if asked is not None and marks and _MARKS[asked] not in marks:
        return f"is of another kind: it has {', '.join(value)}"
    return ""


def _asked(attempt: Call | None, key: str) -> str | None:
    """The method that was asked for under a key."""
    entry = _entry(attempt, key)
    method = entry.get("method") if entry else None
    return method if isinstance(method, str) and method in _MARKS else None


def _entry(attempt: Call | None, key: str) -> dict[str, Any] | None:
    """What was asked for under a key."""
    result = attempt.answer.result if attempt and attempt.answer else None
    asked = result.get("inputRequests") if isinstance(result, dict) else None
    entry = asked.get(key) if isinstance(asked, dict) else None
    return entry if isinstance(entry, dict) else None


def answered(request: Request, session: Session, method: str) -> Iterator[tuple[str, Any, Any]]:
    """Each entry of inputResponses that answers a kind of input request: its place, the params asked with, itself."""
    responses = request.param("inputResponses")
    if not isinstance(responses, dict) or session.attempt is None:
        return
    for key, value in responses.items():
        if _asked(session.attempt, key) == method and not _other_kind(value, method):
            entry = _entry(session.attempt, key)
            yield f"inputResponses[{shown(key)}]", entry.get("params") if entry else None, value


def entries(request: Request, session: Session, method: str) -> list[tuple[str, Any]]:
    """The entries of inputResponses that answer a kind of input request, with their place."""
    return [(at, value) for at, _, value in answered(request, session, method)]
