"""What a request has to say of itself before it is served: its envelope, metadata, version and method."""

from mcpcheck.reference.call import LEVELS, Call, InvalidParams, Refusal
from mcpcheck.reference.legacy import Legacy
from mcpcheck.wire.event import Request
from mcpcheck.wire.protocol import (
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    INVALID_REQUEST,
    LOG_LEVEL,
    METHOD_NOT_FOUND,
    MODERN,
    PROTOCOL_VERSION,
    UNSUPPORTED_VERSION,
)

MODERN_HANDLERS = {
    "server/discover": "discover",
    "tools/list": "list_tools",
    "tools/call": "call_tool",
    "prompts/list": "list_prompts",
    "prompts/get": "get_prompt",
    "resources/list": "list_resources",
    "resources/templates/list": "list_templates",
    "resources/read": "read_resource",
    "completion/complete": "complete",
    "subscriptions/listen": "listen",
}
"""The methods of the stateless era, and who serves them."""

LEGACY_HANDLERS = {
    **{method: name for method, name in MODERN_HANDLERS.items() if method[:4] not in ("serv", "subs")},
    "initialize": "initialize",
    "ping": "ping",
    "logging/setLevel": "set_level",
    "resources/subscribe": "subscribe",
    "resources/unsubscribe": "unsubscribe",
}
"""The methods of the handshake era."""

MODERN_KEYS = (PROTOCOL_VERSION, CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL)
"""Metadata that only a request of the stateless era carries."""


class Admission(Legacy):
    """Lets requests in, each by the rules of its era."""

    def invalid_request(self, reason: str) -> Refusal:
        """The refusal of what is no request."""
        return Refusal(INVALID_REQUEST, reason)

    def era(self, call: Call) -> str:
        """The revision by which a request is served: its own metadata decides, else the session."""
        if any(key in call.meta for key in MODERN_KEYS) or not self.legacy:
            return MODERN
        if self.session is not None:
            return self.session.revision
        return self.legacy[-1]

    def check_envelope(self, request: Request) -> None:
        """Refuse a request that is not one by JSON-RPC."""
        if type(request.id) not in (str, int):
            raise self.invalid_request("Invalid request: id is neither a string nor an integer")
        if request.obj.get("jsonrpc") != "2.0":
            raise self.invalid_request('Invalid request: jsonrpc is not "2.0"')
        if "params" in request.obj and not isinstance(request.params, dict):
            raise InvalidParams("params is not an object")

    def let_in(self, call: Call) -> None:
        """Check what every request of its era has to say of itself."""
        if not call.modern:
            self.let_in_legacy(call)
            return
        if call.method == "initialize" and not any(key in call.meta for key in MODERN_KEYS):
            raise self.refuse_initialize(call)
        self.check_metadata(call)
        self.check_version(call)
        self.check_method(call, MODERN_HANDLERS)
        self.check_log_level(call)
        if "progressToken" in call.meta and call.progress_token is None:
            raise InvalidParams("progressToken is neither a string nor an integer")
        call.declare()

    def let_in_legacy(self, call: Call) -> None:
        """Check what a request of the handshake era may be at this point."""
        if self.session is None and call.method not in ("initialize", "ping"):
            raise self.not_initialized(call)
        self.check_method(call, LEGACY_HANDLERS)
        if self.session is not None:
            call.capabilities = self.session.capabilities
            call.log_level = self.session.log_level

    def not_initialized(self, call: Call) -> Refusal:
        """The refusal of a request that has neither metadata nor a session."""
        return self.missing_meta(call, PROTOCOL_VERSION)

    def check_metadata(self, call: Call) -> None:
        """Refuse a request without the metadata that each has to carry."""
        for key, kind in ((PROTOCOL_VERSION, str), (CLIENT_CAPABILITIES, dict)):
            if not isinstance(call.meta.get(key), kind):
                raise self.missing_meta(call, key)

    def missing_meta(self, call: Call, key: str) -> Refusal:
        """The refusal of a request that lacks required metadata."""
        refusal = InvalidParams(f"params._meta lacks a valid {key}")
        refusal.metadata = True
        return refusal

    def check_version(self, call: Call) -> None:
        """Refuse a request of a version that is not spoken."""
        version = call.meta[PROTOCOL_VERSION]
        if version != MODERN or not self.modern:
            raise self.unsupported_version(call, version)

    def unsupported_version(self, call: Call, requested: str) -> Refusal:
        """The refusal of a version."""
        data = {"supported": self.refused_versions(requested), "requested": requested}
        return Refusal(UNSUPPORTED_VERSION, "Unsupported protocol version", data, metadata=True)

    def refused_versions(self, requested: str) -> list[str]:
        """The versions that are offered instead of one that is refused."""
        return [version for version in self.supported_versions() if version != requested]

    def check_method(self, call: Call, handlers: dict[str, str]) -> None:
        """Refuse a request whose method is not served in its era."""
        if call.method not in handlers:
            raise self.unknown_method(call)

    def unknown_method(self, call: Call) -> Refusal:
        """The refusal of a method."""
        return Refusal(METHOD_NOT_FOUND, f"Method not found: {call.method[:100]}")

    def check_log_level(self, call: Call) -> None:
        """Refuse a request whose log level is none."""
        if LOG_LEVEL in call.meta and call.meta[LOG_LEVEL] not in LEVELS:
            raise self.invalid_log_level(call)

    def invalid_log_level(self, call: Call) -> Refusal:
        """The refusal of a log level."""
        return InvalidParams(f"{LOG_LEVEL} is no log level")

    def supported_versions(self) -> list[str]:
        """Every version that is spoken, the latest first."""
        return sorted(self.revisions, reverse=True)
