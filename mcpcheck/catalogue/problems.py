"""What is wrong with the shape of a value, in words that a person can use."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

_MOST: Final = 50
_SHOWN: Final = 60
_LONGEST: Final = 300
_DISCRIMINATORS: Final = frozenset({"type", "method", "mode"})
"""The members that say which of several types a value means to be."""

_NOUNS: Final = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: ``kind`` is ``missing``, ``type``, ``value`` or ``bound``.

    ``path`` leads to the offending value; to the place where it ought to be, if it is missing.
    """

    path: tuple[str | int, ...]
    kind: str
    words: str

    def text(self, at: str = "") -> str:
        """The problem as a sentence, with the place of the whole value before the path."""
        if self.kind == "missing":
            place = _place(self.path[:-1], at)
            words = f"{place}: {_quoted(str(self.path[-1]))} is missing"
        else:
            words = f"{_place(self.path, at)} {self.words}"
        return words if len(words) <= _LONGEST else words[: _LONGEST - 3] + "..."


def find(schema: dict[str, Any], value: Any) -> tuple[Problem, ...]:
    """Every problem that a schema of ours has with a value, the outermost first."""
    from jsonschema import Draft202012Validator

    found: dict[Problem, None] = {}
    for error in Draft202012Validator(schema).iter_errors(value):
        found |= dict.fromkeys(_unfold(error))
        if len(found) >= _MOST:
            break
    return tuple(sorted(found, key=lambda problem: len(problem.path)))[:_MOST]


def _unfold(error: Any) -> Iterator[Problem]:
    """A validator's error as problems: of several types that were possible, only the one that was meant."""
    path = tuple(error.absolute_path)
    match error.validator:
        case "anyOf":
            yield from _choose(error, path)
        case "required":
            for name in error.validator_value:
                if name not in error.instance:
                    yield Problem((*path, name), "missing", "is missing")
        case "type":
            yield Problem(path, "type", _wrong_type(error.instance, _names(error)))
        case "const" | "enum":
            yield _wrong_value(path, error.instance, _values(error))
        case "minimum":
            yield Problem(path, "bound", f"is {shown(error.instance)}; it may not be below {error.validator_value}")
        case "maximum":
            yield Problem(path, "bound", f"is {shown(error.instance)}; it may not be above {error.validator_value}")
        case "maxItems":
            yield Problem(path, "bound", f"has {len(error.instance)} items; {error.validator_value} are allowed")
        case other:
            yield Problem(path, "value", f"fails {other}")


def _choose(error: Any, path: tuple[str | int, ...]) -> Iterator[Problem]:
    """The problems of the type that the value means to be; if it is none of them, what it may be."""
    arms: dict[int, list[Any]] = defaultdict(list)
    for child in error.context:
        arms[child.schema_path[0]].append(child)
    kinds = [child for arm in arms.values() for child in arm if _wrong_kind(child)]
    fitting = {index: arm for index, arm in arms.items() if not any(_wrong_kind(child) for child in arm)}
    meant = {index: arm for index, arm in fitting.items() if not any(_other_type(child) for child in arm)}
    if not fitting:
        yield Problem(path, "type", _wrong_type(error.instance, [name for kind in kinds for name in _names(kind)]))
    elif not meant:
        yield from _of_no_type([child for arm in fitting.values() for child in arm if _other_type(child)])
    else:
        nearest = max(meant, key=lambda index: (_shared(meant[index]), -len(meant[index])))
        if len(meant) > 1 and not _shared(meant[nearest]):
            names = [error.validator_value[index].get("$ref", "another type").rpartition("/")[2] for index in meant]
            yield Problem(path, "value", f"is no {_either(names)}")
            return
        for child in meant[nearest]:
            yield from _unfold(child)


def _of_no_type(tells: list[Any]) -> Iterator[Problem]:
    """What to say of an object that names its type wrongly, or not at all."""
    wrong = [tell for tell in tells if tell.validator != "required"]
    if wrong:
        values = [value for tell in wrong for value in _values(tell)]
        yield _wrong_value(tuple(wrong[0].absolute_path), wrong[0].instance, values)
        return
    for name in sorted(_DISCRIMINATORS.intersection(*(tell.validator_value for tell in tells))):
        yield Problem((*tells[0].absolute_path, name), "missing", "is missing")


def _wrong_kind(error: Any) -> bool:
    """Whether one of several types is out of the question, since the value is another kind of JSON."""
    return error.validator == "type" and not error.relative_path


def _other_type(error: Any) -> bool:
    """Whether an object says by its type, method or mode that it is not of one of several types."""
    place = list(error.relative_path)
    if error.validator == "required":
        return not place and any(name not in error.instance for name in _DISCRIMINATORS & set(error.validator_value))
    return error.validator in ("const", "enum") and len(place) == 1 and place[0] in _DISCRIMINATORS


def _shared(arm: list[Any]) -> int:
    """How many members of the type the value has."""
    root = next((child for child in arm if not child.relative_path and isinstance(child.instance, dict)), None)
    return len(root.instance.keys() & root.schema.get("properties", {}).keys()) if root else 1


def _values(error: Any) -> list[Any]:
    return [error.validator_value] if error.validator == "const" else list(error.validator_value)


def _names(error: Any) -> list[str]:
    return [error.validator_value] if isinstance(error.validator_value, str) else list(error.validator_value)


def _wrong_type(value: Any, expected: Iterable[str]) -> str:
    words = f"is {kind_of(value)}; {_either(_NOUNS[name] for name in expected)} is expected"
    return words + " (an optional member is left out, not null)" if value is None else words


def _wrong_value(path: tuple[str | int, ...], value: Any, expected: Iterable[Any]) -> Problem:
    return Problem(path, "value", f"is {shown(value)}; {_either(shown(item) for item in expected)} is expected")


def _either(words: Iterable[str]) -> str:
    *first, last = dict.fromkeys(words)
    return f"{', '.join(first)} or {last}" if first else last


def kind_of(value: Any) -> str:
    """What a JSON value is, with its article."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {shown(value)}"
        case str():
            return f"the string {shown(value)}"
        case list():
            return "an array"
    return "an object"


def shown(value: Any) -> str:
    """A value as JSON, shortened; never raises."""
    try:
        words = json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return "a value too large to show"
    words = words.encode("utf-8", "backslashreplace").decode()
    return words if len(words) <= _SHOWN else words[: _SHOWN - 3] + "..."


def _place(path: tuple[str | int, ...], at: str) -> str:
    words = at
    for step in path:
        if isinstance(step, int):
            words += f"[{step}]"
        elif re.fullmatch(r"[A-Za-z_$][A-Za-z0-9_$]*", step):
            words += f".{step}" if words else step
        else:
            words += f"[{shown(step)}]"
    return words or "the value"


def _quoted(name: str) -> str:
    return f"'{name}'"
