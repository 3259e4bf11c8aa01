"""http.response and http.sse: how a server answers a POSTed request."""

from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Judgement, Verdicts, broken, holds, rule, suspect
from mcpcheck.session import ids
from mcpcheck.session.call import Exchange
from mcpcheck.session.session import Session
from mcpcheck.session.strays import Stray
from mcpcheck.wire import sse
from mcpcheck.wire.event import Aborted, Answer, Closed, Event, HttpResponse, Message, Notification, SseNoData
from mcpcheck.wire.protocol import LEGACY
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir, Kind, header

_JSON = "application/json"
_STREAM = "text/event-stream"
_OF_SUBSCRIPTIONS = frozenset(
    {
        "notifications/subscriptions/acknowledged",
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
        "notifications/resources/updated",
    }
)
_GRACE = 5.0
"""Seconds in which a stream has to end after its answer."""


def _in_stream(event: Event, session: Session) -> Exchange | None:
    """The exchange whose event stream carries a server's event."""
    here = event.record.kind is Kind.SSE and event.dir is Dir.S2C
    return session.exchange if here else None


@rule("http.response.content-type")
def content_type(event: HttpResponse | Answer, session: Session) -> Verdicts:
    """Looks at what answers a request under a 2xx status, and at JSON-RPC errors under 400 and 404.

    What an HTTP or an authorization layer answers of its own may have any type.
    """
    exchange = session.exchange
    if exchange is None or exchange.call is None or exchange.response is None or event.dir is Dir.C2S:
        return
    status, media = exchange.response.status, exchange.media_type
    if isinstance(event, Answer):
        judged = status in {400, 404}
    else:
        judged = 200 <= status < 300
    if not judged or not (session.whole or (exchange.request is not None and exchange.to_endpoint)):
        return  # it may be HTTP+SSE, whose stream has named another path
    if media in {_JSON, _STREAM} and status not in {202, 204}:
        yield holds(event)
    else:
        said = f"{status} without a body" if status in {202, 204} else f"Content-Type is {media or 'absent'}"
        yield broken(event, f"{_JSON} or {_STREAM}", said)


@rule("http.response.single-json-object")
def single_json_object(event: Message | Stray, session: Session) -> Verdicts:
    """Looks at JSON bodies that answer a request. Broken JSON, arrays and foreign ids have rules of their own."""
    exchange = session.exchange
    if exchange is None or exchange.call is None or event.dir is Dir.C2S or event.record.kind is not Kind.BODY:
        return
    status = exchange.status or 0
    if not (200 <= status < 300 or status in {400, 404}):
        return
    if isinstance(event, Stray):
        if event.kind == "joined":
            yield broken(event, "one JSON object", "several objects")
    elif isinstance(event, Answer):
        yield holds(event)
    elif isinstance(event, Notification):
        yield broken(event, "the response to the request", f"a notification, {event.method}")


@rule("http.sse.event-data")
def event_data(event: Message | Stray | SseNoData, session: Session) -> Verdicts:
    """Looks at the data of each event of a stream. Broken messages have rules of their own; comments are free.

    Empty data is suspect: older revisions began a stream with it.
    """
    exchange = _in_stream(event, session)
    if exchange is None:
        return
    if isinstance(event, SseNoData):
        if sse.data_bytes(event.record.data) is not None:
            yield suspect(event, "a message in each event", "an event with empty data")
    elif isinstance(event, Stray):
        if event.kind in {"text", "joined", "empty", "spread"}:
            yield broken(event, "one message in each event", f"the data {shown(event.data)}")
    elif isinstance(event, Answer) and session.call is not None and session.call is not exchange.call:
        n = session.call.request.record.n
        yield broken(event, "the answer to the request of this stream", f"the answer to frame {n}", n)
    else:
        yield holds(event)


@rule("legacy.http.sse.data-is-message")
def data_is_message(event: Message | Stray, session: Session) -> Verdicts:
    """Looks at the data of each event of a stream; empty data and comments are free. An odd event name is suspect."""
    if _in_stream(event, session) is None:
        return
    name = sse.parse(event.record.data).event
    if isinstance(event, Stray):
        if event.kind in {"text", "joined", "spread"}:
            yield broken(event, "one message in each event", f"the data {shown(event.data)}")
    elif name not in {None, "", "message"}:
        yield suspect(event, "an event named message, or without a name", f"the event is named {shown(name)}")
    else:
        yield holds(event)


