"""http.notification: how a server answers a POST that carries a notification."""

from mcpcheck.rules.registry import Verdicts, broken, holds, rule
from mcpcheck.session.call import Exchange
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Aborted, Answer, Closed, Event, HttpBody, HttpResponse, Payload, SseNoData
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir


def _posted(event: Event, session: Session) -> Exchange | None:
    """The exchange of a server's event, where a notification, and nothing else, was POSTed to the endpoint."""
    exchange = session.exchange
    if event.dir is Dir.C2S or exchange is None or exchange.call is not None or not exchange.to_endpoint:
        return None
    note = exchange.notification
    return None if note is None or note.in_batch or exchange.request is None else exchange


def _succeeded(exchange: Exchange) -> bool:
    return 200 <= (exchange.status or 0) < 300


@rule("http.notification.accepted-202")
class Accepted202:
    """Looks at the status with which a notification is accepted. Redirections are left alone.

    So are refusals: an error of JSON-RPC under a status of success has a rule of its own.
    """

    def __init__(self) -> None:
        self._others: Recent[int, tuple[HttpResponse, str]] = Recent(1000)

    def see(self, event: HttpResponse | Answer | Closed | Aborted, session: Session) -> Verdicts:
        exchange = _posted(event, session)
        if exchange is None or not _succeeded(exchange):
            return
        if isinstance(event, HttpResponse):
            if exchange.status == 202:
                yield holds(event)
            else:
                self._others[exchange.n] = event, f"{exchange.status} for {_named(exchange)}"
        elif isinstance(event, Closed | Aborted):
            yield from self._tell(exchange.n)
        elif event.has_error:
            self._others.pop(exchange.n, None)

    def _tell(self, n: int) -> Verdicts:
        response, said = self._others.pop(n, (None, ""))
        if response is not None:
            yield broken(response, "202, or an error status", said)

    def end(self, session: Session) -> Verdicts:
        for n in list(self._others):
            yield from self._tell(n)


def _named(exchange: Exchange) -> str:
    return exchange.notification.method if exchange.notification else "a notification"


@rule("http.notification.no-body")
class NoBody:
    """Looks for a body in the 202 that answers a notification: JSON, text or events. Its Content-Type is free."""

    def __init__(self) -> None:
        self._said: Recent[int, None] = Recent(1000)

    def see(self, event: Payload | HttpBody | SseNoData | Closed, session: Session) -> Verdicts:
        exchange = _posted(event, session)
        if exchange is None or exchange.status != 202:
            return
        if isinstance(event, Closed):
            if exchange.n not in self._said:
                yield holds(event)
        elif exchange.n not in self._said and event.record.data.strip():
            self._said[exchange.n] = None
            yield broken(event, "202 without a body", f"a body of {len(event.record.data)} bytes")


@rule("http.notification.rejected-status")
def rejected_status(event: HttpResponse | Answer, session: Session) -> Verdicts:
    """Looks at the status under which a notification is answered with an error of JSON-RPC."""
    exchange = _posted(event, session)
    if exchange is None or exchange.status is None:
        return
    if isinstance(event, HttpResponse):
        if exchange.status >= 400:
            yield holds(event)
    elif event.has_error and _succeeded(exchange):
        said = f"error {event.code} under status {exchange.status}"
        yield broken(event, "an HTTP error status", said, exchange.response_frame)
