"""tools: lists of tools, calls, and what a call gives back."""

import json
import re
from collections import Counter
from typing import Any

from mcpcheck.rules import shapes
from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import complete, entries, listed
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.rules.shapes import emptied, without
from mcpcheck.rules.texts import is_base64
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Notification, Request
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir

_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_LONGEST = 128
_MOST_NAMES = 10_000
"""How many names of earlier pages are compared with."""


@rule("tools.list.result-shape", on="tools/list")
def list_result_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at every result of tools/list. Its tools, caching hints and nextCursor have rules of their own."""
    result = complete(answer, session, "tools/list")
    if result is not None:
        yield from shapes.judge(answer, session, "ListToolsResult", list_frame(result, "tools"), "result")


def list_frame(result: dict[str, Any], name: str) -> Any:
    """A list result without what other rules judge."""
    given = without(result, ttlMs=0, cacheScope="public", resultType="complete", nextCursor=..., _meta=...)
    return emptied(given, name)


@rule("tools.tool.shape", on="tools/list")
def tool_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at every listed tool. The root of its inputSchema, its schemas and its icons have their own rules.

    In the handshake era outputSchema as a whole has one.
    """
    given = {} if session.stateless else {"outputSchema": ...}
    found = [(at, without(_bare(tool), **given)) for at, tool in listed(answer, session, "tools/list")]
    yield from shapes.judge_all(answer, session, "Tool", found)


def _bare(tool: Any) -> Any:
    """A tool with a plain inputSchema, if it has one, and without icons."""
    plain = {"type": "object"}
    if isinstance(tool, dict) and isinstance(tool.get("inputSchema"), dict):
        tool = without(tool, inputSchema=plain)
    if isinstance(tool, dict) and isinstance(tool.get("outputSchema"), dict):
        tool = without(tool, outputSchema=plain)
    return emptied(tool, "icons")


@rule("tools.tool.input-schema-root-object", on="tools/list")
def input_schema_root_object(answer: Answer, session: Session) -> Verdicts:
    """Looks at type at the root of every inputSchema that is an object."""
    for at, tool in listed(answer, session, "tools/list"):
        if isinstance(tool, dict) and isinstance(tool.get("inputSchema"), dict):
            yield _root(answer, f"{at}.inputSchema", tool["inputSchema"])


