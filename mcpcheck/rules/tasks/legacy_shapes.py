"""legacy.tasks: the shapes of tasks, of the requests about them and of what they bring, and related-task metadata."""

from typing import Any

from mcpcheck.rules import shapes
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import result_of
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.rules.tasks.acks import judge_message
from mcpcheck.rules.tasks.legacy import ABOUT_TASKS, RELATED, STATUS, handed, is_task
from mcpcheck.rules.texts import is_time
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Message, Notification, Request

_NAMING = ("tasks/get", "tasks/result", "tasks/cancel")


@rule("legacy.tasks.create.request-shape", near="task")
def create_request_shape(request: Request, session: Session) -> Verdicts:
    """Looks at task in the params of every request that has it."""
    if isinstance(request.params, dict) and "task" in request.params:
        yield from shapes.judge(request, session, "TaskMetadata", request.params["task"], "params.task")


@rule("legacy.tasks.task.shape")
def task_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at every Task: of a task that was created, of tasks/get and tasks/cancel, and of tasks/list.

    An id that is no string has a rule of its own, and so has a result without a task.
    """
    tasks = ((at, _with_id(task)) for at, task in handed(answer, session))
    yield from shapes.judge_all(answer, session, "Task", tasks)


def _with_id(task: Any) -> Any:
    return shapes.without(task, taskId="") if isinstance(task, dict) and "taskId" in task else task


@rule("legacy.tasks.notification.shape", on=STATUS)
def notification_shape(note: Notification, session: Session) -> Verdicts:
    """Looks at the params of notifications/tasks/status: the whole task."""
    given = {"taskId": ""} if _has_id(note.params) else {}
    yield from shapes.notified(note, session, STATUS, "TaskStatusNotificationParams", **given)


@rule("legacy.tasks.list.shape", on="tasks/list")
def list_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at the result of tasks/list; each task in it has a rule of its own."""
    found = result_of(answer, session)
    if found and found[0] == "tasks/list":
        given: Any = shapes.emptied(shapes.without(found[1], _meta=...), "tasks")
        yield from shapes.judge(answer, session, "ListTasksResult", given, "result")


def _named(event: Request | Answer, session: Session, method: str) -> Verdicts:
    """A request that names a task, and a result that is one. What type the id has is legacy.tasks.id.string."""
    if isinstance(event, Request):
        if event.method != method or not isinstance(event.params or {}, dict):
            return
        if "taskId" in (event.params or {}):
            yield holds(event)
        else:
            yield broken(event, "params.taskId", "there is none")
        return
    found = result_of(event, session)
    if found is None or found[0] != method or method == "tasks/result":
        return
    if is_task(found[1]):
        yield holds(event)
    else:
        said = "they are in result.task" if is_task(found[1].get("task")) else "there are none"
        yield broken(event, "the members of the task in the result itself", said)


@rule("legacy.tasks.get.shape", on="tasks/get")
def get_shape(event: Request | Answer, session: Session) -> Verdicts:
    """Looks for taskId in tasks/get, and for the task in its result. The task's members have rules of their own."""
    yield from _named(event, session, "tasks/get")


@rule("legacy.tasks.cancel.shape", on="tasks/cancel")
def cancel_shape(event: Request | Answer, session: Session) -> Verdicts:
    """Looks for taskId in tasks/cancel, and for the task in its result. The task's members have rules of their own."""
    yield from _named(event, session, "tasks/cancel")


@rule("legacy.tasks.id.string", near="taskId")
def id_string(event: Message, session: Session) -> Verdicts:
    """Looks at every taskId: of tasks, and in the params of tasks/get, tasks/result and tasks/cancel."""
    found = [(f"{at}.taskId", task["taskId"]) for at, task in handed(event, session) if _has_id(task)]
    if isinstance(event, Request) and event.method in _NAMING and _has_id(event.params):
        found.append(("params.taskId", event.params["taskId"]))
    odd = [(at, id) for at, id in found if not isinstance(id, str)]
    for at, id in odd:
        yield broken(event, "a string", f"{at} is {shown(id)}")
    if found and not odd:
        yield holds(event)


def _has_id(value: Any) -> bool:
    return isinstance(value, dict) and "taskId" in value


@rule("legacy.tasks.related.shape", near=RELATED)
def related_shape(event: Message, session: Session) -> Verdicts:
    """Looks at the related-task metadata of every message."""
    if RELATED in event.meta:
        yield from shapes.judge(event, session, "RelatedTaskMetadata", event.meta[RELATED], f"_meta[{RELATED}]")


def _unrelated(event: Message) -> Verdicts:
    if RELATED in event.meta:
        yield broken(event, "no related-task metadata", "it is there, beside what names the task already")
    else:
        yield holds(event)


@rule("legacy.tasks.related.not-in-requests", on=ABOUT_TASKS)
def related_not_in_requests(request: Request, session: Session) -> Verdicts:
    """Looks for related-task metadata in tasks/get, tasks/result, tasks/list and tasks/cancel requests."""
    yield from _unrelated(request)


@rule("legacy.tasks.related.not-in-results", on=("tasks/get", "tasks/list", "tasks/cancel"))
def related_not_in_results(answer: Answer, session: Session) -> Verdicts:
    """Looks for related-task metadata in the results of tasks/get, tasks/list and tasks/cancel."""
    if result_of(answer, session) is not None:
        yield from _unrelated(answer)


@rule("legacy.tasks.related.not-in-status", on=STATUS)
def related_not_in_status(note: Notification, session: Session) -> Verdicts:
    """Looks for related-task metadata in notifications/tasks/status."""
    yield from _unrelated(note)


@rule("legacy.tasks.related.result-response", on="tasks/result")
def related_result_response(answer: Answer, session: Session) -> Verdicts:
    """Looks for related-task metadata with the id that was asked for in the results of tasks/result.

    Metadata that is no object with a string taskId has a rule of its own.
    """
    call = session.call or session.near
    id = call.request.param("taskId") if call else None
    if result_of(answer, session) is None or not isinstance(id, str):
        return
    if RELATED not in answer.meta:
        yield broken(answer, f"_meta[{RELATED}] names the task {shown(id)}", "there is none")
        return
    related = answer.meta[RELATED]
    named = related.get("taskId") if isinstance(related, dict) else None
    if named == id:
        yield holds(answer)
    elif isinstance(named, str):
        yield broken(answer, f"_meta[{RELATED}] names the task {shown(id)}", f"it names {shown(named)}")


@rule("legacy.tasks.error.informative", on=ABOUT_TASKS)
def error_informative(answer: Answer, session: Session) -> Verdicts:
    """Looks for an empty message in errors that answer tasks/* requests. How much a message tells is not judged."""
    yield from judge_message(answer)


@rule("legacy.tasks.time.last-updated-at", near="lastUpdatedAt")
def last_updated_at(event: Answer | Notification, session: Session) -> Verdicts:
    """Looks at lastUpdatedAt of every task: an ISO 8601 time stamp. Whether there is one is the task's shape."""
    for at, task in handed(event, session):
        when = task.get("lastUpdatedAt") if isinstance(task, dict) else None
        if isinstance(when, str):
            yield from judge_time(event, f"{at}.lastUpdatedAt", when)


def judge_time(event: Message, at: str, when: str) -> Verdicts:
    """Whether a text is a time stamp; one that begins with a year is suspect at most."""
    if is_time(when):
        yield holds(event)
    else:
        judged = suspect if when[:4].isdigit() and when[4:5] == "-" else broken
        yield judged(event, "an ISO 8601 time stamp", f"{at} is {shown(when)}")
