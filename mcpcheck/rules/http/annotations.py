"""http.xheader: x-mcp-header annotations in the inputSchemas of tools."""

import re
from collections.abc import Iterator
from typing import Any

from mcpcheck.rules.payloads import shown
from mcpcheck.rules.places import listed
from mcpcheck.rules.registry import Verdicts, broken, holds, rule, suspect
from mcpcheck.session.session import Session
from mcpcheck.wire.event import Answer, Request
from mcpcheck.wire.recent import Recent
from mcpcheck.wire.record import Dir

_KEY = "x-mcp-header"
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_MOST = 2**53 - 1
_DEEPEST = 64
_ONE = frozenset(
    {
        "items", "contains", "not", "if", "then", "else", "additionalProperties", "propertyNames",
        "unevaluatedProperties", "unevaluatedItems", "additionalItems",
    }
)  # fmt: skip
_SEVERAL = frozenset({"prefixItems", "oneOf", "anyOf", "allOf", "items"})
_NAMED = frozenset({"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"})

Annotated = tuple[str, dict[str, Any]]
"""The path of a property within inputSchema, and its schema, which has the annotation."""


def reached(schema: Any, at: str = "", depth: int = 0) -> Iterator[Annotated]:
    """The annotated properties that properties keys alone lead to."""
    properties = schema.get("properties") if isinstance(schema, dict) and depth < _DEEPEST else None
    if not isinstance(properties, dict):
        return
    for name, value in properties.items():
        if isinstance(value, dict):
            place = f"{at}.{name}" if at else name
            if _KEY in value:
                yield place, value
            yield from reached(value, place, depth + 1)


def _elsewhere(schema: Any, by_properties: bool, at: str = "inputSchema", depth: int = 0) -> Iterator[str]:
    """The places of annotations that properties keys alone do not lead to."""
    if not isinstance(schema, dict) or depth >= _DEEPEST:
        return
    if _KEY in schema and not by_properties:
        yield at
    for keyword, value in schema.items():
        for name, child in _children(keyword, value):
            # The root itself is reached by nothing: an annotation there is in the wrong place, in its properties not.
            clean = keyword == "properties" and (by_properties or depth == 0)
            yield from _elsewhere(child, clean, f"{at}.{keyword}{name}", depth + 1)


