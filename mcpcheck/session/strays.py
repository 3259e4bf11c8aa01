"""Strays: what stands in place of a message and is none that can be read, told apart by what was probably meant.

On stdio a message that was printed over several lines arrives as many lines, of which some are JSON by themselves. What
may be the beginning of one is kept back until the rest shows what it is. Everything else is told apart at once.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from mcpcheck.wire.event import Batch, Event, Message, NotJson, Payload
from mcpcheck.wire.record import Dir, Kind

MOST_LINES = 10_000
MOST_BYTES = 1 << 20
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class Stray(Event):
    """Text where a message has to stand.

    ``kind``: ``empty`` (an empty line); ``encoding`` (meant as a message, but no UTF-8); ``spread`` (one message over
    several lines); ``joined`` (several messages in one); ``cut`` (a stream that ended inside a line); ``broken`` (meant
    as a message, but no JSON); ``deep`` (nested deeper than the reader goes: not judged); ``text`` (anything else).
    """

    kind: str
    lines: tuple[Payload, ...]

    @property
    def data(self) -> bytes:
        """What was sent, shortened."""
        return self.record.data[:200]


@dataclass(slots=True)
class _Group:
    """Lines that may be one message, and how deep the nesting is after them."""

    lines: list[Payload] = field(default_factory=list)
    size: int = 0
    depth: int = 0
    in_string: bool = False
    escaped: bool = False

    def add(self, line: Payload) -> None:
        self.lines.append(line)
        self.size += len(line.record.data)
        for byte in line.record.data:
            self._scan(byte)

    def _scan(self, byte: int) -> None:
        if self.in_string:
            if self.escaped:
                self.escaped = False
            elif byte == 0x5C:
                self.escaped = True
            elif byte == 0x22:
                self.in_string = False
        elif byte == 0x22:
            self.in_string = True
        elif byte in b"{[":
            self.depth += 1
        elif byte in b"}]":
            self.depth -= 1

    @property
    def closed(self) -> bool:
        return self.depth <= 0 and not self.in_string

    @property
    def full(self) -> bool:
        return len(self.lines) >= MOST_LINES or self.size >= MOST_BYTES

    @property
    def value(self) -> Any:
        """What the lines are as one JSON text; None where they are none."""
        text = b"\n".join(line.record.data for line in self.lines).decode("utf-8", "replace")
        values = _values(text)
        return values[0] if len(values) == 1 and not _rest(text) else None


class Strays:
    """Reads payloads in order. ``keeps`` says whether the last one is kept back for now."""

    def __init__(self) -> None:
        self._groups: dict[Dir, _Group] = {}
        self.keeps = False

    @property
    def busy(self) -> bool:
        """Whether something is kept back, or was just now, so that the next event matters whatever it is."""
        return self.keeps or bool(self._groups)

    def see(self, event: Event) -> list[Event]:
        """The events that this one settles: strays, and what was kept back for nothing."""
        self.keeps = False
        if not isinstance(event, Payload):
            return self.finish(event.dir) if event.record.event in {"eof", "exit", "abort"} else []
        if event.record.kind is not Kind.LINE:
            return [_told(event)] if isinstance(event, NotJson) else []
        group = self._groups.get(event.dir)
        if group is None:
            if isinstance(event, NotJson) and _begins_text(event):
                group = self._groups[event.dir] = _Group()
                group.add(event)
                self.keeps = True
                return []
            return [_told(event)] if isinstance(event, NotJson) else []
        return self._go_on(group, event)

    def _go_on(self, group: _Group, event: Payload) -> list[Event]:
        if isinstance(event, Message) or (isinstance(event, Batch) and event.size):
            return self._give_up(event.dir)
        self.keeps = True
        group.add(event)
        if group.closed:
            del self._groups[event.dir]
            value = group.value
            if value is None:
                return _apart(group)
            kind = "spread" if _is_like_message(value) else "text"
            return [Stray(group.lines[0].record, kind, tuple(group.lines))]
        return self._give_up(event.dir) if group.full or event.record.end == b"" else []

    def _give_up(self, dir: Dir) -> list[Event]:
        group = self._groups.pop(dir, None)
        return _apart(group) if group else []

    def finish(self, dir: Dir | None = None) -> list[Event]:
        """What was kept back when the stream of one side, or the session, came to its end."""
        return [event for side in Dir if dir in {None, side} for event in self._give_up(side)]


def _apart(group: _Group) -> list[Event]:
    """Lines that are no message together, each by itself."""
    return [_told(line) if isinstance(line, NotJson) else line for line in group.lines]


def _is_like_message(value: Any) -> bool:
    """Whether an object, or an element of an array, has members of a message."""
    values = value if isinstance(value, list) else [value]
    return any(isinstance(one, dict) and one.keys() & {"jsonrpc", "method", "result", "error"} for one in values)


def _told(event: NotJson) -> Stray:
    return Stray(event.record, _kind(event), (event,))


def _kind(event: NotJson) -> str:
    """What a single payload that is not JSON was meant to be."""
    data = event.record.data
    if event.text.fault("empty"):
        return "empty"
    if event.text.fault("depth"):
        return "deep"
    if event.text.fault("not-utf8"):
        return "encoding" if _means_message(data) else "text"
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    values = _values(text)
    if len(values) > 1 and all(isinstance(value, dict) for value in values):
        return "joined"
    if event.record.kind is Kind.LINE and event.record.end == b"":
        return "cut"
    return "broken" if _means_message(data) else "text"


def _means_message(data: bytes) -> bool:
    """Whether bytes look like a message of the protocol, whatever is wrong with them; UTF-16 counts, too."""
    return b"jsonrpc" in data.replace(b"\0", b"")


def _begins_text(event: NotJson) -> bool:
    """Whether a line is the beginning of an object or array that ends on a later line."""
    if not event.text.fault("syntax") or event.record.end == b"":
        return False
    text = event.record.data.decode("utf-8", "replace").rstrip()
    if text.lstrip()[:1] not in {"{", "["}:
        return False
    try:
        _DECODER.decode(text)
    except json.JSONDecodeError as error:
        return error.pos >= len(text) or error.msg.startswith("Unterminated string")
    except RecursionError:
        return False
    return False  # whole, but for a control character in a string


def _values(text: str) -> list[object]:
    """The JSON values that stand one behind the other at the beginning of a text; at most three."""
    values: list[object] = []
    at = 0
    while len(values) < 3:
        while at < len(text) and text[at] in " \t\r\n":
            at += 1
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        values.append(value)
    return values


def _rest(text: str) -> bool:
    """Whether something stands behind the first JSON value of a text."""
    stripped = text.lstrip(" \t\r\n")
    try:
        _, at = _DECODER.raw_decode(stripped)
    except (ValueError, RecursionError):
        return True
    return bool(stripped[at:].strip(" \t\r\n"))
