"""tasks: acknowledgements, cancellation, and answers to those who have not declared the extension."""

from mcpcheck.rules.ext import TASKS, announced, declares, extensions
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.rules.tasks.task import METHODS, asker, created, result_for, task_id
from mcpcheck.session import ids
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Notification, Request
from mcpcheck.wire.protocol import CLIENT_CAPABILITIES, MISSING_CLIENT_CAPABILITY
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir

_CANCELLED = "notifications/cancelled"
_GRACE = 5.0
"""Seconds in which an answer has certainly reached the one who asked."""

_OF_TASKS = frozenset({"task", "taskId", "status", "inputRequests", "result", "error"})


def _complete(answer: Answer, session: Session, method: str) -> Verdicts:
    result = result_for(answer, session, method)
    if result is None or not isinstance(result.get("resultType"), str):
        return
    if result["resultType"] == "complete":
        yield holds(answer)
    elif result["resultType"] != "task":
        yield broken(answer, 'resultType "complete"', f"resultType is {shown(result['resultType'])}")


@rule("tasks.update.result-type-complete", on="tasks/update", sender=Dir.S2C)
def update_result_type(answer: Answer, session: Session) -> Verdicts:
    """Looks at resultType in answers to tasks/update. Whether there is one, and "task", have rules of their own."""
    yield from _complete(answer, session, "tasks/update")


@rule("tasks.cancel.result-type-complete", on="tasks/cancel", sender=Dir.S2C)
def cancel_result_type(answer: Answer, session: Session) -> Verdicts:
    """Looks at resultType in answers to tasks/cancel. Whether there is one, and "task", have rules of their own."""
    yield from _complete(answer, session, "tasks/cancel")


def _empty(answer: Answer, session: Session, method: str) -> Verdicts:
    result = result_for(answer, session, method)
    if result is None:
        return
    more = sorted(result.keys() & _OF_TASKS)
    if more:
        yield suspect(answer, "an acknowledgement with nothing in it", f"it has {', '.join(more)}")
    else:
        yield holds(answer)


@rule("tasks.update.ack-empty", on="tasks/update", sender=Dir.S2C)
def update_ack_empty(answer: Answer, session: Session) -> Verdicts:
    """Looks for members of a task in the results of tasks/update. Suspect only: results are open objects."""
    yield from _empty(answer, session, "tasks/update")


@rule("tasks.cancel.ack-empty", on="tasks/cancel", sender=Dir.S2C)
def cancel_ack_empty(answer: Answer, session: Session) -> Verdicts:
    """Looks for members of a task in the results of tasks/cancel. Suspect only: results are open objects."""
    yield from _empty(answer, session, "tasks/cancel")


@rule("tasks.error.undeclared-methods", on=METHODS, sender=Dir.S2C)
def undeclared_methods(answer: Answer, session: Session) -> Verdicts:
    """Looks for results of tasks/* requests that do not declare the extension, from a server that has announced it.

    An error of another kind than -32021 may be about something else. A client that declares the tasks of 2025-11-25
    may ask for those.
    """
    request = asker(session)
    if request is None or extensions(request) is None or declares(request, TASKS) or not announced(session, TASKS):
        return
    if "tasks" in request.meta[CLIENT_CAPABILITIES]:
        return
    expected = f"error {MISSING_CLIENT_CAPABILITY}"
    if answer.has_result and not answer.has_error:
        yield broken(answer, expected, "a result", request.record.n)
    elif answer.code == MISSING_CLIENT_CAPABILITY:
        yield holds(answer)


@rule("tasks.cancel.not-by-notification", on=("tools/call", *METHODS, _CANCELLED), wakes="taskId")
class NotByNotification:
    """Looks for notifications/cancelled that name a task, or a request that was answered with one.

    The client knows of the task when it has asked for it, or five seconds after the answer; before that it may have
    given up waiting. Where several clients may speak, the id of a request shows nothing.
    """

    def __init__(self) -> None:
        self._tasks: Recent[str, int] = Recent()  # the frame of the answer, by taskId
        self._calls: Recent[ids.Key, tuple[Answer, str]] = Recent()  # by the id of the request
        self._known: Recent[str, None] = Recent()

    def see(self, event: Request | Answer | Notification, session: Session) -> Verdicts:
        match event:
            case Answer():
                self._answered(event, session)
            case Request():
                self._calls.pop(ids.key(event.id), None)
                id = event.param("taskId")
                if event.method in METHODS and isinstance(id, str):
                    self._known[id] = None
                    if event.method == "tasks/cancel" and declares(event, TASKS):
                        yield holds(event)
            case Notification():
                if event.method == _CANCELLED and event.dir is Dir.C2S:
                    yield from self._cancelled(event, session)

    def _answered(self, answer: Answer, session: Session) -> None:
        id, request = task_id(created(answer, session)), asker(session)
        if id is not None and request is not None:
            self._tasks[id] = answer.record.n
            self._calls[ids.key(request.id)] = answer, id

    def _cancelled(self, note: Notification, session: Session) -> Verdicts:
        named, id = note.param("taskId"), note.param("requestId")
        if isinstance(named, str) and named in self._tasks and id is None:
            yield broken(note, "tasks/cancel", f"{_CANCELLED} for the task {shown(named)}", self._tasks[named])
            return
        found = self._calls.get(ids.key(id)) if session.one_client else None
        if found is None or session.open_call(Dir.C2S, id) is not None:
            return
        answer, task = found
        if task in self._known or note.record.t - answer.record.t > _GRACE:
            said = f"{_CANCELLED} for a request that has become the task {shown(task)}"
            yield broken(note, "tasks/cancel", said, answer.record.n)


@rule("tasks.error.informative", on=METHODS, sender=Dir.S2C)
def error_informative(answer: Answer, session: Session) -> Verdicts:
    """Looks for an empty message in errors that answer tasks/* requests. How much a message tells is not judged."""
    request = asker(session)
    if request is not None and declares(request, TASKS):
        yield from judge_message(answer)


def judge_message(answer: Answer) -> Verdicts:
    """Whether an error has any words."""
    message = answer.error.get("message") if isinstance(answer.error, dict) else None
    if not isinstance(message, str):
        return
    if message.strip():
        yield holds(answer)
    else:
        yield broken(answer, "a message that tells the cause", "message is empty")
