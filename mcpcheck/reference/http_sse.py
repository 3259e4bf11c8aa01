"""The transport of 2024-11-05: one stream of events from the server, and a second path to which messages are posted."""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from mcpcheck.reference.call import Json
from mcpcheck.reference.server import Server, read
from mcpcheck.reference.streams import HttpReply, Stream, sse_event
from mcpcheck.wire.event import NotJson, NotMessage
from mcpcheck.wire.record import RequestHead

EVENTS = "/sse"
MESSAGES = "/messages"


@dataclass(frozen=True, eq=False, slots=True)
class SseSession:
    """One session: its server, and the stream that carries all that it says."""

    server: Server
    stream: Stream


class SseHttp:
    """Sessions whose messages all come on one stream; each lasts as long as its stream does."""

    server: Server
    server_class: type[Server]
    session_id: Callable[[], str]
    _options: dict[str, Json]

    def __init__(self) -> None:
        self.sse_sessions: dict[str, SseSession] = {}

    def serves_sse(self, path: str) -> bool:
        """Whether a path belongs to this transport."""
        return "2024-11-05" in self.server.revisions and path in (EVENTS, MESSAGES)

    def handle_sse(self, head: RequestHead, body: bytes) -> HttpReply:
        """Answer one HTTP request of this transport."""
        match head.method, head.path.partition("?")[0]:
            case "GET", path if path == EVENTS:
                return self.open_sse(head)
            case "POST", path if path == MESSAGES:
                return self.post_sse(head, body)
        return HttpReply(405, [("Allow", "GET" if head.path.startswith(EVENTS) else "POST")])

    def open_sse(self, head: RequestHead) -> HttpReply:
        """Open a session; its first event says where messages are to be posted."""
        name, session = self.session_id(), SseSession(self.server_class(self.server.legacy, **self._options), Stream())
        self.sse_sessions[name] = session
        session.stream.push(self.endpoint_event(name))
        return self.stream_reply(session.stream)

    def endpoint_event(self, name: str) -> bytes:
        """The event that names the path for the client's messages."""
        return sse_event(f"{MESSAGES}?session={name}".encode(), event="endpoint")

    def post_sse(self, head: RequestHead, body: bytes) -> HttpReply:
        """Take a message; whatever is said to it comes on the stream."""
        session = self.sse_sessions.get(parse_qs(urlsplit(head.path).query).get("session", [""])[0])
        if session is None:
            return HttpReply(404)
        event = read(body)
        session.server.on_event(event)
        return HttpReply(400 if isinstance(event, NotJson | NotMessage) else 202)

    def flush_sse(self) -> None:
        """Put what the servers have to say on their streams."""
        for session in self.sse_sessions.values():
            for out in session.server.take():
                session.stream.push(sse_event(out.data))

    def left_sse(self, stream: Stream) -> None:
        """The client closed a stream: its session is over."""
        for name, session in list(self.sse_sessions.items()):
            if session.stream is stream:
                del self.sse_sessions[name]
                session.server.closed()

    def stream_reply(self, stream: Stream) -> HttpReply:
        """An answer as a stream."""
        raise NotImplementedError
