"""legacy.http: Streamable HTTP of the handshake era."""

from mcpcheck.rules.http.send import accepts
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Verdicts, broken, holds, rule
from mcpcheck.session.recent import Recent
from mcpcheck.session.session import Session
from mcpcheck.wire import sse
from mcpcheck.wire.event import Answer, HttpRequest, Message, Request
from mcpcheck.wire.record import Dir, Kind, RequestHead, header


def _posted(event: Message, session: Session) -> RequestHead | None:
    """The head of the POST that carries a client's message, once for a batch's first element."""
    head = session.exchange.request if session.exchange else None
    return head if event.dir is Dir.C2S and head is not None and head.method == "POST" else None


@rule("legacy.http.post.accept")
def post_accept(event: Message, session: Session) -> Verdicts:
    """Looks at the Accept header of every POST: both types by name."""
    head = _posted(event, session)
    if head is not None:
        yield accepts(event, head, "application/json", "text/event-stream")


@rule("legacy.http.get.accept")
def get_accept(event: HttpRequest, session: Session) -> Verdicts:
    """Looks at the Accept header of every GET to the endpoint: text/event-stream by name."""
    if event.head.method == "GET" and event.to_endpoint:
        yield accepts(event, event.head, "text/event-stream")


@rule("legacy.http.get.no-response")
def get_no_response(event: Message, session: Session) -> Verdicts:
    """Looks at what comes on the stream of a GET that resumes nothing: no answer belongs there.

    The body of a refusal, often an error without id, is no stream.
    """
    head = session.exchange.request if session.exchange else None
    if event.record.kind is not Kind.SSE or head is None or head.method != "GET":
        return
    if header(head, "last-event-id") is not None:
        return
    if isinstance(event, Answer):
        yield broken(event, "no response on the stream of a GET", f"the answer to id {shown(event.id)}")
    else:
        yield holds(event)


@rule("legacy.http.resume.id-unique")
class ResumeIdUnique:
    """Compares the ids of events: one id for one event, on whatever stream. A replay of the same data is no clash."""

    def __init__(self) -> None:
        self._seen: Recent[tuple[str, str], tuple[int, int]] = Recent()

    def see(self, event: Message, session: Session) -> Verdicts:
        if event.record.kind is not Kind.SSE:
            return
        id = sse.parse(event.record.data).id
        if not id:
            return
        head = session.exchange.request if session.exchange else None
        place = ((header(head, "mcp-session-id") or "") if head else "", id)
        data = hash(sse.data_bytes(event.record.data) or b"")
        before = self._seen.get(place)
        if before is None:
            before = self._seen[place] = (data, event.record.n)
        if before[0] == data:
            yield holds(event)
        else:
            yield broken(
                event, "an id of its own for each event", f"id {shown(id)} is that of another event", before[1]
            )


@rule("legacy.http.version-header.client-sends")
def version_header_client_sends(event: Message | HttpRequest, session: Session) -> Verdicts:
    """Looks for MCP-Protocol-Version on what a client sends after initialize."""
    if isinstance(event, HttpRequest):
        head = event.head if event.head.method in ("GET", "DELETE") and event.to_endpoint else None
    else:
        opening = isinstance(event, Request) and event.method == "initialize"
        head = None if opening else _posted(event, session)
    if head is None:
        return
    if header(head, "mcp-protocol-version") is not None:
        yield holds(event)
    else:
        yield broken(event, f"MCP-Protocol-Version: {session.revision}", "there is no such header")


@rule("legacy.http.version-header.negotiated")
def version_header_negotiated(event: Message, session: Session) -> Verdicts:
    """Compares MCP-Protocol-Version with the version that the session has settled on."""
    head = _posted(event, session)
    session_id = header(head, "mcp-session-id") if head else None
    version = header(head, "mcp-protocol-version") if head else None
    settled = session.settled_version(session_id)
    if version is None or settled is None or (isinstance(event, Request) and event.method == "initialize"):
        return
    if version.strip() == settled:
        yield holds(event)
    else:
        yield broken(event, f"{settled}, the negotiated version", f"MCP-Protocol-Version: {version}")
