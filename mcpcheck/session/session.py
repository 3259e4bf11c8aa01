"""Session: reads events in order and keeps what they establish. Symmetric in client and server; it never raises.

After ``see(event)`` the attributes ``revision``, ``call``, ``near``, ``clash``, ``attempt`` and ``exchange`` speak of
that event. The era is a property of each message, not of the connection: a dual-era server serves both side by side.
What becomes clear only later (a stray line, an answer without a request) comes as an event of the session's own:
``settle()`` gives those that the last event brought, ``finish()`` those that only the end allows.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mcpcheck.session import ids
from mcpcheck.session.call import Call, Exchange, of_one_session
from mcpcheck.session.eras import Eras
from mcpcheck.session.open_calls import OpenCalls
from mcpcheck.session.orphans import Orphan, Orphans
from mcpcheck.session.rounds import Rounds
from mcpcheck.session.seen import Seen
from mcpcheck.session.strays import Strays
from mcpcheck.session.streams import Streams, names_endpoint, waiting
from mcpcheck.session.tokens import Tokens
from mcpcheck.wire.event import (
    Aborted,
    Answer,
    Batch,
    Closed,
    Event,
    Exited,
    Gap,
    HttpRequest,
    HttpResponse,
    Message,
    Notification,
    NotJson,
    NotMessage,
    Request,
)
from mcpcheck.wire.protocol import LEGACY, PROTOCOL_VERSION, SUBSCRIPTION_ID
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir, Kind, header

__all__ = ["Call", "Exchange", "Session"]

BATCHES = "2025-03-26"
"""The only revision that has JSON-RPC batches."""


class Session:
    """What the traffic has established. ``default`` is the revision of messages that do not tell theirs.

    ``one_client``: all that goes to the server comes from one client instance. On HTTP a recording cannot show it.
    """

    def __init__(self, transport: str = "stdio", default: str | None = None, *, one_client: bool | None = None) -> None:
        self.transport = transport
        self.one_client = transport == "stdio" if one_client is None else one_client
        self.revision: str | None = default
        self.call: Call | None = None  # the call that the event belongs to
        self.near: Call | None = None  # an answer without a call: the open call that it was probably meant for
        self.clash: Call | None = None  # a request: an open call of the same sender with the same id
        self.attempt: Call | None = None  # a request that brings input: the call that it repeats
        self.exchange: Exchange | None = None
        self.stream: int | None = None  # HTTP+SSE: the exchange of the event stream on which the client listens
        self.streams = Streams()
        self.memo: dict[str, Any] = {}  # what several rules ask of the same event, worked out once
        self.kept_back = False  # the event is a line that may be part of a longer text: not to be judged yet
        self.whole = True  # the recording shows everything from the beginning to here
        self.gap = 0  # the frame of the last gap; 0 where nothing is known to be lost
        self.capabilities: dict[str, Any] = {}  # the server's, as it last declared them
        self.supported: tuple[str, ...] = ()  # versions that a discover result listed
        self.discovered = False
        self.declared: set[str] = set()  # every capability that the server has ever declared
        self.told_capabilities = False
        self.exited = False
        self.client_left = False  # stdio: the client closed the server's input
        self._begun = False
        self._open = OpenCalls()
        self.tokens = Tokens()
        self._settled = {Dir.C2S: Seen(), Dir.S2C: Seen()}  # ids whose request has an answer
        self._exchanges: Recent[int, Exchange] = Recent()
        self._lost = {Dir.C2S: Seen(), Dir.S2C: Seen()}  # ids whose exchange ended without an answer
        self._unread = {Dir.C2S: Seen(), Dir.S2C: Seen()}  # ids of objects that were no message
        self._sent = {Dir.C2S: Seen(), Dir.S2C: Seen()}  # ids of requests, in whatever era
        self._last_unreadable = {Dir.C2S: 0, Dir.S2C: 0}
        self._listens: Recent[ids.Key, Call] = Recent()  # subscriptions/listen requests, open or ended
        self._eras = Eras(default)
        self._strays = Strays()
        self._orphans = Orphans()
        self._rounds = Rounds()
        self.pending: list[Event] = []

    @property
    def stateless(self) -> bool:
        """Whether the event belongs to the era of per-request _meta, in which servers send no requests."""
        return self.revision is not None and self.revision not in LEGACY

    @property
    def unknown_revisions(self) -> tuple[str, ...]:
        """The versions that messages have named, and nobody has refused, which are no released revision."""
        return tuple(self._eras.unknown)

    def open_calls(self, sender: Dir = Dir.C2S) -> list[Call]:
        """Requests of one side that wait for an answer, oldest first."""
        return self._open.of(sender)

    def was_answered(self, sender: Dir, id: Any) -> bool:
        """Whether a request of that side with that id has been answered already."""
        return ids.key(id) in self._settled[sender]

    def was_sent(self, sender: Dir, id: Any) -> bool:
        """Whether that side may have sent anything with this id that it meant as a request, in whatever era."""
        key, sent, unread = ids.key(id), self._sent[sender], self._unread[sender]
        return key in sent or key in unread or sent.forgetful or unread.forgetful

    def was_unreadable(self, sender: Dir, id: Any) -> bool:
        """Whether that side sent something with this id that was no message."""
        return ids.key(id) in self._unread[sender]

    def was_lost(self, sender: Dir, id: Any) -> bool:
        """Whether a request of that side with that id lost its exchange before it had an answer, and has none since."""
        return ids.key(id) in self._lost[sender]

    def unreadable_from(self, sender: Dir) -> int:
        """The frame of the last thing of one side that was no message; 0 where there was none."""
        return self._last_unreadable[sender]

    def open_call(self, sender: Dir, id: Any) -> Call | None:
        """The oldest open request of one side with this id."""
        calls = self._open.at((sender, ids.key(id)))
        return calls[0] if calls else None

    def wants_log(self, sender: Dir = Dir.C2S) -> bool:
        """Whether an open request of one side has set a log level."""
        return self._open.wants_log(sender)

    def calls_with_token(self, sender: Dir, token: Any) -> list[Call]:
        """The open requests of one side that have this progress token, oldest first; ids are compared by type, too."""
        return self._open.with_token(sender, token)

    def settled_version(self, session_id: str | None) -> str | None:
        """The revision that a legacy session on HTTP has settled on; None where its initialize was not seen."""
        return self._eras.sessions.get(session_id) if session_id is not None else self._eras.negotiated

    def listen(self, id: Any) -> Call | None:
        """The subscriptions/listen request with this id, open or ended."""
        return self._listens.get(ids.key(id))

    def method_of(self, event: Event) -> str | None:
        """The method that a message is about: its own, or that of the request which an answer belongs to."""
        if isinstance(event, Answer):
            call = self.call or self.near
            return call.request.method if call else None
        return event.method if isinstance(event, _NAMED) else None

    def see(self, event: Event) -> None:
        """Take one event in."""
        self.memo.clear()
        if not self._begun:
            self._begun = True
            self.whole = event.record.n <= 1
        self.call = self.near = self.clash = self.attempt = None
        self.exchange = None if event.record.exchange is None else self._exchange(event, event.record.exchange)
        if self.exchange and event.dir is Dir.C2S and event.record.kind is Kind.BODY:
            self.exchange.has_body = True
        if names_endpoint(event):
            self.transport = "sse"
            self.streams.named(event, self.exchange)
        elif self._strays.busy or not isinstance(event, Message):
            self.pending += self._strays.see(event)
        if self.transport == "sse":
            self.stream = self.streams.of(event, self.exchange)
        self.kept_back = self._strays.keeps
        take = _TAKES.get(type(event))
        if take is not None:
            take(self, event)
        self.revision = self._revision(event)

    def settle(self) -> list[Event]:
        """The events of the session's own that the last event brought; each is to be judged ``speaking_of`` it."""
        pending, self.pending = self.pending, []
        return pending

    def finish(self) -> list[Event]:
        """The events of the session's own that only its end allows."""
        self.pending += self._strays.finish()
        self.pending += self._orphans.finish()
        return self.settle()

    @contextmanager
    def speaking_of(self, event: Event) -> Iterator[None]:
        """Let ``revision``, ``call`` and ``exchange`` speak of an event of the session's own, for a while."""
        kept = self.call, self.near, self.clash, self.attempt, self.exchange, self.revision
        self.memo.clear()
        self.call = self.near = self.clash = self.attempt = None
        self.exchange = self._exchanges.get(event.record.exchange or -1)
        if isinstance(event, Orphan):
            self.near = event.call
            self.revision = event.revision
        else:
            self.revision = self._revision(event)
        try:
            yield
        finally:
            self.call, self.near, self.clash, self.attempt, self.exchange, self.revision = kept
            self.memo.clear()

    # what an event belongs to

    def _exchange(self, event: Event, n: int) -> Exchange:
        exchange = self._exchanges.get(n)
        if exchange is None:
            exchange = self._exchanges[n] = Exchange(n)
            if event.record.kind is not Kind.EVENT and not isinstance(event, HttpRequest):
                self.whole = False  # it had begun before the recording did
        return exchange

    def _unreadable(self, event: NotJson | Batch | NotMessage) -> None:
        self._orphans.sent_unreadable(event.dir)
        self._last_unreadable[event.dir] = event.record.n
        if isinstance(event, NotMessage):
            self._unread[event.dir].add(ids.key(event.id))

    def _http_request(self, event: HttpRequest) -> None:
        if self.exchange:
            self.exchange.request = event.head
            self.exchange.request_frame = event.record.n
            self.exchange.to_endpoint = event.to_endpoint

    def _http_response(self, event: HttpResponse) -> None:
        if self.exchange:
            self.exchange.response = event.head
            self.exchange.response_frame = event.record.n
            self.call = self.exchange.call

    def _request(self, event: Request) -> None:
        place = (event.dir, ids.key(event.id))
        if event.in_batch and self._eras.ambient != BATCHES:
            self._unread[event.dir].add(place[1])  # no revision but one knows batches: its elements are no requests
            return
        used = not event.method.startswith("notifications/") and not self._sent[event.dir].add(place[1])
        same = self._open.at(place)
        self.clash = same[-1] if same else None
        self._eras.modern_seen = self._eras.modern_seen or PROTOCOL_VERSION in event.meta
        call = Call(event, self._revision_of(event), self.exchange)
        call.stream = self.stream
        self.call = call
        if not self._open.add(place, call):
            self.whole = False
        if "progressToken" in event.meta:
            self.tokens.asked(call)
        if used:
            self._settled[event.dir].discard(place[1])
        self.attempt = self._attempt(call)
        if event.method == "subscriptions/listen":
            self._listens[place[1]] = call
        if self.exchange and event.dir is Dir.C2S:
            self.exchange.call = call
        if self.exchange:
            self.exchange.calls[id(call)] = call

    def _revision_of(self, event: Request) -> str | None:
        """The revision of a request; None where the head that tells it is lost."""
        head = self.exchange.request if self.exchange else None
        revision = self._eras.of_request(event, head)
        lost = self.exchange is not None and head is None
        return None if lost and event.method != "initialize" and PROTOCOL_VERSION not in event.meta else revision

    def _attempt(self, call: Call) -> Call | None:
        """The call that a request repeats; where something is lost it has to be told by its state."""
        old = self._rounds.asked(call)
        if old is None or self.whole:
            return old
        result, state = old.answer.result if old.answer else None, call.request.param("requestState")
        return old if isinstance(result, dict) and state is not None and result.get("requestState") == state else None

    def _answer(self, event: Answer) -> None:
        asker = event.dir.other
        place = (asker, ids.key(event.id))
        same = self._open.at(place) if event.has_id else None
        if same and self.exchange and self.stream is None:
            same = [open for open in same if of_one_session(open.exchange, self.exchange, sure=not self.whole)]
        call = waiting(same, self.stream, self.whole) if same else None
        own = self.exchange.call if self.exchange and asker is Dir.C2S else None
        if own is not None:
            if event.has_id and ids.key(own.request.id) == place[1]:
                call = own
            elif call is None:
                self.near = own
        self.call = call
        if call is not None:
            if "progressToken" in call.request.meta:
                self.tokens.answered(call, event)
            self._answered(call, event)
            self._learn(call, event)
        else:
            self._orphan(event, asker)

    def _answered(self, call: Call, event: Answer) -> None:
        if call.answers:
            self._tell(event, "duplicate", call)
        call.answers.append(event)
        asker = call.request.dir
        if self._open.drop(call):
            self.pending += self._orphans.answered(asker, call)
        key = ids.key(call.request.id)
        self._settled[asker].add(key)
        self._lost[asker].discard(key)

    def _orphan(self, event: Answer, asker: Dir) -> None:
        if self.near is not None:
            self._tell(event, "misnamed", self.near)
            self._answered(self.near, event)
            self._learn(self.near, event)
        elif event.has_id and event.id is not None and self.was_answered(asker, event.id):
            self._tell(event, "duplicate", None)
        elif event.has_id and self.was_unreadable(asker, event.id):
            self._tell(event, "unreadable", None)
        elif event.has_id and self._forgot(asker):
            return
        elif self.exchange is not None and self.exchange.request is None and asker is Dir.C2S:
            return  # what was POSTed is not in the recording
        elif self.exchange is not None and asker is Dir.C2S:
            self._tell(event, self._kind_on_http(self.exchange, event), None)
        elif self.whole and not self._joined_late():
            told = self._orphans.take(event, asker, self.open_calls(asker), self._eras.ambient)
            if isinstance(told, Orphan):
                self.pending.append(told)
                self.near = told.call
                if told.call is not None:
                    self._answered(told.call, event)
                    self._learn(told.call, event)

    def _forgot(self, asker: Dir) -> bool:
        """Whether an answer may belong to a request that was answered so long ago that its id is forgotten."""
        return self._settled[asker].forgetful or self._unread[asker].forgetful

    def _joined_late(self) -> bool:
        """Whether a message on HTTP belongs to a session that had begun before the recording did."""
        if self.exchange is None or self.transport == "sse":
            return False
        head = self.exchange.request
        id = header(head, "mcp-session-id") if head else None
        return not self.exchange.to_endpoint or (id is not None and self.settled_version(id) is None)

    def _kind_on_http(self, exchange: Exchange, event: Answer) -> str:
        """What an answer is for on an exchange that carried no request."""
        if exchange.notification:
            return "notification"
        if event.has_result:
            return "unasked"
        return "unreadable" if event.id is None else "invented"

    def _tell(self, event: Answer, kind: str, call: Call | None) -> None:
        revision = self._eras.after(call, event) if call else self._eras.ambient
        note = self.exchange.notification if self.exchange else None
        self.pending.append(Orphan(event.record, kind, event, revision, call, note))

    def _notification(self, event: Notification) -> None:
        if event.dir is Dir.S2C:
            self.call = self._call_of(event)
        elif self.exchange:
            self.exchange.notification = event
        if self.exchange is None or event.dir is Dir.S2C:
            self._orphans.notified(event)
        if event.method == "notifications/cancelled":
            for cancelled in self._open.at((event.dir, ids.key(event.param("requestId")))):
                cancelled.cancelled = True
        if self.call:
            self.call.notifications += 1

    def _call_of(self, event: Notification) -> Call | None:
        """The request that a server's notification belongs to: by its stream, its subscription, or its token."""
        if self.exchange:
            return self.exchange.call
        if SUBSCRIPTION_ID in event.meta:
            return self.listen(event.meta[SUBSCRIPTION_ID])
        token = event.param("progressToken")
        calls = self.calls_with_token(Dir.C2S, token) if token is not None else []
        return calls[0] if calls else None

    def _ended(self, event: Event) -> None:
        exchange = self.exchange
        if exchange is None:
            self.client_left = self.client_left or (event.dir is Dir.C2S and isinstance(event, Closed))
            return
        self.call = exchange.call
        if event.dir is Dir.C2S and isinstance(event, Closed):
            return  # the end of a request's body: the answer is still to come
        exchange.ended = "abort" if isinstance(event, Aborted) else "eof"
        self._exchanges.pop(exchange.n, None)
        if exchange.may_be_resumed or exchange.answered_elsewhere:
            return
        for call in list(exchange.calls.values()):
            self._lost[call.request.dir].add(ids.key(call.request.id))
            self._open.drop(call)

    def _exited(self, event: Exited) -> None:
        self.exited = True

    def _gap(self, event: Gap) -> None:
        self.whole = False
        self.gap = event.record.n
        self._eras.modern_seen = False  # what settled another revision may be lost

    # what an answer teaches

    def _learn(self, call: Call, answer: Answer) -> None:
        result = answer.result
        if not isinstance(result, dict):
            return
        self._rounds.answered(call, answer)
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
                response = self.exchange.response if self.exchange else None
                self._eras.negotiate(version, header(response, "mcp-session-id") if response else None)

    def _take_capabilities(self, result: dict[str, Any]) -> None:
        self.told_capabilities = True
        capabilities = result.get("capabilities")
        self.capabilities = capabilities if isinstance(capabilities, dict) else {}
        self.declared |= set(self.capabilities)

    # which revision governs

    def _revision(self, event: Event) -> str | None:
        if isinstance(event, Request) and self.call:
            return self.call.revision
        call = self.call or self.near or (self.exchange.call if self.exchange else None)
        if isinstance(event, Answer) and call:
            return self._eras.after(call, event)
        if call:
            return call.revision
        head = self.exchange.request if self.exchange else None
        return (self._eras.of_head(head) if head else None) or self._eras.ambient


_NAMED = (Request, Notification)
_TAKES: dict[type[Event], Callable[[Session, Any], None]] = {
    HttpRequest: Session._http_request,
    HttpResponse: Session._http_response,
    Request: Session._request,
    Answer: Session._answer,
    Notification: Session._notification,
    NotJson: Session._unreadable,
    Batch: Session._unreadable,
    NotMessage: Session._unreadable,
    Closed: Session._ended,
    Aborted: Session._ended,
    Exited: Session._exited,
    Gap: Session._gap,
}
