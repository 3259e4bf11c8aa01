"""tasks: results that are tasks, and the kinds of results that may be none."""

from typing import Any

from mcpcheck.rules.ext import TASKS, declares
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import result_of
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.rules.tasks.task import METHODS, STATUSES, asker, created, doubt, fault, result_for
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer
from mcpcheck.wire.protocol import MODERN_METHODS
from mcpcheck.wire.record import Dir


def _is_task(answer: Answer, session: Session) -> tuple[str, dict[str, Any]] | None:
    """The method and the result, where its resultType is "task"."""
    found = result_of(answer, session)
    return found if found and found[1].get("resultType") == "task" else None


@rule("tasks.create.only-for-tools-call", near="resultType", sender=Dir.S2C)
def only_for_tools_call(answer: Answer, session: Session) -> Verdicts:
    """Looks at which method of the core protocol is answered with a task. Methods of extensions are left alone."""
    found = _is_task(answer, session)
    if found is None:
        return
    if found[0] == "tools/call":
        yield holds(answer)
    elif found[0] in MODERN_METHODS and "taskId" in found[1]:
        yield broken(answer, "a task in answer to tools/call only", f"it answers {found[0]}")


@rule("tasks.result-type.only-on-create", near="resultType", sender=Dir.S2C)
def only_on_create(answer: Answer, session: Session) -> Verdicts:
    """Looks for resultType "task" on what is no new task: answers to tasks/* requests, and results without a task.

    A task in answer to another method than tools/call has a rule of its own. Methods of extensions are left alone.
    """
    found = _is_task(answer, session)
    if found is None:
        return
    method, result = found
    if created(answer, session) is not None:
        yield holds(answer)
    elif method in METHODS:
        yield broken(answer, 'resultType "complete"', f'resultType is "task", though it answers {method}')
    elif method in MODERN_METHODS and "taskId" not in result:
        yield broken(answer, 'resultType "task" on a task only', f"it answers {method} and has no taskId")


@rule("tasks.result-type.task-on-create", on="tools/call", sender=Dir.S2C)
def task_on_create(answer: Answer, session: Session) -> Verdicts:
    """Looks at results of tools/call that are a task by their members, where the request declares the extension.

    A result with content is none, and so is one whose resultType is of another kind.
    """
    result = result_for(answer, session, "tools/call")
    if result is None or "content" in result:
        return
    if result.get("resultType") == "task":
        yield holds(answer)
        return
    for task in (result, result.get("task")):
        if isinstance(task, dict) and isinstance(task.get("taskId"), str) and task.get("status") in STATUSES:
            if result.get("resultType", "complete") == "complete":
                said = f"resultType is {shown(result['resultType'])}" if "resultType" in result else "there is none"
                yield broken(answer, 'resultType "task"', said)
            return


@rule("tasks.create.shape", on="tools/call", near="resultType", sender=Dir.S2C)
def create_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at the members of a task that answers tools/call, beside its resultType.

    Suspect are an empty id, negative times, a lastUpdatedAt before createdAt, and a requestState, which belongs to
    another kind of result.
    """
    task = created(answer, session)
    if task is None:
        return
    wrong = fault(task)
    odd = wrong or doubt(task) or ("requestState is there" if "requestState" in task else "")
    if wrong:
        yield broken(answer, "the members of a task", wrong)
    elif odd:
        yield suspect(answer, "the members of a task", odd)
    else:
        yield holds(answer)


@rule("tasks.create.not-for-undeclared", on="tools/call", near="resultType", sender=Dir.S2C)
def not_for_undeclared(answer: Answer, session: Session) -> Verdicts:
    """Looks at whether the very request that is answered with a task has declared the extension."""
    request = asker(session)
    if request is None or created(answer, session) is None:
        return
    if declares(request, TASKS):
        yield holds(answer)
    else:
        expected = f"a task only where the request declares {TASKS}"
        yield broken(answer, expected, "the request does not declare it", request.record.n)
