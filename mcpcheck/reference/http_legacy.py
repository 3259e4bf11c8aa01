"""Sessions of the handshake era behind Streamable HTTP: 2025-03-26 to 2025-11-25."""

from collections.abc import Callable
from dataclasses import dataclass, field

from mcpcheck.reference.call import Call, Json, Out, Refusal
from mcpcheck.reference.headers import accepts
from mcpcheck.reference.server import Server
from mcpcheck.reference.streams import JSON, HttpReply, Stream, sse_event
from mcpcheck.wire.event import Answer, Batch, Event, Notification, Request
from mcpcheck.wire.protocol import INVALID_REQUEST
from mcpcheck.wire.record import RequestHead, header

SESSION = "MCP-Session-Id"
RETRY = 500
"""After how many milliseconds a client is to come back for the rest of a stream."""


@dataclass(eq=False, slots=True)
class HttpSession:
    """One session: its server, and its streams."""

    name: str
    server: Server
    streams: dict[Call, Stream] = field(default_factory=dict)
    """The streams of requests that are not answered yet."""
    named: dict[str, Stream] = field(default_factory=dict)
    """Every stream that can be resumed, by its name."""
    standing: Stream | None = None
    """The stream of a GET, for what belongs to no request."""
    unsent: list[bytes] = field(default_factory=list)
    """What waits for such a stream."""

    @property
    def revision(self) -> str:
        """What initialize negotiated."""
        return self.server.session.revision if self.server.session else ""


