"""Values that fit a schema: what a client with nobody to ask enters into a form or hands to a tool."""

from typing import Any

Json = Any

_FORMATS = {
    "email": "ann@example.com",
    "uri": "https://example.com/",
    "date": "2026-07-28",
    "date-time": "2026-07-28T12:00:00Z",
}


def fitting(schema: Json, root: Json = None) -> Json:
    """One value that a plain schema takes: its default, its first choice, or the least of its type."""
    root = schema if root is None else root
    if not isinstance(schema, dict):
        return "text"
    if "$ref" in schema:
        return fitting(_resolve(schema["$ref"], root), root)
    for key in ("default", "const"):
        if key in schema:
            return schema[key]
    choices = schema.get("enum") or schema.get("examples")
    if isinstance(choices, list) and choices:
        return choices[0]
    for key in ("oneOf", "anyOf", "allOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            return fitting(schema[key][0], root)
    return _of_type(schema, root)


def _of_type(schema: dict[str, Json], root: Json) -> Json:
    kind = schema.get("type", "object" if "properties" in schema else "string")
    match kind[0] if isinstance(kind, list) and kind else kind:
        case "integer" | "number":
            return schema.get("minimum", min(1, schema.get("maximum", 1)))
        case "boolean":
            return True
        case "null":
            return None
        case "array":
            return [fitting(schema.get("items", {}), root) for _ in range(schema.get("minItems", 1))]
        case "object":
            return members(schema, root)
        case _:
            text = _FORMATS.get(schema.get("format", ""), "text")
            return text.ljust(schema.get("minLength", 0), "x")[: schema.get("maxLength", 1000)]


def members(schema: Json, root: Json = None) -> dict[str, Json]:
    """A value for every property of an object, the optional ones too."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return {}
    return {name: fitting(inner, schema if root is None else root) for name, inner in properties.items()}


def _resolve(ref: Json, root: Json) -> Json:
    """What a reference inside the same schema points to."""
    found = root
    for step in str(ref).removeprefix("#").split("/")[1:]:
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
    return found if found is not root else {}