@rule("legacy.tools.tool.output-schema-shape", on="tools/list")
def legacy_output_schema_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at outputSchema, where a tool has one: an object with type object at its root."""
    for at, tool in listed(answer, session, "tools/list"):
        if isinstance(tool, dict) and "outputSchema" in tool:
            yield _root(answer, f"{at}.outputSchema", tool["outputSchema"])


def _root(answer: Answer, at: str, schema: Any) -> Any:
    if isinstance(schema, dict) and schema.get("type") == "object":
        return holds(answer)
    said = f"{at}.type is {shown(schema.get('type'))}" if isinstance(schema, dict) else f"{at} is {shown(schema)}"
    return broken(answer, 'type "object" at the root', said)


def _names(answer: Answer, session: Session) -> list[tuple[str, str]]:
    return [
        (at, tool["name"])
        for at, tool in listed(answer, session, "tools/list")
        if isinstance(tool, dict) and isinstance(tool.get("name"), str)
    ]


@rule("tools.name.length", on="tools/list")
def name_length(answer: Answer, session: Session) -> Verdicts:
    """Looks at the names of listed tools: 1 to 128 characters."""
    for at, name in _names(answer, session):
        if 1 <= len(name) <= _LONGEST:
            yield holds(answer)
        else:
            yield broken(answer, "1 to 128 characters", f"{at}.name has {len(name)}")


@rule("tools.name.charset", on="tools/list")
def name_charset(answer: Answer, session: Session) -> Verdicts:
    """Looks at the characters in the names of listed tools; an empty name is a matter of length."""
    for at, name in _names(answer, session):
        if not name:
            continue
        if _NAME.fullmatch(name):
            yield holds(answer)
        else:
            yield broken(answer, "letters, digits, underscore, hyphen and dot", f"{at}.name is {shown(name)}")


@rule("tools.name.unique", on=("tools/list", "notifications/tools/list_changed"))
class NameUnique:
    """Compares the names on one page of tools/list with regard to case, and with those on the pages that led to it.

    A name that comes again on a later page is suspect: the list may have changed in between. Where the server has said
    that it has, nothing is compared.
    """

    def __init__(self) -> None:
        self._led_to: Recent[str, frozenset[str]] = Recent(100)  # by cursor: the names on the pages before

    def see(self, event: Answer | Notification, session: Session) -> Verdicts:
        if isinstance(event, Notification):
            self._led_to.clear()
            return
        result = complete(event, session, "tools/list")
        if result is None or session.call is None:
            return
        counts = Counter(name for _, name in _names(event, session))
        cursor, following = session.call.request.param("cursor"), result.get("nextCursor")
        before = self._led_to.get(cursor, frozenset()) if isinstance(cursor, str) else frozenset()
        if isinstance(following, str) and len(before) < _MOST_NAMES:
            self._led_to[following] = before | counts.keys()
        doubled = next((name for name, times in counts.items() if times > 1), None)
        again = next((name for name in counts if name in before), None)
        if doubled is not None:
            yield broken(event, "names that differ", f"{shown(doubled)} stands {counts[doubled]} times")
        elif again is not None and session.whole:
            yield suspect(event, "names that differ", f"{shown(again)} stands on an earlier page, too")
        elif counts:
            yield holds(event)


@rule("tools.call.request-shape", on="tools/call")
def call_request_shape(request: Request, session: Session) -> Verdicts:
    """Looks at the params of every tools/call. inputResponses and task have rules of their own."""
    if request.dir is Dir.C2S:
        given = {"inputResponses": ..., "task": ...}
        yield from shapes.params(request, session, "tools/call", "CallToolRequestParams", **given)


@rule("tools.call.result-shape", on="tools/call")
def call_result_shape(answer: Answer, session: Session) -> Verdicts:
    """Looks at complete results of tools/call. The blocks of its content have rules of their own.

    A result that asks for input, and one of an extension, are left alone; so is a task of 2025-11-25.
    """
    result = complete(answer, session, "tools/call")
    call = session.call or session.near
    if result is None or (call is not None and call.request.param("task") is not None):
        return
    given = emptied(without(result, resultType="complete", _meta=...), "content")
    yield from shapes.judge(answer, session, "CallToolResult", given, "result")


@rule("tools.content.binary-base64", on="tools/call", near="data")
def content_binary_base64(answer: Answer, session: Session) -> Verdicts:
    """Looks at the data of image and audio blocks in results of tools/call. Line breaks are suspect."""
    for at, block in entries(complete(answer, session, "tools/call"), "content"):
        if isinstance(block, dict) and block.get("type") in ("image", "audio") and isinstance(block.get("data"), str):
            yield judge_base64(answer, f"{at}.data", block["data"])


def judge_base64(answer: Answer, at: str, data: str) -> Any:
    """Whether a text is Base64, as a verdict."""
    if not is_base64(data):
        said = "a data URI" if data.startswith("data:") else "not Base64"
        return broken(answer, "Base64 with the standard alphabet and padding", f"{at} is {said}")
    if "\n" in data or "\r" in data:
        return suspect(answer, "Base64 without line breaks", f"{at} has line breaks")
    return holds(answer)


@rule("tools.content.embedded-implies-resources", on="tools/call", near="resource")
def content_embedded_implies_resources(answer: Answer, session: Session) -> Verdicts:
    """Looks at embedded resources in results of tools/call, once the server has told its capabilities."""
    if not session.told_capabilities:
        return
    kinds = [
        block.get("type")
        for _, block in entries(complete(answer, session, "tools/call"), "content")
        if isinstance(block, dict)
    ]
    if "resource" in kinds:
        if "resources" in session.declared:
            yield holds(answer)
        else:
            yield broken(answer, "the resources capability", "an embedded resource without it")


@rule("tools.structured.text-copy", on="tools/call", near="structuredContent")
def structured_text_copy(answer: Answer, session: Session) -> Verdicts:
    """Looks for a text block that parses to an equal value. Suspect only: the page itself shows prose instead."""
    result = complete(answer, session, "tools/call")
    if result is None or "structuredContent" not in result or result.get("isError") is True:
        return
    wanted = result["structuredContent"]
    texts = [
        block["text"]
        for _, block in entries(result, "content")
        if isinstance(block, dict) and isinstance(block.get("text"), str)
    ]
    if any(_parses_to(text, wanted) for text in texts):
        yield holds(answer)
    else:
        yield suspect(answer, "the same JSON in a text block", "no text block holds it")


def _parses_to(text: str, wanted: Any) -> bool:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return bool(text == wanted)
    return bool(value == wanted)
