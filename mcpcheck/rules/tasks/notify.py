"""tasks: what a server tells of tasks on a subscription."""

from typing import Any

from mcpcheck.rules.ext import TASKS, declares
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.rules.subscribe import ACKNOWLEDGED
from mcpcheck.rules.tasks.task import asker, doubt, fault, payload_fault
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Notification, Request
from mcpcheck.wire.record import Dir

_METHOD = "notifications/tasks"


def _listening(session: Session) -> Request | None:
    """The request behind the subscription that a notification belongs to, where it has declared the extension."""
    request = asker(session)
    if request is None or request.method != "subscriptions/listen" or not declares(request, TASKS):
        return None
    return request


def _listed(holder: Any) -> Any:
    """The taskIds of a filter; None where it has none."""
    filter = holder.get("notifications") if isinstance(holder, dict) else None
    return filter.get("taskIds") if isinstance(filter, dict) else None


@rule("tasks.notify.ack-lists-ids", on=ACKNOWLEDGED, near="taskIds", sender=Dir.S2C)
def ack_lists_ids(note: Notification, session: Session) -> Verdicts:
    """Compares the taskIds that an acknowledgement confirms with those that were asked for. It may confirm none."""
    request, confirmed = _listening(session), _listed(note.params)
    if request is None or confirmed is None:
        return
    asked = _listed(request.params)
    asked = {id for id in asked if isinstance(id, str)} if isinstance(asked, list) else set()
    odd = [id for id in confirmed if not isinstance(id, str) or id not in asked] if isinstance(confirmed, list) else []
    if not isinstance(confirmed, list):
        yield broken(note, "taskIds is an array of strings", f"taskIds is {shown(confirmed)}")
    elif odd:
        yield broken(note, "tasks that were asked for", f"taskIds has {shown(odd[0])}", request.record.n)
    else:
        yield holds(note)


@rule("tasks.notify.shape", on=_METHOD, sender=Dir.S2C)
def notification_shape(note: Notification, session: Session) -> Verdicts:
    """Looks at the params of notifications/tasks on a subscription that declares the extension: the whole task."""
    if _listening(session) is None or not isinstance(note.params or {}, dict):
        return
    task = note.params or {}
    wrong = fault(task) or payload_fault(task)
    if wrong:
        yield broken(note, "a whole task", wrong)
    elif odd := doubt(task):
        yield suspect(note, "a whole task", odd)
    else:
        yield holds(note)


@rule("tasks.notify.only-subscribed", on=_METHOD, sender=Dir.S2C)
def only_subscribed(note: Notification, session: Session) -> Verdicts:
    """Looks at which task a notification is about: one that its subscription asks for.

    One that stands among what answers another request, which declares the extension, belongs to no subscription.
    """
    request, id = asker(session), note.param("taskId")
    if request is None or not declares(request, TASKS) or not isinstance(id, str):
        return
    asked = _listed(request.params)
    if request.method != "subscriptions/listen":
        yield broken(note, "tasks on a subscription only", f"it comes with the answer to {request.method}")
    elif isinstance(asked, list) and id in asked:
        yield holds(note)
    else:
        yield broken(note, "a task that was asked for", f"taskId is {shown(id)}", request.record.n)
