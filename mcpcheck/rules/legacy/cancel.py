"""legacy.cancel: what either side may still call off."""

from typing import Any

from mcpcheck.rules.legacy.handshakes import name_of
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.session import ids
from mcpcheck.session.call import Call
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Event, Notification, Request
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir

_METHOD = "notifications/cancelled"
_GRACE = 5.0
"""Seconds in which an answer has certainly reached the one who asked."""

_AUGMENTED = ("tools/call", "sampling/createMessage", "elicitation/create")
_ABOUT_TASKS = ("tasks/get", "tasks/result", "tasks/cancel")

Place = tuple[str, Dir, ids.Key]


def _place(event: Event, session: Session, asker: Dir, id: Any) -> Place | None:
    """Which request of which session; None where the recording cannot tell sessions apart."""
    name = name_of(session)
    return None if name is None else (name, asker, ids.key(id))


@rule("legacy.cancel.request.in-progress")
class InProgress:
    """Looks for the answer to what is called off. One that came more than five seconds before is suspect.

    One that came later may have crossed the cancellation. A request that was answered with a task, and one that was
    never sent, have rules of their own.
    """

    def __init__(self) -> None:
        self._answered: Recent[Place, tuple[int, float]] = Recent(1000)  # the frame and the time of the answer

    def see(self, event: Answer | Notification, session: Session) -> Verdicts:
        if isinstance(event, Answer):
            if session.call is not None and not _makes_task(event):
                place = _place(event, session, session.call.request.dir, session.call.request.id)
                if place is not None:
                    self._answered[place] = (event.record.n, event.record.t)
        elif event.method == _METHOD and type(event.param("requestId")) in (str, int):
            yield from self._cancelled(event, session)

    def _cancelled(self, note: Notification, session: Session) -> Verdicts:
        id = note.param("requestId")
        place = _place(note, session, note.dir, id)
        if place is None:
            return
        if session.open_call(note.dir, id) is not None:
            yield holds(note)
            return
        n, answered = self._answered.get(place, (0, note.record.t))
        waited = note.record.t - answered
        if waited > _GRACE:
            said = f"id {shown(id)} was answered {waited:.0f} s before"
            yield suspect(note, "the id of a request in progress", said, n)


@rule("legacy.cancel.request.task-cancel", on=(*_AUGMENTED, *_ABOUT_TASKS, _METHOD))
class TaskCancel:
    """Looks at the calling off of requests that were answered with a task, once the sender must know of the task.

    It knows when it has asked for the task, or five seconds after the answer. Before that it may have given up waiting
    for the answer.
    """

    def __init__(self) -> None:
        self._tasks: Recent[Place, tuple[Answer, str]] = Recent()
        self._known: Recent[tuple[str, Dir, str], None] = Recent()

    def see(self, event: Request | Answer | Notification, session: Session) -> Verdicts:
        name = name_of(session)
        if name is None:
            return
        match event:
            case Answer():
                if session.call is not None and _made_for(session.call, event):
                    place = (name, session.call.request.dir, ids.key(session.call.request.id))
                    self._tasks[place] = (event, _task_id(event))
            case Request():
                id = event.param("taskId")
                if event.method in _ABOUT_TASKS and isinstance(id, str):
                    self._known[name, event.dir, id] = None
                    if event.method == "tasks/cancel":
                        yield holds(event)
            case Notification():
                if event.method == _METHOD:
                    yield from self._cancelled(event, name)

    def _cancelled(self, note: Notification, name: str) -> Verdicts:
        place = (name, note.dir, ids.key(note.param("requestId")))
        if place not in self._tasks:
            return
        answer, task = self._tasks[place]
        if (name, note.dir, task) in self._known or note.record.t - answer.record.t > _GRACE:
            said = f"{_METHOD} for a request that has become task {shown(task)}"
            yield broken(note, "tasks/cancel", said, answer.record.n)


def _made_for(call: Call, answer: Answer) -> bool:
    """Whether a request asked to be a task, and has become one."""
    return call.request.method in _AUGMENTED and isinstance(call.request.param("task"), dict) and _makes_task(answer)


def _makes_task(answer: Answer) -> bool:
    return isinstance(answer.result, dict) and isinstance(answer.result.get("task"), dict)


def _task_id(answer: Answer) -> str:
    id = answer.result["task"].get("taskId")
    return id if isinstance(id, str) else ""


@rule("legacy.cancel.request.not-initialize", on=("initialize", _METHOD))
class NotInitialize:
    """Looks for the calling off of the client's initialize, open or answered. HTTP is left alone."""

    def __init__(self) -> None:
        self._opening: Request | None = None

    def see(self, event: Request | Notification, session: Session) -> Verdicts:
        if event.dir is Dir.S2C or session.transport != "stdio":
            return
        if isinstance(event, Request):
            self._opening = event
            return
        id, opening = event.param("requestId"), self._opening
        call = session.open_call(Dir.C2S, id)
        if call is not None and call.request.method != "initialize":
            yield holds(event)
        elif opening is not None and ids.key(id) == ids.key(opening.id):
            n = opening.record.n
            yield broken(event, "a request other than initialize", f"{shown(id)} is the id of initialize", n)
