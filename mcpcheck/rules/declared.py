"""elicit, sampling, roots: what a client has declared, what it is asked then, and what it answers."""

from collections.abc import Iterator
from typing import Any

from mcpcheck.rules.answers import brought
from mcpcheck.rules.elicit import ELICITING
from mcpcheck.rules.legacy.handshakes import Handshakes
from mcpcheck.rules.mrtr import answered
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import asked
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.rules.sampling import SAMPLING
from mcpcheck.session.call import Call
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Event, Request
from mcpcheck.wire.protocol import CLIENT_CAPABILITIES, INPUT_METHODS
from mcpcheck.wire.record import Dir

_SAMPLE = "sampling/createMessage"


class Declarations:
    """What the client has declared for the message at hand: with its request, or once in the handshake."""

    def __init__(self) -> None:
        self._handshakes = Handshakes()

    def of(self, event: Event, session: Session) -> tuple[dict[str, Any], bool] | None:
        """The client's capabilities, and whether they are surely this client's; None where they were not seen."""
        if isinstance(event, Answer):
            self._handshakes.learn(event, session)
        if session.stateless:
            declared = _of_call(session.call or session.near)
            return None if declared is None else (declared, True)
        found = self._handshakes.of(session)
        return None if found is None else (found.client, found.sure)


def _of_call(call: Call | None) -> dict[str, Any] | None:
    declared = call.request.meta.get(CLIENT_CAPABILITIES) if call else None
    return declared if isinstance(declared, dict) else None


@rule("elicit.capability.declared-on-each-request", on=INPUT_METHODS, near=("elicitation", "action"), sender=Dir.C2S)
def elicit_declared(request: Request, session: Session) -> Verdicts:
    """Looks for elicitation in the clientCapabilities of a request that brings the answer to an elicitation.

    Suspect where the request that it repeats did declare it: a user may turn it off. An answer other than accept shows
    no support.
    """
    yield from _declares(request, session, "elicitation/create", "elicitation")


@rule("sampling.capability.declared-on-each-request", on=INPUT_METHODS, near=("sampling", "model"), sender=Dir.C2S)
def sampling_declared(request: Request, session: Session) -> Verdicts:
    """Looks for sampling in the clientCapabilities of a request that brings what a model has answered.

    Suspect where the request that it repeats did declare it: a user may turn it off.
    """
    yield from _declares(request, session, _SAMPLE, "sampling")


@rule("roots.capability.declared-on-each-request", on=INPUT_METHODS, near="roots", sender=Dir.C2S)
def roots_declared(request: Request, session: Session) -> Verdicts:
    """Looks for roots in the clientCapabilities of a request that brings a list of roots.

    Suspect where the request that it repeats did declare it: a user may turn it off. An empty list shows no support.
    """
    yield from _declares(request, session, "roots/list", "roots")


def _declares(request: Request, session: Session, method: str, name: str) -> Verdicts:
    declared = request.meta.get(CLIENT_CAPABILITIES)
    if request.dir is Dir.S2C or not isinstance(declared, dict):
        return
    if name in declared:
        yield holds(request)
        return
    found = list(brought(request, session, method))
    attempt = session.attempt
    if attempt is None or not found:
        return
    expected, n = f"{name} in the clientCapabilities of each request", attempt.request.record.n
    if name in (_of_call(attempt) or {}):
        said = f"{found[0][0]} is there, and {name} is declared no more"
        yield suspect(request, expected, said, n)
    elif any(_shows_support(value) for _, value in found):
        judged = broken if session.one_client else suspect
        yield judged(request, expected, f"{found[0][0]} is there, and {name} is not declared", n)


def _shows_support(value: dict[str, Any]) -> bool:
    return value.get("action", "accept") == "accept" and value.get("roots") != []


@rule("elicit.mode.only-declared-modes", on=(*ELICITING, "initialize"), near=("elicitation/create", "capabilities"))
class OnlyDeclaredModes:
    """Compares the mode of every elicitation with those that the client declares: form alone, if it names none.

    A client that declares no elicitation at all, and one whose modes nobody knows, are a matter of other rules.
    """

    def __init__(self) -> None:
        self._declarations = Declarations()

    def see(self, event: Request | Answer, session: Session) -> Verdicts:
        found = self._declarations.of(event, session)
        declared = found[0].get("elicitation") if found else None
        if found is None or not isinstance(declared, dict):
            return
        modes = {mode for mode in ("form", "url") if mode in declared} or ({"form"} if not declared else set())
        for at, params in asked(event, session, "elicitation/create"):
            mode = _mode(params) if modes else None
            if mode is None:
                continue
            if mode in modes:
                yield holds(event)
            elif found[1] or mode == "url":  # of several clients one may have declared no mode, which means form
                judged = broken if found[1] else suspect
                yield judged(event, f"the mode {' or '.join(modes)}", f"{at} has the mode {mode}")


