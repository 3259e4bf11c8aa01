"""legacy.http: Streamable HTTP of the handshake era."""

from mcpcheck.rules.http.send import accepted, accepts, single_message
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.session.call import Call, Exchange
from mcpcheck.session.session import Session
from mcpcheck.session.strays import Stray
from mcpcheck.wire import sse
from mcpcheck.wire.event import Answer, Closed, HttpRequest, HttpResponse, Message, Request, SseNoData
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir, Kind, RequestHead, header


def _posted(event: Message, session: Session) -> RequestHead | None:
    """The head of the POST that carries a client's message, once for a batch's first element."""
    head = session.exchange.request if session.exchange else None
    return head if event.dir is Dir.C2S and head is not None and head.method == "POST" else None


def _of_browser(head: RequestHead) -> bool:
    """Whether somebody looks at the address who is no client of the protocol."""
    return "text/html" in accepted(head)


@rule("legacy.http.get.accept")
def get_accept(event: HttpRequest, session: Session) -> Verdicts:
    """Looks at the Accept header of every GET to the endpoint: text/event-stream by name. A browser is left alone."""
    if event.head.method == "GET" and event.to_endpoint and not _of_browser(event.head):
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
        of_client = event.head.method in ("GET", "DELETE") and not _of_browser(event.head)
        head = event.head if of_client and event.to_endpoint else None
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


@rule("legacy.http.post.batch-bodies")
def post_batch_bodies(event: Message | Stray | HttpResponse, session: Session) -> Verdicts:
    """Looks at the bodies of POSTs where batches are allowed: there is one, and it is one message or one array.

    What an array may hold has rules of its own.
    """
    yield from single_message(event, session)


@rule("legacy.http.session.client-sends")
class SessionClientSends:
    """Looks for Mcp-Session-Id on what a client sends once the server has given such an id to a session.

    A GET or DELETE without one is suspect: it may be another client's, of another transport. A ping is left alone, for
    it need not wait for the answer to initialize; and so is everything where some sessions have no id.
    """

    def __init__(self) -> None:
        self._issued: Recent[str, int] = Recent()
        self._without = False

    def see(self, event: Message | HttpRequest, session: Session) -> Verdicts:
        if isinstance(event, Answer) and event.dir is Dir.S2C:
            self._learn(event, session)
            return
        head = self._judged(event, session)
        if head is None or not self._issued or self._without or not session.whole:
            return
        id = header(head, "mcp-session-id")
        if id is None:
            verdict = broken if head.method == "POST" else suspect
            n = next(reversed(self._issued.values()))
            yield verdict(event, "the session's Mcp-Session-Id", "there is no such header", n)
        elif id in self._issued:
            yield holds(event)

    def _learn(self, answer: Answer, session: Session) -> None:
        if session.call is None or session.call.request.method != "initialize" or not isinstance(answer.result, dict):
            return
        response = session.exchange.response if session.exchange else None
        id = header(response, "mcp-session-id") if response else None
        if id is None:
            self._without = True
        else:
            self._issued[id] = answer.record.n

    @staticmethod
    def _judged(event: Message | HttpRequest, session: Session) -> RequestHead | None:
        if isinstance(event, HttpRequest):
            listens = event.head.method == "GET" and "text/event-stream" in accepted(event.head)
            return event.head if event.to_endpoint and (listens or event.head.method == "DELETE") else None
        if isinstance(event, Request) and event.method in ("initialize", "ping"):
            return None
        return _posted(event, session)


@rule("legacy.http.sse.response-eventually")
class ResponseEventually:
    """Looks at streams that the server ended before the answer to the request that was POSTed.

    It is broken where the server went on serving the session; else the session, or the server, may have come to its
    end, and it is suspect. A stream whose events have ids is left alone, since the client may resume it, and so is one
    of a request that was cancelled, or that got its answer on another stream. A recording with a gap is not judged.
    """

    def __init__(self) -> None:
        self._marked: Recent[int, None] = Recent()
        self._ended: Recent[int, tuple[Call, int, str | None]] = Recent(1000)
        self._served: Recent[str, int] = Recent()  # by session id: the newest request that was served

    def see(self, event: Message | SseNoData | HttpResponse | Closed, session: Session) -> Verdicts:
        exchange = session.exchange
        if exchange is None or exchange.request is None or event.dir is Dir.C2S:
            return
        if isinstance(event, HttpResponse):
            if 200 <= event.head.status < 300:
                self._served[header(exchange.request, "mcp-session-id") or ""] = exchange.request_frame
        elif isinstance(event, Closed):
            self._closed(event, exchange)
        elif event.record.kind is Kind.SSE:
            if exchange.n not in self._marked and sse.parse(event.record.data).id:
                self._marked[exchange.n] = None
            if isinstance(event, Answer) and session.call is not None and session.call.exchange is exchange:
                yield holds(event)

    def _closed(self, event: Closed, exchange: Exchange) -> None:
        streamed = exchange.media_type == "text/event-stream" and exchange.status == 200
        if not streamed or exchange.request is None or exchange.n in self._marked:
            return
        for call in exchange.calls.values():
            if call.request.dir is Dir.C2S:
                id = header(exchange.request, "mcp-session-id")
                self._ended[call.request.record.n] = (call, event.record.n, id)

    def end(self, session: Session) -> Verdicts:
        for call, n, id in self._ended.values():
            if call.open and not call.cancelled and session.whole:
                verdict = broken if self._served.get(id or "", 0) > n else suspect
                said = f"the stream of {call.request.method} ended without it"
                yield verdict(call.request, "the response on its stream", said, n, blames="server")
