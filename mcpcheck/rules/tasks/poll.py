"""tasks: what tasks/get brings, by the status of the task."""

from typing import Any

from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.rules.tasks.task import STATUSES, TERMINAL, asker, doubt, fault, payload_fault, result_for, task_id
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir

_GET = "tasks/get"


def _polled(answer: Answer, session: Session, status: str) -> dict[str, Any] | None:
    """The task that tasks/get brings, where it has this status."""
    task = result_for(answer, session, _GET)
    return task if task is not None and task.get("status") == status else None


def _judged(answer: Answer, task: dict[str, Any]) -> Verdicts:
    wrong = fault(task) or payload_fault(task)
    expected = f"a task that is {task.get('status')}"
    if wrong:
        yield broken(answer, expected, wrong)
    elif odd := doubt(task):
        yield suspect(answer, expected, odd)
    else:
        yield holds(answer)


@rule("tasks.get.working", on=_GET, sender=Dir.S2C)
def get_working(answer: Answer, session: Session) -> Verdicts:
    """Looks at the members of tasks that are working, and for tasks with a status that there is not."""
    task = result_for(answer, session, _GET)
    if task is None:
        return
    status = task.get("status")
    if status == "working":
        yield from _judged(answer, task)
    elif status not in (*STATUSES, "canceled"):
        said = f"status is {shown(status)}" if "status" in task else fault(task)
        yield broken(answer, f"a task whose status is one of {', '.join(STATUSES)}", said)


@rule("tasks.get.input-required", on=_GET, sender=Dir.S2C)
def get_input_required(answer: Answer, session: Session) -> Verdicts:
    """Looks at tasks that wait for input: inputRequests is an object. An empty one is suspect."""
    task = _polled(answer, session, "input_required")
    if task is None:
        return
    if task.get("inputRequests") == {} and not fault(task):
        yield suspect(answer, "what the task waits for", "inputRequests is empty")
    else:
        yield from _judged(answer, task)


@rule("tasks.get.completed", on=_GET, sender=Dir.S2C)
def get_completed(answer: Answer, session: Session) -> Verdicts:
    """Looks at completed tasks: result is an object. What is in it depends on the call."""
    task = _polled(answer, session, "completed")
    if task is not None:
        yield from _judged(answer, task)


@rule("tasks.get.failed", on=_GET, sender=Dir.S2C)
def get_failed(answer: Answer, session: Session) -> Verdicts:
    """Looks at failed tasks: error is an object with an integer code and a message."""
    task = _polled(answer, session, "failed")
    if task is not None:
        yield from _judged(answer, task)


@rule("tasks.get.cancelled", on=_GET, sender=Dir.S2C)
def get_cancelled(answer: Answer, session: Session) -> Verdicts:
    """Looks at the members of cancelled tasks, and for the other spelling of the status."""
    task = _polled(answer, session, "cancelled")
    if task is not None:
        yield from _judged(answer, task)
    elif _polled(answer, session, "canceled") is not None:
        yield broken(answer, "the status cancelled", 'status is "canceled"')


@rule("tasks.failed.status-message", on=_GET, sender=Dir.S2C)
def failed_status_message(answer: Answer, session: Session) -> Verdicts:
    """Looks for a statusMessage in failed tasks that have an error. Of what type it is has a rule of its own."""
    task = _polled(answer, session, "failed")
    if task is None or payload_fault(task):
        return
    if task.get("statusMessage", "") == "":
        yield broken(
            answer, "statusMessage says why", "there is none" if "statusMessage" not in task else "it is empty"
        )
    else:
        yield holds(answer)


@rule("tasks.get.result-type-complete", on=_GET, sender=Dir.S2C)
def get_result_type(answer: Answer, session: Session) -> Verdicts:
    """Looks at resultType in answers to tasks/get. Whether there is one has a rule of its own."""
    result = result_for(answer, session, _GET)
    if result is None or not isinstance(result.get("resultType"), str):
        return
    if result["resultType"] == "complete":
        yield holds(answer)
    else:
        yield broken(answer, 'resultType "complete"', f"resultType is {shown(result['resultType'])}")


@rule("tasks.id.unique", on=_GET, sender=Dir.S2C)
def id_unique(answer: Answer, session: Session) -> Verdicts:
    """Compares the taskId that tasks/get brings with the one that was asked for."""
    request, found = asker(session), task_id(result_for(answer, session, _GET))
    wanted = request.param("taskId") if request else None
    if found is None or not isinstance(wanted, str):
        return
    if found == wanted:
        yield holds(answer)
    else:
        yield broken(answer, f"the task {shown(wanted)}, which was asked for", f"taskId is {shown(found)}")


@rule("tasks.status.terminal-final", on=_GET, sender=Dir.S2C)
class TerminalFinal:
    """Compares the status of a task that was over with what is told of it to those who ask afterwards.

    A question that was under way already is left alone. A failed one whose time to live has a bound is suspect: past
    that a server may mark it so.
    """

    def __init__(self) -> None:
        self._over: Recent[str, tuple[str, int]] = Recent()  # the status, and the frame that told it

    def see(self, answer: Answer, session: Session) -> Verdicts:
        task, request = result_for(answer, session, _GET), asker(session)
        id = task_id(task)
        status = task.get("status") if task else None
        if task is None or request is None or id is None or status not in STATUSES:
            return
        if id not in self._over:
            if status in TERMINAL:
                self._over[id] = status, answer.record.n
            return
        before, n = self._over[id]
        if status == before:
            yield holds(answer)
        elif request.record.n > n:
            judged = suspect if status == "failed" and task.get("ttlMs") is not None else broken
            yield judged(answer, f"a task that stays {before}", f"the task {shown(id)} is {status}", n)
