"""legacy.tasks: what either side has declared of tasks, what it is asked for then, and what becomes a task."""

from dataclasses import dataclass
from typing import Any

from mcpcheck.rules.legacy.handshakes import Handshake, Handshakes
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import listed, result_of
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.rules.tasks.legacy import AUGMENTED, RECEIVERS, STATUS, asker, augmented, created, supports
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Notification, Request
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir, header

_INITIALIZE = "initialize"
_OPERATIONS = {"tasks/list": "list", "tasks/cancel": "cancel"}
_SOON = 60.0
"""Seconds after which a tool may well have another definition than it was listed with."""


class _Declared:
    """A rule that looks at what one side has declared in the handshake. A session without it is left alone."""

    def __init__(self) -> None:
        self._handshakes = Handshakes()

    def _learn(self, event: object, session: Session) -> Handshake | None:
        """Take an answer in, and give the handshake that an event stands under."""
        if isinstance(event, Answer):
            self._handshakes.learn(event, session)
        return self._handshakes.of(session)


def _of(found: Handshake, side: Dir) -> dict[str, Any]:
    return found.server if side is Dir.S2C else found.client


@rule("legacy.tasks.capability.shape", on=_INITIALIZE, near="tasks")
def capability_shape(event: Request | Answer, session: Session) -> Verdicts:
    """Looks at the tasks capability of either side: objects all the way. What it does not know is free.

    true in place of an object is suspect: the page calls these members boolean, and shows objects.
    """
    holder = event.params if isinstance(event, Request) else event.result
    capabilities = holder.get("capabilities") if isinstance(holder, dict) else None
    if not isinstance(capabilities, dict) or "tasks" not in capabilities:
        return
    client = event.dir is Dir.C2S
    paths: list[tuple[str, ...]] = [(), ("list",), ("cancel",), ("requests",)]
    paths += [path[:length] for path in _paths(Dir.C2S if client else Dir.S2C) for length in (2, 3)]
    odd = [(path, value) for path in paths for value in _at(capabilities["tasks"], path)]
    odd = [(path, value) for path, value in odd if not isinstance(value, dict)]
    for path, value in odd:
        judged = suspect if value is True else broken
        yield judged(event, "objects in the tasks capability", f"{'.'.join(('tasks', *path))} is {shown(value)}")
    if not odd:
        yield holds(event)


def _paths(receiver: Dir) -> list[tuple[str, ...]]:
    return [path for method, path in AUGMENTED.items() if RECEIVERS[method] is receiver]


def _at(value: Any, path: tuple[str, ...]) -> list[Any]:
    """What stands under a path, where there is something."""
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return []
        value = value[name]
    return [value]


@rule("legacy.tasks.capability.exhaustive", on=(_INITIALIZE, *_OPERATIONS))
class Exhaustive(_Declared):
    """Looks for tasks.list and tasks.cancel among what the receiver of tasks/list or tasks/cancel has declared.

    Requests that are to become tasks have rules of their own.
    """

    def see(self, event: Request | Answer, session: Session) -> Verdicts:
        found = self._learn(event, session)
        if found is None or not isinstance(event, Request) or event.method not in _OPERATIONS:
            return
        name = _OPERATIONS[event.method]
        declared = supports(_of(found, event.dir.other), name)
        if declared:
            yield holds(event)
        elif declared is False:
            judged = broken if found.sure else suspect
            yield judged(event, f"{event.method} only with tasks.{name}", f"tasks.{name} was not declared")


class _Asking(_Declared):
    """A request that is to become a task, held against what its receiver has declared."""

    methods: tuple[str, ...] = ()

    def see(self, event: Request | Answer, session: Session) -> Verdicts:
        found = self._learn(event, session)
        if found is None or not isinstance(event, Request):
            return
        if event.method in self.methods and augmented(event):
            yield from self._asked(event, _of(found, event.dir.other), found.sure)

    def _asked(self, request: Request, declared: dict[str, Any], sure: bool) -> Verdicts:
        raise NotImplementedError

    @staticmethod
    def _judge(request: Request, declared: bool | None, sure: bool, name: str) -> Verdicts:
        if declared:
            yield holds(request)
        elif declared is False:
            judged = broken if sure else suspect
            yield judged(request, f"params.task only with {name}", f"{name} was not declared")


