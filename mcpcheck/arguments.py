"""Arguments that fit a tool's inputSchema, and one departure from them: enough of JSON Schema for what tools use.

A value that the schema names itself comes first (const, default, examples, enum); else the smallest that its keywords
ask for is made. What comes out is held against the schema, and is nothing where it does not fit. The schema is a
stranger's: neither its size nor a bound in it makes this work long.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mcpcheck.catalogue.foreign import Foreign

_BY_TYPE: Final[dict[str, Any]] = {"boolean": False, "null": None}
_FORMATS: Final = {
    "email": "mcpcheck@example.com",
    "hostname": "example.com",
    "ipv4": "127.0.0.1",
    "ipv6": "::1",
    "uri": "https://example.com/mcpcheck",
    "uri-reference": "https://example.com/mcpcheck",
    "url": "https://example.com/mcpcheck",
    "date": "2026-07-28",
    "date-time": "2026-07-28T12:00:00Z",
    "time": "12:00:00Z",
    "duration": "PT1S",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_SAMPLES: Final = ("mcpcheck", "a", "A", "1", "12", "123", "1234", "0", "a1", "A1", "1.0.0", "a-b", "a_b", "a/b", "/a")
"""Texts that are tried where a pattern is to be matched, beside those of the formats."""
_DEEPEST: Final = 8
_LONGEST: Final = 1_000
"""No text is made longer and no array holds more, whatever a schema asks for."""
_SCALARS: Final = frozenset({"string", "integer", "number", "boolean"})


def fitting(schema: Any) -> dict[str, Any] | None:
    """Arguments with all that the schema requires and no more; None where none were found that validate."""
    if not isinstance(schema, dict):
        return None
    judge = Foreign(without_anchors(schema))
    try:
        value = _value(schema, schema, 0)
    except (TypeError, ValueError, AttributeError, KeyError, OverflowError, RecursionError):
        return None  # the schema itself is broken, which base.schema.valid judges
    return value if isinstance(value, dict) and judge.fault(value) == "" else None


def departing(schema: Any) -> dict[str, Any] | None:
    """Arguments that break the schema in one thing; None where the schema takes anything."""
    good = fitting(schema)
    if good is None:
        return None
    judge = Foreign(without_anchors(schema))
    return next((bad for bad in _departures(schema, good) if judge.fault(bad)), None)


def _departures(schema: Mapping[str, Any], good: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Arguments that differ in one thing: a value of the wrong type, or one that lacks.

    One too many is none: servers drop what they do not know, and do no harm by it.
    """
    properties = schema.get("properties")
    for name, inner in (properties if isinstance(properties, dict) else {}).items():
        if isinstance(inner, dict) and inner.get("type") in _SCALARS:
            yield {**good, name: {"mcpcheck": "an object where none is allowed"}}
    for name in good:
        yield {key: value for key, value in good.items() if key != name}


def without_anchors(schema: Any, depth: int = 0) -> Any:
    """A schema without names for its parts: what refers to a part by its place still finds it."""
    if depth > 60:
        return schema
    if isinstance(schema, list):
        return [without_anchors(item, depth + 1) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: without_anchors(value, depth + 1) for name, value in schema.items() if name != "$anchor"}


def _value(schema: Any, root: Mapping[str, Any], depth: int) -> Any:
    """A value for a schema: what it names itself comes first."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return "mcpcheck"
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return _value(_resolve(reference, root), root, depth + 1)
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    for key in ("examples", "enum"):
        if isinstance(schema.get(key), list) and schema[key]:
            return schema[key][0]
    schema = _merged(schema, root, depth)
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object" or "properties" in schema:
        return _object(schema, root, depth)
    if kind == "array" or "prefixItems" in schema:
        return _array(schema, root, depth)
    if kind in {"integer", "number"}:
        return _number(schema)
    return _string(schema) if kind in {None, "string"} else _BY_TYPE.get(str(kind), "mcpcheck")


def _merged(schema: dict[str, Any], root: Mapping[str, Any], depth: int) -> dict[str, Any]:
    """A schema with the parts of allOf, and the first of anyOf and of oneOf, put into it."""
    merged = schema
    for key in ("allOf", "anyOf", "oneOf"):
        parts = schema.get(key)
        if not isinstance(parts, list) or depth > _DEEPEST:
            continue
        for part in parts if key == "allOf" else parts[:1]:
            if isinstance(part, dict):
                target = _resolve(part["$ref"], root) if isinstance(part.get("$ref"), str) else part
                merged = _both(merged, _merged(target, root, depth + 1)) if isinstance(target, dict) else merged
    return merged


def _both(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    joined = {**one, **{name: value for name, value in other.items() if name not in one}}
    for name in ("properties", "required"):
        mine, theirs = one.get(name), other.get(name)
        if isinstance(mine, dict) and isinstance(theirs, dict):
            joined[name] = {**theirs, **mine}
        elif isinstance(mine, list) and isinstance(theirs, list):
            joined[name] = [*mine, *theirs]
    return joined


def _object(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> dict[str, Any]:
    inner = schema.get("properties") if isinstance(schema.get("properties"), dict) else {}
    required = schema.get("required") if isinstance(schema.get("required"), list) else []
    return {name: _value((inner or {}).get(name, {}), root, depth + 1) for name in (required or [])[:_LONGEST]}


def _array(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> list[Any]:
    first = schema.get("prefixItems") if isinstance(schema.get("prefixItems"), list) else []
    least = min(max(0, int(schema.get("minItems", 0))), _LONGEST)
    made = [_value(item, root, depth + 1) for item in (first or [])[:least]]
    items, contained = schema.get("items", {}), schema.get("contains")
    if isinstance(contained, dict) and not made:
        made.append(_value(contained, root, depth + 1))
    while len(made) < least:
        made.append(_another(_value(items, root, depth + 1), items, len(made), schema.get("uniqueItems") is True))
    return made


def _another(value: Any, schema: Any, number: int, unique: bool) -> Any:
    """A value that differs from those before it, where they have to differ."""
    named = schema.get("enum") if isinstance(schema, dict) else None
    if not unique or not number:
        return value
    if isinstance(named, list):
        return named[number] if number < len(named) else value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value + number
    return f"{value}{number}" if isinstance(value, str) else value


def _string(schema: Mapping[str, Any]) -> str:
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        judge = Foreign(dict(schema))
        return next((text for text in (*_SAMPLES, *_FORMATS.values()) if judge.fault(text) == ""), "mcpcheck")
    text = _FORMATS.get(str(schema.get("format")), "mcpcheck")
    text = text.ljust(min(int(schema.get("minLength", 0)), _LONGEST), "x")
    longest = schema.get("maxLength")
    return text[: int(longest)] if longest is not None else text


def _number(schema: Mapping[str, Any]) -> int | float:
    low, high, step = schema.get("minimum"), schema.get("maximum"), schema.get("multipleOf")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if above is not None and not isinstance(above, bool):
        low = above + 1
    if below is not None and not isinstance(below, bool):
        high = below - 1
    value: int | float = low if low is not None else min(1, high) if high is not None else 1
    if isinstance(step, int | float) and not isinstance(step, bool) and step > 0:
        value = -(-value // step) * step
    return value


def _resolve(reference: str, root: Mapping[str, Any]) -> Any:
    """A local reference; anything else is fetched from nowhere (base.schema.no-network-ref)."""
    if not reference.startswith("#"):
        return {}
    here: Any = root
    for part in reference.lstrip("#/").split("/"):
        if part and isinstance(here, dict):
            here = here.get(part.replace("~1", "/").replace("~0", "~"))
    return here
