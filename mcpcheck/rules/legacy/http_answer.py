"""legacy.http: how a server answers what a client POSTs and GETs, in the handshake era."""

from mcpcheck.rules.http.send import accepted
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Verdicts, broken, holds, rule
from mcpcheck.session.call import Exchange
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, HttpBody, HttpResponse, Message, Notification, SseNoData
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir, header


@rule("legacy.http.post.accepted-202")
class Accepted202:
    """Looks at the status under which a server takes a notification or a response, and for a body behind a 202.

    A refusal, or a way to another address, is left alone, and so is an array: it may hold a request.
    """

    def __init__(self) -> None:
        self._posted: Recent[int, str] = Recent(1000)  # by exchange: what was POSTed
        self._told: Recent[int, None] = Recent(1000)

    def see(self, event: Message | HttpResponse | HttpBody | SseNoData, session: Session) -> Verdicts:
        exchange = session.exchange
        if exchange is None or exchange.request is None or not exchange.to_endpoint:
            return
        if event.dir is Dir.C2S:
            if isinstance(event, Notification | Answer) and not event.in_batch:
                self._posted[exchange.n] = "a notification" if isinstance(event, Notification) else "a response"
        elif exchange.n in self._posted and exchange.n not in self._told:
            yield from self._answered(event, exchange)

    def _answered(self, event: Message | HttpResponse | HttpBody | SseNoData, exchange: Exchange) -> Verdicts:
        status = exchange.status or 0
        if not 200 <= status < 300:
            return
        what = self._posted[exchange.n]
        if not isinstance(event, HttpResponse):
            if status == 202 and event.record.data.strip():
                self._told[exchange.n] = None
                yield broken(event, f"202 without a body for {what}", "there is a body")
        elif status == 202:
            yield holds(event)
        else:
            self._told[exchange.n] = None
            yield broken(event, f"202 for {what}", f"the status is {status}")


@rule("legacy.http.get.response")
def get_response(event: HttpResponse, session: Session) -> Verdicts:
    """Looks at what answers a GET that asks for a stream: one, or 405.

    Another refusal is left alone: it may be of the session, or of another layer.
    """
    exchange = session.exchange
    head = exchange.request if exchange else None
    if exchange is None or head is None or head.method != "GET" or not exchange.to_endpoint:
        return
    if "text/event-stream" not in accepted(head) or "text/html" in accepted(head):
        return
    status = event.head.status
    if status == 405 or (status == 200 and exchange.media_type == "text/event-stream"):
        yield holds(event)
    elif 200 <= status < 300:
        said = f"{status} with Content-Type {exchange.media_type or 'absent'}"
        yield broken(event, "an event stream, or 405", said)


@rule("legacy.http.session.visible-ascii")
def session_visible_ascii(event: HttpResponse, session: Session) -> Verdicts:
    """Looks at the characters of each Mcp-Session-Id that a server gives. One that was redacted is left alone."""
    id = header(event.head, "mcp-session-id")
    if id is None or any("mcp-session-id" in place.lower() for place in event.record.redacted):
        return
    odd = [sign for sign in id if not "\x21" <= sign <= "\x7e"]
    if odd:
        yield broken(event, "visible ASCII characters", f"it has {shown(odd[0])}")
    elif id:
        yield holds(event)
