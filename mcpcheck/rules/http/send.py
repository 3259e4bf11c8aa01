"""http.send, http.version, http.headers: what a client's POST looks like."""

import re

from mcpcheck.rules.payloads import is_call, shown
from mcpcheck.rules.registry import Judgement, Verdicts, broken, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.session.strays import Stray
from mcpcheck.wire import mcp_http
from mcpcheck.wire.event import Event, HttpResponse, Message, Request
from mcpcheck.wire.protocol import NAMED_BY, PROTOCOL_VERSION
from mcpcheck.wire.record import Dir, RequestHead, header_values

_MARKED = re.compile(r"=\?base64\?[A-Za-z0-9+/]*={0,2}\?=")
_WRONG_ALPHABET = re.compile(r"=\?base64\?[A-Za-z0-9+/_=-]*\?=")


def _head(event: Message, session: Session) -> RequestHead | None:
    """The head of the POST that carries a client's message."""
    if event.dir is not Dir.C2S or session.exchange is None:
        return None
    return session.exchange.request


def _head_of_request(event: Request, session: Session) -> RequestHead | None:
    """The same for requests alone: what headers a notification has is left open."""
    return _head(event, session) if is_call(event) else None


@rule("http.send.new-post")
def new_post(event: Message, session: Session) -> Verdicts:
    """Looks at the method and path with which a client's message comes.

    Where the recording does not show everything, another path may be the one that a stream of HTTP+SSE has named.
    """
    head = _head(event, session)
    if head is None or session.exchange is None:
        return
    if head.method == "POST" and session.exchange.to_endpoint:
        yield holds(event)
    elif session.whole or head.method != "POST":
        yield broken(event, "a POST to the MCP endpoint", f"{head.method} {head.path}")


@rule("http.send.accept-both")
def accept_both(event: Message, session: Session) -> Verdicts:
    """Looks at the Accept header of POSTs: both types by name, wherever and with whatever quality above 0.

    In the stateless era it looks at requests alone: what headers a notification has is left open there.
    """
    asks = isinstance(event, Request) and is_call(event)
    head = _head(event, session) if asks or not session.stateless else None
    if head is not None and head.method == "POST" and (session.whole or _to_endpoint(session)):
        yield accepts(event, head, "application/json", "text/event-stream")


def _to_endpoint(session: Session) -> bool:
    return session.exchange is not None and session.exchange.to_endpoint


def accepts(event: Event, head: RequestHead, *types: str) -> Judgement:
    """Whether Accept names each of the media types."""
    named = accepted(head)
    missing = [type for type in types if type not in named]
    if not missing:
        return holds(event)
    said = ", ".join(header_values(head, "accept")) or "absent"
    return broken(event, f"Accept lists {' and '.join(types)}", f"Accept is {shown(said)}")


def accepted(head: RequestHead) -> set[str]:
    """The media types that Accept names, but for those with quality 0."""
    named = set()
    for part in ",".join(header_values(head, "accept")).split(","):
        media, *parameters = (piece.strip().lower() for piece in part.split(";"))
        if not any(re.fullmatch(r"q\s*=\s*0(\.0*)?", parameter) for parameter in parameters):
            named.add(media)
    return named


@rule("http.send.single-message")
def single_message(event: Message | Stray | HttpResponse, session: Session) -> Verdicts:
    """Looks at the bodies of POSTs to the endpoint: one message each. An array is base.message.single-object."""
    exchange = session.exchange
    if exchange is None:
        return
    if isinstance(event, HttpResponse):
        if exchange.to_endpoint and not exchange.has_body and session.whole and _is_empty_post(exchange.request):
            yield broken(event, "one message as the body", "there is no body", exchange.request_frame, blames="client")
    elif event.dir is Dir.C2S:
        if not isinstance(event, Stray):
            yield holds(event)
        elif event.kind == "joined":
            yield broken(event, "one message as the body", "several objects")


