"""Sniff: opens a recording of a session, whatever wrote it, and tells what is none."""

import json
import os
from collections.abc import Iterable, Iterator
from typing import Any, Final

from mcpcheck.capture import bare, har
from mcpcheck.capture.envelope import elements, open_envelope
from mcpcheck.capture.format import Header
from mcpcheck.capture.members import members
from mcpcheck.capture.source import DOCUMENT_LIMIT, LongLine, Path, Source
from mcpcheck.capture.store import Capture, begin, first_line
from mcpcheck.errors import UsageError

EXPECTED: Final = (
    "what is read is a capture of mcpcheck tap, JSON-RPC messages one a line or in one JSON array, or a HAR of HTTP "
    "traffic; record a session with mcpcheck tap"
)

_LINES: Final = 1000
_BYTES: Final = 4 << 20
"""How far a file of lines is searched for a message of the protocol."""

_LISTS: Final = ("messages", "entries", "events", "records", "frames", "logs", "history", "transcript", "requests")


def open_any(path: Path) -> Iterator[Capture]:
    """The sessions of a file, ``-`` for standard input, one after the other; read each before the next is asked for.

    Raises UsageError where there is no such file, or where it holds no session.
    """
    with Source.open(path) as source:
        for number, capture in enumerate(sessions_of(source), 1):
            capture.name = source.name if number == 1 else f"{source.name}#{number}"
            capture.file = os.fspath(path)
            capture.source = source
            capture.faults = source.faults
            yield capture
            for _ in capture.records:
                pass


def sessions_of(source: Source) -> Iterator[Capture]:
    """The sessions of what has just been opened."""
    try:
        line = first_line(source)
    except LongLine as long:
        raise _no_session(source, f"its first line is too long, {long}") from None
    found = _read(line)
    if isinstance(found, dict) and "mcpcheck" in found:
        yield from _one_after_another(source, line)
    elif har.is_archive(found):
        yield from _archive(source, found)
    elif _is_collection(found, line) and not _more_lines(source):
        yield _messages(source, enumerate(_elements(source, line.decode(), found), 1))
    elif found is None and line.lstrip()[:1] in (b"{", b"["):
        yield from _document(source, line)
    else:
        yield from _lines(source, line)


def _is_collection(value: Any, line: bytes) -> bool:
    """Whether a first line may be the whole file, with the messages somewhere in it."""
    return isinstance(value, list) or (isinstance(value, dict) and open_envelope(line) is None)


def _one_after_another(source: Source, line: bytes) -> Iterator[Capture]:
    """Captures of our own, as `cat` puts them together."""
    while line:
        yield begin(source, line, source.name)
        line = source.next_line()


def _more_lines(source: Source) -> bool:
    """Whether anything but white space follows."""
    while line := source.next_line():
        if line.strip():
            source.push_back(line)
            return True
    return False


def _document(source: Source, line: bytes) -> Iterator[Capture]:
    """A file that is one JSON text over several lines, or several; lines, where it is neither."""
    text = line + source.rest()
    found = _read(text)
    if found is None:
        if len(text) > DOCUMENT_LIMIT and b'"log"' in text[:1000]:
            most = f"{DOCUMENT_LIMIT >> 20} MiB"
            raise UsageError(f"{source.name} is larger than the {most} that a HAR may have; export fewer exchanges")
        values = _values(text) if len(text) <= DOCUMENT_LIMIT else None
        if values is None:
            source.push_back(text[len(line) :])
            yield from _lines(source, line)
            return
        yield _messages(source, enumerate(values, 1))
    elif har.is_archive(found):
        yield from _archive(source, found)
    else:
        yield _messages(source, enumerate(_elements(source, text.decode(), found), 1))


def _elements(source: Source, text: str, value: Any) -> list[bytes]:
    """The messages of one JSON document."""
    if isinstance(value, list):
        return [element.encode() for element in elements(text)]
    if isinstance(value, dict):
        for name in _LISTS:
            if isinstance(value.get(name), list):
                inner = next(member.text for member in members(text) if member.name == name)
                found = [element.encode() for element in elements(inner)]
                if any(map(open_envelope, found)):
                    return found
        if open_envelope(text.encode()):
            return [text.encode()]
    raise _no_session(source, f"it is {_said(value)}")


