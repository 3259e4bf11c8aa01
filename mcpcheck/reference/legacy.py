"""The handshake era: initialize and what it opens, up to revision 2025-11-25."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcpcheck.reference.call import LEVELS, Call, InternalError, InvalidParams, Json, NeedInput, Refusal, ToolFailed
from mcpcheck.reference.completion import Completion
from mcpcheck.reference.inputs import Work
from mcpcheck.reference.resources import valid_uri
from mcpcheck.reference.subscriptions import LISTS, Subscriptions
from mcpcheck.reference.tools import Tools
from mcpcheck.wire.event import Answer
from mcpcheck.wire.protocol import INVALID_REQUEST, UNSUPPORTED_VERSION


@dataclass(eq=False, slots=True)
class Session:
    """What initialize negotiated, and what was asked for since."""

    revision: str
    capabilities: Mapping[str, Json]
    initialized: bool = False
    log_level: str = "info"
    watched: set[str] = field(default_factory=set)
    """The URIs of resources/subscribe."""


@dataclass(eq=False, slots=True)
class Waiting:
    """A request that waits for the client's answers to requests of the server."""

    call: Call
    work: Work
    requests: dict[str, Json]
    ids: dict[str, str] = field(default_factory=dict)
    """The keys of the requests by the ids under which they were sent."""