@rule("http.sse.notifications-related")
def notifications_related(event: Notification, session: Session) -> Verdicts:
    """Looks at notifications on the stream of a request that opens no subscription.

    One of a subscription does not belong there, nor progress for another request. A token that nobody gave, and log
    messages, have rules of their own.
    """
    exchange = _in_stream(event, session)
    if exchange is None or exchange.call is None or exchange.call.request.method == "subscriptions/listen":
        return
    if event.method in _OF_SUBSCRIPTIONS:
        yield broken(event, "notifications that concern the request", f"{event.method} on the stream of a request")
    elif event.method == "notifications/progress":
        token = event.param("progressToken")
        own = exchange.call.request.meta.get("progressToken")
        gave_it = token is not None and own is not None and ids.key(own) == ids.key(token)
        calls = session.calls_with_token(Dir.C2S, token) if token is not None else []
        other = exchange.call if gave_it else calls[0] if calls else None
        if other is not None and other is not exchange.call:
            n = other.request.record.n
            yield broken(event, "progress of the stream's own request", f"progress of frame {n}", n)
        elif other is not None:
            yield holds(event)
    elif event.method == "notifications/message":
        yield holds(event)


@rule("http.listen.no-request-scoped-notifications")
def no_request_scoped_notifications(event: Notification, session: Session) -> Verdicts:
    """Looks for progress on the stream of a subscription; log messages there have a rule of their own."""
    exchange = _in_stream(event, session)
    if exchange is None or exchange.call is None or exchange.call.request.method != "subscriptions/listen":
        return
    if event.method == "notifications/progress":
        yield broken(event, "progress on the stream of its request", "progress on the stream of a subscription")
    else:
        yield holds(event)


@rule("http.sse.response-terminates")
class ResponseTerminates:
    """Looks at what follows the answer on a stream: its end, within five seconds, and no further message.

    A stream that the client left, and a recording that ends sooner, are left alone.
    """

    def __init__(self) -> None:
        self._answered: Recent[int, tuple[Event, float]] = Recent()
        self._last = 0.0

    def see(self, event: Event, session: Session) -> Verdicts:
        self._last = max(self._last, event.record.t)
        n = event.record.exchange
        if n is None or event.dir is Dir.C2S:
            if isinstance(event, Aborted) and n is not None:
                self._answered.pop(n, None)
            return
        if isinstance(event, Closed | Aborted):
            answered = self._answered.pop(n, None)
            if answered:
                yield self._closed(event, *answered)
        elif _in_stream(event, session):
            yield from self._in_stream(n, event, session)

    def _in_stream(self, n: int, event: Event, session: Session) -> Verdicts:
        if n in self._answered and not isinstance(event, SseNoData):
            answer, _ = self._answered.pop(n)
            yield broken(event, "nothing after the answer", "another message", answer.record.n)
        elif isinstance(event, Answer) and session.call is not None and not self._more_to_come(session):
            self._answered[n] = (event, event.record.t)

    @staticmethod
    def _more_to_come(session: Session) -> bool:
        """Whether the stream answers several requests of a batch, or none that was POSTed with it."""
        exchange = session.exchange
        if exchange is None or exchange.call is None:
            return True
        return any(call.request.dir is Dir.C2S for call in exchange.calls.values())

    @staticmethod
    def _closed(event: Event, answer: Event, since: float) -> Judgement:
        waited = event.record.t - since
        if waited <= _GRACE:
            return holds(answer)
        return broken(answer, "the end of the stream", f"it stayed open for {waited:.0f} s", event.record.n)

    def end(self, session: Session) -> Verdicts:
        for answer, since in self._answered.values():
            if self._last - since > _GRACE and session.whole:
                yield broken(answer, "the end of the stream", f"it stayed open for {self._last - since:.0f} s")


@rule("http.sse.accel-buffering")
def accel_buffering(event: HttpResponse, session: Session) -> Verdicts:
    """Looks for X-Accel-Buffering: no on event streams. Behind a proxy that consumes the header it is left alone."""
    exchange = session.exchange
    if exchange is None or exchange.media_type != _STREAM or not 200 <= event.head.status < 300:
        return
    value = header(event.head, "x-accel-buffering")
    if value is not None and value.strip().lower() == "no":
        yield holds(event)
    elif header(event.head, "via") is None and "nginx" not in (header(event.head, "server") or "").lower():
        yield broken(event, "X-Accel-Buffering: no", f"X-Accel-Buffering is {value or 'absent'}")


@rule("http.compat.no-session-id")
def no_session_id(event: HttpResponse, session: Session) -> Verdicts:
    """Looks for Mcp-Session-Id in answers to requests of the stateless era.

    It is suspect only, as long as the server may also serve the handshake era and has not told its versions. A probe
    that is refused is left alone: it may be a server of the handshake era that refuses it.
    """
    if session.exchange is None or session.exchange.call is None:
        return
    if session.exchange.call.request.method == "server/discover" and event.head.status >= 400:
        return
    if header(event.head, "mcp-session-id") is None:
        yield holds(event)
    elif session.discovered and not set(session.supported) & set(LEGACY):
        yield broken(event, "no Mcp-Session-Id", "the answer has one")
    else:
        yield suspect(event, "no Mcp-Session-Id", "the answer has one")
