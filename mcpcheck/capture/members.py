"""The members of a JSON object with the place where each value stands, so that its text can be cut out unchanged."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mcpcheck.wire import jsontext

_SPACE = re.compile(r"[ \t\r\n]*")
_NESTING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]')
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_read = json.JSONDecoder().raw_decode


@dataclass(frozen=True, slots=True)
class Member:
    """One member: its name, its value, and its value's text. ``value`` is None where it is nested too deep to read."""

    name: str
    value: Any
    text: str


def members(text: str) -> Iterator[Member]:
    """The members of the object that a text consists of. Raises ValueError where it is no JSON object."""
    at = _skip(text, 0)
    if text[at : at + 1] != "{":
        raise ValueError("it is no JSON object")
    at = _skip(text, at + 1)
    more = text[at : at + 1] != "}"
    while more:
        if text[at : at + 1] != '"':
            raise ValueError(f"a name is missing at offset {at}")
        name, at = _read(text, at)
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            raise ValueError(f"a colon is missing at offset {at}")
        start = _skip(text, at + 1)
        value, end = _value(text, start)
        yield Member(name, value, text[start:end])
        at = _skip(text, end)
        more = text[at : at + 1] == ","
        if more:
            at = _skip(text, at + 1)
    if text[at : at + 1] != "}" or _skip(text, at + 1) != len(text):
        raise ValueError(f"the object does not end as it has to, at offset {at}")


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _value(text: str, start: int) -> tuple[Any, int]:
    try:
        value, end = _read(text, start)
    except json.JSONDecodeError:
        raise
    except (ValueError, RecursionError):  # digits or nesting past what the reader takes: legal all the same
        end = _past_nesting(text, start)
        value = jsontext.read_text(text[start:end]).value
    return value, end


def _past_nesting(text: str, start: int) -> int:
    """Where a number of any length, or a value nested to any depth, ends that starts at ``start``."""
    if number := _NUMBER.match(text, start):
        return number.end()
    depth = 0
    for match in _NESTING.finditer(text, start):
        token = match.group()
        if token in "[{":
            depth += 1
        elif token in "]}":
            depth -= 1
        if depth == 0:
            return match.end()
    raise ValueError(f"the value at offset {start} has no end")
