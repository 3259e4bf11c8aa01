"""legacy.lifecycle.init: what waits until the handshake is done."""

from mcpcheck.rules.payloads import is_call
from mcpcheck.rules.registry import Verdicts, broken, holds, rule
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Notification, Request
from mcpcheck.wire.protocol import PROTOCOL_VERSION
from mcpcheck.wire.record import Dir


class _Handshake:
    """Where the handshake on stdio stands. ``opened`` and ``answered`` are frames; 0 where that has not come."""

    def __init__(self) -> None:
        self._opened = self._answered = 0

    def _follow(self, event: Request | Answer, session: Session) -> None:
        method = session.method_of(event)
        if method != "initialize":
            return
        if isinstance(event, Request) and event.dir is Dir.C2S:
            self._opened = 0 if event.in_batch else event.record.n
        elif isinstance(event, Answer) and event.dir is Dir.S2C:
            self._answered = event.record.n if event.has_result else 0
            self._opened = 0


@rule("legacy.lifecycle.init.client-wait")
class ClientWait(_Handshake):
    """Looks for requests of the client, ping apart, between initialize and its answer. HTTP is left alone.

    They are seen where the revision is known beforehand. A request of the stateless era is another matter, and so is
    an array with initialize in it. After a gap nothing is judged.
    """

    def see(self, event: Request | Answer, session: Session) -> Verdicts:
        if session.transport != "stdio" or not session.whole:
            return
        opened = self._opened
        self._follow(event, session)
        if isinstance(event, Answer):
            if opened and not self._opened:
                yield holds(event)
        elif opened and _asks(event, Dir.C2S) and PROTOCOL_VERSION not in event.meta:
            yield broken(event, "the answer to initialize first", f"{event.method} before it", opened)


@rule("legacy.lifecycle.init.server-wait")
class ServerWait(_Handshake):
    """Looks for requests of the server, ping apart, before notifications/initialized.

    HTTP is left alone, and so is what follows a gap.
    """

    def see(self, event: Request | Answer | Notification, session: Session) -> Verdicts:
        if session.transport != "stdio" or not session.whole:
            return
        if isinstance(event, Notification):
            if event.method == "notifications/initialized" and event.dir is Dir.C2S:
                if self._answered:
                    yield holds(event)
                self._answered = 0
            return
        self._follow(event, session)
        if isinstance(event, Request) and self._answered and _asks(event, Dir.S2C):
            yield broken(event, "notifications/initialized first", f"{event.method} before it", self._answered)


def _asks(request: Request, sender: Dir) -> bool:
    """Whether one side asks for something for which it has to wait."""
    return request.dir is sender and is_call(request) and request.method not in ("ping", "initialize")
