"""legacy.lifecycle: the handshake."""

from mcpcheck.rules import shapes
from mcpcheck.rules.payloads import is_call
from mcpcheck.rules.places import result_of
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.rules.shapes import without
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Message, Notification, Request
from mcpcheck.wire.protocol import MODERN, PROTOCOL_VERSION
from mcpcheck.wire.record import Dir

_STUB = {"name": "x", "version": "x"}


@rule("legacy.lifecycle.init.client-initiates", on="initialize")
def client_initiates(request: Request, session: Session) -> Verdicts:
    """Looks at the params of initialize. What stands in clientInfo and capabilities has rules of its own."""
    if request.dir is Dir.C2S:
        apart = _judged_apart(request.params)
        yield from shapes.params(request, session, "initialize", "InitializeRequestParams", **apart)


def _judged_apart(params: object) -> dict[str, object]:
    """Stubs for the members that other rules judge, where they are objects."""
    holder = params if isinstance(params, dict) else {}
    stubs: dict[str, object] = {}
    for name, stub in (("clientInfo", _STUB), ("serverInfo", _STUB), ("capabilities", {})):
        if isinstance(holder.get(name), dict):
            stubs[name] = stub
    return stubs


@rule("legacy.lifecycle.init.server-responds", on="initialize")
def server_responds(answer: Answer, session: Session) -> Verdicts:
    """Looks at the result of initialize. What stands in serverInfo and capabilities has rules of its own."""
    found = result_of(answer, session)
    if found and found[0] == "initialize":
        given = without(found[1], _meta=..., **_judged_apart(found[1]))
        yield from shapes.judge(answer, session, "InitializeResult", given, "result")


@rule("legacy.lifecycle.init.client-capabilities-shape", on="initialize")
def client_capabilities_shape(request: Request, session: Session) -> Verdicts:
    """Looks at the capabilities of initialize; elicitation, sampling and tasks have rules of their own."""
    capabilities = request.param("capabilities")
    if request.method == "initialize" and request.dir is Dir.C2S and isinstance(capabilities, dict):
        given = without(capabilities, tasks=..., **_apart(session))
        yield from shapes.judge(request, session, "ClientCapabilities", given, "capabilities")


def _apart(session: Session) -> dict[str, object]:
    """The capabilities that have rules of their own in this revision."""
    return {"elicitation": ..., "sampling": ...} if session.revision == "2025-11-25" else {}


@rule("legacy.lifecycle.init.server-capabilities-shape", on="initialize")
def server_capabilities_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at the capabilities in the result of initialize; tasks has a rule of its own."""
    found = result_of(answer, session)
    if found and found[0] == "initialize" and isinstance(found[1].get("capabilities"), dict):
        given = without(found[1]["capabilities"], tasks=...)
        yield from shapes.judge(answer, session, "ServerCapabilities", given, "capabilities")


@rule("legacy.lifecycle.init.initialized")
class Initialized:
    """Looks for notifications/initialized before the client's next request, ping apart, once initialize has its result.

    HTTP is left alone: there several sessions may pass in one recording. So is what follows a gap.
    """

    def __init__(self) -> None:
        self._due: Answer | None = None

    def see(self, event: Message, session: Session) -> Verdicts:
        if session.transport != "stdio" or not session.whole:
            return
        if isinstance(event, Answer):
            call = session.call
            if call and call.request.method == "initialize" and event.has_result and event.dir is Dir.S2C:
                self._due = event
        elif self._due is not None and event.dir is Dir.C2S:
            yield from self._next(event, self._due)

    def _next(self, event: Message, answer: Answer) -> Verdicts:
        if isinstance(event, Notification) and event.method == "notifications/initialized":
            self._due = None
            yield holds(event)
        elif isinstance(event, Request) and is_call(event) and event.method not in ("ping", "initialize"):
            self._due = None
            yield broken(event, "notifications/initialized first", f"{event.method} without it", answer.record.n)


@rule("legacy.lifecycle.init.first", early=True)
class First:
    """Looks back from initialize: on stdio nothing but pings may have come before it, from either side.

    A log message of the server is suspect. A probe for the stateless era is left alone, and so are HTTP, where several
    sessions may pass in one recording.
    """

    def __init__(self) -> None:
        self._before: Request | Notification | None = None
        self._begun = False

    def see(self, event: Request | Notification, session: Session) -> Verdicts:
        if self._begun or session.transport != "stdio" or not session.whole:
            return
        if not isinstance(event, Request) or event.method != "initialize":
            stateless = event.method == "server/discover" or PROTOCOL_VERSION in event.meta
            if event.method != "ping" and not stateless:
                self._before = self._before or event
            return
        self._begun = True
        if event.dir is Dir.S2C:
            return
        early = self._before or _waiting(event, session)
        if early is None:
            yield holds(event)
        else:
            verdict = suspect if early.method == "notifications/message" else broken
            said = f"{early.method} of the {early.dir.sender} before it"
            yield verdict(early, "initialize first", said, event.record.n)


def _waiting(opening: Request, session: Session) -> Request | None:
    """A request of either side, sent before initialize, that still waits for its answer."""
    for dir in Dir:
        for call in session.open_calls(dir):
            request = call.request
            stateless = call.revision == MODERN or PROTOCOL_VERSION in request.meta
            if request is not opening and not stateless and request.method != "ping":
                return request
    return None
