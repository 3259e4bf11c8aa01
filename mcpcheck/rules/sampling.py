"""sampling: asking the client's model, and the answer."""

from collections.abc import Iterator
from typing import Any

from mcpcheck.rules import shapes
from mcpcheck.rules.answers import brought
from mcpcheck.rules.elicit import capability
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import asked, entries
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.rules.shapes import emptied, without
from mcpcheck.session import ids
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Message, Request
from mcpcheck.wire.protocol import INPUT_METHODS
from mcpcheck.wire.record import Dir

_METHOD = "sampling/createMessage"
SAMPLING = INPUT_METHODS | {_METHOD}
_PRIORITIES = ("costPriority", "speedPriority", "intelligencePriority")


@rule("sampling.capability.shape", near="sampling", sender=Dir.C2S)
def capability_shape(request: Request, session: Session) -> Verdicts:
    """Looks at sampling in a client's capabilities, of a request or of initialize."""
    for at, value in capability(request, "sampling"):
        yield from shapes.judge(request, session, "ClientCapabilities", {"sampling": value}, at)


def _requests(event: Message, session: Session) -> Iterator[tuple[str, dict[str, Any]]]:
    for at, params in asked(event, session, _METHOD):
        if isinstance(params, dict):
            yield at, params


@rule("sampling.request.shape", on=SAMPLING, near="sampling/createMessage")
def request_shape(event: Request | Answer, session: Session) -> Verdicts:
    """Looks at the params of every sampling request. Messages and priorities have rules of their own.

    Params of a request that are no object have a rule of their own, too.
    """
    found = []
    for at, params in asked(event, session, _METHOD):
        if isinstance(params, dict):
            found.append((at, _plain(params)))
        elif isinstance(event, Answer) or "params" not in event.obj:
            said = shown(params) if params is not None else "absent"
            yield broken(event, "params with messages and maxTokens", f"{at} is {said}")
    yield from shapes.judge_all(event, session, "CreateMessageRequestParams", found)


def _plain(params: dict[str, Any]) -> Any:
    given = emptied(params, "messages")
    preferences = given.get("modelPreferences")
    if isinstance(preferences, dict):
        given = without(given, modelPreferences=without(preferences, **dict.fromkeys(_PRIORITIES, ...)))
    return given


@rule("sampling.preferences.priorities-range", on=SAMPLING, near="sampling/createMessage")
def preferences_priorities_range(event: Request | Answer, session: Session) -> Verdicts:
    """Looks at the three priorities, where they are present: numbers from 0 to 1."""
    for at, params in _requests(event, session):
        preferences = params.get("modelPreferences")
        for name in _PRIORITIES:
            if not isinstance(preferences, dict) or name not in preferences:
                continue
            value = preferences[name]
            if type(value) in (int, float) and 0 <= value <= 1:
                yield holds(event)
            else:
                yield broken(event, "a number from 0 to 1", f"{at}.modelPreferences.{name} is {shown(value)}")


def _messages(event: Request | Answer, session: Session) -> Iterator[tuple[str, Any]]:
    for at, params in _requests(event, session):
        yield from entries(params, "messages", f"{at}.")


@rule("sampling.message.role", on=SAMPLING, near="sampling/createMessage")
def message_role(event: Request | Answer, session: Session) -> Verdicts:
    """Looks at the role of every message of a sampling request."""
    for at, message in _messages(event, session):
        role = message.get("role") if isinstance(message, dict) else None
        if role in ("user", "assistant"):
            yield holds(event)
        else:
            yield broken(event, "user or assistant", f"{at}.role is {shown(role)}")


@rule("sampling.message.content", on=SAMPLING, near="sampling/createMessage")
def message_content(event: Request | Answer, session: Session) -> Verdicts:
    """Looks at the content of every message of a sampling request: one block or an array of them."""
    found = [
        (at, without(message, role="user")) for at, message in _messages(event, session) if isinstance(message, dict)
    ]
    yield from shapes.judge_all(event, session, "SamplingMessage", found)


@rule("sampling.tool-result.alone-in-message", on=SAMPLING, near="sampling/createMessage")
def tool_result_alone_in_message(event: Request | Answer, session: Session) -> Verdicts:
    """Looks at messages that hold a tool result: they may hold nothing else."""
    for at, message in _messages(event, session):
        kinds = [block.get("type") for block in blocks(message)]
        if "tool_result" not in kinds:
            continue
        others = [kind for kind in kinds if kind != "tool_result"]
        if others:
            yield broken(event, "tool results alone", f"{at} has {shown(others[0])}, too")
        else:
            yield holds(event)


def blocks(message: Any) -> list[dict[str, Any]]:
    """The content blocks of a sampling message, one or several."""
    content = message.get("content") if isinstance(message, dict) else None
    blocks = content if isinstance(content, list) else [content]
    return [block for block in blocks if isinstance(block, dict)]


@rule("sampling.tool-result.id-known", on=SAMPLING, near="sampling/createMessage")
def tool_result_id_known(event: Request | Answer, session: Session) -> Verdicts:
    """Compares each tool result with the tool uses earlier in the same list.

    Suspect at the list's very beginning: what was used may have stood before it, in a list that was cut.
    """
    for at, params in _requests(event, session):
        used: set[ids.Key] = set()
        for place, message in entries(params, "messages", f"{at}."):
            for block in blocks(message):
                if block.get("type") == "tool_use":
                    used.add(ids.key(block.get("id")))
                elif block.get("type") == "tool_result":
                    if ids.key(block.get("toolUseId")) in used:
                        yield holds(event)
                    else:
                        judged = suspect if place == f"{at}.messages[0]" else broken
                        said = f"{place} answers {shown(block.get('toolUseId'))}"
                        yield judged(event, "the id of an earlier tool use", said)


@rule("sampling.result.shape", on=SAMPLING, sender=Dir.C2S, near=("inputResponses", "result"))
def result_shape(event: Request | Answer, session: Session) -> Verdicts:
    """Looks at what a client answers to a sampling request: role, content, model."""
    found = [(at, without(value, _meta=...)) for at, value in brought(event, session, _METHOD)]
    yield from shapes.judge_all(event, session, "CreateMessageResult", found)
