"""What a client puts on the wire: envelopes, per-request metadata, lines, and the heads of its POSTs."""

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from mcpcheck.wire.protocol import (
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    LEGACY,
    NAMED_BY,
    PROTOCOL_VERSION,
    REVISIONS,
)
from mcpcheck.wire.record import RequestHead

Json = Any
"""A JSON value."""

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")
_PLAIN = re.compile(r"(?:[!-~](?:[ -~]*[!-~])?)?\Z")


@dataclass(frozen=True, slots=True)
class Send:
    """Bytes on their way to the server: on stdio a line with its end, on HTTP the body under a head of its own."""

    data: bytes
    head: RequestHead | None = None
    exchange: int | None = None


@dataclass(frozen=True, slots=True)
class Leave:
    """Give up an HTTP exchange: close its stream, which cancels the request."""

    exchange: int


@dataclass(frozen=True, slots=True)
class Restart:
    """Start the server process again."""


Action = Send | Leave | Restart


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that came to nothing: a JSON-RPC error, or an HTTP status without one (then ``code`` is None)."""

    code: int | None
    message: str
    data: Json = None
    status: int | None = None


@dataclass(slots=True)
class Waiting:
    """A request that waits for its answer, and what is done with either outcome."""

    message: dict[str, Json]
    then: Callable[[dict[str, Json]], list[Action]]
    otherwise: Callable[[Failure], list[Action]]
    exchange: int | None = None

    @property
    def method(self) -> str:
        method: str = self.message["method"]
        return method


@dataclass(frozen=True, slots=True)
class Mirrored:
    """A parameter of a tool that is mirrored into a header: its path in the arguments and the header's name."""

    path: tuple[str, ...]
    header: str


