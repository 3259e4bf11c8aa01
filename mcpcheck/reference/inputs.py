"""Multi round-trip requests: what a server asks the client for, and what it makes of the answers."""

from collections.abc import Mapping
from typing import Any

import jsonschema_rs

from mcpcheck.reference.call import Call, InvalidParams, Json, NeedInput, Refusal
from mcpcheck.reference.core import Core
from mcpcheck.wire.protocol import INPUT_METHODS, MISSING_CLIENT_CAPABILITY

_CONTENT: dict[Json, dict[str, type]] = {
    "text": {"text": str},
    "image": {"data": str, "mimeType": str},
    "audio": {"data": str, "mimeType": str},
    "tool_use": {"id": str, "name": str, "input": dict},
    "tool_result": {"toolUseId": str, "content": list},
}


class Work:
    """What a tool, prompt or resource sees of the request that it serves."""

    def __init__(self, server: "Inputs", call: Call, answers: Mapping[str, Json], state: Mapping[str, Json]) -> None:
        self.server = server
        self.call = call
        self.answers = dict(answers)
        """Input responses by key, as they came; those of earlier rounds included."""
        self.state = dict(state)
        """What the server put into the request's state; empty in the first round."""
        self._given: dict[str, Json] = {}

    @property
    def capabilities(self) -> Mapping[str, Json]:
        """What the client declared."""
        return self.call.capabilities

    def log(self, level: str, data: Json) -> None:
        """Send a log message."""
        self.server.log(self.call, level, data)

    def progress(self, progress: float, total: float | None = None, message: str = "") -> None:
        """Report progress."""
        self.server.report_progress(self.call, progress, total, message)

    def ask(self, requests: Mapping[str, Json], *, remember: Mapping[str, Json] | None = None) -> dict[str, Json]:
        """The answers to these requests; NeedInput asks for those that are missing.

        ``remember`` goes into the request's state, together with the answers that are there already.
        """
        good = {key: self.checked(key, request) for key, request in requests.items() if key in self.answers}
        missing = {key: request for key, request in requests.items() if key not in good}
        self._given |= good
        if not missing:
            return good
        self.server.require(self.call, missing)
        state = None if remember is None else {**remember, "answers": self._given}
        raise NeedInput(missing, state)

    def checked(self, key: str, request: Json) -> Json:
        """One input response; InvalidParams where it is no answer to its request."""
        answer = self.answers[key]
        self.server.check_answer(key, request, answer)
        return answer


class Inputs(Core):
    """Asking for input, in the form of the request's era."""

    # Before the work

    def begin(self, call: Call) -> Work:
        """Read what a retry brings along."""
        if not call.modern or call.method not in INPUT_METHODS:
            return Work(self, call, {}, {})
        state = self.verify_state(call)
        answers = {**state.get("answers", {}), **self.input_responses(call)}
        return Work(self, call, answers, state)

    def input_responses(self, call: Call) -> dict[str, Json]:
        """The inputResponses of a retry; those that nobody asked for do no harm."""
        responses = call.params.get("inputResponses", {})
        if not isinstance(responses, dict):
            raise InvalidParams("inputResponses is not an object")
        return responses

    def verify_state(self, call: Call) -> dict[str, Json]:
        """The state that a retry brings back; refused where it is not what was handed out for this request."""
        if "requestState" not in call.params:
            return {}
        sealed = call.params["requestState"]
        if not isinstance(sealed, str):
            raise InvalidParams("requestState is not a string")
        state = self.open_state(call, sealed)
        if state is None or not self.same_user(state.pop("user", "")):
            raise InvalidParams("requestState is not valid for this request")
        return state

    def open_state(self, call: Call, sealed: str) -> dict[str, Json] | None:
        """What stands in a state of this very request; None where it is none."""
        return self.seal.open(call.method, call.params, sealed)

    def same_user(self, user: Json) -> bool:
        """Whether a state was handed out to whom it comes back from."""
        return bool(user == self.principal)

    def spend(self, call: Call) -> None:
        """Note that a state was used up; refused where it had been before."""
        state = str(call.params.get("requestState"))
        if call.modern and state in self.world.spent:
            raise InvalidParams("requestState was used before")
        self.world.spent.add(state)

    def user_of(self, call: Call) -> str:
        """For whom a request is served: for whom its credentials say, whatever it claims."""
        return self.principal

    def opened_as(self, call: Call, handle: Json) -> Json:
        """What a call means by its handle: that, and nothing that an earlier call opened."""
        return handle

    # Asking

    def input_required(self, call: Call, need: NeedInput) -> dict[str, Json]:
        """The result that asks the client for input."""
        result: dict[str, Json] = {"resultType": "input_required"}
        if need.requests:
            result["inputRequests"] = self.input_requests(call, need.requests)
        if need.state is not None:
            result["requestState"] = self.request_state(call, need.state)
        return result

    def input_requests(self, call: Call, requests: Mapping[str, Json]) -> Json:
        """The map of requests, each a bare method with its params."""
        return dict(requests)

    def request_state(self, call: Call, state: dict[str, Json]) -> Json:
        """The state in the form in which the client carries it."""
        return self.seal.close(call.method, call.params, {**state, "user": self.principal})

    def require(self, call: Call, requests: Mapping[str, Json]) -> None:
        """Refuse the request where the client did not declare what these input requests need."""
        missing = self.missing_capabilities(call, requests)
        if missing:
            raise self.missing_capability(call, missing)

    def missing_capabilities(self, call: Call, requests: Mapping[str, Json]) -> dict[str, Json]:
        """The client capabilities that these input requests need and the request does not declare."""
        missing: dict[str, Any] = {}
        for request in requests.values():
            for name, needed in required_capability(request).items():
                if not declares(call.capabilities, name, needed):
                    missing[name] = {**missing.get(name, {}), **needed}
        return missing

    def missing_capability(self, call: Call, required: dict[str, Json]) -> Refusal:
        """The refusal of a request that cannot be served without an undeclared capability."""
        names = ", ".join(sorted(required))
        return Refusal(
            MISSING_CLIENT_CAPABILITY,
            f"This request needs a client capability that it does not declare: {names}",
            {"requiredCapabilities": required},
            metadata=True,
        )

    # Answers

    def check_answer(self, key: str, request: Json, answer: Json) -> None:
        """Refuse an input response that does not fit its request."""
        fault = {
            "elicitation/create": elicit_fault,
            "sampling/createMessage": sampling_fault,
            "roots/list": roots_fault,
        }[request["method"]](request.get("params", {}), answer)
        if fault:
            raise InvalidParams(f"The input response {key!r} is not valid: {fault}")