_NEAR = ("task", "capabilities")


@rule("legacy.tasks.tool.no-capability", on=(_INITIALIZE, "tools/call"), near=_NEAR)
class ToolNoCapability(_Asking):
    """Looks for tasks.requests.tools.call of the server behind every tool call that is to become a task."""

    methods = ("tools/call",)

    def _asked(self, request: Request, declared: dict[str, Any], sure: bool) -> Verdicts:
        path = AUGMENTED[request.method]
        yield from self._judge(request, supports(declared, *path), sure, ".".join(("tasks", *path)))


@rule("legacy.tasks.capability.requestor-respects", on=(_INITIALIZE, *AUGMENTED), near=_NEAR)
class RequestorRespects(_Asking):
    """Looks at sampling and elicitation that are to become tasks: the client has declared that kind of request.

    Tool calls, and a client without any tasks capability, have rules of their own.
    """

    methods = ("sampling/createMessage", "elicitation/create")

    def _asked(self, request: Request, declared: dict[str, Any], sure: bool) -> Verdicts:
        path = AUGMENTED[request.method]
        if "tasks" in declared:
            yield from self._judge(request, supports(declared, *path), sure, ".".join(("tasks", *path)))


@rule("legacy.tasks.capability.undeclared", on=(_INITIALIZE, *AUGMENTED), near=_NEAR)
class Undeclared(_Asking):
    """Looks at sampling and elicitation that are to become tasks: the client has declared the tasks capability at all.

    Tool calls have a rule of their own.
    """

    methods = ("sampling/createMessage", "elicitation/create")

    def _asked(self, request: Request, declared: dict[str, Any], sure: bool) -> Verdicts:
        yield from self._judge(request, "tasks" in declared, sure, "tasks")


@rule("legacy.tasks.capability.declare", on=(_INITIALIZE, *AUGMENTED, STATUS), near=(*_NEAR, STATUS))
class Declare(_Declared):
    """Looks at who answers with a task, or tells the status of one: it has declared the tasks capability."""

    def see(self, event: Answer | Notification, session: Session) -> Verdicts:
        found = self._learn(event, session)
        if found is None or (isinstance(event, Answer) and created(event, session) is None):
            return
        if "tasks" in _of(found, event.dir):
            yield holds(event)
        else:
            said = STATUS if isinstance(event, Notification) else "it answers with a task"
            judged = broken if found.sure else suspect
            yield judged(event, "tasks only of who has declared the tasks capability", f"{said}, undeclared")


@rule("legacy.tasks.receiver.ignore-undeclared", on=(_INITIALIZE, *AUGMENTED), near=_NEAR)
class IgnoreUndeclared(_Declared):
    """Looks at who answers a kind of request with a task: it has declared that kind.

    Who has not declared the tasks capability at all is a matter of another rule.
    """

    def see(self, event: Answer, session: Session) -> Verdicts:
        found, request = self._learn(event, session), asker(session)
        if found is None or request is None or created(event, session) is None or "tasks" not in _of(found, event.dir):
            return
        path = AUGMENTED[request.method]
        declared = supports(_of(found, event.dir), *path)
        if declared:
            yield holds(event)
        elif declared is False:
            judged = broken if found.sure else suspect
            name = ".".join(("tasks", *path))
            yield judged(event, f"a task only with {name}", f"{name} was not declared", request.record.n)


@dataclass(slots=True)
class _Listed:
    """What a tool says of tasks in the list of tools, with the frame and the time of the list."""

    support: Any
    n: int
    t: float


class _Tools(_Declared):
    """What the server has listed, by who has asked. A change of the list that is announced makes it unknown."""

    def __init__(self) -> None:
        super().__init__()
        self._tools: Recent[tuple[str, str, str], _Listed] = Recent(1000)

    def _known(self, event: Request | Answer | Notification, session: Session) -> Handshake | None:
        """Take an event in; the handshake, where the server has declared that tool calls may become tasks."""
        found = self._learn(event, session)
        if isinstance(event, Notification):
            if event.dir is Dir.S2C:
                self._tools.clear()
            return None
        if isinstance(event, Answer):
            for _, tool in listed(event, session, "tools/list"):
                name = tool.get("name") if isinstance(tool, dict) else None
                if isinstance(name, str):
                    self._tools[(*_who(session), name)] = _Listed(_support(tool), event.record.n, event.record.t)
        return found if found and supports(found.server, *AUGMENTED["tools/call"]) else None

    def _tool(self, request: Request | None, session: Session) -> _Listed | None:
        name = request.param("name") if request else None
        known = self._tools.get((*_who(session), name)) if isinstance(name, str) else None
        return known if known is not None and known.n > session.gap else None  # a change may be lost


