"""Call and Exchange: one request with what has come of it, and one HTTP request with its answer."""

from dataclasses import dataclass, field

from mcpcheck.wire.event import Answer, Notification, Request
from mcpcheck.wire.protocol import LEGACY
from mcpcheck.wire.record import RequestHead, ResponseHead, header

_SESSION = "mcp-session-id"


@dataclass(slots=True)
class Call:
    """One request and what has come of it so far."""

    request: Request
    revision: str | None
    exchange: "Exchange | None" = None
    answers: list[Answer] = field(default_factory=list)
    notifications: int = 0
    cancelled: bool = False
    stream: int | None = None  # HTTP+SSE: the exchange of the event stream of its client

    @property
    def answer(self) -> Answer | None:
        return self.answers[0] if self.answers else None

    @property
    def open(self) -> bool:
        return not self.answers


@dataclass(slots=True)
class Exchange:
    """One HTTP request and its answer. ``ended`` is how it ended: "eof" or "abort"."""

    n: int
    request: RequestHead | None = None
    request_frame: int = 0
    response: ResponseHead | None = None
    response_frame: int = 0
    call: Call | None = None
    calls: dict[int, Call] = field(default_factory=dict)  # the open requests on it, of either side; keyed by id()
    notification: Notification | None = None  # what the client POSTed, where it was one
    ended: str | None = None
    to_endpoint: bool = True
    has_body: bool = False  # the request has one

    @property
    def status(self) -> int | None:
        return self.response.status if self.response else None

    @property
    def media_type(self) -> str:
        """The answer's media type in lower case, without parameters; empty where there is none."""
        value = header(self.response, "content-type") if self.response else None
        return (value or "").partition(";")[0].strip().lower()

    @property
    def may_be_resumed(self) -> bool:
        """Whether the answer may still come on another stream: event streams of the handshake era, and HTTP+SSE."""
        legacy = self.call is not None and (self.call.revision is None or self.call.revision in LEGACY)
        return legacy and (self.media_type == "text/event-stream" or self.status == 202)

    @property
    def answered_elsewhere(self) -> bool:
        """HTTP+SSE: whether the request was taken, so that its answer comes on the client's own event stream."""
        return self.call is not None and self.call.stream is not None and 200 <= (self.status or 0) < 300

    @property
    def session_id(self) -> str | None:
        """The session of the handshake era that the request belongs to, or that its answer has opened."""
        told = header(self.request, _SESSION) if self.request else None
        return told if told is not None or self.response is None else header(self.response, _SESSION)


def of_one_session(one: Exchange | None, other: Exchange, *, sure: bool) -> bool:
    """Whether two exchanges may belong to one session of the handshake era; ``sure``: whether they certainly do."""
    if one is None or one is other:
        return True
    ids = {one.session_id, other.session_id}
    return len(ids) == 1 and None not in ids if sure else len(ids - {None}) < 2
