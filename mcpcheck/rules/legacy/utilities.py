"""legacy.logging, legacy.tasks: methods and objects that later revisions no longer have."""

from collections.abc import Iterator
from typing import Any

from mcpcheck.rules import shapes
from mcpcheck.rules.places import Found, entries, result_of
from mcpcheck.rules.registry import Verdicts, rule
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Notification, Request
from mcpcheck.wire.record import Dir


@rule("legacy.logging.set-level.request-shape", on="logging/setLevel")
def set_level_request_shape(request: Request, session: Session) -> Verdicts:
    """Looks at the params of logging/setLevel: one of the eight levels."""
    if request.dir is Dir.C2S:
        yield from shapes.params(request, session, "logging/setLevel", "SetLevelRequestParams")


@rule("legacy.tasks.create.request-shape")
def tasks_create_request_shape(request: Request, session: Session) -> Verdicts:
    """Looks at task in the params of every request that has it."""
    if isinstance(request.params, dict) and "task" in request.params:
        yield from shapes.judge(request, session, "TaskMetadata", request.params["task"], "params.task")


@rule("legacy.tasks.task.shape")
def tasks_task_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at every Task: of a task that was created, of tasks/get and tasks/cancel, and of tasks/list."""
    yield from shapes.judge_all(answer, session, "Task", _tasks(answer, session))


def _tasks(answer: Answer, session: Session) -> Iterator[Found]:
    found = result_of(answer, session)
    if found is None:
        return
    method, result = found
    if method in ("tasks/get", "tasks/cancel"):
        yield "result", result
    elif method == "tasks/list":
        yield from entries(result, "tasks", "result.")
    elif "task" in result and _asked_for_task(session):
        yield "result.task", result["task"]


def _asked_for_task(session: Session) -> bool:
    call = session.call or session.near
    return call is not None and call.request.param("task") is not None


@rule("legacy.tasks.notification.shape", on="notifications/tasks/status")
def tasks_notification_shape(note: Notification, session: Session) -> Verdicts:
    """Looks at the params of notifications/tasks/status: the whole task."""
    yield from shapes.notified(note, session, "notifications/tasks/status", "TaskStatusNotificationParams")


@rule("legacy.tasks.list.shape", on="tasks/list")
def tasks_list_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at the result of tasks/list; each task in it has a rule of its own."""
    found = result_of(answer, session)
    if found and found[0] == "tasks/list":
        given: Any = shapes.emptied(shapes.without(found[1], _meta=...), "tasks")
        yield from shapes.judge(answer, session, "ListTasksResult", given, "result")