def _support(tool: dict[str, Any]) -> Any:
    execution = tool.get("execution", {})
    return execution.get("taskSupport", "forbidden") if isinstance(execution, dict) else None


def _who(session: Session) -> tuple[str, str]:
    head = session.exchange.request if session.exchange else None
    if head is None:
        return "", ""
    return header(head, "authorization") or "", header(head, "mcp-session-id") or ""


_ON_TOOLS = (_INITIALIZE, "tools/list", "tools/call", "notifications/tools/list_changed")


class _Calling(_Tools):
    """A tool call, held against what the tool says of tasks. Where the list is older than a minute, it is suspect."""

    wrong: str = ""  # the taskSupport that forbids the call
    as_task: bool = False

    def see(self, event: Request | Answer | Notification, session: Session) -> Verdicts:
        found = self._known(event, session)
        if found is None or not isinstance(event, Request) or event.dir is Dir.S2C or event.method != "tools/call":
            return
        known = self._tool(event, session)
        if known is None or (event.param("task") is not None) is not self.as_task:
            return
        if known.support == self.wrong:
            judged = broken if found.sure and event.record.t - known.t <= _SOON else suspect
            how = "as a task" if self.as_task else "without params.task"
            said = f"{shown(event.param('name'))} is called {how}"
            yield judged(event, f"a call as taskSupport {self.wrong} has it", said, known.n)
        elif known.support in ("required", "optional", "forbidden"):
            yield holds(event)


@rule("legacy.tasks.tool.forbidden", on=_ON_TOOLS)
class ToolForbidden(_Calling):
    """Looks at tool calls that are to become tasks: the tool does not forbid it, by its execution or by lack of one.

    A server that has not declared tasks for tool calls is a matter of another rule. Where the list of tools is more
    than a minute old, a breach is suspect.
    """

    wrong = "forbidden"
    as_task = True


@rule("legacy.tasks.tool.required", on=_ON_TOOLS)
class ToolRequired(_Calling):
    """Looks at plain tool calls: the tool does not require to be called as a task.

    Without the server's capability that has no meaning. Where the list of tools is more than a minute old, a breach is
    suspect.
    """

    wrong = "required"
    as_task = False


@rule("legacy.tasks.create.result", on=(*_ON_TOOLS, "sampling/createMessage", "elicitation/create"))
class CreateResult(_Tools):
    """Looks at results of requests that were to become tasks, where their receiver has declared that kind.

    For a tool call the tool has been listed with taskSupport optional or required. An error is no result, and a tool's
    own error is suspect: it may be how the call was refused.
    """

    def see(self, event: Answer | Notification, session: Session) -> Verdicts:
        tools = self._known(event, session)
        request = asker(session)
        found = result_of(event, session) if isinstance(event, Answer) else None
        if request is None or found is None or not augmented(request):
            return
        sure = self._is_supported(request, tools, session)
        if sure is None:
            return
        if "task" in found[1]:
            yield holds(event)
        else:
            judged = broken if sure and found[1].get("isError") is not True else suspect
            yield judged(event, "a CreateTaskResult, with task", f"result has {_named(found[1])}", request.record.n)

    def _is_supported(self, request: Request, tools: Handshake | None, session: Session) -> bool | None:
        """Whether that is sure; None where the receiver may process the request as any other."""
        if request.method == "tools/call":
            known = self._tool(request, session)
            if tools is None or known is None or known.support not in ("optional", "required"):
                return None
            return tools.sure and request.record.t - known.t <= _SOON
        found = self._handshakes.of(session)
        if found is None or not supports(found.client, *AUGMENTED[request.method]):
            return None
        return found.sure


def _named(result: dict[str, Any]) -> str:
    return shown(", ".join(sorted(result)) or "nothing")
