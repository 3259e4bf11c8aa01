"""http.headers, http.version: requests that their headers make wrong, and that a server must not serve."""

import re

from mcpcheck.rules.payloads import is_call, shown
from mcpcheck.rules.registry import Verdicts, broken, holds, rule
from mcpcheck.session.session import Session
from mcpcheck.wire import mcp_http
from mcpcheck.wire.event import Answer, Request
from mcpcheck.wire.protocol import NAMED_BY, PROTOCOL_VERSION
from mcpcheck.wire.record import Dir, RequestHead, header_values

_INVALID = re.compile(r"[^\t\x20-\x7e]")
_VALIDATED = ("MCP-Protocol-Version", "Mcp-Method", "Mcp-Name")
_WITHOUT_THE_HEADER = {"2024-11-05", "2025-03-26"}
"""The revisions that have no MCP-Protocol-Version."""


def _asked(answer: Answer, session: Session) -> tuple[Request, RequestHead] | None:
    """A request and its head, where a server of this revision has served or refused it.

    A result without resultType may come from a server of the handshake era, which is bound by nothing of this.
    """
    exchange = session.exchange
    if answer.dir is Dir.C2S or exchange is None or exchange.call is None or exchange.request is None:
        return None
    request, result = exchange.call.request, answer.result
    if not is_call(request) or exchange.request.method != "POST":
        return None
    served = isinstance(result, dict) and "resultType" in result
    return (request, exchange.request) if served or answer.has_error else None


def _values(head: RequestHead, name: str) -> list[str]:
    return [value.strip(" \t") for value in header_values(head, name)]


def _valid(head: RequestHead, name: str) -> str | None:
    """The value of a header that is there once and has no invalid characters."""
    values = _values(head, name)
    return values[0] if len(values) == 1 and not _INVALID.search(values[0]) else None


def _judge(answer: Answer, session: Session, fault: str) -> Verdicts:
    """A request with a fault is refused."""
    if not fault:
        return
    if answer.has_error:
        yield holds(answer)
    else:
        n = session.exchange.request_frame if session.exchange else answer.record.n
        yield broken(answer, "a refusal: 400 with error -32020", f"a result, although {fault}", n)


@rule("http.version.mismatch-rejected")
def version_mismatch_rejected(answer: Answer, session: Session) -> Verdicts:
    """Looks for results of requests whose MCP-Protocol-Version and _meta name two versions."""
    asked = _asked(answer, session)
    if asked is None:
        return
    request, head = asked
    told, version = _valid(head, "MCP-Protocol-Version"), request.meta.get(PROTOCOL_VERSION)
    if told is not None and isinstance(version, str) and told != version:
        fault = f"MCP-Protocol-Version is {shown(told)} and _meta says {shown(version)}"
        yield from _judge(answer, session, fault)


@rule("http.version.missing-rejected")
def version_missing_rejected(answer: Answer, session: Session) -> Verdicts:
    """Looks for results of requests without MCP-Protocol-Version.

    A server that has not told its versions, or that serves revisions which had no such header, is left alone.
    """
    asked = _asked(answer, session)
    if asked is None or not session.discovered or set(session.supported) & _WITHOUT_THE_HEADER:
        return
    if not _values(asked[1], "MCP-Protocol-Version"):
        yield from _judge(answer, session, "there is no MCP-Protocol-Version")


def _method_fault(request: Request, head: RequestHead) -> tuple[str, bool]:
    """What is wrong with Mcp-Method, and whether it is the case of letters alone."""
    told = _valid(head, "Mcp-Method")
    if told is None or told == request.method:
        return "", False
    return f"Mcp-Method is {shown(told)} for {shown(request.method)}", told.lower() == request.method.lower()


def _name_fault(request: Request, head: RequestHead) -> tuple[str, bool]:
    """What is wrong with Mcp-Name, and whether it is the case of letters alone.

    A value that claims to be encoded and is not has a rule of its own. Of a name that is redacted nothing is known.
    """
    name, told = _name(request), _valid(head, "Mcp-Name")
    if name is None or told is None or request.record.redacted:
        return "", False
    decoded = mcp_http.decode_value(told)
    if decoded is None or decoded == name or told == name.strip() or (decoded == told and told.startswith("=?")):
        return "", False
    return f"Mcp-Name is {shown(told)} for {shown(name)}", decoded.lower() == name.lower()


def _name(request: Request) -> str | None:
    name = request.param(NAMED_BY.get(request.method, ""))
    return name if isinstance(name, str) else None


@rule("http.headers.method-mismatch-rejected")
def method_mismatch_rejected(answer: Answer, session: Session) -> Verdicts:
    """Looks for results of requests whose Mcp-Method names another method than the body; the case has its own rule."""
    asked = _asked(answer, session)
    fault, by_case = _method_fault(*asked) if asked else ("", False)
    if not by_case:
        yield from _judge(answer, session, fault)


@rule("http.headers.name-mismatch-rejected", on=NAMED_BY)
def name_mismatch_rejected(answer: Answer, session: Session) -> Verdicts:
    """Looks for results of requests whose Mcp-Name, decoded, differs from the body; the case has its own rule."""
    asked = _asked(answer, session)
    fault, by_case = _name_fault(*asked) if asked else ("", False)
    if not by_case:
        yield from _judge(answer, session, fault)


@rule("http.headers.value-case-sensitive")
def value_case_sensitive(answer: Answer, session: Session) -> Verdicts:
    """Looks for results of requests whose Mcp-Method or Mcp-Name differs from the body in the case of letters alone."""
    asked = _asked(answer, session)
    if asked is None:
        return
    for fault, by_case in (_method_fault(*asked), _name_fault(*asked)):
        if by_case:
            yield from _judge(answer, session, fault)


@rule("http.headers.missing-method-rejected")
def missing_method_rejected(answer: Answer, session: Session) -> Verdicts:
    """Looks for results of requests without Mcp-Method."""
    asked = _asked(answer, session)
    if asked is not None and not _values(asked[1], "Mcp-Method"):
        yield from _judge(answer, session, "there is no Mcp-Method")


@rule("http.headers.missing-name-rejected", on=NAMED_BY)
def missing_name_rejected(answer: Answer, session: Session) -> Verdicts:
    """Looks for results of tools/call, prompts/get and resources/read without Mcp-Name."""
    asked = _asked(answer, session)
    if asked is not None and _name(asked[0]) is not None and not _values(asked[1], "Mcp-Name"):
        yield from _judge(answer, session, "there is no Mcp-Name")


@rule("http.headers.invalid-chars-rejected")
def invalid_chars_rejected(answer: Answer, session: Session) -> Verdicts:
    """Looks for results of requests with control characters, or what is no ASCII, in a header that is validated."""
    asked = _asked(answer, session)
    if asked is None:
        return
    for name in _VALIDATED:
        odd = [value for value in _values(asked[1], name) if _INVALID.search(value)]
        if odd:
            yield from _judge(answer, session, f"{name} is {shown(odd[0])}")
