"""legacy.tasks: the life of a task: who makes it, how its status changes, what comes of it."""

from datetime import datetime, timedelta
from typing import Any

from mcpcheck.rules import shapes
from mcpcheck.rules.cursors import CursorOpaque
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import result_of
from mcpcheck.rules.registry import Verdicts, broken, holds, rule
from mcpcheck.rules.tasks.legacy import (
    AUGMENTED,
    STATUS,
    Place,
    asker,
    created,
    handed,
    is_over,
    is_task,
    place_of,
)
from mcpcheck.rules.tasks.legacy_shapes import judge_time
from mcpcheck.rules.tasks.task import STATUSES, instant
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Notification, Request
from mcpcheck.wire.protocol import INVALID_PARAMS
from mcpcheck.wire.recent import Recent

_RESULTS = {
    "tools/call": ("CallToolResult", "content"),
    "sampling/createMessage": ("CreateMessageResult", ""),
    "elicitation/create": ("ElicitResult", ""),
}
_SHOWN = (*AUGMENTED, "tasks/get", "tasks/list", "tasks/cancel", STATUS)
_PRECISION = timedelta(seconds=1)


@rule("legacy.tasks.id.receiver", on=AUGMENTED, near="task")
def id_receiver(answer: Answer, session: Session) -> Verdicts:
    """Compares the id of a new task with a taskId that its requestor has put into params.task, which takes none."""
    task, request = created(answer, session), asker(session)
    if task is None or request is None or not isinstance(task.get("taskId"), str):
        return
    if request.params["task"].get("taskId") == task["taskId"]:
        said = f"taskId is {shown(task['taskId'])}, as in params.task"
        yield broken(answer, "an id that the receiver has made", said, request.record.n)
    else:
        yield holds(answer)


@rule("legacy.tasks.status.initial", on=AUGMENTED, near="task")
def status_initial(answer: Answer, session: Session) -> Verdicts:
    """Looks at the status of a new task: working. A status that there is not is a matter of the task's shape."""
    task = created(answer, session)
    if task is None or task.get("status") not in STATUSES:
        return
    if task["status"] == "working":
        yield holds(answer)
    else:
        yield broken(answer, "a new task is working", f"status is {shown(task['status'])}")


class _Over:
    """The tasks that are known to be over: their status, and the frame that told it."""

    def __init__(self) -> None:
        self._tasks: Recent[Place, tuple[str, int]] = Recent()

    def learn(self, event: Answer | Notification, session: Session) -> None:
        for _, task in handed(event, session):
            place = place_of(session, event.dir, task.get("taskId")) if isinstance(task, dict) else None
            if place is not None and place not in self._tasks and is_over(task.get("status")):
                self._tasks[place] = task["status"], event.record.n

    def before(self, place: Place | None, request: Request) -> tuple[str, int] | None:
        """The status with which a task was over before a request about it was sent."""
        found = self._tasks.get(place) if place is not None else None
        return found if found and found[1] < request.record.n else None


def _asked_for(answer: Answer, session: Session) -> Place | None:
    """The task that a request is about."""
    request = asker(session)
    return place_of(session, answer.dir, request.param("taskId")) if request else None


class _Final:
    """Compares what tasks/get tells of a task with the status that was terminal before it was asked."""

    statuses: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self._over = _Over()

    def see(self, event: Answer | Notification, session: Session) -> Verdicts:
        if isinstance(event, Answer):
            yield from self._told(event, session)
        self._over.learn(event, session)

    def _told(self, answer: Answer, session: Session) -> Verdicts:
        found, request = result_of(answer, session), asker(session)
        if found is None or request is None or found[0] != "tasks/get" or found[1].get("status") not in STATUSES:
            return
        place = _asked_for(answer, session)
        before = self._over.before(place, request)
        if before is None or before[0] not in self.statuses or found[1].get("taskId") != request.param("taskId"):
            return
        if found[1]["status"] == before[0]:
            yield holds(answer)
        else:
            said = f"status is {shown(found[1]['status'])}"
            yield broken(answer, f"a task that stays {before[0]}", said, before[1])


@rule("legacy.tasks.status.terminal", on=_SHOWN)
class StatusTerminal(_Final):
    """Compares the status of a completed or failed task with what tasks/get tells those who ask afterwards.

    A question that was under way already is left alone. Cancelled tasks have a rule of their own.
    """

    statuses = frozenset({"completed", "failed"})


@rule("legacy.tasks.cancel.sticky", on=_SHOWN)
class CancelSticky(_Final):
    """Compares the status of a cancelled task with what tasks/get tells those who ask afterwards.

    A question that was under way already is left alone. The receiver may have deleted the task: an error is no status.
    """

    statuses = frozenset({"cancelled"})


@rule("legacy.tasks.status.failed-message", on="tasks/get")
def failed_message(answer: Answer, session: Session) -> Verdicts:
    """Looks for a statusMessage in what tasks/get tells of a failed task."""
    found = result_of(answer, session)
    if found is None or found[1].get("status") != "failed":
        return
    if found[1].get("statusMessage", "") == "":
        said = "it is empty" if "statusMessage" in found[1] else "there is none"
        yield broken(answer, "statusMessage says why", said)
    else:
        yield holds(answer)


@rule("legacy.tasks.cancel.terminal-error", on=_SHOWN)
class CancelTerminalError:
    """Looks for a result of tasks/cancel for a task that was over before. An error of another kind is left alone."""

    def __init__(self) -> None:
        self._over = _Over()

    def see(self, event: Answer | Notification, session: Session) -> Verdicts:
        request = asker(session)
        if isinstance(event, Answer) and request is not None and request.method == "tasks/cancel":
            before = self._over.before(_asked_for(event, session), request)
            if before is not None and event.has_result and not event.has_error:
                yield broken(event, f"error {INVALID_PARAMS}", f"a result, though the task was {before[0]}", before[1])
            elif before is not None and event.code == INVALID_PARAMS:
                yield holds(event)
        self._over.learn(event, session)


