"""A JSON reader that notes faults and hides none.

The standard reader takes NaN, doubled keys and any size of number without a word. This one reads what it can and says
what was wrong with it, so that a rule can decide what that means.
"""

import json
import threading
from collections.abc import Set
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Fault:
    """Something about a JSON text that is not as RFC 8259 wants or advises it.

    ``kind``: ``empty``, ``not-utf8``, ``bom``, ``syntax``, ``constant`` (NaN, Infinity), ``doubled-key``, ``depth``
    (deeper than this reader goes; legal JSON), ``surrogate`` (a lone one, as an escape; legal JSON).
    ``where`` is the object in which a key is doubled (the very object, compare with ``is``).
    """

    kind: str
    detail: str
    where: Any = None


@dataclass(frozen=True, slots=True)
class JsonText:
    """A payload as read: ``value`` means something only where ``readable``.

    ``names`` are those of all members, on whatever level, and the values of those that are named ``method``; None where
    they were not collected.
    """

    readable: bool
    value: Any = None
    faults: tuple[Fault, ...] = ()
    names: Set[str] | None = field(default=None, compare=False)

    def fault(self, kind: str) -> Fault | None:
        """The first fault of a kind."""
        return next((fault for fault in self.faults if fault.kind == kind), None)


def read(data: bytes) -> JsonText:
    """Read one JSON text. Never raises, whatever the bytes are."""
    if data[:1] == b"{":  # as nearly all begin
        try:
            found = _plain(data.decode("utf-8"))
        except UnicodeDecodeError:
            found = None
        if found is not None:
            return found
    faults: list[Fault] = []
    if data.startswith(b"\xef\xbb\xbf"):
        faults.append(Fault("bom", "a byte order mark stands before the text"))
        data = data[3:]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = data[error.start]
        return JsonText(False, None, (*faults, Fault("not-utf8", f"byte 0x{byte:02x} at offset {error.start}")))
    return _parse(text, faults)


def read_text(text: str) -> JsonText:
    """Read one JSON text that is decoded already."""
    return _plain(text) or _parse(text, [])


class _Odd(Exception):
    """Something that is to be noted stands in a text."""


def _odd(_: str) -> float:
    raise _Odd


class _Reader(threading.local):
    """Reads texts about which nothing is to be noted, in a fraction of the time, and collects their names."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._scan = json.JSONDecoder(parse_constant=_odd, object_pairs_hook=self._members).scan_once  # type: ignore[attr-defined]

    def _members(self, members: list[tuple[str, Any]]) -> dict[str, Any]:
        obj = dict(members)
        if len(obj) != len(members):
            raise _Odd
        self._names.update(obj)
        if "method" in obj and isinstance(obj["method"], str):
            self._names.add(obj["method"])
        return obj

    def read(self, text: str) -> JsonText | None:
        """The text as read; None where something may be to be noted."""
        if "\\" in text and "\\u" in text:
            return None
        self._names = set()
        try:
            value, end = self._scan(text, 0)
        except (ValueError, StopIteration, RecursionError, _Odd):
            return None
        return JsonText(True, value, (), self._names) if end == len(text) else None


_plain = _Reader().read


def _parse(text: str, faults: list[Fault]) -> JsonText:
    if not text.strip(" \t\r\n"):
        return JsonText(False, None, (*faults, Fault("empty", "there is no JSON value")))

    def constant(name: str) -> float:
        faults.append(Fault("constant", f"{name} is no JSON value"))
        return float(name.replace("Infinity", "inf"))

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        obj = dict(members)
        if len(obj) != len(members):
            seen: set[str] = set()
            for key, _ in members:
                if key in seen:
                    faults.append(Fault("doubled-key", f"the name {key!r} stands twice in one object", obj))
                seen.add(key)
        return obj

    try:
        value = json.loads(text, parse_constant=constant, parse_int=_integer, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        return JsonText(False, None, (*faults, Fault("syntax", f"{error.msg} at offset {error.pos}")))
    except RecursionError:
        return JsonText(False, None, (*faults, Fault("depth", "nested deeper than this reader goes")))
    if "\\u" in text and _has_lone_surrogate(text):
        faults.append(Fault("surrogate", "a lone surrogate stands in a string"))
    return JsonText(True, value, tuple(faults))


def _integer(digits: str) -> int | float:
    """An integer of any length; past Python's limit for conversion the nearest float."""
    try:
        return int(digits)
    except ValueError:
        return float(digits)


def _has_lone_surrogate(text: str) -> bool:
    """Whether decoding the escapes leaves a surrogate without its other half."""
    try:
        decoded = json.loads(text)
        json.dumps(decoded, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    except (ValueError, RecursionError):
        return False
    return False


def strict(data: bytes) -> bool:
    """Whether the bytes are one JSON text in strict UTF-8 that any reader takes without loss."""
    text = read(data)
    return text.readable and not any(fault.kind in {"bom", "constant", "surrogate"} for fault in text.faults)
