"""Session: reads events in order and keeps what they establish. Symmetric in client and server; it never raises.

After ``see(event)`` the attributes ``revision``, ``call``, ``near``, ``clash`` and ``exchange`` speak of that event.
The era is a property of each message, not of the connection: a dual-era server serves both side by side.
"""

from dataclasses import dataclass, field
from typing import Any

from mcpcheck.session import ids
from mcpcheck.wire.event import (
    Aborted,
    Answer,
    Closed,
    Event,
    Exited,
    HttpRequest,
    HttpResponse,
    Notification,
    NotMessage,
    Request,
)
from mcpcheck.wire.protocol import LEGACY, MODERN, PROTOCOL_VERSION
from mcpcheck.wire.record import Dir, RequestHead, ResponseHead, header


@dataclass(slots=True)
class Call:
    """One request and what has come of it so far."""

    request: Request
    revision: str | None
    exchange: "Exchange | None" = None
    answers: list[Answer] = field(default_factory=list)
    notifications: int = 0
    cancelled: bool = False

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
    ended: str | None = None

    @property
    def status(self) -> int | None:
        return self.response.status if self.response else None


class Session:
    """What the traffic has established. ``default`` is the revision of messages that do not tell theirs."""

    def __init__(self, transport: str = "stdio", default: str | None = None) -> None:
        self.transport = transport
        self.default = default
        self.revision: str | None = default
        self.call: Call | None = None  # the call that the event belongs to
        self.near: Call | None = None  # an answer without a call: the open call that it was probably meant for
        self.clash: Call | None = None  # a request: an open call of the same sender with the same id
        self.exchange: Exchange | None = None
        self.modern_seen = False
        self.negotiated: str | None = None  # the legacy revision that initialize settled on
        self.capabilities: dict[str, Any] = {}  # the server's, as it last declared them
        self.supported: tuple[str, ...] = ()  # versions that a discover result listed
        self.discovered = False
        self.exited = False
        self._open: dict[tuple[Dir, ids.Key], Call] = {}
        self._settled: set[tuple[Dir, ids.Key]] = set()
        self._exchanges: dict[int, Exchange] = {}
        self._sessions: dict[str, str] = {}  # legacy HTTP: session id to negotiated revision
        self._unread: set[tuple[Dir, ids.Key]] = set()  # ids of objects that were no message

    def open_calls(self, sender: Dir = Dir.C2S) -> list[Call]:
        """Requests of one side that wait for an answer, oldest first."""
        return [call for (side, _), call in self._open.items() if side is sender]

    def was_answered(self, sender: Dir, id: Any) -> bool:
        """Whether a request of that side with that id has been answered already."""
        return (sender, ids.key(id)) in self._settled

    def was_unreadable(self, sender: Dir, id: Any) -> bool:
        """Whether that side sent something with this id that was no message."""
        return (sender, ids.key(id)) in self._unread

    def see(self, event: Event) -> None:
        """Take one event in."""
        self.call = self.near = self.clash = None
        self.exchange = self._exchange(event)
        match event:
            case HttpRequest():
                self._http_request(event)
            case HttpResponse():
                self._http_response(event)
            case Request():
                self._request(event)
            case Answer():
                self._answer(event)
            case Notification():
                self._notification(event)
            case NotMessage():
                self._unread.add((event.dir, ids.key(event.id)))
            case Closed() | Aborted():
                self._ended(event)
            case Exited():
                self.exited = True
        self.revision = self._revision(event)

    # what an event belongs to

    def _exchange(self, event: Event) -> Exchange | None:
        n = event.record.exchange
        if n is None:
            return None
        if n not in self._exchanges:
            self._exchanges[n] = Exchange(n)
        return self._exchanges[n]

    def _http_request(self, event: HttpRequest) -> None:
        if self.exchange:
            self.exchange.request = event.head
            self.exchange.request_frame = event.record.n

    def _http_response(self, event: HttpResponse) -> None:
        if self.exchange:
            self.exchange.response = event.head
            self.exchange.response_frame = event.record.n
            self.call = self.exchange.call

    def _request(self, event: Request) -> None:
        place = (event.dir, ids.key(event.id))
        self.clash = self._open.get(place)
        self.modern_seen = self.modern_seen or PROTOCOL_VERSION in event.meta
        call = Call(event, self._revision_of_request(event), self.exchange)
        self.call = self._open[place] = call
        self._settled.discard(place)
        if self.exchange and event.dir is Dir.C2S:
            self.exchange.call = call

    def _answer(self, event: Answer) -> None:
        asker = event.dir.other
        place = (asker, ids.key(event.id))
        call = self._open.get(place) if event.has_id else None
        if self.exchange and self.exchange.call and asker is Dir.C2S:
            own = self.exchange.call
            if event.has_id and ids.key(own.request.id) == place[1]:
                call = own
            elif call is None:
                self.near = own
        if call is None and self.near is None:
            self.near = self._nearest(asker, event)
        meant = call or self.near
        if meant is not None:
            meant.answers.append(event)
            settled = (asker, ids.key(meant.request.id))
            if self._open.get(settled) is meant:
                del self._open[settled]
            self._settled.add(settled)
        self.call = call
        if call is not None:
            self._learn(call, event)

    def _nearest(self, asker: Dir, event: Answer) -> Call | None:
        """On stdio: the open call whose id differs in type only, or the only one where an id is missing."""
        waiting = self.open_calls(asker)
        alike = [call for call in waiting if ids.alike(call.request.id, event.id)]
        if alike:
            return alike[0]
        if len(waiting) == 1 and event.has_result and not self.was_answered(asker, event.id):
            return waiting[0]
        return None

    def _notification(self, event: Notification) -> None:
        if event.dir is Dir.S2C and self.exchange:
            self.call = self.exchange.call
        if event.method == "notifications/cancelled":
            cancelled = self._open.get((event.dir, ids.key(event.param("requestId"))))
            if cancelled:
                cancelled.cancelled = True
        if self.call:
            self.call.notifications += 1

    def _ended(self, event: Event) -> None:
        exchange = self.exchange
        if exchange is None:
            return
        self.call = exchange.call
        exchange.ended = "abort" if isinstance(event, Aborted) else "eof"
        self._exchanges.pop(exchange.n, None)
        if exchange.call and exchange.call.open:
            self._open.pop((Dir.C2S, ids.key(exchange.call.request.id)), None)

    # what an answer teaches

    def _learn(self, call: Call, answer: Answer) -> None:
        result = answer.result
        if not isinstance(result, dict):
            return
        if call.request.method == "server/discover":
            self.discovered = True
            self._take_capabilities(result)
            versions = result.get("supportedVersions")
            if isinstance(versions, list):
                self.supported = tuple(version for version in versions if isinstance(version, str))
        elif call.request.method == "initialize":
            self._take_capabilities(result)
            version = result.get("protocolVersion")
            if isinstance(version, str):
                self._settle(version)

    def _take_capabilities(self, result: dict[str, Any]) -> None:
        capabilities = result.get("capabilities")
        self.capabilities = capabilities if isinstance(capabilities, dict) else {}

    def _settle(self, version: str) -> None:
        session_id = None
        if self.exchange and self.exchange.response:
            session_id = header(self.exchange.response, "mcp-session-id")
        if session_id is not None:
            self._sessions[session_id] = version
        else:
            self.negotiated = version

    # which revision governs

    def _revision(self, event: Event) -> str | None:
        if isinstance(event, Request) and self.call:
            return self.call.revision
        call = self.call or self.near or (self.exchange.call if self.exchange else None)
        if isinstance(event, Answer) and call:
            return _after(call, event)
        if call:
            return call.revision
        if self.exchange and self.exchange.request:
            return self._revision_of_head(self.exchange.request) or self._ambient()
        return self._ambient()

    def _revision_of_request(self, request: Request) -> str | None:
        if PROTOCOL_VERSION in request.meta:
            return MODERN
        if request.method == "initialize":
            wanted = request.param("protocolVersion")
            return wanted if wanted in LEGACY else LEGACY[-1]
        if self.exchange and self.exchange.request:
            version = self._revision_of_head(self.exchange.request)
            if version:
                return version
        if request.method == "server/discover":
            return MODERN
        return self._ambient()

    def _revision_of_head(self, head: RequestHead) -> str | None:
        session_id = header(head, "mcp-session-id")
        if session_id in self._sessions:
            return self._sessions[session_id]
        version = header(head, "mcp-protocol-version")
        if version is None:
            return None
        return version if version in LEGACY else MODERN

    def _ambient(self) -> str | None:
        """The revision of what does not tell its own: what the connection has spoken so far."""
        if self.negotiated and not self.modern_seen:
            return self.negotiated
        if self.modern_seen:
            return MODERN
        if self._sessions:
            return next(reversed(self._sessions.values()))
        return self.default


def _after(call: Call, answer: Answer) -> str | None:
    """An answer goes by its request's revision; to initialize, by the one that the result names.

    An error to initialize may come from a server of either era, so no revision's own rules apply to it.
    """
    if call.request.method != "initialize":
        return call.revision
    version = answer.result.get("protocolVersion") if isinstance(answer.result, dict) else None
    return version if version in LEGACY else None
