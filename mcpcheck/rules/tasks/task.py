"""What a task of the extension looks like. The shapes of specs/schema hold the core protocol only."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from mcpcheck.rules.ext import TASKS, declares
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import result_of
from mcpcheck.rules.texts import is_time
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Request

METHODS = ("tasks/get", "tasks/update", "tasks/cancel")
STATUSES = ("working", "input_required", "completed", "failed", "cancelled")
TERMINAL = frozenset({"completed", "failed", "cancelled"})
_DATED = re.compile(r"\d{4}-?\d{2}-?\d{2}")


def asker(session: Session) -> Request | None:
    """The request that the answer at hand belongs to."""
    call = session.call or session.near
    return call.request if call else None


def result_for(answer: Answer, session: Session, *methods: str) -> dict[str, Any] | None:
    """The result of one of these methods, where the request has declared the extension."""
    found, request = result_of(answer, session), asker(session)
    if found is None or request is None or found[0] not in methods or not declares(request, TASKS):
        return None
    return found[1]


def created(answer: Answer, session: Session) -> dict[str, Any] | None:
    """The task with which a tools/call was answered, whatever it lacks."""
    found = result_of(answer, session)
    if found is None or found[0] != "tools/call" or found[1].get("resultType") != "task":
        return None
    return None if "content" in found[1] and "taskId" not in found[1] else found[1]


def task_id(holder: dict[str, Any] | None) -> str | None:
    """The id of a task, where it is one."""
    id = holder.get("taskId") if holder is not None else None
    return id if isinstance(id, str) else None


def fault(task: dict[str, Any]) -> str:
    """What keeps an object from being a task; nothing where it is one. What belongs to its status is apart."""
    for name, test, kind in _MEMBERS:
        if name not in task:
            if name not in _OPTIONAL:
                return f"{name} is missing" + (" (it has task)" if "task" in task else "")
        elif not test(task[name]):
            return f"{name} is {shown(task[name])}, not {kind}"
    return ""


def doubt(task: dict[str, Any]) -> str:
    """What looks wrong about a task without being so beyond doubt."""
    if not task["taskId"]:
        return "taskId is empty"
    for name in ("createdAt", "lastUpdatedAt"):
        if not is_time(task[name]):
            return f"{name} is {shown(task[name])}"
    for name in ("ttlMs", "pollIntervalMs"):
        if (task.get(name) or 0) < 0:
            return f"{name} is {task[name]}"
    since, last = instant(task["createdAt"]), instant(task["lastUpdatedAt"])
    if since and last and (since.tzinfo is None) == (last.tzinfo is None) and last < since:
        return "lastUpdatedAt is before createdAt"
    return ""


def instant(text: str) -> datetime | None:
    """The time that a text tells, where it can be read."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def payload_fault(task: dict[str, Any]) -> str:
    """What a task of its status lacks: what is asked for, what came of it, or the error."""
    match task.get("status"):
        case "input_required":
            return "" if isinstance(task.get("inputRequests"), dict) else _lacks(task, "inputRequests", "an object")
        case "completed":
            return "" if isinstance(task.get("result"), dict) else _lacks(task, "result", "an object")
        case "failed":
            return _error_fault(task)
    return ""


def _error_fault(task: dict[str, Any]) -> str:
    error = task.get("error")
    if not isinstance(error, dict):
        return _lacks(task, "error", "an object")
    if not _is_integer(error.get("code")):
        return f"error.code is {shown(error.get('code'))}, not an integer"
    if not isinstance(error.get("message"), str):
        return f"error.message is {shown(error.get('message'))}, not a string"
    return ""


def _lacks(task: dict[str, Any], name: str, kind: str) -> str:
    return f"{name} is {shown(task[name])}, not {kind}" if name in task else f"{name} is missing"


def _is_integer(value: Any) -> bool:
    return type(value) is int or (isinstance(value, float) and value.is_integer())


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_time(value: Any) -> bool:
    """A time stamp, or a text that begins like one: then it is doubtful at most."""
    return isinstance(value, str) and (is_time(value) or bool(_DATED.match(value)))


_MEMBERS: tuple[tuple[str, Callable[[Any], bool], str], ...] = (
    ("taskId", _is_text, "a string"),
    ("status", lambda value: isinstance(value, str) and value in STATUSES, f"one of {', '.join(STATUSES)}"),
    ("statusMessage", _is_text, "a string"),
    ("createdAt", _is_time, "an ISO 8601 time"),
    ("lastUpdatedAt", _is_time, "an ISO 8601 time"),
    ("ttlMs", lambda value: value is None or _is_integer(value), "an integer or null"),
    ("pollIntervalMs", _is_integer, "an integer"),
)
_OPTIONAL = frozenset({"statusMessage", "pollIntervalMs"})
