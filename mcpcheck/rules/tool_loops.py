"""sampling: uses of tools within the messages of a sampling request, and their results."""

import json
from collections.abc import Iterator
from typing import Any

from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import asked, entries
from mcpcheck.rules.registry import Judgement, Verdicts, broken, holds, rule, suspect
from mcpcheck.rules.sampling import SAMPLING, blocks
from mcpcheck.session import ids
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Request

_SAMPLE = "sampling/createMessage"
_MOST = 100_000
"""How long a message may be, in bytes, for its structured results to be validated."""

_BY_REFERENCE = (b'"$ref"', b'"$dynamicRef"', b'"$recursiveRef"', b"u0024")
"""Schemas with these can take exponential time."""

_END = object()
"""What follows the last message."""

_DIALECTS = ("http://json-schema.org/", "https://json-schema.org/")


def _role(message: Any) -> Any:
    return message.get("role") if isinstance(message, dict) else None


@rule("sampling.tool-use.balanced", on=SAMPLING, near="sampling/createMessage")
def tool_use_balanced(event: Request | Answer, session: Session) -> Verdicts:
    """Looks at what follows each message in which the assistant uses tools: a result for each use, from the user.

    Two uses with one id are suspect. Results among other content, and results that no use has asked for, have rules of
    their own.
    """
    for at, params in asked(event, session, _SAMPLE):
        messages = list(entries(params, "messages", f"{at}."))
        for (place, message), following in zip(messages, [*(after for _, after in messages[1:]), _END], strict=False):
            used = [block.get("id") for block in blocks(message) if block.get("type") == "tool_use"]
            if used and _role(message) == "assistant":
                yield _answered(event, place, used, following)


def _answered(event: Request | Answer, at: str, used: list[Any], following: Any) -> Judgement:
    results = [block for block in blocks(following) if block.get("type") == "tool_result"]
    given = {ids.key(block.get("toolUseId")) for block in results}
    missing = [id for id in used if ids.key(id) not in given]
    expected = "the results of all tool uses in the next message, the user's"
    if following is _END:
        return broken(event, expected, f"{at} is the last message, and uses tools")
    if missing:
        return broken(event, expected, f"{at} uses a tool with the id {shown(missing[0])}: no result follows")
    if _role(following) == "assistant":
        return broken(event, expected, f"the results for {at} come from the assistant")
    if len({ids.key(id) for id in used}) < len(used):
        return suspect(event, "an id for each tool use", f"{at} has one id twice")
    return holds(event)


@rule("sampling.tool-result.structured-conforms", on=SAMPLING, near="structuredContent")
def tool_result_structured_conforms(event: Request | Answer, session: Session) -> Verdicts:
    """Holds the structured content of tool results against the output schema of the tool, as the same request has it.

    Suspect only, since the tool may have had another schema before. Errors are left alone, and schemas with references.
    """
    data = event.record.data
    if len(data) > _MOST or any(name in data for name in _BY_REFERENCE):
        return
    for at, params in asked(event, session, _SAMPLE):
        validators = _validators(params)
        names: dict[ids.Key, Any] = {}
        for place, message in entries(params, "messages", f"{at}.") if validators else ():
            for block in blocks(message):
                if block.get("type") == "tool_use":
                    names[ids.key(block.get("id"))] = block.get("name")
                elif block.get("type") == "tool_result" and "structuredContent" in block:
                    name = names.get(ids.key(block.get("toolUseId")))
                    validator = validators.get(name) if isinstance(name, str) else None
                    if validator is not None and not block.get("isError"):
                        yield from _conforms(event, place, block["structuredContent"], validator)


def _validators(params: Any) -> dict[str, Any]:
    """What validates against the output schema of each tool of a request, by name; schemas of no known use left out."""
    import jsonschema_rs

    found: dict[str, Any] = {}
    for _, tool in entries(params, "tools"):
        schema = tool.get("outputSchema") if isinstance(tool, dict) else None
        if isinstance(schema, dict) and str(schema.get("$schema", _DIALECTS[0])).startswith(_DIALECTS):
            try:
                found[str(tool.get("name"))] = jsonschema_rs.validator_for(schema, validate_formats=False)
            except (ValueError, TypeError, jsonschema_rs.ReferencingError):
                continue  # no valid schema: another rule's matter
    return found


def _conforms(event: Request | Answer, at: str, value: Any, validator: Any) -> Iterator[Judgement]:
    try:
        json.dumps(value, allow_nan=False)
        fits = validator.is_valid(value)
    except (ValueError, TypeError, RecursionError):
        return  # numbers and texts that no validator can hold
    if fits:
        yield holds(event)
    else:
        yield suspect(event, "structured content that fits the tool's output schema", f"that of {at} does not")