def _values(text: bytes) -> list[bytes] | None:
    """The texts of JSON values that follow each other; None where something else stands there."""
    decode = json.JSONDecoder().raw_decode
    try:
        rest = text.decode("utf-8").strip()
        found, at = [], 0
        while at < len(rest):
            _, end = decode(rest, at)
            found.append(rest[at:end].encode())
            at = end
            while rest[at : at + 1].isspace():
                at += 1
    except (ValueError, RecursionError):
        return None
    return found


def _archive(source: Source, value: Any) -> Iterator[Capture]:
    found = har.sessions(value)
    if not found:
        raise _no_session(source, "it is a HAR without MCP traffic: no POST has a message of the protocol as its body")
    for session in found:
        header = Header("", session.transport, {"url": session.url})
        yield Capture(header, "", session.records, notes=session.notes, unseen=session.unseen)


def _lines(source: Source, line: bytes) -> Iterator[Capture]:
    """A file of lines, each with a message or not."""
    read: list[bytes] = [line]
    size, any_message, any_of_mcp = len(line), False, False
    said = _read(line)
    while line:
        found = open_envelope(line)
        any_message = any_message or found is not None
        any_of_mcp = found is not None and bare.is_of_mcp(found.value)
        if any_of_mcp or len(read) >= _LINES or size >= _BYTES:
            break
        try:
            line = source.next_line()
        except LongLine:
            break
        read += [line] if line else []
        size += len(line)
    if not any_of_mcp:
        raise _no_session(source, _without(read, said, any_message))
    source.push_back(b"".join(read))
    yield _messages(source, _numbered(source), checked=True)
    while line := source.next_line():
        yield begin(source, line, source.name)


def _without(read: list[bytes], said: Any, any_message: bool) -> str:
    if any_message:
        return f"it holds JSON-RPC, but no message of MCP in its first {len(read):,} lines"
    if b"\0" in read[0] or not _is_text(read[0][:1000]):
        return "it is no text"
    return f"it begins with {_said(said)}" if said is not None else "its first line is no JSON"


def _is_text(start: bytes) -> bool:
    try:
        start.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start > len(start) - 4  # a character that was cut
    return True


def _numbered(source: Source) -> Iterator[tuple[int, bytes]]:
    """The lines that are left, up to the header of a capture, which is given back."""
    while True:
        try:
            line = source.next_line()
        except LongLine as long:
            source.faults.append(f"{source.name}, line {source.line}: {long}, and was passed over")
            yield source.line, b'"jsonrpc"'  # somebody's message
            continue
        if line.startswith(b'{"mcpcheck":"capture/'):
            source.push_back(line)
            return
        if not line:
            return
        yield source.line, line


def _messages(source: Source, texts: Iterable[tuple[int, bytes]], *, checked: bool = False) -> Capture:
    if not checked:
        texts = list(texts)
        found = [one for one in map(open_envelope, (text for _, text in texts)) if one]
        if not any(bare.is_of_mcp(one.value) for one in found):
            what = "none of its messages is of MCP" if found else "its elements are no messages"
            raise _no_session(source, what)
    messages = bare.Messages(texts)
    header = Header("", bare.TRANSPORT)
    return Capture(header, "", iter(messages), notes=messages.notes, unseen=bare.UNSEEN)


def _no_session(source: Source, what: str) -> UsageError:
    return UsageError(f"{source.name} is no capture: {what}. {EXPECTED[0].upper()}{EXPECTED[1:]}")


def _said(value: Any) -> str:
    """What a JSON value is, as far as it takes to know a file again."""
    if isinstance(value, dict):
        names = [name if len(name) <= 30 else f"{name[:27]}..." for name in list(value)[:5]]
        return f"an object with {', '.join(names)}{' and more' * (len(value) > 5)}" if names else "an empty object"
    return "an array" if isinstance(value, list) else "a JSON value that is no object"


def _read(text: bytes) -> Any:
    """The JSON value of a text; None where it is none."""
    try:
        return json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
