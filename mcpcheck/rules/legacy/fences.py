"""Fences: from when on a server has surely dealt with a request of the handshake era, whatever it had under way."""

from mcpcheck.rules.legacy.handshakes import name_of
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Notification
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir

FENCES = ("ping", "tools/list", "tools/call", "resources/read", "resources/list", "prompts/list", "prompts/get")
"""The requests whose answers a rule has to be asked about, so that they can be fences."""


class Fences:
    """The newest request of each client that the server has answered.

    A notification that comes after the answer to a request which was sent after another answer is no longer one that
    had been under way before that. On HTTP streams may overtake each other: there the notification has to come on the
    stream of such a request.
    """

    def __init__(self) -> None:
        self._answered: Recent[str, int] = Recent()  # the frame of the request

    def learn(self, answer: Answer, session: Session) -> None:
        """Take an answer of the server in."""
        name, call = name_of(session), session.call
        if name is not None and call is not None and answer.dir is Dir.S2C:
            self._answered[name] = max(self._answered.get(name, 0), call.request.record.n)

    def between(self, frame: int, note: Notification, session: Session) -> bool:
        """Whether a notification was surely sent after the server had done with what this frame holds."""
        if session.exchange is not None:
            call = session.exchange.call
            return call is not None and call.request.record.n > frame
        return self._answered.get(name_of(session) or "", 0) > frame
