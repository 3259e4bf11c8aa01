"""legacy.tasks: what rules ask of the experimental tasks of 2025-11-25, which either side may have."""

from collections.abc import Iterator
from typing import Any

from mcpcheck.rules.legacy.handshakes import Capabilities, name_of
from mcpcheck.rules.places import Found, entries, result_of
from mcpcheck.rules.tasks.task import TERMINAL
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Message, Notification, Request
from mcpcheck.wire.record import Dir

RELATED = "io.modelcontextprotocol/related-task"
STATUS = "notifications/tasks/status"
ABOUT_TASKS = ("tasks/get", "tasks/result", "tasks/list", "tasks/cancel")
AUGMENTED = {
    "tools/call": ("requests", "tools", "call"),
    "sampling/createMessage": ("requests", "sampling", "createMessage"),
    "elicitation/create": ("requests", "elicitation", "create"),
}
"""The requests that may become tasks, and where in the receiver's capability that is declared."""

RECEIVERS = {"tools/call": Dir.S2C, "sampling/createMessage": Dir.C2S, "elicitation/create": Dir.C2S}
_MEMBERS = frozenset({"taskId", "status", "createdAt", "lastUpdatedAt", "ttl"})

Place = tuple[str, Dir, str]
"""A task: the session, who executes it, and its id."""


def asker(session: Session) -> Request | None:
    """The request that the answer at hand belongs to."""
    call = session.call or session.near
    return call.request if call else None


def augmented(request: Request | None) -> bool:
    """Whether a request asks to become a task, and goes to one who may do that."""
    if request is None or RECEIVERS.get(request.method) is not request.dir.other:
        return False
    return isinstance(request.param("task"), dict)


def created(event: Message, session: Session) -> dict[str, Any] | None:
    """The task with which a request was answered that asked for one."""
    found = result_of(event, session)
    task = found[1].get("task") if found and augmented(asker(session)) else None
    return task if isinstance(task, dict) else None


def is_task(value: Any) -> bool:
    """Whether an object has members of a task."""
    return isinstance(value, dict) and not _MEMBERS.isdisjoint(value)


def handed(event: Message, session: Session) -> Iterator[Found]:
    """Every task that a message holds, with its place."""
    if isinstance(event, Notification):
        if event.method == STATUS and isinstance(event.params, dict):
            yield "params", event.params
        return
    found, request = result_of(event, session), asker(session)
    if found is None or request is None:
        return
    method, result = found
    if method in ("tasks/get", "tasks/cancel"):
        if is_task(result):
            yield "result", result
    elif method == "tasks/list":
        yield from entries(result, "tasks", "result.")
    elif "task" in result and request.param("task") is not None:
        yield "result.task", result["task"]


def place_of(session: Session, receiver: Dir, id: Any) -> Place | None:
    """Which task an id names; None where the recording cannot tell whose it is."""
    name = name_of(session)
    if not isinstance(id, str) or (name is None and receiver is Dir.C2S):
        return None
    return name or "", receiver, id


def is_over(status: Any) -> bool:
    """Whether a status is a terminal one."""
    return isinstance(status, str) and status in TERMINAL


def supports(capabilities: Capabilities, *path: str) -> bool | None:
    """Whether a side has declared something below its tasks capability; None where what it declares is unreadable.

    The page calls the members boolean, and its examples have objects: true counts as declared.
    """
    value: Any = capabilities
    for name in ("tasks", *path):
        if not isinstance(value, dict):
            return None
        if name not in value:
            return False
        value = value[name]
    return True if isinstance(value, dict) or value is True else None
