"""The headers that a client's POST carries, made from its message (the Streamable HTTP page of each revision)."""

import base64
import re
from collections.abc import Mapping
from typing import Any, Final

from mcpcheck.wire.protocol import NAMED_BY, PROTOCOL_VERSION

ACCEPT: Final = "application/json, text/event-stream"
_PLAIN = re.compile(r"[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?")
_SENTINEL = re.compile(r"=\?base64\?.*\?=", re.DOTALL)


def encode_value(value: str) -> str:
    """A header value as it is, or in the Base64 sentinel form where plain ASCII cannot carry it safely."""
    if _PLAIN.fullmatch(value) and not _SENTINEL.fullmatch(value):
        return value
    return f"=?base64?{base64.b64encode(value.encode('utf-8', 'surrogatepass')).decode()}?="


def decode_value(value: str) -> str | None:
    """What a header value stands for; None where it claims the sentinel form and is none."""
    if not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[len("=?base64?") : -len("?=")], validate=True).decode("utf-8")
    except ValueError:
        return None


def request_headers(message: Any, tool_schemas: Mapping[str, Any] | None = None) -> dict[str, str]:
    """The headers of 2026-07-28. ``tool_schemas`` are the known inputSchemas by tool name, for Mcp-Param headers."""
    headers = {"Content-Type": "application/json", "Accept": ACCEPT}
    if not isinstance(message, dict):
        return headers
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    meta = params.get("_meta")
    version = meta.get(PROTOCOL_VERSION) if isinstance(meta, dict) else None
    if isinstance(version, str):
        headers["MCP-Protocol-Version"] = version
    method = message.get("method")
    if isinstance(method, str):
        headers["Mcp-Method"] = method
        name = params.get(NAMED_BY.get(method, ""))
        if isinstance(name, str):
            headers["Mcp-Name"] = encode_value(name)
        if method == "tools/call":
            headers |= param_headers((tool_schemas or {}).get(str(name)), params.get("arguments"))
    return headers


def param_headers(schema: Any, arguments: Any) -> dict[str, str]:
    """The Mcp-Param headers of a call: the annotated parameters that have a value (http.param.mirrored)."""
    headers: dict[str, str] = {}
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or not isinstance(arguments, dict):
        return headers
    for name, property in properties.items():
        value = arguments.get(name)
        if value is None or not isinstance(property, dict):
            continue
        label = property.get("x-mcp-header")
        if isinstance(label, str) and isinstance(value, str | int | bool):
            plain = str(value).lower() if isinstance(value, bool) else str(value)
            headers[f"Mcp-Param-{label}"] = encode_value(plain)
        headers |= param_headers(property, value)
    return headers


def legacy_headers(version: str, session_id: str | None, message: Any) -> dict[str, str]:
    """The headers of the handshake era: the version once it is negotiated (since 2025-06-18), and the session."""
    headers = {"Content-Type": "application/json", "Accept": ACCEPT}
    opening = isinstance(message, dict) and message.get("method") == "initialize"
    if not opening and version >= "2025-06-18":
        headers["MCP-Protocol-Version"] = version
    if session_id is not None:
        headers["Mcp-Session-Id"] = session_id
    return headers
