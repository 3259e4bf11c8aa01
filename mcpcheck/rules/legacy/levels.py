"""legacy.logging: the level that a client has set, and what is confirmed by an empty result."""

from mcpcheck.rules.legacy.fences import FENCES, Fences
from mcpcheck.rules.legacy.handshakes import name_of
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Notification, Request
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir

_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_SET, _LOG = "logging/setLevel", "notifications/message"


@rule("legacy.resources.subscribe.result", on="resources/subscribe", sender=Dir.S2C)
@rule("legacy.resources.subscribe.unsubscribe-result", on="resources/unsubscribe", sender=Dir.S2C)
@rule("legacy.logging.set-level.result", on=_SET, sender=Dir.S2C)
def empty_result(answer: Answer, session: Session) -> Verdicts:
    """Looks at results. Members beyond _meta are suspect, since the schema leaves room; an error is left alone."""
    if session.call is None or answer.has_error or not isinstance(answer.result, dict):
        return
    more = [name for name in answer.result if name != "_meta"]
    if more:
        yield suspect(answer, "an empty result", f"result has {shown(more[0])}")
    else:
        yield holds(answer)


@rule("legacy.logging.message.threshold", on=(_SET, _LOG, *FENCES))
class Threshold:
    """Compares each log message with the level that its session has set last, once the server has confirmed that.

    A message that may have been under way is left alone: one below the level counts from the answer to a later request
    on; on HTTP, on the stream of a later request.
    """

    def __init__(self) -> None:
        self._fences = Fences()
        self._set: Recent[str, tuple[int, int]] = Recent()  # the level, and the frame of its confirmation
        self._asked: Recent[str, int] = Recent()  # the frame of the last request

    def see(self, event: Request | Notification | Answer, session: Session) -> Verdicts:
        name = name_of(session)
        if name is None:
            return
        match event:
            case Request():
                if event.method == _SET and event.dir is Dir.C2S:
                    self._asked[name] = event.record.n
                    self._set.pop(name, None)
            case Answer():
                self._confirmed(event, name, session)
            case Notification():
                known = self._set.get(name, (0, 0))[1] > session.gap
                if event.method == _LOG and event.dir is Dir.S2C and known:
                    yield from self._logged(event, name, session)

    def _confirmed(self, answer: Answer, name: str, session: Session) -> None:
        self._fences.learn(answer, session)
        request = session.call.request if session.call else None
        if request is None or request.method != _SET or not isinstance(answer.result, dict) or answer.has_error:
            return
        if request.record.n < session.gap:
            return  # another level may have been asked for in between
        if request.param("level") in _LEVELS and self._asked.get(name) == request.record.n:
            self._set[name] = _LEVELS.index(request.param("level")), answer.record.n

    def _logged(self, note: Notification, name: str, session: Session) -> Verdicts:
        floor, frame = self._set[name]
        level = note.param("level")
        if level not in _LEVELS:
            return
        if _LEVELS.index(level) >= floor:
            yield holds(note)
        elif self._fences.between(frame, note, session):
            yield broken(note, f"no log message below {_LEVELS[floor]}", f"one of level {level}", frame)
