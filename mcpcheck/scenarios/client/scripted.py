"""Servers that clients under test are brought together with: a good one of each era, made to be bent.

They are without I/O. What a scenario wants done differently it overrides; what breaks a requirement on purpose it
declares in ``deviates``, so that it is not taken for a fault of ours.
"""

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mcpcheck.client_peer import LISTED
from mcpcheck.transports.client_side import Heard, Reply
from mcpcheck.wire import jsontext
from mcpcheck.wire.decode import classify
from mcpcheck.wire.event import Answer, Notification, Request
from mcpcheck.wire.protocol import (
    HEADER_MISMATCH,
    INVALID_REQUEST,
    LEGACY,
    METHOD_NOT_FOUND,
    MISSING_CLIENT_CAPABILITY,
    MODERN,
    PROTOCOL_VERSION,
    SERVER_INFO,
    UNSUPPORTED_VERSION,
)

Json = Any

SESSION = "mcpcheck-session"
INFO = {"name": "mcpcheck-scripted-server", "version": "1.0.0"}
TOOL: dict[str, Json] = {
    "name": LISTED,
    "description": "Gives the text back. It changes nothing; mcpcheck asks you to call it.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "annotations": {"readOnlyHint": True},
}
NOT_MODERN = frozenset({"base", "discover", "http", "stdio", "tools", "versioning"})
"""Where the requirements of the stateless era stand, none of which binds a server of the handshake era."""
LENIENT = frozenset({"http.headers", "http.version"})
"""What our modern servers leave undone, so that a client whose headers are wrong shows the rest of what it does."""
_STATUS = {
    METHOD_NOT_FOUND: 404,
    HEADER_MISMATCH: 400,
    MISSING_CLIENT_CAPABILITY: 400,
    UNSUPPORTED_VERSION: 400,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of the client."""

    id: Json
    method: str
    params: dict[str, Json]
    heard: Heard

    @property
    def version(self) -> Json:
        """The version in its metadata; None where it has none, as in the legacy era."""
        meta = self.params.get("_meta")
        return meta.get(PROTOCOL_VERSION) if isinstance(meta, dict) else None

    @property
    def uri(self) -> str:
        """The resource that is meant; a name of ours where the client gives none that can be repeated."""
        uri = self.params.get("uri")
        return uri if isinstance(uri, str) else "mcpcheck:none"

    @property
    def over_http(self) -> bool:
        return self.heard.head is not None


def text(message: Json) -> bytes:
    """A message as JSON."""
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode()


def notification(method: str, params: Json = None) -> bytes:
    """A notification as JSON."""
    return text({"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})})


def result(asked: Asked, value: Json) -> Reply:
    """A result."""
    return Reply((text({"jsonrpc": "2.0", "id": asked.id, "result": value}),))


def error(asked: Asked, code: int, message: str, data: Json = None, status: int | None = None) -> Reply:
    """An error, on HTTP under the status that belongs to it."""
    body = {"code": code, "message": message, **({} if data is None else {"data": data})}
    answer = text({"jsonrpc": "2.0", "id": asked.id, "error": body})
    return Reply((answer,), status=_STATUS.get(code, 200) if status is None else status)


class Scripted:
    """Takes messages apart and gives them to the method for their kind."""

    stubborn = False
    deviates: frozenset[str] = frozenset()

    def opened(self, connection: int) -> Reply:
        return Reply()

    def hear(self, heard: Heard) -> Reply:
        if heard.head is not None and heard.head.method != "POST":
            return self.on_other(heard)
        value = jsontext.read(heard.data).value
        kind = classify(value)
        if kind is Request and type(value["id"]) not in (str, int):
            return self.on_unreadable(heard)
        if kind is Request:
            params = value.get("params")
            return self.on_request(
                Asked(value["id"], value["method"], params if isinstance(params, dict) else {}, heard)
            )
        if kind is Notification:
            return self.on_notification(value, heard)
        if kind is Answer:
            return self.on_answer(value, heard)
        return self.on_unreadable(heard)

    def on_unreadable(self, heard: Heard) -> Reply:
        """What is no message, or has no id to answer to: an error without an id."""
        body = {"code": INVALID_REQUEST, "message": "Invalid Request"}
        return Reply((text({"jsonrpc": "2.0", "error": body}),), status=400)

    def on_other(self, heard: Heard) -> Reply:
        """HTTP: a GET or DELETE, which no script here has a use for."""
        return Reply(status=405, headers=(("Allow", "POST"),))

    def on_request(self, asked: Asked) -> Reply:
        raise NotImplementedError

    def on_notification(self, message: dict[str, Json], heard: Heard) -> Reply:
        return Reply(status=202)

    def on_answer(self, message: dict[str, Json], heard: Heard) -> Reply:
        return Reply(status=202)


class ModernServer(Scripted):
    """Speaks 2026-07-28 only. It lists one tool and serves any that is called, whatever the headers say."""

    deviates = LENIENT
    versions: tuple[str, ...] = (MODERN,)

    def on_request(self, asked: Asked) -> Reply:
        if asked.version not in self.versions:
            return self.refuse_version(asked)
        return self.serve(asked)

    def refuse_version(self, asked: Asked) -> Reply:
        """Refuse a request of another version, initialize too."""
        wanted = asked.params.get("protocolVersion") if asked.method == "initialize" else asked.version
        data = {"supported": list(self.versions), "requested": str(wanted)}
        return error(asked, UNSUPPORTED_VERSION, f"This server speaks {', '.join(self.versions)} only", data)

    def serve(self, asked: Asked) -> Reply:
        """Answer a request of the right version."""
        match asked.method:
            case "server/discover":
                return result(asked, self.discovered())
            case "tools/list":
                return result(asked, self.listed(asked))
            case "tools/call":
                return self.called(asked)
            case "prompts/list":
                return result(asked, self.complete({"prompts": []}, keep=True))
            case "prompts/get":
                message = {"role": "user", "content": {"type": "text", "text": "A prompt of mcpcheck."}}
                return result(asked, self.complete({"messages": [message]}))
            case "resources/list":
                return result(asked, self.complete({"resources": []}, keep=True))
            case "resources/templates/list":
                return result(asked, self.complete({"resourceTemplates": []}, keep=True))
            case "resources/read":
                content = {"uri": asked.uri, "text": "A text of mcpcheck."}
                return result(asked, self.complete({"contents": [content]}, keep=True))
        return error(asked, METHOD_NOT_FOUND, f"There is no method {asked.method}")

    def discovered(self) -> dict[str, Json]:
        """What the server says of itself."""
        capabilities: dict[str, Json] = {"tools": {}, "prompts": {}, "resources": {}}
        return self.complete({"supportedVersions": list(self.versions), "capabilities": capabilities}, keep=True)

    def listed(self, asked: Asked) -> dict[str, Json]:
        """The list of tools."""
        return self.complete({"tools": self.tools()}, keep=True)

    def tools(self) -> list[Json]:
        """The tools themselves."""
        return [TOOL]

    def called(self, asked: Asked) -> Reply:
        """The answer to a call."""
        return result(asked, self.complete({"content": [{"type": "text", "text": "mcpcheck was here"}]}))

    @staticmethod
    def complete(body: dict[str, Json], *, keep: bool = False) -> dict[str, Json]:
        """A complete result; ``keep``: with the hints of those that may be cached."""
        hints = {"ttlMs": 0, "cacheScope": "private"} if keep else {}
        return {"resultType": "complete", **body, **hints, "_meta": {SERVER_INFO: INFO}}


Refusal = Callable[[Asked], Reply]
"""What a legacy server does about a request that comes before initialize, or with modern metadata."""


class LegacyServer(Scripted):
    """Speaks the handshake era only; ``refusal`` is how it meets anything else.

    What it answers to a modern request is not judged: it has never heard of such requests.
    """

    deviates = NOT_MODERN

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        self.ready: set[int] = set()
        """The processes that were initialized."""

    def on_request(self, asked: Asked) -> Reply:
        if asked.method == "initialize":
            self.ready.add(asked.heard.connection)
            return self.initialized(asked)
        if asked.version is not None or asked.heard.connection not in self.ready:
            return self.refusal(asked)
        return self.serve(asked)

    def initialized(self, asked: Asked) -> Reply:
        """Answer initialize, with the version that was asked for if it is known."""
        wanted = asked.params.get("protocolVersion")
        version = wanted if wanted in LEGACY else LEGACY[-1]
        capabilities: dict[str, Json] = {"tools": {}, "prompts": {}, "resources": {}}
        session = (("Mcp-Session-Id", SESSION),) if asked.over_http else ()
        answer = {"protocolVersion": version, "capabilities": capabilities, "serverInfo": INFO}
        return dataclasses.replace(result(asked, answer), headers=session)

    def serve(self, asked: Asked) -> Reply:
        """Answer a request of the session."""
        match asked.method:
            case "ping":
                return result(asked, {})
            case "tools/list":
                return result(asked, {"tools": [TOOL]})
            case "tools/call":
                return result(asked, {"content": [{"type": "text", "text": "mcpcheck was here"}]})
            case "resources/templates/list":
                return result(asked, {"resourceTemplates": []})
            case "resources/list":
                return result(asked, {"resources": []})
            case "resources/read":
                content = {"uri": asked.uri, "text": "A text of mcpcheck."}
                return result(asked, {"contents": [content]})
            case "prompts/list":
                return result(asked, {"prompts": []})
            case "prompts/get":
                message = {"role": "user", "content": {"type": "text", "text": "A prompt of mcpcheck."}}
                return result(asked, {"messages": [message]})
        return error(asked, METHOD_NOT_FOUND, f"Method not found: {asked.method}")


def with_error(code: int, message: str, data: Json = None, status: int = 400) -> Refusal:
    """A refusal by an error, on HTTP under a status."""
    return lambda asked: error(asked, code, message, data, status)


def with_status(status: int, body: bytes = b"", media: str = "text/plain") -> Refusal:
    """HTTP: a refusal without a JSON-RPC error."""
    return lambda asked: Reply(status=status, body=body, media=media)


def with_silence(asked: Asked) -> Reply:
    """No answer at all."""
    return Reply(hang=True)


class Refuses(ModernServer):
    """A modern server that refuses the first ``times`` requests with an error, and then serves."""

    def __init__(
        self, code: int, message: str, data: Callable[[Asked], Json] | None = None, times: int = 1_000
    ) -> None:
        self.code = code
        self.message = message
        self.data = data
        self.times = times

    def on_request(self, asked: Asked) -> Reply:
        if asked.version is not None and self.times > 0:
            self.times -= 1
            return error(asked, self.code, self.message, self.data(asked) if self.data else None)
        return super().on_request(asked)
