"""http.compat: GET and DELETE, which only older revisions have."""

from mcpcheck.rules.registry import Verdicts, broken, holds, rule
from mcpcheck.session.session import Session
from mcpcheck.wire.event import HttpResponse, Request
from mcpcheck.wire.protocol import LEGACY
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir


class _OldMethod:
    """Where clients POST their requests is the endpoint."""

    method = ""

    def __init__(self) -> None:
        self._endpoints: Recent[str, None] = Recent(100)

    def see(self, event: Request | HttpResponse, session: Session) -> Verdicts:
        exchange = session.exchange
        if exchange is None or exchange.request is None:
            return
        path = exchange.request.path.partition("?")[0]
        if isinstance(event, Request):
            if event.dir is Dir.C2S and exchange.request.method == "POST":
                self._endpoints[path] = None
            return
        if exchange.request.method != self.method or path not in self._endpoints or exchange.has_body:
            return
        if not session.discovered or set(session.supported) & set(LEGACY):
            return
        status = event.head.status
        if status == 405:
            yield holds(event)
        elif 200 <= status < 300 or status in {400, 404}:
            yield broken(event, "405 Method Not Allowed", f"{status} for {self.method}", exchange.request_frame)


@rule("http.compat.get-405")
class Get405(_OldMethod):
    """Looks at what answers GET where a server that has told its versions serves this revision alone.

    Only success, 400 and 404 are wrong: credentials may be missing, and the server may be out of order.
    """

    method = "GET"


@rule("http.compat.delete-405")
class Delete405(_OldMethod):
    """Looks at what answers DELETE where a server that has told its versions serves this revision alone.

    Only success, 400 and 404 are wrong: credentials may be missing, and the server may be out of order.
    """

    method = "DELETE"
