"""Departures in the HTTP headers that mirror the message."""

from typing import Any

from mcpcheck.fuzz.registry import Draft, Owes, deviation
from mcpcheck.fuzz.values import one_of
from mcpcheck.wire.protocol import NAMED_BY, PROTOCOL_VERSION

HTTP = ("http",)
NAMED = tuple(NAMED_BY)


@deviation(
    breaks="http.headers.mcp-method",
    owes=Owes.ERROR,
    under="http.headers.missing-method-rejected",
    sure=True,
    transports=HTTP,
)
def no_method(draft: Draft, value: Any) -> None:
    """The header Mcp-Method is absent."""
    draft.headers["Mcp-Method"] = None


@deviation(
    breaks="http.headers.mcp-method",
    owes=Owes.ERROR,
    under="http.headers.method-mismatch-rejected",
    sure=True,
    transports=HTTP,
    values=one_of("mcpcheck/other", "", "*"),
)
def other_method(draft: Draft, value: Any) -> None:
    """The header Mcp-Method names another method."""
    draft.headers["Mcp-Method"] = value


@deviation(
    breaks="http.headers.mcp-method",
    owes=Owes.ERROR,
    under="http.headers.value-case-sensitive",
    sure=True,
    transports=HTTP,
)
def method_in_other_case(draft: Draft, value: Any) -> None:
    """The header Mcp-Method in the wrong case."""
    draft.headers["Mcp-Method"] = draft.message["method"].upper()


@deviation(
    breaks="http.headers.mcp-name",
    owes=Owes.ERROR,
    under="http.headers.missing-name-rejected",
    sure=True,
    methods=NAMED,
    transports=HTTP,
)
def no_name(draft: Draft, value: Any) -> None:
    """The header Mcp-Name is absent."""
    draft.headers["Mcp-Name"] = None


@deviation(
    breaks=("http.headers.mcp-name", "http.headers.mcp-name-base64", "http.param.base64-markers"),
    owes=Owes.ERROR,
    under="http.headers.name-mismatch-rejected",
    sure=True,
    methods=NAMED,
    transports=HTTP,
    values=one_of("mcpcheck-other", "=?base64?bWNwY2hlY2s=?=", "=?base64?@?=", "=?base64?"),
)
def other_name(draft: Draft, value: Any) -> None:
    """The header Mcp-Name names something else, or is in no form that can be read."""
    draft.headers["Mcp-Name"] = value


@deviation(breaks="http.version.header-present", owes=Owes.ANSWER, sound=False, transports=HTTP)
def no_version(draft: Draft, value: Any) -> None:
    """The header MCP-Protocol-Version is absent: a server may take that for a client of 2025-03-26."""
    draft.headers["MCP-Protocol-Version"] = None


@deviation(
    breaks="http.version.header-matches-meta",
    owes=Owes.ERROR,
    under="http.version.mismatch-rejected",
    sure=True,
    transports=HTTP,
    values=one_of("1900-01-01", "2999-12-31"),
)
def other_version(draft: Draft, value: Any) -> None:
    """The header MCP-Protocol-Version names another version than _meta."""
    draft.headers["MCP-Protocol-Version"] = value


@deviation(
    owes=Owes.RESULT,
    under="http.headers.name-case-insensitive",
    sure=True,
    methods=("server/discover",),
    transports=HTTP,
    values=one_of("lower", "upper", "swapcase"),
)
def names_in_other_case(draft: Draft, value: Any) -> None:
    """The names of the headers in another case, which HTTP allows."""
    for name, said in (
        ("MCP-Protocol-Version", draft.meta[PROTOCOL_VERSION]),
        ("Mcp-Method", draft.message["method"]),
        ("Content-Type", "application/json"),
    ):
        draft.headers[name] = None
        draft.more_headers[getattr(name, value)()] = said


@deviation(
    owes=Owes.ANSWER,
    transports=HTTP,
    values=one_of(("X-Mcpcheck", "1"), ("Last-Event-ID", "7"), ("Mcp-Session-Id", "mcpcheck"), ("X-Long", "x" * 3000)),
)
def extra(draft: Draft, value: Any) -> None:
    """A header that the server does not need."""
    draft.more_headers[value[0]] = value[1]


@deviation(
    breaks=("http.headers.mcp-method", "http.version.header-present"),
    owes=Owes.ANYTHING,
    sound=False,
    transports=HTTP,
    values=one_of("mcp-method", "mcp-protocol-version", "content-type"),
)
def doubled(draft: Draft, value: Any) -> None:
    """A header stands twice, with the same value."""
    said = {"mcp-method": draft.message["method"], "mcp-protocol-version": draft.meta[PROTOCOL_VERSION]}
    draft.more_headers[value] = said.get(value, "application/json")


@deviation(
    owes=Owes.ANYTHING,
    sound=False,
    transports=HTTP,
    values=one_of("text/plain", None, "", "application/xml", "application/json; charset=latin-1", "x" * 2000),
)
def other_content_type(draft: Draft, value: Any) -> None:
    """Another media type."""
    draft.headers["Content-Type"] = value


@deviation(
    breaks="http.send.accept-both",
    owes=Owes.ANYTHING,
    sound=False,
    transports=HTTP,
    values=one_of("application/json", "text/event-stream", None, "", "text/html", ";"),
)
def other_accept(draft: Draft, value: Any) -> None:
    """An Accept header that does not list both media types."""
    draft.headers["Accept"] = value