class ClientWire:
    """Builds every message of a client; one method for each thing that can be said wrongly."""

    IMPLEMENTATION: ClassVar[dict[str, Json]] = {"name": "mcpcheck-reference-client", "version": "1.0.0"}
    CAPABILITIES: ClassVar[dict[str, Json]] = {"elicitation": {"form": {}}, "sampling": {}, "roots": {}}

    def __init__(
        self,
        revisions: Sequence[str] = REVISIONS,
        *,
        transport: str = "stdio",
        path: str = "/mcp",
        capabilities: Mapping[str, Json] | None = None,
    ) -> None:
        self.revisions = tuple(revisions)
        self.transport = transport
        self.path = path
        self.version: str | None = None
        """The revision that is spoken, once it is known."""
        self.session_id: str | None = None
        self.waiting: dict[Json, Waiting] = {}
        self._capabilities = dict(self.CAPABILITIES if capabilities is None else capabilities)
        self._last_id = 0
        self._last_exchange = 0
        self._mirrored: dict[str, list[Mirrored]] = {}

    @property
    def over_http(self) -> bool:
        return self.transport == "http"

    @property
    def modern(self) -> tuple[str, ...]:
        """The revisions with metadata on every request, the oldest first."""
        return tuple(revision for revision in self.revisions if revision not in LEGACY)

    @property
    def legacy(self) -> tuple[str, ...]:
        """The revisions that are opened with initialize, the oldest first; the first of them knows another HTTP."""
        known = LEGACY[1:] if self.over_http else LEGACY
        return tuple(revision for revision in known if revision in self.revisions)

    @property
    def in_legacy(self) -> bool:
        """Whether the session was opened with initialize."""
        return self.version in LEGACY

    # Messages

    def next_id(self) -> Json:
        """An id that no request of this client has had."""
        self._last_id += 1
        return self._last_id

    def request(self, method: str, params: Mapping[str, Json], version: str) -> dict[str, Json]:
        """A request with all that its revision wants."""
        return {"jsonrpc": "2.0", "id": self.next_id(), "method": method, "params": self.params(params, version)}

    def params(self, params: Mapping[str, Json], version: str) -> dict[str, Json]:
        """The params of a request; the stateless era has its metadata in each."""
        if version in LEGACY:
            return dict(params)
        return {**params, "_meta": self.meta(version)}

    def meta(self, version: str) -> dict[str, Json]:
        """The metadata of one request: version, name and capabilities."""
        return {
            PROTOCOL_VERSION: version,
            CLIENT_INFO: self.client_info(),
            CLIENT_CAPABILITIES: self.capabilities_for(version),
        }

    def client_info(self) -> dict[str, Json]:
        """How the client names itself."""
        return dict(self.IMPLEMENTATION)

    def capabilities_for(self, version: str) -> dict[str, Json]:
        """What the client declares to a server of this revision."""
        known = dict(self._capabilities)
        if version < "2025-06-18":
            known.pop("elicitation", None)
        return known

    def encode(self, message: Json) -> bytes:
        """A message as one JSON text in UTF-8."""
        try:
            return json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        except UnicodeEncodeError:
            return json.dumps(message, separators=(",", ":"), allow_nan=False).encode()

    def frame(self, data: bytes) -> bytes:
        """A message as a line."""
        return data + b"\n"

    def put(self, message: dict[str, Json], version: str) -> Send:
        """A message on its way, by the transport in use."""
        data = self.encode(message)
        if not self.over_http:
            return Send(self.frame(data))
        self._last_exchange += 1
        return Send(data, self.post(message, version), self._last_exchange)

    def end_session(self) -> list[Action]:
        """HTTP in the session era: the DELETE that ends a session."""
        self._last_exchange += 1
        headers = tuple(self.legacy_headers({}, self.version or ""))
        return [Send(b"", RequestHead("DELETE", self.path, headers), self._last_exchange)]

    # Heads

    def post(self, message: dict[str, Json], version: str) -> RequestHead:
        """The head of the POST that carries a message."""
        return RequestHead("POST", self.path, tuple(self.headers(message, version)))

    def headers(self, message: dict[str, Json], version: str) -> Iterator[tuple[str, str]]:
        """Its headers, in order."""
        yield "Content-Type", "application/json"
        yield "Accept", self.accept()
        if version in LEGACY:
            yield from self.legacy_headers(message, version)
        else:
            yield "MCP-Protocol-Version", self.version_header(message, version)
            yield from self.method_headers(message)

    def accept(self) -> str:
        """The media types that an answer may have."""
        return "application/json, text/event-stream"

    def version_header(self, message: dict[str, Json], version: str) -> str:
        """The version header, which repeats the body's."""
        return version

    def legacy_headers(self, message: dict[str, Json], version: str) -> Iterator[tuple[str, str]]:
        """The headers of the session era; initialize, which opens the session, has none of them."""
        if message.get("method") == "initialize":
            return
        if version >= "2025-06-18":
            yield "MCP-Protocol-Version", version
        if self.session_id is not None:
            yield "Mcp-Session-Id", self.session_id

    def method_headers(self, message: dict[str, Json]) -> Iterator[tuple[str, str]]:
        """What intermediaries may read without the body: the method, the name, annotated parameters."""
        method = message.get("method")
        if method is None:
            return
        yield "Mcp-Method", method
        name = message.get("params", {}).get(NAMED_BY.get(method, ""))
        if isinstance(name, str):
            yield "Mcp-Name", self.header_value(name)
        if method == "tools/call":
            yield from self.param_headers(message["params"])

    def param_headers(self, params: dict[str, Json]) -> Iterator[tuple[str, str]]:
        """One header for each annotated parameter that has a value."""
        for mirrored in self._mirrored.get(params["name"], ()):
            value = params.get("arguments", {})
            for step in mirrored.path:
                value = value.get(step) if isinstance(value, dict) else None
            if value is not None:
                yield f"Mcp-Param-{mirrored.header}", self.param_value(value)

    def param_value(self, value: Json) -> str:
        """A parameter as a header value: integers in decimals, booleans in lower case."""
        if isinstance(value, bool):
            return "true" if value else "false"
        return self.header_value(str(value))

    def header_value(self, value: str) -> str:
        """A string as a header value; what plain ASCII cannot carry safely goes as Base64 between markers."""
        looks_encoded = value.startswith("=?base64?") and value.endswith("?=")
        if _PLAIN.match(value) and not looks_encoded:
            return value
        return f"=?base64?{base64.b64encode(value.encode('utf-8', 'surrogatepass')).decode()}?="

    # Annotations of tools

    def learn_tool(self, tool: dict[str, Json]) -> bool:
        """Note which parameters are mirrored; False where the annotations are invalid and the tool is dropped."""
        if not self.over_http or self.in_legacy:
            return True
        schema = tool.get("inputSchema")
        try:
            self._mirrored[tool["name"]] = mirrored = list(_annotated(schema, ()))
        except ValueError:
            return False
        names = [item.header.lower() for item in mirrored]
        return len(names) == len(set(names)) and len(names) == _count(schema)


def _annotated(schema: Json, path: tuple[str, ...]) -> Iterator[Mirrored]:
    """The annotated parameters that a chain of properties reaches."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for name, inner in properties.items() if isinstance(properties, dict) else ():
        if not isinstance(inner, dict):
            continue
        if "x-mcp-header" in inner:
            header = inner["x-mcp-header"]
            if not isinstance(header, str) or not _TOKEN.match(header):
                raise ValueError("not a header name")
            if inner.get("type") not in ("string", "integer", "boolean"):
                raise ValueError("not a primitive type")
            yield Mirrored((*path, name), header)
        yield from _annotated(inner, (*path, name))


def _count(schema: Json, *, names: bool = False) -> int:
    """How many annotations a schema holds anywhere; where ``names`` is set the keys are names of properties."""
    if isinstance(schema, list):
        return sum(_count(inner) for inner in schema)
    if not isinstance(schema, dict):
        return 0
    own = 1 if not names and "x-mcp-header" in schema else 0
    data = {"default", "const", "enum", "examples"}
    inside = ((key, inner) for key, inner in schema.items() if names or key not in data)
    maps = {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
    return own + sum(_count(inner, names=not names and key in maps) for key, inner in inside)
