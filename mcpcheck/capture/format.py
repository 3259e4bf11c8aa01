"""Capture format 1: one record to one line of NDJSON and back, exactly.

A message stands in its line byte for byte (``msg``). What JSON cannot show, or cannot show exactly, stands beside it or
in its place as text (``raw``), and what is no text as base64 (``raw_b64``). Nothing is ever serialised anew.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from json.encoder import encode_basestring
from typing import Any

from mcpcheck.capture.members import Member, members
from mcpcheck.capture.plain import NAME, encode, event_line, first_line, to_bytes
from mcpcheck.capture.strict import as_one_line
from mcpcheck.wire import jsontext, sse
from mcpcheck.wire.record import Dir, Kind, Record, RequestHead, ResponseHead

_DIRS = {b"c2s": Dir.C2S, b"s2c": Dir.S2C}
_KEYS = frozenset({"n", "t", "dir", "msg", "raw", "raw_b64", "end", "ch", "x", "http", "sse", "event", "redacted"})


class BadLine(ValueError):
    """A line that is no line of a capture of this format. The text says what is wrong with it."""


class UnknownFormat(BadLine):
    """The first line of a capture whose format number this reader does not know."""


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a capture: when and where it was recorded, and by what.

    ``started`` is UTC with microseconds and a ``Z``; ``transport`` is ``stdio`` or ``http``; ``target`` says what was
    listened to (``{"command": [...]}``, ``{"url": "..."}``).
    """

    started: str
    transport: str
    target: dict[str, Any] = field(default_factory=dict)
    by: str = ""


def header_line(header: Header) -> bytes:
    """The first line of a capture."""
    return first_line(header.started, header.transport, header.target, header.by)


def read_header(line: bytes) -> Header:
    """Read the first line of a capture. Raises BadLine, and UnknownFormat where only the format is not ours."""
    found = _members(line)
    name = _value(found, "mcpcheck")
    if not isinstance(name, str) or not name.startswith("capture/"):
        raise BadLine('it does not say {"mcpcheck":"capture/1", ...}')
    if name != NAME:
        raise UnknownFormat(f"it has the format {name!r}, and this mcpcheck reads {NAME!r}")
    started, transport, by = (_value(found, key) or "" for key in ("started", "transport", "by"))
    target = _value(found, "target") or {}
    if not all(isinstance(text, str) for text in (started, transport, by)) or not isinstance(target, dict):
        raise BadLine("started, transport and by have to be strings, and target an object")
    return Header(started, transport, target, by)


def to_line(record: Record) -> bytes:
    """One record as its line. Total: any bytes have a line."""
    parts = [f'{{"n":{record.n},"t":{record.t:.6f},"dir":"{record.dir.value}"']
    if record.exchange is not None and record.kind is not Kind.LINE:
        parts.append(f'"x":{record.exchange}')
    match record.kind:
        case Kind.LINE:
            parts.extend(_payload(record.data, record.data))
            parts.extend(_end(record))
        case Kind.STDERR:
            parts.append('"ch":"stderr"')
            parts.extend(_raw(record.data))
            parts.extend(_end(record))
        case Kind.HEAD:
            parts.append(f'"http":{encode(_head(record.http))}')
        case Kind.BODY:
            parts.extend(_payload(record.data, record.data))
        case Kind.SSE:
            parts.append(f'"sse":{encode(_fields(record.data))}')
            parts.extend(_payload(sse.data_bytes(record.data) or b"", record.data))
        case Kind.EVENT:
            line = event_line(record.n, record.t, record.dir, record.event or "", record.detail, record.exchange)
            parts = [line[:-2].decode("utf-8")]
    if record.redacted:
        parts.append(f'"redacted":{encode(record.redacted)}')
    return to_bytes(",".join(parts)) + b"}\n"


def _payload(message: bytes, whole: bytes) -> Iterator[str]:
    text = as_one_line(message) if message else None
    if text is not None:
        yield f'"msg":{text}'
    if text is None or text.encode("utf-8") != whole:
        yield from _raw(whole)


def _raw(data: bytes) -> Iterator[str]:
    try:
        yield f'"raw":{encode_basestring(data.decode("utf-8"))}'
    except UnicodeDecodeError:
        yield f'"raw_b64":"{base64.b64encode(data).decode("ascii")}"'


def _end(record: Record) -> Iterator[str]:
    if record.end != b"\n":
        yield f'"end":{encode(record.end.decode("ascii"))}'


def _head(head: RequestHead | ResponseHead | None) -> dict[str, Any]:
    match head:
        case RequestHead():
            return {"method": head.method, "path": head.path, "headers": head.headers}
        case ResponseHead():
            return {"status": head.status, "reason": head.reason, "headers": head.headers}
        case None:
            return {"status": 0, "reason": "", "headers": []}


