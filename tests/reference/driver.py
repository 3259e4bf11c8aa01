"""Talks to a reference server in memory, and holds every message that comes back against its revision's shapes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcpcheck.catalogue.schemas import Schemas
from mcpcheck.reference.http import HttpServer
from mcpcheck.reference.server import Server
from mcpcheck.reference.streams import HttpReply, Stream
from mcpcheck.wire import jsontext, sse
from mcpcheck.wire.protocol import CLIENT_CAPABILITIES, MODERN, NAMED_BY, PROTOCOL_VERSION
from mcpcheck.wire.record import RequestHead

Json = Any
ALL = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}}
"""Every client capability."""
URL = "/mcp"


def meta(capabilities: Mapping[str, Json] = ALL, **more: Json) -> dict[str, Json]:
    """The metadata of a request of the stateless era."""
    return {PROTOCOL_VERSION: MODERN, CLIENT_CAPABILITIES: dict(capabilities), **more}


def strict(data: bytes) -> dict[str, Json]:
    """A message that any JSON reader takes."""
    assert jsontext.strict(data), data
    assert b"\n" not in data
    message = jsontext.read(data).value
    assert isinstance(message, dict), message
    assert message["jsonrpc"] == "2.0"
    return message


@dataclass
class Shapes:
    """The shapes of a revision, and the methods of the requests that are under way."""

    revision: str
    methods: dict[Json, str] = field(default_factory=dict)

    def hold(self, message: dict[str, Json]) -> dict[str, Json]:
        """Fail where a message has not the shape that its revision gives it."""
        schemas = Schemas.for_revision(self.revision)
        if "method" in message and "id" not in message:
            name = schemas.notification_type(message["method"])
            assert name is not None, message
            assert not schemas.explain(name, message), schemas.explain(name, message)
        elif "result" in message:
            self._result(schemas, message)
        elif "error" in message:
            name = schemas.error_type(message["error"]["code"])
            if name is not None:
                assert not schemas.explain(name, message), schemas.explain(name, message)
        return message

    def _result(self, schemas: Schemas, message: dict[str, Json]) -> None:
        method = self.methods[message["id"]]
        result = message["result"]
        names = [schemas.result_type(method), *schemas.instead_types(method)]
        wanted = "InputRequiredResult" if result.get("resultType") == "input_required" else names[0]
        if wanted is not None:
            assert wanted in names
            assert not schemas.explain(wanted, result), schemas.explain(wanted, result)
        for request in (result.get("inputRequests") or {}).values():
            name = schemas.input_type(request["method"])
            assert name is not None
            assert not schemas.explain(name, request), schemas.explain(name, request)


class Stdio:
    """A client behind lines."""

    def __init__(self, server: Server | None = None, revision: str = MODERN) -> None:
        self.server = server or Server()
        self.shapes = Shapes(revision)
        self._id = 0
        if revision != MODERN:
            self.open(revision)

    def send(self, message: Json) -> list[dict[str, Json]]:
        """Send a message, or bytes as they are, and return what comes back."""
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        return [self.shapes.hold(strict(line)) for line in self.server.receive(data)]

    def ask(self, method: str, params: Mapping[str, Json] | None = None, **meta_: Json) -> list[dict[str, Json]]:
        """Send a request with the metadata of its era and return all that comes back."""
        self._id += 1
        params = dict(params or {})
        if self.shapes.revision == MODERN:
            params.setdefault("_meta", meta(**meta_))
        self.shapes.methods[self._id] = method
        return self.send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})

    def result(self, method: str, params: Mapping[str, Json] | None = None, **meta_: Json) -> dict[str, Json]:
        """The result of a request that draws nothing else."""
        (answer,) = self.ask(method, params, **meta_)
        assert answer["id"] == self._id
        result: dict[str, Json] = answer["result"]
        return result

    def error(self, method: str, params: Mapping[str, Json] | None = None, **meta_: Json) -> dict[str, Json]:
        """The error that a request draws, and nothing else."""
        (answer,) = self.ask(method, params, **meta_)
        assert answer["id"] == self._id
        error: dict[str, Json] = answer["error"]
        return error

    def call(self, name: str, arguments: Mapping[str, Json] | None = None, **params: Json) -> dict[str, Json]:
        """The result of a tool."""
        return self.result("tools/call", {"name": name, "arguments": dict(arguments or {}), **params})

    def step(self) -> list[dict[str, Json]]:
        """Let slow work do one step."""
        return [self.shapes.hold(strict(line)) for line in self.server.step()]

    def open(self, revision: str, capabilities: Mapping[str, Json] = ALL) -> dict[str, Json]:
        """Open a session of the handshake era."""
        result = self.result(
            "initialize",
            {
                "protocolVersion": revision,
                "capabilities": dict(capabilities),
                "clientInfo": {"name": "test", "version": "1"},
            },
        )
        assert self.send({"jsonrpc": "2.0", "method": "notifications/initialized"}) == []
        return result


@dataclass
class Http:
    """A client behind HTTP exchanges."""

    server: HttpServer = field(default_factory=HttpServer)

    def post(self, message: Json, headers: Mapping[str, str | None] | None = None, *, path: str = URL) -> HttpReply:
        """POST a message with the headers that belong to it; ``headers`` replaces some, None leaves one out."""
        sent = self.headers(message) | dict(headers or {})
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        pairs = tuple((name, value) for name, value in sent.items() if value is not None)
        return self.server.handle(RequestHead("POST", path, pairs), body)

    def headers(self, message: Json) -> dict[str, str | None]:
        """The headers of a POST."""
        headers: dict[str, str | None] = {
            "Host": "127.0.0.1:8000",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        params = message.get("params", {}) if isinstance(message, dict) else {}
        if isinstance(params, dict) and PROTOCOL_VERSION in params.get("_meta", {}):
            headers |= {"MCP-Protocol-Version": params["_meta"][PROTOCOL_VERSION], "Mcp-Method": message["method"]}
            name = params.get(NAMED_BY.get(message["method"], ""))
            if isinstance(name, str):
                headers["Mcp-Name"] = name
        return headers

    def request(self, method: str, params: Mapping[str, Json] | None = None, **meta_: Json) -> dict[str, Json]:
        """A request of the stateless era."""
        return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": meta(**meta_), **(params or {})}}

    def ask(
        self,
        method: str,
        params: Mapping[str, Json] | None = None,
        headers: Mapping[str, str | None] | None = None,
        **meta_: Json,
    ) -> HttpReply:
        """POST a request of the stateless era."""
        return self.post(self.request(method, params, **meta_), headers)


def body(reply: HttpReply) -> dict[str, Json]:
    """The message in an answer of plain JSON."""
    assert ("Content-Type", "application/json") in reply.headers
    return strict(reply.body)


def events(stream: Stream | None) -> list[dict[str, Json]]:
    """The messages that are new on a stream."""
    assert stream is not None
    datas = [sse.data_bytes(event) for event in stream.take()]
    return [strict(data) for data in datas if data]
