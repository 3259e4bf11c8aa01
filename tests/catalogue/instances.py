"""Instances of a JSON Schema, and instances with one thing wrong, from a seed."""

import copy
import random
from collections.abc import Iterator
from typing import Any

STRINGS = ("", "a", "text", "2.0", "form", "file:///x", "complete", "2026-07-28", "ü")
ANYTHING: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    1.0,
    2.5,
    1e300,
    "",
    "a",
    [],
    ["a"],
    [1],
    {},
    {"a": 1},
    {"type": "text"},
)


class Instances:
    """Values that a schema accepts, and neighbours of them, which it may or may not accept."""

    def __init__(self, defs: dict[str, Any], seed: int) -> None:
        self.defs = defs
        self.random = random.Random(seed)

    def of(self, name: str, count: int) -> Iterator[Any]:
        """Half as the type wants them, half with departures; then one without, and with null for, each member."""
        for number in range(count):
            value = self.valid({"$ref": f"#/x/{name}"})
            for _ in range((0, 1, 0, 1, 1, 2)[number % 6]):
                value = self.departure(value)
            yield value
        whole = self.valid({"$ref": f"#/x/{name}"})
        for member in whole if isinstance(whole, dict) else ():
            yield {key: value for key, value in whole.items() if key != member}
            yield whole | {member: None}

    def valid(self, schema: Any, depth: int = 0) -> Any:
        """A value with the shape of a schema."""
        rng = self.random
        if schema is True or not schema:
            return copy.deepcopy(rng.choice(ANYTHING))
        if "$ref" in schema:
            return self.valid(self.defs[schema["$ref"].rpartition("/")[2]], depth)
        if "allOf" in schema:
            merged: dict[str, Any] = {}
            for part in schema["allOf"]:
                merged |= self.valid(part, depth)
            return merged
        if "anyOf" in schema:
            return self.valid(rng.choice(schema["anyOf"]), depth)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return rng.choice(schema["enum"])
        kinds = schema.get("type", "object")
        match kinds if isinstance(kinds, str) else rng.choice(kinds):
            case "object":
                return self._object(schema, depth)
            case "array":
                most = min(schema.get("maxItems", 2), 2 if depth < 6 else 0)
                return [self.valid(schema.get("items", {}), depth + 1) for _ in range(rng.randint(0, most))]
            case "string":
                return rng.choice(STRINGS)
            case "integer":
                return max(rng.choice((0, 1, -1, 7, 2**53, 3.0)), schema.get("minimum", -5))
            case "number":
                number = rng.choice((0, 1, 0.5, 1.5, -2.25, 1e20, 3))
                return min(max(number, schema.get("minimum", -5)), schema.get("maximum", 1e300))
            case "boolean":
                return rng.random() < 0.5
        return None

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        rng = self.random
        required = schema.get("required", ())
        likely = 0.5 if depth < 4 else 0.15
        value = {
            name: self.valid(member, depth + 1)
            for name, member in schema.get("properties", {}).items()
            if name in required or rng.random() < likely
        }
        others = schema.get("additionalProperties")
        if isinstance(others, dict):
            value |= {name: self.valid(others, depth + 1) for name in rng.sample("pq", rng.randint(0, 2))}
        if rng.random() < 0.1:
            value["com.example/unknown"] = copy.deepcopy(rng.choice(ANYTHING))
        return value

    def departure(self, value: Any) -> Any:
        """The value with one change somewhere in it."""
        value = copy.deepcopy(value)
        places = list(_places(value))
        if not places or self.random.random() < 0.02:
            return copy.deepcopy(self.random.choice(ANYTHING))
        holder, key = self.random.choice(places)
        match self.random.randrange(6):
            case 0 | 1 if isinstance(holder, dict):
                del holder[key]
            case 2:
                holder[key] = None
            case 3 if isinstance(holder[key], int | float) and not isinstance(holder[key], bool):
                holder[key] = self.random.choice(
                    (holder[key] + 0.5, -holder[key] - 1, str(holder[key]), holder[key] * 1.0)
                )
            case 4:
                holder[key] = [holder[key]]
            case _:
                holder[key] = copy.deepcopy(self.random.choice(ANYTHING))
        return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])
