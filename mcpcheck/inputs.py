"""What a client says when a server asks for input: responses that fit the input requests."""

from collections.abc import Mapping
from typing import Any

from mcpcheck.arguments import fitting

SAMPLED = {
    "role": "assistant",
    "content": {"type": "text", "text": "Paris"},
    "model": "mcpcheck",
    "stopReason": "endTurn",
}
ROOTS = {"roots": [{"uri": "file:///mcpcheck", "name": "mcpcheck"}]}


def responses_to(requests: Any, *, elicitation: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """inputResponses for an inputRequests object; ``elicitation`` replaces the acceptance of forms and URLs."""
    if not isinstance(requests, dict):
        return {}
    return {key: _response(request, elicitation) for key, request in requests.items()}


def _response(request: Any, elicitation: Mapping[str, Any] | None) -> dict[str, Any]:
    method = request.get("method") if isinstance(request, dict) else None
    if method == "sampling/createMessage":
        return dict(SAMPLED)
    if method == "roots/list":
        return dict(ROOTS)
    if elicitation is not None:
        return dict(elicitation)
    params = request.get("params") if isinstance(request, dict) else None
    params = params if isinstance(params, dict) else {}
    if params.get("mode") == "url":
        return {"action": "accept"}
    return {"action": "accept", "content": _content(params.get("requestedSchema"))}


def _content(schema: Any) -> dict[str, Any]:
    """Values for every property of a form, optional ones too, as a user fills it in; of objects there can be none."""
    if not isinstance(schema, dict) or not isinstance(schema.get("properties"), dict):
        return {}
    everything = {**schema, "required": list(schema["properties"])}
    filled = fitting(everything) or {}
    return {name: value for name, value in filled.items() if not isinstance(value, dict) and value is not None}
