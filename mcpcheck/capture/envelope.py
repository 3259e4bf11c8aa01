"""Envelope: the message in a line that another tool wrote, and what stands around it: a direction, a time."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from mcpcheck.capture.members import members
from mcpcheck.capture.strict import as_one_line

_PAYLOADS: Final = ("message", "msg", "payload", "data", "raw", "frame", "body", "content", "rpc", "jsonrpc", "json")
_LABELS: Final = (
    "direction",
    "dir",
    "from",
    "source",
    "sender",
    "origin",
    "side",
    "stream",
    "channel",
    "type",
    "event",
)
_TIMES: Final = ("timestamp", "time", "ts", "t", "at", "date", "datetime", "receivedAt")
_PARTS: Final = {"method", "result", "error"}
_ENVELOPE: Final = {"jsonrpc", "id", "method", "params", "result", "error"}
_DEEPEST: Final = 2
_SAID: Final = {
    "client": "client clientserver clienttoserver clientmessage c2s cs fromclient toserver stdin clientrequest",
    "server": "server serverclient servertoclient servermessage s2c sc fromserver toclient stdout serverresponse",
    "in": "in inbound incoming received receive recv rx",
    "out": "out outbound outgoing sent send tx",
}
_WORDS: Final = {word: label for label, words in _SAID.items() for word in words.split()}
_NO_LETTER = re.compile(r"[^a-z0-9]+")
_decode = json.JSONDecoder().raw_decode
_FROM = re.compile(
    r"\b(?:from|by)\s+(?:the\s+)?(client|server)\b|\b(client|server)\s*(?:[-=]+>|→|to)\s*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Enclosed:
    """A message, or an array of them, as its text and its value, with what its recorder said of it."""

    text: bytes
    value: Any
    label: str = ""  # its direction: "client" or "server" for who sent it, "in" or "out" for how the recorder saw it
    time: float | None = None  # in seconds, from whenever


def open_envelope(line: bytes) -> Enclosed | None:
    """The message in a line; None where there is none. Never raises."""
    try:
        text = line.decode("utf-8").strip(" \t\r\n")
    except UnicodeDecodeError:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _in_prose(text)
    return _enclosed(text, value)


def is_message(value: Any) -> bool:
    """Whether a JSON value is meant as a message: it says so, or has a message's members and no others."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(one, dict) and is_message(one) for one in value)
    if not isinstance(value, dict):
        return False
    if "jsonrpc" in value and not isinstance(value["jsonrpc"], dict):
        return bool(value.keys() & _PARTS) or "id" in value
    return "id" in value and bool(value.keys() & _PARTS) and value.keys() <= _ENVELOPE


def _enclosed(text: str, value: Any, depth: int = 0) -> Enclosed | None:
    if is_message(value):
        return Enclosed(_flat(text), value)
    if not isinstance(value, dict) or depth >= _DEEPEST:
        return None
    texts: dict[str, str] = {}
    for name in sorted(value, key=_rank):
        inner = value[name]
        found = None
        if isinstance(inner, str) and inner.lstrip()[:1] in ("{", "["):
            found = _read(inner, depth + 1)
        elif _may_hold_message(name, inner):
            texts = texts or {member.name: member.text for member in members(text)}
            found = _enclosed(texts[name], inner, depth + 1)
        if found:
            return Enclosed(found.text, found.value, found.label or _label(value), _time(value) or found.time)
    return None


def _flat(text: str) -> bytes:
    """The text of a message on one line, where that takes no more than to leave out the breaks between its tokens."""
    data = text.encode("utf-8", "replace")
    if "\n" in text or "\r" in text:
        return (as_one_line(data) or text).encode("utf-8", "replace")
    return data


def _rank(name: str) -> int:
    return _PAYLOADS.index(name) if name in _PAYLOADS else len(_PAYLOADS)


def _may_hold_message(name: str, value: Any) -> bool:
    if isinstance(value, list):
        return name in _PAYLOADS and is_message(value)
    return isinstance(value, dict) and (is_message(value) or any(isinstance(one, dict | str) for one in value.values()))


def _read(text: str, depth: int) -> Enclosed | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return _enclosed(text.strip(" \t\r\n"), value, depth)


def _in_prose(text: str) -> Enclosed | None:
    """The message that stands in a line of a log, behind a time, a level and the like."""
    at = text.find("{")
    if at <= 0 or '"jsonrpc"' not in text:
        return None
    try:
        value, end = _decode(text, at)
    except (ValueError, RecursionError):
        return None
    if not is_message(value):
        return None
    said = _FROM.search(text[:at])
    label = (said.group(1) or said.group(2)).lower() if said else ""
    return Enclosed(_flat(text[at:end]), value, label)


def _label(value: dict[str, Any]) -> str:
    """What is said of the direction, in the words of this module; empty where nothing is that could be understood."""
    for name in _LABELS:
        said = value.get(name)
        if isinstance(said, str) and (label := _WORDS.get(_NO_LETTER.sub("", said[:60].lower()))):
            return label
    return ""


def _time(value: dict[str, Any]) -> float | None:
    for name in _TIMES:
        said = value.get(name)
        if isinstance(said, str):
            try:
                when = datetime.fromisoformat(said)
            except ValueError:
                continue
            return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
        if isinstance(said, int | float) and not isinstance(said, bool):
            return _seconds(float(said)) if abs(said) < 1e20 else None
    return None


def _seconds(number: float) -> float:
    """Seconds, from what may be milli-, micro- or nanoseconds since 1970."""
    for least, unit in ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3)):
        if number >= least:
            return number / unit
    return number


def elements(text: str) -> Iterator[str]:
    """The texts of the elements of an array. Raises ValueError where the text is no array."""
    at = text.index("[") + 1
    while True:
        at = _past_space(text, at)
        if text[at : at + 1] == "]":
            return
        _, end = _decode(text, at)
        yield text[at:end]
        at = _past_space(text, end)
        if text[at : at + 1] == ",":
            at += 1


def _past_space(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t", "\r", "\n"):
        at += 1
    return at