@rule("legacy.tasks.cancel.before-response", on=_SHOWN)
class CancelBeforeResponse:
    """Looks at the status in results of tasks/cancel: cancelled. A task that was over before has a rule of its own."""

    def __init__(self) -> None:
        self._over = _Over()

    def see(self, event: Answer | Notification, session: Session) -> Verdicts:
        found, request = (result_of(event, session) if isinstance(event, Answer) else None), asker(session)
        if isinstance(event, Answer) and found and request and found[0] == "tasks/cancel":
            over = self._over.before(_asked_for(event, session), request)
            status = found[1].get("status")
            if status == "cancelled" and over is None:
                yield holds(event)
            elif status in STATUSES and over is None:
                yield broken(event, "a task that is cancelled", f"status is {shown(status)}")
        self._over.learn(event, session)


@rule("legacy.tasks.result.block", on=("tasks/get", "tasks/result"))
class ResultBlocks:
    """Looks for tasks that are not over though tasks/result has brought their outcome before one asked."""

    def __init__(self) -> None:
        self._given: Recent[Place, int] = Recent()  # the frame of the outcome

    def see(self, answer: Answer, session: Session) -> Verdicts:
        found, request, place = result_of(answer, session), asker(session), _asked_for(answer, session)
        if found is None or request is None or place is None:
            return
        method, result = found
        if method == "tasks/result":
            self._given[place] = answer.record.n
        elif result.get("taskId") == request.param("taskId") and place in self._given:
            n, status = self._given[place], result.get("status")
            if is_over(status):
                yield holds(answer)
            elif status in STATUSES and n < request.record.n:
                said = f"status is {shown(status)}, though tasks/result has been answered"
                yield broken(answer, "an outcome only of a task that is over", said, n)


@rule("legacy.tasks.result.shape", on=(*AUGMENTED, "tasks/result", "tasks/get", "tasks/cancel", STATUS))
class ResultShape:
    """Looks for taskId in tasks/result, and holds its result against that of the request which has become the task.

    A task whose creation was not seen, and one that was cancelled, may bring anything. The blocks of content have rules
    of their own.
    """

    def __init__(self) -> None:
        self._methods: Recent[Place, str] = Recent()  # what the task was made for
        self._over = _Over()

    def see(self, event: Request | Answer | Notification, session: Session) -> Verdicts:
        if isinstance(event, Request):
            if event.method == "tasks/result" and isinstance(event.params or {}, dict):
                there = "taskId" in (event.params or {})
                yield holds(event) if there else broken(event, "params.taskId", "there is none")
            return
        self._over.learn(event, session)
        request = asker(session)
        if isinstance(event, Notification) or request is None:
            return
        task = created(event, session)
        place = place_of(session, event.dir, task.get("taskId")) if task else None
        if place is not None:
            self._methods[place] = request.method
        elif request.method == "tasks/result":
            yield from self._outcome(event, request, session)

    def _outcome(self, answer: Answer, request: Request, session: Session) -> Verdicts:
        place, found = _asked_for(answer, session), result_of(answer, session)
        method = self._methods.get(place) if place is not None else None
        over = self._over.before(place, request)
        if found is None or method is None or not session.whole or (over and over[0] == "cancelled"):
            return
        result = found[1]
        type, blocks = _RESULTS[method]
        if "content" not in result and is_task(result.get("task", result)):
            yield broken(answer, f"the shape of {type}", "it is a task")
            return
        given: Any = shapes.emptied(shapes.without(result, _meta=...), blocks)
        yield from shapes.judge(answer, session, type, given, "result")


@rule("legacy.tasks.time.created-at", on=_SHOWN, near="createdAt")
class CreatedAt:
    """Looks at createdAt of every task: an ISO 8601 time stamp, and the same one whenever the task is shown.

    Whether there is one is the task's shape. A difference of less than a second is no other time.
    """

    def __init__(self) -> None:
        self._first: Recent[Place, tuple[datetime, int]] = Recent()

    def see(self, event: Answer | Notification, session: Session) -> Verdicts:
        for at, task in handed(event, session):
            when = task.get("createdAt") if isinstance(task, dict) else None
            if isinstance(when, str):
                yield from self._stamped(event, session, at, task, when)

    def _stamped(
        self, event: Answer | Notification, session: Session, at: str, task: dict[str, Any], when: str
    ) -> Verdicts:
        time, place = instant(when), place_of(session, event.dir, task.get("taskId"))
        if time is not None and place is not None:
            if place not in self._first:
                self._first[place] = time, event.record.n
            first, n = self._first[place]
            if (first.tzinfo is None) == (time.tzinfo is None) and abs(time - first) >= _PRECISION:
                yield broken(event, "the time at which the task was created", f"{at}.createdAt is {shown(when)}", n)
                return
        yield from judge_time(event, f"{at}.createdAt", when)


@rule("legacy.tasks.list.opaque-cursor", on="tasks/list", near=("nextCursor", "cursor"))
class ListOpaqueCursor(CursorOpaque):
    """Compares each cursor that is sent with tasks/list with every nextCursor that came before, as exact texts.

    One that is a given cursor trimmed, unquoted or without its padding is broken. One that was never given at all is
    suspect on stdio, where the recording shows the whole session; elsewhere it may have been kept from before.
    """

    def see(self, event: Request | Answer, session: Session) -> Verdicts:
        if isinstance(event, Answer):
            yield from super().see(event, session)
        elif isinstance(event.param("cursor"), str):
            yield from self._sent(event, event.param("cursor"), session)