class LegacyHttp:
    """Sessions, by their ids."""

    server: Server
    server_class: type[Server]
    _options: dict[str, Json]

    def __init__(self, new_id: Callable[[], str] | None) -> None:
        self.sessions: dict[str, HttpSession] = {}
        self._new_id = new_id
        self._named = 0

    # Sessions

    def open_session(self, head: RequestHead, request: Request) -> HttpReply:
        """Answer initialize, and give the session that it opens an id."""
        server = self.server_class(self.server.legacy, **self._options)
        call = server.on_request(request)
        data = server.take()[-1].data
        if server.session is None:
            server.closed()
            return self.json_reply(self.session_status(call), data)
        session = HttpSession(self.session_id(), server)
        self.sessions[session.name] = session
        reply = self.json_reply(200, data)
        reply.headers.append((SESSION, session.name))
        return reply

    def session_id(self) -> str:
        """A new session id. Without a source of randomness it can be guessed, which is good enough in memory."""
        self._named += 1
        return self._new_id() if self._new_id is not None else f"session-{self._named}"

    def find_session(self, head: RequestHead) -> "HttpSession | HttpReply":
        """The session that a request belongs to, or its refusal."""
        name = header(head, SESSION)
        if name is None:
            return self.missing_session(head)
        return self.sessions.get(name) or self.unknown_session(head)

    def missing_session(self, head: RequestHead) -> HttpReply:
        """The refusal of a request without a session id."""
        return self.error_reply(400, None, Refusal(INVALID_REQUEST, f"Missing {SESSION} header"))

    def unknown_session(self, head: RequestHead) -> HttpReply:
        """The refusal of a session that has ended, or never was."""
        return self.error_reply(404, None, Refusal(INVALID_REQUEST, "Session not found"))

    def session_version(self, head: RequestHead, session: HttpSession) -> HttpReply | None:
        """Refuse a version header that is not the session's; without one the session knows its version."""
        version = header(head, "MCP-Protocol-Version")
        if version is None or version == session.revision or session.revision < "2025-06-18":
            return None
        return self.error_reply(400, None, Refusal(INVALID_REQUEST, "MCP-Protocol-Version is not the session's"))

    def delete(self, head: RequestHead) -> HttpReply:
        """End a session."""
        session = self.find_session(head)
        if isinstance(session, HttpReply):
            return session
        del self.sessions[session.name]
        session.server.closed()
        for stream in (*session.named.values(), *session.streams.values()):
            stream.finish()
        if session.standing is not None:
            session.standing.finish()
        return HttpReply(200)

    # Messages

    def session_post(self, head: RequestHead, event: Event) -> HttpReply:
        """Take a message that belongs to a session, or that opens one."""
        if isinstance(event, Request) and event.method == "initialize" and header(head, SESSION) is None:
            return self.open_session(head, event)
        session = self.find_session(head)
        if isinstance(session, HttpReply):
            return session
        refused = self.session_version(head, session)
        if refused is not None:
            return refused
        server = session.server
        match event:
            case Request():
                return self.session_answer(head, session, [server.on_request(event)])
            case Batch():
                return self.session_batch(head, session, event)
            case Notification():
                return self.accepted(server.on_notification(event))
            case Answer():
                server.on_answer(event)
        return self.accepted([])

    def session_batch(self, head: RequestHead, session: HttpSession, batch: Batch) -> HttpReply:
        """Answer a batch; one of notifications and responses alone is merely accepted."""
        calls = session.server.on_batch(batch)
        if calls:
            return self.session_answer(head, session, calls)
        if session.revision == "2025-03-26" and batch.size:
            return self.accepted([])
        outs = session.server.take()
        return self.json_reply(400, outs[-1].data if outs else b"")

    def session_answer(self, head: RequestHead, session: HttpSession, calls: list[Call]) -> HttpReply:
        """What there is to say of requests by now, as one body or as a stream."""
        if not self.as_session_stream(head, session, calls):
            outs = session.server.take()
            own = [out for out in outs if out.call in calls and out.final]
            for out in outs:
                if out.call not in calls:
                    self.deliver_in(session, out)
            return self.json_reply(self.session_status(calls[0]), own[-1].data if own else b"")
        stream = self.named_stream(session, calls[0])
        for call in calls:
            session.streams[call] = stream
        if self.closes_early(session, calls[0]):
            stream.push(b"retry: %d\n\n" % RETRY)
            stream.close()
        return self.stream_reply(stream)

    def as_session_stream(self, head: RequestHead, session: HttpSession, calls: list[Call]) -> bool:
        """Whether to answer by a stream: calls of tools, and whatever is not answered yet."""
        if not accepts(head, "text/event-stream"):
            return False
        if not accepts(head, JSON[1]):
            return True
        return any(call.method == "tools/call" or not call.answered for call in calls)

    def session_status(self, call: Call) -> int:
        """The status of an answer in JSON; no revision of this era prescribes any for errors."""
        return 200

    # Streams

    def get(self, head: RequestHead) -> HttpReply:
        """Open the stream for what belongs to no request, or resume one that broke off."""
        session = self.find_session(head)
        if isinstance(session, HttpReply):
            return session
        refused = self.session_version(head, session)
        if refused is not None:
            return refused
        if not accepts(head, "text/event-stream"):
            return HttpReply(406)
        last = header(head, "Last-Event-ID")
        if last is not None:
            return self.resume(session, last)
        if session.standing is not None:
            session.standing.finish()
        session.standing = self.named_stream(session, None)
        for data in session.unsent:
            self.append(session, session.standing, data)
        session.unsent.clear()
        return self.stream_reply(session.standing)

    def resume(self, session: HttpSession, last: str) -> HttpReply:
        """Go on with the stream to which an event id belongs, after that event."""
        name, _, number = last.partition("/")
        stream = session.named.get(name)
        if stream is None or not number.isdigit() or int(number) >= len(stream.history):
            return self.error_reply(400, None, Refusal(INVALID_REQUEST, "Unknown event id"))
        resumed = Stream(name, stream.call, stream.history, stream.done, int(number) + 1)
        stream.close()
        session.named[name] = resumed
        session.streams = {call: resumed if known is stream else known for call, known in session.streams.items()}
        if session.standing is stream:
            session.standing = resumed
        return self.stream_reply(resumed)

    def named_stream(self, session: HttpSession, call: Call | None) -> Stream:
        """A stream that can be resumed, where the revision knows that; its first event primes it."""
        self._named += 1
        stream = Stream(name=f"stream{self._named}", call=call)
        if self.primes(session):
            session.named[stream.name] = stream
            stream.push(sse_event(b"", f"{stream.name}/0", event=None))
        return stream

    def primes(self, session: HttpSession) -> bool:
        """Whether streams begin with an event that carries nothing but an id: since 2025-11-25."""
        return session.revision >= "2025-11-25"

    def closes_early(self, session: HttpSession, call: Call) -> bool:
        """Whether the client has to come back for the answer: one tool shows how that goes."""
        return self.primes(session) and call.params.get("name") == "test_reconnection"

    def append(self, session: HttpSession, stream: Stream, data: bytes) -> None:
        """Put a message on a stream."""
        if self.primes(session):
            stream.push(sse_event(data, f"{stream.name}/{len(stream.history)}"))
        else:
            stream.push(sse_event(data))

    def deliver_in(self, session: HttpSession, out: Out) -> None:
        """Put one message on the stream where it belongs, and on no other."""
        if out.call is None:
            if session.standing is not None and not session.standing.ended:
                self.append(session, session.standing, out.data)
            else:
                session.unsent.append(out.data)
            return
        stream = session.streams.get(out.call)
        if stream is None:
            return
        self.append(session, stream, out.data)

    def flush_sessions(self) -> None:
        """Put what the sessions' servers have to say on their streams."""
        for session in self.sessions.values():
            for out in session.server.take():
                self.deliver_in(session, out)
            self.end_streams(session)

    def end_streams(self, session: HttpSession) -> None:
        """End the streams whose requests are answered, or were cancelled."""
        over = {call: stream for call, stream in session.streams.items() if call.answered}
        for call, stream in over.items():
            del session.streams[call]
            if stream not in session.streams.values():
                stream.finish()

    # What HttpServer provides

    def json_reply(self, status: int, data: bytes) -> HttpReply:
        raise NotImplementedError

    def stream_reply(self, stream: Stream) -> HttpReply:
        raise NotImplementedError

    def error_reply(self, status: int, request_id: Json, refusal: Refusal) -> HttpReply:
        raise NotImplementedError

    def accepted(self, said: list[bytes]) -> HttpReply:
        raise NotImplementedError
