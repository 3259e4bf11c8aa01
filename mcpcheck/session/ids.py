"""Ids as JSON-RPC compares them: by value and by JSON type, so that 1, 1.0, true and "1" all differ."""

import json
from typing import Any

_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}

Key = tuple[str, str | int | float]


def key(id: Any) -> Key:
    """A hashable form of an id of any JSON type."""
    kind = _TYPES.get(type(id))
    if kind is None:
        return ("other", json.dumps(id, sort_keys=True, default=str))
    return (kind, "null" if id is None else id)


def alike(one: Any, other: Any) -> bool:
    """Whether two ids differ in their type or spelling only, as when a peer turns 0 into "0"."""
    return key(one) != key(other) and str(one).strip().lower() == str(other).strip().lower()
