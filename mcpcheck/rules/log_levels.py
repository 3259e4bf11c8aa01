"""logging: the level that a request sets for its log messages."""

from typing import Any

from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import result_of
from mcpcheck.rules.registry import Verdicts, broken, holds, rule
from mcpcheck.session.call import Call
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Notification, Request
from mcpcheck.wire.protocol import LOG_LEVEL, SUBSCRIPTION_ID
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_LOG = "notifications/message"
_LISTEN = "subscriptions/listen"


def _rank(level: Any) -> int | None:
    return LEVELS.index(level) if isinstance(level, str) and level in LEVELS else None


def _streams_call(session: Session) -> Call | None:
    """The request on whose stream an event is, unless that is a subscription's."""
    call = session.exchange.call if session.exchange else None
    return call if call is not None and call.request.method != _LISTEN else None


class _Open:
    """The levels that open requests on stdio have set: how many of each. One that is no level makes it unknown."""

    def __init__(self) -> None:
        self._of: Recent[int, int | None] = Recent()
        self._times = [0] * len(LEVELS)
        self._unknown = 0

    def asked(self, request: Request) -> None:
        rank = _rank(request.meta[LOG_LEVEL])
        self._of[request.record.n] = rank
        self._count(rank, 1)

    def answered(self, call: Call) -> None:
        n = call.request.record.n
        if n in self._of:
            self._count(self._of.pop(n), -1)

    def _count(self, rank: int | None, by: int) -> None:
        if rank is None:
            self._unknown += by
        else:
            self._times[rank] += by

    @property
    def lowest(self) -> int | None:
        """The lowest level that some open request wants; None where that is unknown, or where none wants any."""
        if self._unknown or self._of.forgetful:
            return None
        return next((rank for rank, times in enumerate(self._times) if times), None)


@rule("logging.message.at-or-above-level", wakes="io.modelcontextprotocol/logLevel")
class AtOrAboveLevel:
    """Compares the level of each log message with that of the request on whose stream it is.

    On stdio with the lowest that any open request has set. Messages that nobody asked for have a rule of their own.
    """

    def __init__(self) -> None:
        self._open = _Open()

    def see(self, event: Request | Answer | Notification, session: Session) -> Verdicts:
        if isinstance(event, Request):
            if event.dir is Dir.C2S and LOG_LEVEL in event.meta and session.exchange is None:
                self._open.asked(event)
        elif isinstance(event, Answer):
            if session.call is not None and session.exchange is None:
                self._open.answered(session.call)
        elif event.method == _LOG and event.dir is Dir.S2C and SUBSCRIPTION_ID not in event.meta:
            yield from self._logged(event, session)

    def _logged(self, note: Notification, session: Session) -> Verdicts:
        rank, call = _rank(note.param("level")), _streams_call(session)
        if session.exchange is not None:
            floor = _rank(call.request.meta.get(LOG_LEVEL)) if call else None
        else:
            floor = self._open.lowest if session.whole else None
        if rank is None or floor is None:
            return
        if rank >= floor:
            yield holds(note)
        else:
            n = call.request.record.n if call else note.record.n
            yield broken(note, f"{LEVELS[floor]} or above, as was asked for", f"level {LEVELS[rank]}", n)


@rule("logging.message.not-on-other-stream", on=_LOG)
def not_on_other_stream(note: Notification, session: Session) -> Verdicts:
    """Looks for log messages on the stream of a request that has set no level, while another that has one is open."""
    call = _streams_call(session)
    if note.method != _LOG or note.dir is Dir.C2S or call is None:
        return
    if LOG_LEVEL in call.request.meta:
        yield holds(note)
    elif session.wants_log():
        said = f"a log message on that of {call.request.method}, which has set none"
        yield broken(note, "log messages on the stream of the request that set a level", said, call.request.record.n)


@rule("logging.level.invalid-rejected", wakes="io.modelcontextprotocol/logLevel")
def level_invalid_rejected(answer: Answer, session: Session) -> Verdicts:
    """Looks at what answers a request whose logLevel is none of the eight: a result of a server that has logging."""
    call = session.call
    if call is None or answer.dir is Dir.C2S or LOG_LEVEL not in call.request.meta:
        return
    level = call.request.meta[LOG_LEVEL]
    if _rank(level) is not None:
        return
    found = result_of(answer, session)
    if answer.has_error:
        yield holds(answer)
    elif found is not None and "resultType" in found[1] and "logging" in session.declared:
        n = call.request.record.n
        yield broken(answer, "error -32602", f"a result, although logLevel is {shown(level)}", n)