def required_capability(request: Json) -> dict[str, dict[str, Json]]:
    """The client capability, with its part, that an input request needs."""
    params = request.get("params", {})
    match request["method"]:
        case "elicitation/create":
            return {"elicitation": {"url": {}} if params.get("mode") == "url" else {"form": {}}}
        case "sampling/createMessage":
            return {"sampling": {"tools": {}} if "tools" in params or "toolChoice" in params else {}}
        case _:
            return {"roots": {}}


def declares(capabilities: Mapping[str, Json], name: str, parts: Mapping[str, Json]) -> bool:
    """Whether a capability and its parts are declared; an elicitation that names no mode is that of forms."""
    declared = capabilities.get(name)
    if not isinstance(declared, dict):
        return False
    if name == "elicitation" and "form" in parts:
        return "form" in declared or "url" not in declared
    return all(part in declared for part in parts)


def elicit_fault(params: Json, answer: Json) -> str | None:
    """What is wrong with the answer to an elicitation."""
    if not isinstance(answer, dict) or answer.get("action") not in ("accept", "decline", "cancel"):
        return "action is none of accept, decline and cancel"
    if answer["action"] != "accept" or params.get("mode") == "url":
        return None
    content = answer.get("content")
    if not isinstance(content, dict):
        return "an accepted form has content"
    return schema_fault(params["requestedSchema"], content)


def sampling_fault(params: Json, answer: Json) -> str | None:
    """What is wrong with the answer to a sampling request."""
    if not isinstance(answer, dict) or answer.get("role") not in ("user", "assistant"):
        return "role is neither user nor assistant"
    if not isinstance(answer.get("model"), str):
        return "model is not a string"
    content = answer.get("content")
    blocks = content if isinstance(content, list) else [content]
    for block in blocks:
        if not isinstance(block, dict) or str(block.get("type")) not in _CONTENT:
            return "content holds something that is no content block"
        members = _CONTENT[block["type"]]
        if not all(isinstance(block.get(name), kind) for name, kind in members.items()):
            return f"a block of type {block['type']} lacks a member"
    return None


def roots_fault(params: Json, answer: Json) -> str | None:
    """What is wrong with the answer to roots/list."""
    roots = answer.get("roots") if isinstance(answer, dict) else None
    if not isinstance(roots, list):
        return "roots is not an array"
    for root in roots:
        if not isinstance(root, dict) or not isinstance(root.get("uri"), str):
            return "a root has no uri"
        if not root["uri"].startswith("file://"):
            return "a root's uri is no file URI"
    return None


def schema_fault(schema: Json, value: Json) -> str | None:
    """What a JSON Schema, of 2020-12 unless it says otherwise, has against a value; None where it is valid."""
    try:
        error = next(jsonschema_rs.validator_for(schema).iter_errors(value), None)
    except (ValueError, TypeError, OverflowError, RecursionError):
        return "the value cannot be validated"
    if error is None:
        return None
    place = "/".join(str(step) for step in error.instance_path)
    return f"{place or 'the value'}: {error.message}".splitlines()[0][:200]
