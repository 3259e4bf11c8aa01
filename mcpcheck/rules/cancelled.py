"""cancel, stdio: what a server still says of a request that the client has called off."""

from dataclasses import dataclass

from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.session.call import Call
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Notification
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir

_METHOD = "notifications/cancelled"
_GRACE = 5.0
"""Seconds in which a server that works on several things at a time comes to a cancellation that it has read."""


@dataclass(frozen=True, slots=True)
class _Off:
    """A request that was called off, and the notification that did it."""

    call: Call
    note: Notification


class _Cancelled:
    """The requests that a client has called off while they were open, by their frame.

    That the server has read a cancellation shows when it answers a later request: until then, and some seconds after
    the cancellation, whatever comes may have crossed it.
    """

    def __init__(self) -> None:
        self._off: Recent[int, _Off] = Recent(1000)
        self._newest = 0  # the frame of the newest request that has an answer
        self.told: Recent[int, None] = Recent(1000)  # those of which something came late

    def learn(self, event: Answer | Notification, session: Session) -> None:
        call = session.call
        if isinstance(event, Answer):
            if event.dir is Dir.S2C and call is not None:
                self._newest = max(self._newest, call.request.record.n)
        elif event.method == _METHOD and event.dir is Dir.C2S and session.exchange is None:
            id = event.param("requestId")
            cancelled = session.open_call(Dir.C2S, id) if type(id) in (str, int) else None
            if cancelled is not None and cancelled.request.method != "initialize":
                self._off.setdefault(cancelled.request.record.n, _Off(cancelled, event))

    def was_read(self, off: _Off) -> bool:
        return self._newest > off.note.record.n

    def late(self, event: Answer | Notification, off: _Off) -> bool:
        """Whether an event came when the server had long since read the cancellation."""
        return self.was_read(off) and event.record.t - off.note.record.t > _GRACE

    def off(self, call: Call | None) -> _Off | None:
        return self._off.get(call.request.record.n) if call is not None else None

    def quiet(self) -> Verdicts:
        """The cancellations that the server has read, and after which nothing more came."""
        for n, off in self._off.items():
            if n not in self.told and off.call.open and self.was_read(off):
                yield holds(off.note)


@rule("cancel.server.no-response", wakes="notifications/cancelled")
class NoResponse(_Cancelled):
    """Looks for the answer, an error included, to a request that was called off, on stdio.

    Suspect only, and only where it comes more than five seconds later and behind the answer to a later request: the
    cancellation may have crossed it before, and a server may ignore one that it cannot carry out.
    """

    def see(self, event: Answer | Notification, session: Session) -> Verdicts:
        off = self.off(session.call) if isinstance(event, Answer) and event.dir is Dir.S2C else None
        if off is not None and self.late(event, off) and len(off.call.answers) == 1:
            said = f"an answer to {shown(off.call.request.id)}"
            yield suspect(event, "no response to a request that was called off", said, off.note.record.n)
        self.learn(event, session)

    def end(self, session: Session) -> Verdicts:
        yield from self.quiet()


@rule("stdio.cancel.silent", wakes="notifications/cancelled")
class Silent(_Cancelled):
    """Looks for progress of a request that was called off, and for what its subscription delivers.

    What comes more than five seconds later, behind the answer to a later request, is broken for a subscription, which
    can always be ended. For other work it is suspect: it may be that it cannot be stopped. Its answer has a rule of
    its own.
    """

    def see(self, event: Answer | Notification, session: Session) -> Verdicts:
        if isinstance(event, Notification) and event.dir is Dir.S2C and event.method != _METHOD:
            yield from self._heard(event, session)
        self.learn(event, session)

    def _heard(self, note: Notification, session: Session) -> Verdicts:
        off = self.off(session.call)
        if off is None or not off.call.open or not self.late(note, off):
            return
        request = off.call.request
        token = note.param("progressToken")
        if token is not None and len(session.calls_with_token(Dir.C2S, token)) > 1:
            return
        self.told[request.record.n] = None
        listens = request.method == "subscriptions/listen" and note.method != "notifications/progress"
        judged = broken if listens else suspect
        said = f"{note.method} for {shown(request.id)}"
        yield judged(note, "nothing more for a request that was called off", said, off.note.record.n)

    def end(self, session: Session) -> Verdicts:
        yield from self.quiet()