def _children(keyword: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The schemas under a keyword that bears schemas; default, const, enum and examples bear none."""
    if keyword in _NAMED and isinstance(value, dict):
        yield from ((f".{name}", child) for name, child in value.items())
    elif keyword in _SEVERAL and isinstance(value, list):
        yield from ((f"[{index}]", child) for index, child in enumerate(value))
    elif keyword in _ONE:
        yield "", value


def _tools(answer: Answer, session: Session) -> Iterator[tuple[str, dict[str, Any]]]:
    """The listed tools that have an inputSchema, with words that name them."""
    for at, tool in listed(answer, session, "tools/list"):
        if isinstance(tool, dict) and isinstance(tool.get("inputSchema"), dict):
            yield f"{at} ({shown(tool.get('name'))})", tool["inputSchema"]


def annotations(answer: Answer, session: Session) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Every annotation in the listed tools: words that name its place, the annotation, and the property that has it."""
    for tool, schema in _tools(answer, session):
        for place, property in reached(schema):
            yield f"{tool}: {place}", property[_KEY], property


def faultless(schema: Any) -> bool:
    """Whether every annotation of an inputSchema is a valid one, so that clients have to keep the tool."""
    found = list(reached(schema))
    names = [property[_KEY] for _, property in found]
    return (
        all(isinstance(name, str) and _TOKEN.fullmatch(name) for name in names)
        and len({name.lower() for name in names}) == len(names)
        and all(property.get("type") in ("integer", "string", "boolean") for _, property in found)
        and not any(True for _ in _elsewhere(schema, by_properties=False))
    )


@rule("http.xheader.not-empty", on="tools/list", near="x-mcp-header")
def not_empty(answer: Answer, session: Session) -> Verdicts:
    """Looks at the annotations of every listed tool: a string of at least one character."""
    for at, value, _ in annotations(answer, session):
        if isinstance(value, str) and value:
            yield holds(answer)
        else:
            yield broken(answer, "the name of a header", f"{at} has {shown(value)}")


@rule("http.xheader.token-syntax", on="tools/list", near="x-mcp-header")
def token_syntax(answer: Answer, session: Session) -> Verdicts:
    """Looks at the characters of annotations; an empty one, and control characters, have rules of their own."""
    for at, value, _ in annotations(answer, session):
        if not isinstance(value, str) or not value or _CONTROL.search(value):
            continue
        if _TOKEN.fullmatch(value):
            yield holds(answer)
        else:
            yield broken(answer, "letters, digits and !#$%&'*+.^_`|~-", f"{at} has {shown(value)}")


@rule("http.xheader.no-control-chars", on="tools/list", near="x-mcp-header")
def no_control_chars(answer: Answer, session: Session) -> Verdicts:
    """Looks for control characters in annotations: they open the way to header injection."""
    for at, value, _ in annotations(answer, session):
        if not isinstance(value, str):
            continue
        if _CONTROL.search(value):
            yield broken(answer, "no control character", f"{at} has {shown(value)}")
        else:
            yield holds(answer)


@rule("http.xheader.unique", on="tools/list", near="x-mcp-header")
def unique(answer: Answer, session: Session) -> Verdicts:
    """Compares the annotations of one tool with each other, without regard to case."""
    for tool, schema in _tools(answer, session):
        seen: dict[str, str] = {}
        doubled = False
        for place, property in reached(schema):
            value = property[_KEY]
            if not isinstance(value, str):
                continue
            if value.lower() in seen:
                doubled = True
                said = f"{tool}: {seen[value.lower()]} and {place} both have {shown(value)}"
                yield broken(answer, "another header for each parameter", said)
            seen.setdefault(value.lower(), place)
        if seen and not doubled:
            yield holds(answer)


@rule("http.xheader.primitive-only", on="tools/list", near="x-mcp-header")
def primitive_only(answer: Answer, session: Session) -> Verdicts:
    """Looks at the type of annotated properties. Without a type, or with a list of them, it is suspect."""
    for at, _, property in annotations(answer, session):
        type = property.get("type")
        if type in ("integer", "string", "boolean"):
            yield holds(answer)
        elif isinstance(type, str):
            yield broken(answer, "an integer, a string or a boolean", f"{at} is of type {type}")
        else:
            yield suspect(answer, "type integer, string or boolean", f"{at} has the type {shown(type)}")


@rule("http.xheader.statically-reachable", on="tools/list", near="x-mcp-header")
def statically_reachable(answer: Answer, session: Session) -> Verdicts:
    """Looks for annotations that properties keys alone do not lead to: under items, oneOf, $defs and their like.

    A property that is named x-mcp-header is no annotation, nor is such a key in a default, const, enum or example.
    """
    for tool, schema in _tools(answer, session):
        wrong = list(_elsewhere(schema, by_properties=False))
        for place in wrong:
            yield broken(answer, "an annotation that properties alone lead to", f"{tool} has one at {place}")
        if not wrong and any(True for _ in reached(schema)):
            yield holds(answer)


@rule("http.xheader.integer-safe-range", on=("tools/list", "tools/call"), wakes="x-mcp-header")
class IntegerSafeRange:
    """Looks at default, const and enum of annotated integers, and at what a client passes for them.

    A minimum or maximum outside of the range is suspect.
    """

    def __init__(self) -> None:
        self._schemas: Recent[str, dict[str, Any]] = Recent()

    def see(self, event: Answer | Request, session: Session) -> Verdicts:
        if isinstance(event, Request):
            if event.dir is Dir.C2S and event.method == "tools/call":
                yield from self._called(event)
            return
        for _, tool in listed(event, session, "tools/list"):
            if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                self._schemas[tool["name"]] = tool.get("inputSchema", {})
        for at, _, property in annotations(event, session):
            if property.get("type") == "integer":
                yield from self._declared(event, at, property)

    @staticmethod
    def _declared(answer: Answer, at: str, property: dict[str, Any]) -> Verdicts:
        values = [property.get("default"), property.get("const"), *_list(property.get("enum"))]
        outside = [value for value in values if _is_outside(value)]
        if outside:
            yield broken(answer, f"values up to {_MOST}", f"{at} names {outside[0]}", blames="server")
        elif _is_outside(property.get("minimum")) or _is_outside(property.get("maximum")):
            yield suspect(answer, f"bounds up to {_MOST}", f"{at} has a bound outside", blames="server")
        else:
            yield holds(answer)

    def _called(self, request: Request) -> Verdicts:
        name = request.param("name")
        schema = self._schemas.get(name) if isinstance(name, str) else None
        for place, property in reached(schema):
            value = _at(request.param("arguments"), place)
            if property.get("type") != "integer" or type(value) is not int:
                continue
            if _is_outside(value):
                yield broken(request, f"a value up to {_MOST}", f"{place} is {value}", blames="client")
            else:
                yield holds(request)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_outside(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) > _MOST


def _at(value: Any, path: str) -> Any:
    """What stands under a path of names; None where there is nothing."""
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value