class Legacy(Tools, Completion, Subscriptions):
    """One session of the handshake era."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.session: Session | None = None
        self.waiting: list[Waiting] = []
        self._asked = 0

    # initialize

    def refuse_initialize(self, call: Call) -> Refusal:
        """What a server without the handshake answers to initialize: it names what it speaks."""
        requested = call.params.get("protocolVersion")
        versions = ", ".join(self.revisions)
        data = {"supported": list(self.revisions), "requested": requested if isinstance(requested, str) else ""}
        return Refusal(UNSUPPORTED_VERSION, f"There is no handshake here; supported versions: {versions}", data)

    def initialize(self, call: Call) -> dict[str, Json]:
        """Open a session."""
        if self.session is not None:
            raise Refusal(INVALID_REQUEST, "The session is open already")
        requested, capabilities, info = (
            call.params.get(name) for name in ("protocolVersion", "capabilities", "clientInfo")
        )
        if not isinstance(requested, str):
            raise InvalidParams("protocolVersion is not a string")
        if not isinstance(capabilities, dict) or not isinstance(info, dict):
            raise InvalidParams("capabilities or clientInfo is not an object")
        if not isinstance(info.get("name"), str) or not isinstance(info.get("version"), str):
            raise InvalidParams("clientInfo needs the strings name and version")
        self.session = Session(self.negotiate(requested), capabilities)
        return self.initialize_result(self.session.revision)

    def negotiate(self, requested: str) -> str:
        """The requested revision where it is spoken, else the latest one that is."""
        return requested if requested in self.legacy else self.legacy[-1]

    def initialize_result(self, revision: str) -> dict[str, Json]:
        """What a session is opened with."""
        result: dict[str, Json] = {
            "protocolVersion": revision,
            "capabilities": self.capabilities_for(revision),
            "serverInfo": self.server_info(revision),
        }
        if self.INSTRUCTIONS:
            result["instructions"] = self.INSTRUCTIONS
        return result

    def on_initialized(self) -> None:
        """The client is ready: from now on the server may send."""
        if self.session is not None:
            self.session.initialized = True

    # What only this era knows

    def ping(self, call: Call) -> dict[str, Json]:
        """The answer to ping: an empty result."""
        return {}

    def set_level(self, call: Call) -> dict[str, Json]:
        """Set the least severe level that is logged from now on."""
        level = call.params.get("level")
        if level not in LEVELS:
            raise InvalidParams("level is no log level")
        if self.session is not None:
            self.session.log_level = level
        return {}

    def subscribe(self, call: Call) -> dict[str, Json]:
        """Watch a resource."""
        uri = self.watched_uri(call)
        if self.session is not None:
            self.session.watched.add(uri)
        return {}

    def unsubscribe(self, call: Call) -> dict[str, Json]:
        """Watch a resource no longer."""
        uri = self.watched_uri(call)
        if self.session is not None:
            self.session.watched.discard(uri)
        return {}

    def watched_uri(self, call: Call) -> str:
        """The URI of a resource to watch."""
        uri = call.params.get("uri")
        if not isinstance(uri, str) or not valid_uri(uri):
            raise InvalidParams("uri is not a URI")
        return uri

    def announce(self, kind: str, uri: str | None) -> None:
        """Tell the session of a change, once it is open."""
        if self.session is None or not self.session.initialized:
            return
        if kind in LISTS:
            self.notify(LISTS[kind][1])
        elif kind == "resource" and uri in self.session.watched:
            self.notify("notifications/resources/updated", {"uri": uri})

    # Requests of the server

    def require(self, call: Call, requests: Mapping[str, Json]) -> None:
        """In this era a missing capability is a failure of the tool, for the model to see."""
        missing = self.missing_capabilities(call, requests)
        if not missing:
            return
        if call.modern:
            raise self.missing_capability(call, missing)
        names = ", ".join(sorted(missing))
        if call.method == "tools/call":
            raise ToolFailed(f"The client does not support what this tool needs: {names}")
        raise Refusal(INVALID_REQUEST, f"The client does not support what this request needs: {names}")

    def ask_client(self, call: Call, work: Work, need: NeedInput) -> None:
        """Send the server's requests to the client, and wait."""
        if self.session is None or not self.session.initialized:
            raise Refusal(INVALID_REQUEST, "The session is not initialized yet")
        work.state = need.state or {}
        waiting = Waiting(call, work, need.requests)
        self.waiting.append(waiting)
        for key, request in need.requests.items():
            self._asked += 1
            request_id = f"server-{self._asked}"
            waiting.ids[request_id] = key
            self.send(self.client_request(call, request_id, request), call)

    def client_request(self, call: Call, request_id: str, request: Json) -> dict[str, Json]:
        """One request to the client, as the revision of its session knows it."""
        params = dict(request.get("params", {}))
        if request["method"] == "elicitation/create" and call.revision < "2025-11-25":
            params.pop("mode", None)
        if params.get("mode") == "url":
            params["elicitationId"] = request_id
        message: dict[str, Json] = {"jsonrpc": "2.0", "id": request_id, "method": request["method"]}
        if params:
            message["params"] = params
        return message

    def missing_capabilities(self, call: Call, requests: Mapping[str, Json]) -> dict[str, Json]:
        """The client capabilities that these requests need; what the revision does not know is missing always."""
        missing = super().missing_capabilities(call, requests)
        for request in requests.values():
            params = request.get("params", {})
            if request["method"] == "elicitation/create" and call.revision < "2025-06-18":
                missing.setdefault("elicitation", {})
            if call.revision < "2025-11-25" and params.get("mode") == "url":
                missing["elicitation"] = {"url": {}}
            if call.revision < "2025-11-25" and "tools" in params:
                missing["sampling"] = {"tools": {}}
        return missing

    def on_answer(self, answer: Answer) -> None:
        """Take the client's answer to a request of the server; what nobody waits for is dropped."""
        waiting = next((waiting for waiting in self.waiting if answer.id in waiting.ids), None)
        if waiting is None or not isinstance(answer.id, str):
            return
        key = waiting.ids.pop(answer.id)
        fault = self.answer_fault(waiting, key, answer)
        if fault is not None:
            self.forget(waiting)
            self.input_failed(waiting.call, fault)
            return
        waiting.work.answers[key] = answer.result
        if not waiting.ids:
            self.waiting.remove(waiting)
            self.serve(waiting.call, waiting.work)

    def answer_fault(self, waiting: Waiting, key: str, answer: Answer) -> str | None:
        """Why an answer of the client is of no use."""
        if answer.has_error or not answer.has_result:
            return "The client refused the request"
        try:
            self.check_answer(key, waiting.requests[key], answer.result)
        except InvalidParams as refusal:
            return refusal.message
        return None

    def input_failed(self, call: Call, fault: str) -> None:
        """Answer a request that cannot go on for lack of input."""
        if call.method == "tools/call":
            self.answer(call, self.tool_failed(call, fault))
        else:
            self.refuse(call, InternalError(fault))

    def forget(self, waiting: Waiting) -> None:
        """Give up what is still asked of the client."""
        self.waiting.remove(waiting)
        for request_id in waiting.ids:
            self.notify("notifications/cancelled", {"requestId": request_id}, waiting.call)

    def serve(self, call: Call, work: Work) -> None:
        """Serve a request, from its start or with further input."""
        raise NotImplementedError