def _mode(params: Any) -> str | None:
    """The mode of an elicitation; None where its members contradict each other."""
    if not isinstance(params, dict):
        return None
    mode = params.get("mode", "form")
    by_url = "url" in params and "requestedSchema" not in params
    by_form = "requestedSchema" in params and "url" not in params
    if (mode == "form" and by_url) or (mode == "url" and by_form) or mode not in ("form", "url"):
        return None
    return str(mode)


@rule("sampling.tools.not-sent-undeclared", on=(*SAMPLING, "initialize"), near=(_SAMPLE, "capabilities"))
class ToolsNotSentUndeclared:
    """Looks for tools in sampling requests to a client that has not declared sampling.tools.

    toolChoice without tools, and an empty list of them, are suspect. A client without sampling is another matter.
    """

    def __init__(self) -> None:
        self._declarations = Declarations()

    def see(self, event: Request | Answer, session: Session) -> Verdicts:
        found = self._declarations.of(event, session)
        declared = found[0].get("sampling") if found else None
        if found is None or not isinstance(declared, dict):
            return
        for at, params in asked(event, session, _SAMPLE):
            there = [name for name in ("tools", "toolChoice") if isinstance(params, dict) and name in params]
            if not there:
                continue
            if "tools" in declared:
                yield holds(event)
            else:
                judged = broken if found[1] and params.get("tools") else suspect
                yield judged(event, f"{there[0]} for a client with sampling.tools", f"{at}.{there[0]} is there")


@rule("sampling.tools.capability-declared", on=(*SAMPLING, "initialize"), near=("model", "capabilities"))
class ToolsCapabilityDeclared:
    """Looks at what a client answers to a sampling request with tools, where it has not declared sampling.tools.

    An answer that uses a tool shows that it supports them; any other is suspect.
    """

    def __init__(self) -> None:
        self._declarations = Declarations()

    def see(self, event: Request | Answer, session: Session) -> Verdicts:
        found = self._declarations.of(event, session)
        if found is None or event.dir is Dir.S2C:
            return
        before = _of_call(session.attempt) if session.stateless else None
        declared = any("tools" in _object(one.get("sampling")) for one in (found[0], before or {}))
        for at, params, value in _sampled(event, session):
            if not isinstance(params, dict) or not params.get("tools") or "content" not in _object(value):
                continue
            if declared:
                yield holds(event)
                continue
            uses = "tool_use" in _kinds(value.get("content"))
            judged = broken if uses and found[1] and (session.one_client or not session.stateless) else suspect
            said = f"{at} uses a tool" if uses else f"{at} answers a request with tools"
            yield judged(event, "sampling.tools is declared", said)


def _sampled(event: Request | Answer, session: Session) -> list[tuple[str, Any, Any]]:
    """Each sampling request that a client answers: the answer's place, the params asked with, and the answer."""
    if isinstance(event, Request):
        return list(answered(event, session, _SAMPLE))
    if session.call is None or session.call.request.method != _SAMPLE:
        return []
    return [("result", session.call.request.params, event.result)]


def _kinds(content: Any) -> list[Any]:
    blocks = content if isinstance(content, list) else [content]
    return [block.get("type") for block in blocks if isinstance(block, dict)]


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


@rule("sampling.context.needs-capability", on=(*SAMPLING, "initialize"), near=("includeContext", "capabilities"))
class ContextNeedsCapability:
    """Looks for thisServer and allServers in includeContext, where the client has not declared sampling.context."""

    def __init__(self) -> None:
        self._declarations = Declarations()

    def see(self, event: Request | Answer, session: Session) -> Verdicts:
        found = self._declarations.of(event, session)
        declared = found[0].get("sampling") if found else None
        if found is None or not isinstance(declared, dict):
            return
        for at, value in _contexts(event, session):
            if value == "none" or "context" in declared:
                yield holds(event)
            else:
                judged = broken if found[1] else suspect
                yield judged(event, "sampling.context is declared", f"{at} is {shown(value)}")


@rule("sampling.context.deprecated-values-avoided", on=(*SAMPLING, "initialize"), near=(_SAMPLE, "capabilities"))
class DeprecatedContextsAvoided:
    """Looks for thisServer and allServers in includeContext. Suspect: who declares sampling.context invites them.

    Where the client has not declared it another rule speaks.
    """

    def __init__(self) -> None:
        self._declarations = Declarations()

    def see(self, event: Request | Answer, session: Session) -> Verdicts:
        found = self._declarations.of(event, session)
        declared = found[0].get("sampling") if found else None
        if isinstance(declared, dict) and "context" not in declared:
            return
        if found is None and not session.whole:
            return
        for at, value in _contexts(event, session):
            if value == "none":
                yield holds(event)
            else:
                yield suspect(event, "no includeContext, or none", f"{at} is {shown(value)}")


def _contexts(event: Request | Answer, session: Session) -> Iterator[tuple[str, Any]]:
    """Each includeContext that there is; none of it means the value none."""
    for at, params in asked(event, session, _SAMPLE):
        value = params.get("includeContext", "none") if isinstance(params, dict) else ""
        if value in ("none", "thisServer", "allServers"):
            yield f"{at}.includeContext", value
