"""tasks: what a task asks for, and what a client brings it with tasks/update."""

from dataclasses import dataclass, field
from typing import Any

from mcpcheck.rules.ext import TASKS, declares
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.registry import Judgement, Verdicts, broken, holds, rule, suspect
from mcpcheck.rules.shapes import schemas_of
from mcpcheck.rules.tasks.task import created, result_for, task_id
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Message, Notification, Request
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir

_RESULTS = {
    "elicitation/create": "ElicitResult",
    "sampling/createMessage": "CreateMessageResult",
    "roots/list": "ListRootsResult",
}
_MOST = 100
"""How many keys of a task are kept."""

_ON = ("tools/call", "tasks/get", "tasks/update", "notifications/tasks")
_NEAR = ("inputRequests", "inputResponses", "taskId")


@dataclass(slots=True)
class _Asked:
    """What a task has asked for: the method by key, and which keys the last look at it showed."""

    begun: bool = False  # the recording shows its creation
    methods: Recent[str, str] = field(default_factory=lambda: Recent(_MOST))
    now: frozenset[str] = frozenset()
    many: bool = False  # more than are kept


class _Tasks:
    """The tasks of a session with what they ask for."""

    def __init__(self) -> None:
        self._tasks: Recent[str, _Asked] = Recent(1000)

    def of(self, id: Any) -> _Asked | None:
        return self._tasks.get(id) if isinstance(id, str) else None

    def learn(self, event: Message, session: Session) -> None:
        """Take in a new task, and what a poll or a notification shows of one."""
        if isinstance(event, Answer):
            task = created(event, session)
            begun = task is not None
            task = task if begun else result_for(event, session, "tasks/get")
        else:
            begun = False
            own = isinstance(event, Notification) and event.dir is Dir.S2C and event.method == "notifications/tasks"
            task = event.params if own and isinstance(event.params, dict) else None
        id = task_id(task)
        if task is None or id is None:
            return
        if id not in self._tasks:
            self._tasks[id] = _Asked(begun and session.whole)
        asked = self._tasks[id]
        requests = task.get("inputRequests")
        requests = requests if isinstance(requests, dict) else {}
        if len(requests) > _MOST:
            asked.many = True
            return
        for key, entry in requests.items():
            method = entry.get("method") if isinstance(entry, dict) else None
            if key not in asked.methods:
                asked.methods[key] = method if isinstance(method, str) else ""
        asked.now = frozenset(requests)


@rule("tasks.update.request-shape", on=_ON, near=_NEAR)
class UpdateRequestShape:
    """Looks at taskId and inputResponses of tasks/update requests that declare the extension.

    Each entry is a bare result of the kind that the task has asked for under its key; where the recording does not
    show that, an object.
    """

    def __init__(self) -> None:
        self._tasks = _Tasks()

    def see(self, event: Request | Answer | Notification, session: Session) -> Verdicts:
        self._tasks.learn(event, session)
        if not isinstance(event, Request) or event.method != "tasks/update" or event.dir is Dir.S2C:
            return
        if not declares(event, TASKS):
            return
        wrong = self._fault(event, session)
        yield broken(event, "taskId, and inputResponses with bare results", wrong) if wrong else holds(event)

    def _fault(self, request: Request, session: Session) -> str:
        for name, type in (("taskId", str), ("inputResponses", dict)):
            if name not in request.params:
                return f"{name} is missing"
            if not isinstance(request.params[name], type):
                return f"{name} is {shown(request.params[name])}"
        asked = self._tasks.of(request.params["taskId"])
        faults = (
            self._entry_fault(session, key, value, asked.methods.get(key, "") if asked else "")
            for key, value in request.params["inputResponses"].items()
        )
        return next((found for found in faults if found), "")

    @staticmethod
    def _entry_fault(session: Session, key: str, value: Any, method: str) -> str:
        at = f"inputResponses[{shown(key)}]"
        if not isinstance(value, dict):
            return f"{at} is {shown(value)}"
        kind, schemas = _RESULTS.get(method), schemas_of(session)
        if kind is None or schemas is None or schemas.valid(kind, value):
            return ""
        return schemas.explain(kind, value, at)


@rule("tasks.update.keys-outstanding", on=_ON, near=_NEAR)
class KeysOutstanding:
    """Compares the keys of inputResponses with those under which the task has asked for something.

    A key that was never used is broken where the recording shows the task from its creation, and suspect where it shows
    at least what the task has asked for. One that the last look at the task does not show any more is suspect: the two
    may have crossed.
    """

    def __init__(self) -> None:
        self._tasks = _Tasks()

    def see(self, event: Request | Answer | Notification, session: Session) -> Verdicts:
        self._tasks.learn(event, session)
        if not isinstance(event, Request) or event.method != "tasks/update" or event.dir is Dir.S2C:
            return
        responses, asked = event.param("inputResponses"), self._tasks.of(event.param("taskId"))
        if asked is None or not isinstance(responses, dict) or not declares(event, TASKS):
            return
        for key in responses:
            judgement = self._of_key(event, session, key, asked)
            if judgement:
                yield judgement

    @staticmethod
    def _of_key(request: Request, session: Session, key: str, asked: _Asked) -> Judgement | None:
        expected = "keys of what the task waits for"
        if key in asked.now:
            return holds(request)
        if key in asked.methods and not asked.many:
            return suspect(request, expected, f"{shown(key)} is not among them any more")
        if asked.many or asked.methods.forgetful or not session.whole or not (asked.begun or asked.methods):
            return None
        judged = broken if asked.begun and session.one_client else suspect
        return judged(request, expected, f"nobody has asked for {shown(key)}")


@rule("tasks.input.key-one-request", on=_ON, near="inputRequests")
class KeyOneRequest:
    """Compares the method that stands under a key of inputRequests with the one that stood there before.

    Another text under the same key is left alone: it may be the same question in other words.
    """

    def __init__(self) -> None:
        self._tasks = _Tasks()

    def see(self, event: Answer | Notification, session: Session) -> Verdicts:
        self._tasks.learn(event, session)
        task = result_for(event, session, "tasks/get") if isinstance(event, Answer) else event.params
        asked = self._tasks.of(task_id(task)) if isinstance(task, dict) else None
        requests = task.get("inputRequests") if isinstance(task, dict) else None
        if asked is None or not isinstance(requests, dict):
            return
        for key, entry in requests.items():
            method = entry.get("method") if isinstance(entry, dict) else None
            before = asked.methods.get(key)
            if not isinstance(method, str) or not before:
                continue
            if method == before:
                yield holds(event)
            else:
                yield broken(event, f"{before} under the key {shown(key)}, as before", f"{method} under that key")
