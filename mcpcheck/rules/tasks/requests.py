"""tasks: what a client sends of the extension: its declaration, the methods, their params and headers."""

from collections.abc import Iterator
from typing import Any

from mcpcheck.rules.ext import TASKS, declares, extensions
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import Found, complete
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.rules.tasks.task import METHODS
from mcpcheck.session.session import Session
from mcpcheck.wire import mcp_http
from mcpcheck.wire.event import Answer, Notification, Request
from mcpcheck.wire.protocol import CLIENT_CAPABILITIES
from mcpcheck.wire.record import Dir, header_values

_OF_BEFORE = frozenset({"tasks/list", "tasks/result"})
"""Methods that 2025-11-25 had, and that are no more."""


@rule("tasks.capability.settings-object", near=TASKS)
def settings_object(event: Request | Answer, session: Session) -> Verdicts:
    """Looks at the settings with which either side declares the extension: an object, whatever it holds."""
    for at, value in _settings(event, session):
        if isinstance(value, dict):
            yield holds(event)
        else:
            yield broken(event, "an object of settings, {} without any", f"{at} is {shown(value)}")


def _settings(event: Request | Answer, session: Session) -> Iterator[Found]:
    if isinstance(event, Request):
        found = extensions(event) if event.dir is Dir.C2S else None
    else:
        capabilities = (complete(event, session, "server/discover") or {}).get("capabilities")
        found = capabilities.get("extensions") if isinstance(capabilities, dict) else None
    if isinstance(found, dict) and TASKS in found:
        yield f"extensions[{TASKS}]", found[TASKS]


@rule("tasks.legacy.capabilities-not-advertised", on="server/discover", near=TASKS)
def capabilities_not_advertised(answer: Answer, session: Session) -> Verdicts:
    """Looks for the tasks capability of 2025-11-25 in an answer to server/discover that announces the extension."""
    if any(True for _ in _settings(answer, session)):
        if "tasks" in answer.result["capabilities"]:
            yield broken(answer, f"{TASKS} alone", "capabilities.tasks is there, too")
        else:
            yield holds(answer)


@rule("tasks.capability.client-declares", on=(*METHODS, "subscriptions/listen"), sender=Dir.C2S)
def client_declares(request: Request, session: Session) -> Verdicts:
    """Looks for the extension in the clientCapabilities of tasks/* requests, and of those that listen to tasks.

    A client that declares the tasks of 2025-11-25 may ask for and cancel those. taskIds of a client that declares other
    extensions are suspect: one of them may know such a member.
    """
    found = extensions(request)
    listens = request.method == "subscriptions/listen"
    if found is None or (listens and not _asked(request)):
        return
    if TASKS in found:
        yield holds(request)
    elif request.method == "tasks/update" or listens or "tasks" not in request.meta[CLIENT_CAPABILITIES]:
        judged = suspect if listens and found else broken
        yield judged(request, f"{TASKS} in clientCapabilities", f"{request.method} without it")


def _asked(request: Request) -> Any:
    """The tasks that a subscription asks for, as sent; None where there are none."""
    notifications = request.param("notifications")
    return notifications.get("taskIds") if isinstance(notifications, dict) else None


@rule("tasks.notify.listen-shape", on="subscriptions/listen", near="taskIds", sender=Dir.C2S)
def listen_shape(request: Request, session: Session) -> Verdicts:
    """Looks at taskIds in the filter of a subscription that declares the extension: an array of strings."""
    notifications = request.param("notifications")
    if not declares(request, TASKS) or not isinstance(notifications, dict) or "taskIds" not in notifications:
        return
    ids = notifications["taskIds"]
    if not isinstance(ids, list):
        yield broken(request, "taskIds is an array of strings", f"taskIds is {shown(ids)}")
        return
    odd = [id for id in ids if not isinstance(id, str)]
    if odd:
        yield broken(request, "taskIds is an array of strings", f"it has {shown(odd[0])}")
    else:
        yield holds(request)


def _names_task(request: Request) -> Verdicts:
    if not declares(request, TASKS):
        return
    if "taskId" not in request.params:
        yield broken(request, "params.taskId", "there is none")
    elif not isinstance(request.params["taskId"], str):
        yield broken(request, "taskId is a string", f"taskId is {shown(request.params['taskId'])}")
    elif not request.params["taskId"]:
        yield suspect(request, "the id of a task", "taskId is empty")
    else:
        yield holds(request)


@rule("tasks.get.request-shape", on="tasks/get", sender=Dir.C2S)
def get_request_shape(request: Request, session: Session) -> Verdicts:
    """Looks at taskId in tasks/get requests that declare the extension: a string. An empty one is suspect."""
    yield from _names_task(request)


@rule("tasks.cancel.request-shape", on="tasks/cancel", sender=Dir.C2S)
def cancel_request_shape(request: Request, session: Session) -> Verdicts:
    """Looks at taskId in tasks/cancel requests that declare the extension: a string. An empty one is suspect."""
    yield from _names_task(request)


@rule("tasks.header.mcp-name", on=METHODS, sender=Dir.C2S)
def mcp_name(request: Request, session: Session) -> Verdicts:
    """Compares Mcp-Name, decoded, with the taskId of tasks/* requests that declare the extension."""
    head = session.exchange.request if session.exchange else None
    id = request.param("taskId")
    if head is None or not isinstance(id, str) or not declares(request, TASKS):
        return
    values = [value.strip() for value in header_values(head, "mcp-name")]
    if len(values) == 1 and (mcp_http.decode_value(values[0]) == id or values[0] == id.strip()):
        yield holds(request)
    else:
        yield broken(request, f"Mcp-Name stands for {shown(id)}", f"Mcp-Name is {', '.join(values) or 'absent'}")


@rule("tasks.reserved.names")
def reserved_names(event: Request | Notification, session: Session) -> Verdicts:
    """Looks for methods below tasks/ and notifications/tasks/ that the extension does not have. Suspect only.

    The methods of 2025-11-25 that are gone are no other use of the name. resultType has rules of its own.
    """
    if event.method in METHODS:
        yield holds(event)
    elif isinstance(event, Notification):
        if event.method.startswith("notifications/tasks/"):
            yield suspect(event, "a name of one's own", f"{event.method} is not of the extension")
    elif event.method.startswith("tasks/") and event.method not in _OF_BEFORE:
        yield suspect(event, "a name of one's own", f"{event.method} is not of the extension")