def _is_empty_post(head: RequestHead | None) -> bool:
    """Whether a POST says that it has no body; one that was refused before it was read is another matter."""
    if head is None or head.method != "POST" or header_values(head, "transfer-encoding"):
        return False
    return header_values(head, "content-length") in ([], ["0"])


@rule("http.version.header-present")
def header_present(request: Request, session: Session) -> Verdicts:
    """Looks for MCP-Protocol-Version on every request of the stateless era: one field, no more."""
    head = _head_of_request(request, session)
    if head is None:
        return
    values = header_values(head, "mcp-protocol-version")
    if len(values) == 1:
        yield holds(request)
    else:
        said = f"{len(values)} of them" if values else "there is none"
        yield broken(request, "one MCP-Protocol-Version header", said)


@rule("http.version.header-matches-meta")
def header_matches_meta(request: Request, session: Session) -> Verdicts:
    """Compares MCP-Protocol-Version with the protocolVersion in _meta, where both are there."""
    head = _head_of_request(request, session)
    values = header_values(head, "mcp-protocol-version") if head else []
    version = request.meta.get(PROTOCOL_VERSION)
    if len(values) != 1 or not isinstance(version, str):
        return
    if values[0].strip() == version:
        yield holds(request)
    else:
        yield broken(request, f"the header {version}, as in _meta", f"the header {values[0].strip()}")


@rule("http.headers.mcp-method")
def mcp_method(request: Request, session: Session) -> Verdicts:
    """Compares Mcp-Method with the body's method, case included."""
    head = _head_of_request(request, session)
    if head is None:
        return
    values = header_values(head, "mcp-method")
    if [value.strip() for value in values] == [request.method]:
        yield holds(request)
    else:
        yield broken(request, f"Mcp-Method: {request.method}", f"Mcp-Method is {', '.join(values) or 'absent'}")


@rule("http.headers.mcp-name")
def mcp_name(request: Request, session: Session) -> Verdicts:
    """Compares Mcp-Name, decoded, with the tool, prompt or URI of the body. Other methods may have one or none."""
    head = _head_of_request(request, session)
    name = request.param(NAMED_BY.get(request.method, ""))
    if head is None or not isinstance(name, str):
        return
    values = [value.strip() for value in header_values(head, "mcp-name")]
    if len(values) == 1 and values[0] != name and _is_marked_wrongly(values[0]):
        return  # http.param.base64-markers
    if len(values) == 1 and (mcp_http.decode_value(values[0]) == name or values[0] == name.strip()):
        yield holds(request)
    else:
        yield broken(request, f"Mcp-Name stands for {shown(name)}", f"Mcp-Name is {', '.join(values) or 'absent'}")


@rule("http.param.base64-markers")
def base64_markers(request: Request, session: Session) -> Verdicts:
    """Looks at values of Mcp-Name and Mcp-Param headers that are encoded, or seem to be.

    A value that equals what it stands for is plain. Another alphabet, or no padding, is suspect.
    """
    head = _head_of_request(request, session)
    for name, value in head.headers if head else ():
        value = value.strip()
        mirrored = name.lower() == "mcp-name" or name.lower().startswith("mcp-param-")
        if not mirrored or not value.startswith("=?") or _stands_plainly(request, value):
            continue
        if _MARKED.fullmatch(value) and mcp_http.decode_value(value) is not None:
            yield holds(request)
        elif _WRONG_ALPHABET.fullmatch(value):
            yield suspect(request, "the standard Base64 alphabet with padding", f"{name}: {value[:80]}")
        else:
            yield broken(request, "=?base64?...?=, in lower case", f"{name}: {value[:80]}")


def _is_marked_wrongly(value: str) -> bool:
    return value.startswith("=?") and value.endswith("=") and not _MARKED.fullmatch(value)


def _stands_plainly(request: Request, value: str) -> bool:
    """Whether a header's value is itself the name or one of the arguments."""
    arguments = request.param("arguments")
    plain = [request.param("name"), request.param("uri"), *(arguments.values() if isinstance(arguments, dict) else ())]
    return value in [text for text in plain if isinstance(text, str)]
