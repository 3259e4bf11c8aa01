"""What a request is while it is open, and the ways in which serving it can end."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcpcheck.wire.protocol import (
    CLIENT_CAPABILITIES,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    LOG_LEVEL,
    MODERN,
)

Json = Any
"""A JSON value."""

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""The log levels of RFC 5424, the least severe first."""


class Refusal(Exception):
    """The request is answered with a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Json = None, *, metadata: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.metadata = metadata
        """Whether it is the request's metadata that is at fault: over HTTP such a refusal has status 400."""


class InvalidParams(Refusal):
    """The parameters do not have the form that the method wants."""

    def __init__(self, message: str, data: Json = None) -> None:
        super().__init__(INVALID_PARAMS, message, data)


class InternalError(Refusal):
    """Something broke inside."""

    def __init__(self, message: str = "Internal error") -> None:
        super().__init__(INTERNAL_ERROR, message)


class ToolFailed(Exception):
    """The tool itself failed: the result says so, for the model to read."""


class NeedInput(Exception):
    """The request can go on only when the client has answered these requests, or comes again with this state."""

    def __init__(self, requests: Mapping[str, Json] | None, state: Mapping[str, Json] | None = None) -> None:
        super().__init__("input required")
        self.requests = dict(requests) if requests else {}
        self.state = dict(state) if state is not None else None


@dataclass(eq=False, slots=True)
class Call:
    """One request while it is open: what it says, and what its client declared for it."""

    id: Json
    method: str
    params: dict[str, Json]
    revision: str = MODERN
    capabilities: Mapping[str, Json] = field(default_factory=dict)
    log_level: str | None = None
    progress: float | None = None
    """The progress that was reported last."""
    granted: Mapping[str, Json] | None = None
    """The filter of an open subscription, as far as it is honoured."""
    answered: bool = False
    refusal: Refusal | None = None
    """Why it was refused."""
    batch: "Batch | None" = None

    @property
    def modern(self) -> bool:
        """Whether it carries the metadata of the stateless era."""
        return self.revision == MODERN

    @property
    def meta(self) -> dict[str, Json]:
        """The _meta object of its params."""
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}

    @property
    def progress_token(self) -> Json:
        """The progress token, where it has one of a legal type."""
        token = self.meta.get("progressToken")
        return token if type(token) in (str, int) else None

    def declare(self) -> None:
        """Take capabilities and log level from the request's own metadata, as the stateless era wants it."""
        declared = self.meta.get(CLIENT_CAPABILITIES)
        self.capabilities = declared if isinstance(declared, dict) else {}
        self.log_level = self.meta.get(LOG_LEVEL)


@dataclass(eq=False, slots=True)
class Batch:
    """A JSON-RPC batch of revision 2025-03-26: its answers go out together."""

    waiting: int
    answers: list[bytes] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Out:
    """One message on its way out; ``call`` is the request to which it belongs, None for the connection itself."""

    data: bytes
    call: Call | None = None
    final: bool = False
    """Whether it ends the request."""
