"""The headers in which a request of 2026-07-28 repeats parts of its body, and how they are checked against it."""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation

from mcpcheck.reference.call import Call, Json, Refusal
from mcpcheck.reference.server import Server
from mcpcheck.wire.protocol import HEADER_MISMATCH, NAMED_BY, PROTOCOL_VERSION
from mcpcheck.wire.record import RequestHead, header, header_values

_SENTINEL = re.compile(r"=\?base64\?(.*)\?=", re.DOTALL)
_VISIBLE = re.compile(r"[\t\x20-\x7e]*")


class Headers:
    """Checks that the headers say what the body says."""

    server: Server

    def check_headers(self, head: RequestHead, call: Call) -> None:
        """Refuse a request whose headers are missing, malformed, or not those of its body."""
        self.check_version_header(head, call)
        self.check_method_header(head, call)
        self.check_name_header(head, call)
        self.check_param_headers(head, call)

    def check_version_header(self, head: RequestHead, call: Call) -> None:
        """MCP-Protocol-Version is the version in the body's metadata."""
        value = self.header_value(head, "MCP-Protocol-Version")
        if value is None:
            raise self.missing_version_header(call)
        version = call.meta.get(PROTOCOL_VERSION)
        if isinstance(version, str) and not self.same_text(value, version):
            raise self.mismatch("MCP-Protocol-Version does not match the body")

    def missing_version_header(self, call: Call) -> Refusal:
        """The refusal of a request without MCP-Protocol-Version; it names the versions, for older clients' sake."""
        versions = self.server.supported_versions()
        message = f"Missing MCP-Protocol-Version header; supported versions: {', '.join(versions)}"
        return Refusal(HEADER_MISMATCH, message, {"supported": versions})

    def check_method_header(self, head: RequestHead, call: Call) -> None:
        """Mcp-Method is the body's method."""
        value = self.header_value(head, "Mcp-Method")
        if value is None:
            raise self.mismatch("Missing Mcp-Method header")
        if not self.same_text(value, call.method):
            raise self.mismatch("Mcp-Method does not match the body")

    def check_name_header(self, head: RequestHead, call: Call) -> None:
        """Mcp-Name is the name or URI in the body; a body without one is refused for that."""
        name = call.params.get(NAMED_BY.get(call.method, ""))
        if not isinstance(name, str):
            return
        value = self.header_value(head, "Mcp-Name")
        if value is None:
            raise self.mismatch("Missing Mcp-Name header")
        if not self.same_text(self.decode_header(value), name):
            raise self.mismatch("Mcp-Name does not match the body")

    def check_param_headers(self, head: RequestHead, call: Call) -> None:
        """Each Mcp-Param header is the argument that the tool's schema repeats in it."""
        if call.method != "tools/call" or not isinstance(call.params.get("name"), str):
            return
        tool = self.server.find_tool(call.params["name"])
        arguments = call.params.get("arguments", {})
        if tool is None or not isinstance(arguments, dict):
            return
        for name, value in mirrored(tool.definition["inputSchema"], arguments):
            self.check_param_header(head, name, value)

    def check_param_header(self, head: RequestHead, name: str, value: Json) -> None:
        """One Mcp-Param header; an argument that is absent or null has none."""
        sent = self.header_value(head, f"Mcp-Param-{name}")
        if value is None:
            return
        if sent is None:
            raise self.mismatch(f"Missing Mcp-Param-{name} header")
        if not self.same_value(self.decode_header(sent), value):
            raise self.mismatch(f"Mcp-Param-{name} does not match the body")

    def header_value(self, head: RequestHead, name: str) -> str | None:
        """The value of a header without the blanks around it; refused where it cannot be told or must not stand."""
        values = header_values(head, name)
        if not values:
            return None
        if len(set(values)) > 1:
            raise self.mismatch(f"{name} stands there more than once")
        value = values[0].strip(" \t")
        if not _VISIBLE.fullmatch(value):
            raise self.mismatch(f"{name} holds characters that must not stand in a header")
        return value

    def decode_header(self, value: str) -> str:
        """The text that a header value stands for: as it is, or out of its Base64 form."""
        match = _SENTINEL.fullmatch(value)
        if match is None:
            return value
        try:
            return base64.b64decode(match[1], validate=True).decode()
        except (binascii.Error, ValueError):
            raise self.mismatch("A header is not valid Base64") from None

    def same_text(self, sent: str, value: str) -> bool:
        """Whether a header says what a string of the body says; case counts."""
        return sent == value

    def same_value(self, sent: str, value: Json) -> bool:
        """Whether a header says what an argument says; integers are compared as numbers."""
        if isinstance(value, bool):
            return sent == ("true" if value else "false")
        if isinstance(value, int | float):
            try:
                return bool(Decimal(sent) == Decimal(value))
            except (InvalidOperation, ValueError):
                return False
        return isinstance(value, str) and self.same_text(sent, value)

    def mismatch(self, reason: str) -> Refusal:
        """The refusal of a request for its headers."""
        return Refusal(HEADER_MISMATCH, f"Header mismatch: {reason}")


def mirrored(schema: Mapping[str, Json], arguments: Json) -> Iterator[tuple[str, Json]]:
    """The annotated properties that properties keys alone lead to: header name, and value or None."""
    for name, property_schema in schema.get("properties", {}).items():
        value = arguments.get(name) if isinstance(arguments, dict) else None
        if "x-mcp-header" in property_schema:
            yield property_schema["x-mcp-header"], value
        yield from mirrored(property_schema, value)


def media_type(head: RequestHead) -> str:
    """The media type of a request's body, without parameters."""
    return (header(head, "Content-Type") or "").partition(";")[0].strip().lower()


def accepts(head: RequestHead, wanted: str) -> bool:
    """Whether a client takes answers of a media type; one that says nothing takes all."""
    values = header_values(head, "Accept")
    if not values:
        return True
    family = wanted.partition("/")[0] + "/*"
    for entry in ",".join(values).split(","):
        name, *parameters = (part.strip().lower() for part in entry.split(";"))
        refused = any(re.fullmatch(r"q=0(\.0*)?", parameter) for parameter in parameters)
        if name in (wanted, family, "*/*") and not refused:
            return True
    return False