def _fields(raw: bytes) -> dict[str, str]:
    event = sse.parse(raw)
    found = {"event": event.event, "id": event.id, "retry": event.retry}
    fields = {name: value for name, value in found.items() if value is not None}
    if event.comments:
        fields["comment"] = "\n".join(event.comments)
    return fields


_PLAIN = re.compile(
    rb'\{"n":(0|[1-9]\d{0,17}),"t":(\d{1,17}\.\d{1,17}),"dir":"(c2s|s2c)"(?:,"x":(0|[1-9]\d{0,17}))?,"msg":(?=\{)'
)


def _plain_line(line: bytes) -> Record | None:
    """The record of a message with nothing beside it, as nearly all lines are, with what it says; None for others."""
    start = _PLAIN.match(line)
    if start is None or not line.endswith(b"}}\n"):
        return None
    data = line[start.end() : -2]
    text = jsontext.read(data)
    if not text.readable:
        return None  # something stands behind the message, or the line is damaged
    n, t, direction, x = start.groups()
    kind = Kind.LINE if x is None else Kind.BODY
    exchange = None if x is None else int(x)
    return Record(int(n), float(t), _DIRS[direction], kind, data, exchange=exchange, text=text)


def from_line(line: bytes) -> Record:
    """The record of a line, its payload exactly as it was. Raises BadLine where the line is none."""
    plain = _plain_line(line)
    if plain is not None:
        return plain
    found = _members(line)
    n, t, direction = _value(found, "n"), _value(found, "t"), _value(found, "dir")
    if type(n) is not int or type(t) not in (int, float) or direction not in ("c2s", "s2c"):
        raise BadLine("n, t or dir is missing, or is not what it has to be")
    exchange, redacted = _value(found, "x"), _value(found, "redacted") or []
    if not (exchange is None or type(exchange) is int) or not _are_strings(redacted):
        raise BadLine("x has to be a number, and redacted a list of strings")
    kind = _kind(found)
    end = _value(found, "end")
    if not (end is None or end in ("", "\n", "\r\n")):
        raise BadLine(f"a line cannot end with {end!r}")
    return Record(
        n=n,
        t=float(t),
        dir=Dir(direction),
        kind=kind,
        data=b"" if kind in (Kind.HEAD, Kind.EVENT) else _data(found),
        end=b"\n" if end is None else end.encode("ascii"),
        exchange=exchange,
        http=_read_head(_value(found, "http")) if kind is Kind.HEAD else None,
        event=_event(found) if kind is Kind.EVENT else None,
        detail={name: m.value for name, m in found.items() if name not in _KEYS} if kind is Kind.EVENT else {},
        redacted=tuple(redacted),
    )


def _kind(found: dict[str, Member]) -> Kind:
    for key, kind in (("event", Kind.EVENT), ("http", Kind.HEAD), ("sse", Kind.SSE), ("ch", Kind.STDERR)):
        if key in found:
            return kind
    return Kind.BODY if "x" in found else Kind.LINE


def _data(found: dict[str, Member]) -> bytes:
    raw, encoded = _value(found, "raw"), _value(found, "raw_b64")
    if isinstance(raw, str):
        return to_bytes(raw)
    if isinstance(encoded, str):
        try:
            return base64.b64decode(encoded, validate=True)
        except binascii.Error as error:
            raise BadLine(f"raw_b64 is no base64: {error}") from None
    if "msg" in found:
        return to_bytes(found["msg"].text)
    raise BadLine("it has no payload: one of msg, raw, raw_b64, http and event has to be there")


def _read_head(head: Any) -> RequestHead | ResponseHead:
    match head:
        case {"method": str(method), "path": str(path), "headers": list(pairs)} if _are_pairs(pairs):
            return RequestHead(method, path, tuple((name, value) for name, value in pairs))
        case {"status": int(status), "headers": list(pairs)} if _are_pairs(pairs):
            return ResponseHead(status, str(head.get("reason", "")), tuple((name, value) for name, value in pairs))
    raise BadLine("http has to hold a method, a path and headers, or a status and headers")


def _are_pairs(pairs: list[Any]) -> bool:
    return all(isinstance(pair, list) and len(pair) == 2 and _are_strings(pair) for pair in pairs)


def _are_strings(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _event(found: dict[str, Member]) -> str:
    event = _value(found, "event")
    if not isinstance(event, str):
        raise BadLine("event has to be a string")
    return event


def _members(line: bytes) -> dict[str, Member]:
    try:
        return {member.name: member for member in members(line.decode("utf-8"))}
    except (ValueError, RecursionError) as error:
        raise BadLine(str(error)) from None


def _value(found: dict[str, Member], name: str) -> Any:
    return found[name].value if name in found else None
