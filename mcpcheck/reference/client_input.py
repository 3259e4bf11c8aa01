"""What a client answers when a server wants something of it: forms, sampling, roots; in both eras."""

from mcpcheck.reference.client_values import members
from mcpcheck.reference.client_wire import Action, ClientWire, Json
from mcpcheck.wire.protocol import INVALID_PARAMS, METHOD_NOT_FOUND


class Unfulfilled(Exception):
    """The client cannot give what was asked for; the text says why."""


class ClientInput(ClientWire):
    """Fulfils what a server asks for: embedded in a result since 2026-07-28, as its own requests before."""

    def retry_params(self, params: dict[str, Json], result: dict[str, Json]) -> dict[str, Json]:
        """The params of the next attempt: the original ones, the answers, and the state if there was one."""
        params = {name: value for name, value in params.items() if name not in ("_meta", *self.ROUND)}
        if "inputRequests" in result:
            params["inputResponses"] = self.input_responses(result["inputRequests"])
        if "requestState" in result:
            params["requestState"] = self.echo_state(result["requestState"])
        return params

    ROUND = ("inputResponses", "requestState")
    """Params that belong to one round alone."""

    def echo_state(self, state: Json) -> Json:
        """The state as it goes back."""
        return state

    def input_responses(self, requests: dict[str, Json]) -> dict[str, Json]:
        """An answer to each request, under the same key."""
        return {key: self.input_response(request) for key, request in requests.items()}

    def input_response(self, request: dict[str, Json]) -> Json:
        """The answer to one embedded request: the bare result."""
        return self.fulfil(request.get("method"), request.get("params") or {})

    def fulfil(self, method: Json, params: dict[str, Json]) -> Json:
        """What the client gives: to a form values that fit, to sampling a fixed text, of roots one."""
        match method:
            case "elicitation/create" if "elicitation" in self._capabilities:
                return self.fill_in(params)
            case "sampling/createMessage" if "sampling" in self._capabilities:
                return self.sample(params)
            case "roots/list" if "roots" in self._capabilities:
                return {"roots": [{"uri": "file:///mcpcheck/project", "name": "project"}]}
        raise Unfulfilled(f"{method} was not declared")

    def fill_in(self, params: dict[str, Json]) -> dict[str, Json]:
        """The answer to an elicitation; a page to open is declined."""
        if params.get("mode", "form") != "form":
            return {"action": "decline"}
        return {"action": "accept", "content": members(params.get("requestedSchema"))}

    def sample(self, params: dict[str, Json]) -> dict[str, Json]:
        """The answer to a sampling request; one with tools is refused, since the client has not declared them."""
        declared = self._capabilities.get("sampling")
        if ("tools" in params or "toolChoice" in params) and "tools" not in (declared or {}):
            raise Unfulfilled("sampling with tools was not declared")
        text = {"type": "text", "text": "A text of the reference client."}
        return {"role": "assistant", "content": text, "model": "mcpcheck-reference", "stopReason": "endTurn"}

    # Messages that the server sends of its own accord

    def on_notification(self, message: dict[str, Json]) -> list[Action]:
        """A notification is taken in and never answered."""
        return []

    def on_request(self, message: dict[str, Json]) -> list[Action]:
        """A request of the server: answered in the handshake era; in the stateless era there are none to answer."""
        if not self.in_legacy or self.version is None:
            return []
        return [self.put(self.answer(message), self.version)]

    def answer(self, message: dict[str, Json]) -> dict[str, Json]:
        """The response to a server's request."""
        head = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] == "ping":
            return {**head, "result": {}}
        params = message.get("params")
        try:
            result = self.fulfil(message["method"], params if isinstance(params, dict) else {})
        except Unfulfilled as refusal:
            known = message["method"].startswith("sampling/") and "sampling" in self._capabilities
            code = INVALID_PARAMS if known else METHOD_NOT_FOUND
            return {**head, "error": {"code": code, "message": str(refusal)}}
        return {**head, "result": result}
