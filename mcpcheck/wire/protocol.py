"""The protocol's own names: revisions, reserved keys, error codes, methods. Facts, no behaviour."""

from typing import Final

MODERN: Final = "2026-07-28"
LEGACY: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
REVISIONS: Final = (*LEGACY, MODERN)

META_PREFIX: Final = "io.modelcontextprotocol/"
PROTOCOL_VERSION: Final = META_PREFIX + "protocolVersion"
CLIENT_INFO: Final = META_PREFIX + "clientInfo"
CLIENT_CAPABILITIES: Final = META_PREFIX + "clientCapabilities"
LOG_LEVEL: Final = META_PREFIX + "logLevel"
SUBSCRIPTION_ID: Final = META_PREFIX + "subscriptionId"
SERVER_INFO: Final = META_PREFIX + "serverInfo"

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
HEADER_MISMATCH: Final = -32020
MISSING_CLIENT_CAPABILITY: Final = -32021
UNSUPPORTED_VERSION: Final = -32022
RESOURCE_NOT_FOUND: Final = -32002
URL_ELICITATION_REQUIRED: Final = -32042

MODERN_METHODS: Final = frozenset(
    {
        "server/discover",
        "tools/list",
        "tools/call",
        "prompts/list",
        "prompts/get",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "completion/complete",
        "subscriptions/listen",
    }
)
"""Every request that a client of 2026-07-28 may send."""

INPUT_METHODS: Final = frozenset({"tools/call", "prompts/get", "resources/read"})
"""The requests that may be answered with input_required (mrtr.result.supported-methods)."""

NAMED_BY: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Which parameter the Mcp-Name header repeats, by method (http.headers.mcp-name)."""


def is_modern(version: object) -> bool:
    """Whether a version string belongs to the stateless era: a date from 2026-07-28 on, or no date that is known."""
    return isinstance(version, str) and version not in LEGACY
