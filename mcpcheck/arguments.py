"""Arguments that fit a tool's inputSchema, and one departure from them: enough of JSON Schema for what tools use."""

from collections.abc import Mapping
from typing import Any

_BY_TYPE: dict[str, Any] = {"string": "mcpcheck", "integer": 1, "number": 1, "boolean": False, "null": None}
_FORMATS = {
    "email": "mcpcheck@example.com",
    "uri": "https://example.com/mcpcheck",
    "date": "2026-07-28",
    "date-time": "2026-07-28T12:00:00Z",
    "time": "12:00:00Z",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_DEPTH = 6


def fitting(schema: Any) -> dict[str, Any] | None:
    """Arguments with all that the schema requires and no more; None where none were found that validate."""
    if not isinstance(schema, dict):
        return None
    try:
        value = _value(schema, schema, 0)
    except (TypeError, ValueError, AttributeError, KeyError):
        return None  # the schema itself is broken, which base.schema.valid judges
    return value if isinstance(value, dict) and _valid(schema, value) else None


def departing(schema: Any) -> dict[str, Any] | None:
    """Arguments that break the schema in one thing; None where the schema takes anything."""
    good = fitting(schema)
    if good is None:
        return None
    for name, inner in (schema.get("properties") or {}).items():
        if isinstance(inner, dict) and inner.get("type") in {"string", "integer", "number", "boolean"}:
            bad = {**good, name: {"mcpcheck": "an object where none is allowed"}}
            if not _valid(schema, bad):
                return bad
    for name in good:
        bad = {key: value for key, value in good.items() if key != name}
        if not _valid(schema, bad):
            return bad
    return None


def _valid(schema: Mapping[str, Any], value: Any) -> bool:
    import jsonschema_rs

    try:
        return bool(jsonschema_rs.is_valid(dict(schema), value, retriever=_fetch_nothing))
    except (ValueError, TypeError, jsonschema_rs.ReferencingError):
        return False


def _fetch_nothing(uri: str) -> Any:
    raise ValueError(f"{uri} is not fetched")


def _value(schema: Any, root: Mapping[str, Any], depth: int) -> Any:
    """A value for a schema: what it names itself comes first."""
    if not isinstance(schema, dict) or depth > _DEPTH:
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
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(key), list) and schema[key] and "properties" not in schema:
            return _value(schema[key][0], root, depth + 1)
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object" or "properties" in schema:
        inner = schema.get("properties") if isinstance(schema.get("properties"), dict) else {}
        required = schema.get("required") if isinstance(schema.get("required"), list) else []
        return {name: _value((inner or {}).get(name, {}), root, depth + 1) for name in required or []}
    if kind == "array":
        return [_value(schema.get("items", {}), root, depth + 1)] * max(0, int(schema.get("minItems", 0)))
    if kind == "string":
        return _string(schema)
    if kind in {"integer", "number"}:
        return _number(schema)
    return _BY_TYPE.get(str(kind), "mcpcheck")


def _string(schema: Mapping[str, Any]) -> str:
    text = _FORMATS.get(str(schema.get("format")), "mcpcheck")
    text = text.ljust(int(schema.get("minLength", 0)), "x")
    longest = schema.get("maxLength")
    return text[: int(longest)] if longest is not None else text


def _number(schema: Mapping[str, Any]) -> int | float:
    low, high = schema.get("minimum"), schema.get("maximum")
    if "exclusiveMinimum" in schema:
        low = schema["exclusiveMinimum"] + 1
    if low is not None:
        return low  # type: ignore[no-any-return]
    return min(1, high) if high is not None else 1


def _resolve(reference: str, root: Mapping[str, Any]) -> Any:
    """A local reference; anything else is fetched from nowhere (base.schema.no-network-ref)."""
    if not reference.startswith("#"):
        return {}
    here: Any = root
    for part in reference.lstrip("#/").split("/"):
        if part and isinstance(here, dict):
            here = here.get(part.replace("~1", "/").replace("~0", "~"))
    return here
