"""The reference server behind Streamable HTTP, without I/O.

``HttpServer.handle`` takes one HTTP request and gives an ``HttpReply``. After each call of ``handle``, ``step`` and
``disconnected`` the open streams may hold new events (``Stream.take``). Requests of the stateless era go to one
``Server``; each session of the handshake era has its own (http_legacy.py).

The seams of the HTTP binding:

======================  ==============================================================================================
what is let in          check_path, check_host, check_origin, allowed_origin, foreign_origin, check_accept,
                        check_content_type, is_modern, refuse_method
headers                 check_headers, check_version_header, missing_version_header, check_method_header,
                        check_name_header, check_param_headers, check_param_header, header_value, decode_header,
                        same_text, same_value, mismatch
messages                post, on_bad_payload, on_request, principal, on_notification, accepted, refused_notification
answers                 status_for, as_stream, json_reply, stream_reply, json_headers, stream_headers, event, closes,
                        disconnected
the handshake era       get, delete, open_session, session_id, find_session, missing_session, unknown_session,
                        session_post, session_version, primes, closes_early
2024-11-05              handle_sse, open_sse, endpoint_event, post_sse
======================  ==============================================================================================
"""

from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from mcpcheck.reference.admission import MODERN_KEYS
from mcpcheck.reference.call import Call, Json, Out, Refusal
from mcpcheck.reference.core import World, no_time
from mcpcheck.reference.headers import Headers, accepts, media_type
from mcpcheck.reference.http_legacy import LegacyHttp
from mcpcheck.reference.http_sse import SseHttp
from mcpcheck.reference.server import Server, read, readable_id
from mcpcheck.reference.state import KEY
from mcpcheck.reference.streams import JSON, HttpReply, Stream, sse_event
from mcpcheck.wire.event import Answer, Batch, Event, Notification, NotJson, NotMessage, Request
from mcpcheck.wire.protocol import (
    HEADER_MISMATCH,
    INVALID_REQUEST,
    LEGACY,
    METHOD_NOT_FOUND,
    MISSING_CLIENT_CAPABILITY,
    PARSE_ERROR,
    REVISIONS,
    UNSUPPORTED_VERSION,
)
from mcpcheck.wire.record import RequestHead, header

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class HttpServer(Headers, LegacyHttp, SseHttp):
    """One MCP endpoint. ``hosts`` are the names under which it may be addressed; None lets every name in."""

    server_class: type[Server] = Server
    prefers_streams = False
    """Whether answers come as streams wherever a client takes them, and not only where there is more to say."""

    def __init__(
        self,
        server_class: type[Server] | None = None,
        revisions: Sequence[str] = REVISIONS,
        *,
        path: str = "/mcp",
        hosts: frozenset[str] | None = LOOPBACK,
        key: bytes = KEY,
        now: Callable[[], float] = no_time,
        new_id: Callable[[], str] | None = None,
    ) -> None:
        self.server_class = server_class or self.server_class
        self.revisions = tuple(revisions)
        self.path = path
        self.hosts = hosts
        self.world = World()
        self._options: dict[str, Json] = {"key": key, "now": now, "world": self.world}
        self.server = self.server_class(revisions, **self._options)
        self.server.announces_teardown = self.server.one_client = False
        self.streams: dict[Call, Stream] = {}
        """The open streams of the stateless era, by the request that each answers."""
        LegacyHttp.__init__(self, new_id)
        SseHttp.__init__(self)

    def handle(self, head: RequestHead, body: bytes = b"") -> HttpReply:
        """Answer one HTTP request."""
        try:
            reply = self.check_path(head) or self.check_host(head) or self.check_origin(head)
            if reply is None and self.serves_sse(head.path.partition("?")[0]):
                reply = self.handle_sse(head, body)
            elif reply is None:
                match head.method:
                    case "POST":
                        reply = self.post(head, body)
                    case "GET" if self.server.legacy:
                        reply = self.get(head)
                    case "DELETE" if self.server.legacy:
                        reply = self.delete(head)
                    case _:
                        reply = self.refuse_method(head)
        finally:
            self.flush()
        return reply

    @property
    def busy(self) -> bool:
        """Whether slow work is under way."""
        return any(server.busy for server in self.servers())

    def step(self) -> None:
        """Do one step of each slow work."""
        for server in self.servers():
            server.work()
        self.flush()

    def shutdown(self) -> None:
        """End what is open in good order: subscriptions are told."""
        for server in self.servers():
            server.end_subscriptions()
        self.flush()

    def servers(self) -> list[Server]:
        """Every server behind this endpoint."""
        streamable = [session.server for session in self.sessions.values()]
        return [self.server, *streamable, *(session.server for session in self.sse_sessions.values())]

    def flush(self) -> None:
        """Put what the servers have to say on the streams where it belongs."""
        for out in self.server.take():
            self.deliver(out)
        self.flush_sessions()
        self.flush_sse()

    def deliver(self, out: Out) -> None:
        """Put one message of the stateless era on the stream of its request."""
        stream = self.streams.get(out.call) if out.call is not None else None
        if stream is None:
            return
        stream.push(self.event(out))
        if out.final and self.closes(out):
            stream.finish()
            self.streams = {call: known for call, known in self.streams.items() if known is not stream}

    def disconnected(self, stream: Stream) -> None:
        """The client closed a stream: in the stateless era that cancels its request."""
        if stream.call is not None and self.streams.pop(stream.call, None) is stream:
            self.server.cancel(stream.call)
        stream.close()
        self.left_sse(stream)
        self.flush()

    # What is let in

    def check_path(self, head: RequestHead) -> HttpReply | None:
        """There is one endpoint, and beside it the two of 2024-11-05."""
        path = head.path.partition("?")[0]
        return None if path == self.path or self.serves_sse(path) else text_reply(404, "There is nothing here")

    def check_host(self, head: RequestHead) -> HttpReply | None:
        """The Host header has to name this server, which a rebound name does not."""
        if self.hosts is None or host_name("//" + (header(head, "Host") or "localhost")) in self.hosts:
            return None
        return text_reply(421, "This is not that host")

    def check_origin(self, head: RequestHead) -> HttpReply | None:
        """A web page has to come from this machine."""
        origin = header(head, "Origin")
        return None if origin is None or self.allowed_origin(origin) else self.foreign_origin(head)

    def allowed_origin(self, origin: str) -> bool:
        """Whether pages of an origin may use this server."""
        return host_name(origin) in LOOPBACK

    def foreign_origin(self, head: RequestHead) -> HttpReply:
        """The refusal of a page from elsewhere."""
        return self.error_reply(403, None, Refusal(INVALID_REQUEST, "Origin is not allowed"))

    def check_accept(self, head: RequestHead) -> HttpReply | None:
        """The client has to take at least one of the two forms of an answer."""
        if accepts(head, "application/json") or accepts(head, "text/event-stream"):
            return None
        return text_reply(406, "Accept application/json and text/event-stream")

    def check_content_type(self, head: RequestHead) -> HttpReply | None:
        """A message is JSON and says so."""
        return None if media_type(head) == "application/json" else text_reply(415, "Send application/json")

    def refuse_method(self, head: RequestHead) -> HttpReply:
        """The refusal of any method but POST; servers of older revisions know GET and DELETE too."""
        allowed = "GET, POST, DELETE" if self.server.legacy else "POST"
        return HttpReply(405, [("Allow", allowed)])

    def is_modern(self, head: RequestHead, event: Event) -> bool:
        """Whether a message belongs to the stateless era: by its metadata, else by its version header."""
        if not self.server.legacy:
            return True
        if isinstance(event, Request | Notification) and any(key in event.meta for key in MODERN_KEYS):
            return True
        version = header(head, "MCP-Protocol-Version")
        return version is not None and version.strip() not in LEGACY

    # Messages

    def post(self, head: RequestHead, body: bytes) -> HttpReply:
        """Take one message, or what stands in its place."""
        refused = self.check_accept(head) or self.check_content_type(head)
        if refused is not None:
            return refused
        event = read(body)
        match event:
            case Request(text=text) if text.fault("constant"):
                return self.on_bad_payload(NotJson(event.record, text))
            case NotJson() | NotMessage():
                return self.on_bad_payload(event)
            case Request() | Notification() if self.is_modern(head, event):
                if isinstance(event, Request):
                    return self.on_request(head, event)
                return self.on_notification(head, event)
            case Request() | Notification() | Answer() | Batch() if self.server.legacy:
                return self.session_post(head, event)
        return self.error_reply(400, None, self.server.invalid_request("Invalid request: no request or notification"))

    def on_bad_payload(self, event: NotJson | NotMessage) -> HttpReply:
        """Refuse what is not JSON, and JSON that is no message."""
        if isinstance(event, NotJson):
            return self.error_reply(400, None, self.server.parse_error(event))
        return self.error_reply(400, readable_id(event.id), self.server.invalid_request("Invalid request"))

    def on_request(self, head: RequestHead, request: Request) -> HttpReply:
        """Serve a request of the stateless era."""
        params = request.params if isinstance(request.params, dict) else {}
        provisional = Call(readable_id(request.id), request.method, params)
        try:
            self.check_headers(head, provisional)
        except Refusal as refusal:
            return self.error_reply(self.status_for(refusal.code), provisional.id, refusal)
        self.server.principal = self.principal(head)
        call = self.server.on_request(request)
        return self.answer(head, call)

    def principal(self, head: RequestHead) -> str:
        """Whose request it is: every credential stands for a user of its own."""
        return header(head, "Authorization") or ""

    def answer(self, head: RequestHead, call: Call) -> HttpReply:
        """What the server has to say of a request by now, as one body or as a stream."""
        outs = self.server.take()
        own = [out for out in outs if out.call is call]
        stream = self.as_stream(head, call, own)
        if stream is not None:
            self.streams[call] = stream
            for out in outs:
                self.deliver(out)
            return self.stream_reply(stream)
        for out in outs:
            if out.call is not call:
                self.deliver(out)
        if not call.answered:
            self.server.cancel(call)
            return text_reply(406, "Accept text/event-stream")
        status = 200 if call.refusal is None else self.status_for(call.refusal.code, metadata=call.refusal.metadata)
        return self.json_reply(status, own[-1].data if own else b"")

    def on_notification(self, head: RequestHead, note: Notification) -> HttpReply:
        """Take a notification. There is none that means anything here: requests are cancelled by disconnecting."""
        if "params" in note.obj and not isinstance(note.params, dict):
            return self.refused_notification(self.server.invalid_request("Invalid request: params is not an object"))
        return self.accepted(self.server.on_notification(note))

    def accepted(self, said: list[bytes]) -> HttpReply:
        """The answer to a notification: 202 and nothing more."""
        return self.json_reply(200, said[0]) if said else HttpReply(202)

    def refused_notification(self, refusal: Refusal) -> HttpReply:
        """The answer to a notification that cannot be taken."""
        return self.error_reply(400, None, refusal)

    # Answers

    def status_for(self, code: int, *, metadata: bool = False) -> int:
        """The HTTP status for an error code; ``metadata``: it is the request's metadata that is at fault."""
        if code == METHOD_NOT_FOUND:
            return 404
        at_fault = {PARSE_ERROR, INVALID_REQUEST, HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_VERSION}
        return 400 if code in at_fault or metadata else 200

    def as_stream(self, head: RequestHead, call: Call, outs: list[Out]) -> Stream | None:
        """A stream for the answer, where there is more to say than the answer; None for plain JSON."""
        if not accepts(head, "text/event-stream") or call.refusal is not None:
            return None
        asked_for = call.progress_token is not None or call.log_level is not None or not accepts(head, JSON[1])
        wanted = asked_for or self.prefers_streams
        return Stream(call=call) if wanted or not call.answered else None

    def json_reply(self, status: int, data: bytes) -> HttpReply:
        """An answer as one JSON object."""
        return HttpReply(status, self.json_headers(), data)

    def stream_reply(self, stream: Stream) -> HttpReply:
        """An answer as a stream."""
        return HttpReply(200, self.stream_headers(), stream=stream)

    def error_reply(self, status: int, request_id: Json, refusal: Refusal) -> HttpReply:
        """A refusal as one JSON object."""
        return self.json_reply(status, self.server.encode(self.server.error(request_id, refusal)))

    def json_headers(self) -> list[tuple[str, str]]:
        """The headers of an answer in JSON."""
        return [JSON]

    def stream_headers(self) -> list[tuple[str, str]]:
        """The headers of a stream: nothing on the way may hold it up."""
        return [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"), ("X-Accel-Buffering", "no")]

    def event(self, out: Out) -> bytes:
        """A message as an event of a stream."""
        return sse_event(out.data)

    def closes(self, out: Out) -> bool:
        """Whether a stream ends with the answer."""
        return True


def text_reply(status: int, text: str) -> HttpReply:
    """An answer of the HTTP layer."""
    return HttpReply(status, [("Content-Type", "text/plain; charset=utf-8")], text.encode())


def host_name(url: str) -> str | None:
    """The host in a URL, in lower case; None where there is none."""
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
