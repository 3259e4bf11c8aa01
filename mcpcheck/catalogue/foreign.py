"""Schemas of strangers: the verdict on a value, for as long as reaching it has a bound.

A schema that a peer sends can be made to cost any amount of work: references that double on each level or go round in
circles, patterns that backtrack for ever, addresses to fetch. What is judged here is tame: its references lead to
places within it, never in a circle, and its size with all references followed has a bound; patterns go through an
engine whose work grows with the text alone; nothing is fetched. Of every other schema no verdict is given.
"""

import json
from typing import Any, Final

_MOST: Final = 20_000
"""How many nodes a schema may have once every reference is written out."""

_DEEPEST: Final = 60
_ELSEWHERE: Final = frozenset({"$dynamicRef", "$recursiveRef", "$id", "id", "$anchor", "$dynamicAnchor"})
"""Keywords that make a reference lead somewhere else than its text says."""

_DATA: Final = frozenset({"const", "default", "enum", "examples"})
_BY_NAME: Final = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})


class _Wild(Exception):
    """A schema on which no verdict is given."""


class Foreign:
    """A schema of a peer, in the dialect that it names; 2020-12 where it names none."""

    def __init__(self, schema: Any) -> None:
        self._validator = _compiled(schema)

    def fault(self, value: Any) -> str | None:
        """What is wrong with a value; the empty string where nothing is, and None where no verdict is given."""
        if self._validator is None:
            return None
        try:
            error = next(iter(self._validator.iter_errors(value)), None)
        except (ValueError, TypeError):
            return None  # nested too deep, or text that is no Unicode
        return "" if error is None else _words(error)


def _compiled(schema: Any) -> Any:
    import jsonschema_rs

    if not isinstance(schema, dict):
        return None
    try:
        _size(schema, schema, {}, ())
        if not jsonschema_rs.meta.is_valid(schema):
            return None
        return jsonschema_rs.validator_for(
            schema, validate_formats=False, pattern_options=jsonschema_rs.RegexOptions(), offline=True
        )
    except (_Wild, ValueError, TypeError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError):
        return None


def _size(node: Any, root: dict[str, Any], known: dict[str, int], path: tuple[str, ...], depth: int = 0) -> int:
    """The number of nodes of a schema with all references followed. Raises _Wild where that is without a bound."""
    size = 1
    if depth > _DEEPEST:
        raise _Wild
    if isinstance(node, list):
        size += sum(_size(item, root, known, path, depth + 1) for item in node)
    elif isinstance(node, dict):
        if depth and any(isinstance(node.get(name), str) for name in _ELSEWHERE):
            raise _Wild
        for name, value in node.items():
            if name in _DATA:
                size += _count(value, depth + 1)
            elif name in _BY_NAME and isinstance(value, dict):
                size += sum(_size(item, root, known, path, depth + 2) for item in value.values())
            else:
                size += _size(value, root, known, path, depth + 1)
        if isinstance(node.get("$ref"), str):
            size += _followed(node["$ref"], root, known, path)
    if size > _MOST:
        raise _Wild
    return size


def _count(data: Any, depth: int) -> int:
    """The number of nodes of a value that is no schema."""
    if depth > _DEEPEST:
        raise _Wild
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    size = 1 + sum(_count(item, depth + 1) for item in inner)
    if size > _MOST:
        raise _Wild
    return size


def _followed(ref: str, root: dict[str, Any], known: dict[str, int], path: tuple[str, ...]) -> int:
    if ref in path or len(path) > _DEEPEST:
        raise _Wild
    if ref not in known:
        known[ref] = _size(_target(ref, root), root, known, (*path, ref), len(path))
    return known[ref]


def _target(ref: str, root: dict[str, Any]) -> Any:
    """Where a reference leads within the schema."""
    if not ref.startswith("#/") or "%" in ref:
        raise _Wild
    node: Any = root
    for step in ref[2:].split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(node, dict) or name not in node:
            raise _Wild
        node = node[name]
    return node


def _words(error: Any) -> str:
    """A validator's complaint with its place, short."""
    place = "".join(f"[{json.dumps(step)}]" if isinstance(step, int) else f".{step}" for step in error.instance_path)
    message = str(error.message)
    return f"{place[:80]}{': ' if place else ''}{message if len(message) <= 160 else message[:157] + '...'}"
