"""Event streams, byte by byte: text/event-stream as the WHATWG HTML standard, section 9.2, defines it.

``SseSplitter`` cuts a stream into the exact bytes of its events (a blank line ends each); ``parse`` reads one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event: its data (None where it has no data line), its name, id, retry, and its comments."""

    data: str | None = None
    event: str | None = None
    id: str | None = None
    retry: str | None = None
    comments: tuple[str, ...] = ()


def parse(raw: bytes) -> SseEvent:
    """Read the fields of one event's text. Undecodable bytes become U+FFFD, as the standard says."""
    if raw.startswith(b"\xef\xbb\xbf"):
        raw = raw[3:]
    data: list[str] = []
    comments: list[str] = []
    fields: dict[str, str] = {}
    for line in _LINE_END.split(raw):
        if not line:
            continue
        name, _, value = line.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            data.append(value)
        elif not name and line.startswith(b":"):
            comments.append(value)
        elif name in {"event", "id", "retry"}:
            fields[name] = value
    return SseEvent("\n".join(data) if data else None, comments=tuple(comments), **fields)


def data_bytes(raw: bytes) -> bytes | None:
    """The data of an event as the bytes that were sent, its lines joined with a newline; None without a data line."""
    lines = []
    for line in _LINE_END.split(raw.removeprefix(b"\xef\xbb\xbf")):
        name, _, value = line.partition(b":")
        if name == b"data":
            lines.append(value.removeprefix(b" "))
    return b"\n".join(lines) if lines else None


class SseSplitter:
    """Cuts a byte stream into events, each with the blank line that ends it. Linear in what it is fed."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._line = 0  # where the line that is not whole yet begins
        self._searched = 0  # up to where no further line end stands

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The events that this chunk completes, each as its exact bytes."""
        self._buffer += chunk
        yield from self._cut(at_end=False)

    def finish(self) -> Iterator[bytes]:
        """What the stream ended with: whole events first, then an event that no blank line ended."""
        yield from self._cut(at_end=True)
        if self._buffer:
            yield bytes(self._buffer)
            self._buffer.clear()
            self._line = self._searched = 0

    @property
    def pending(self) -> bool:
        """Whether part of an event is waiting for its end."""
        return bool(self._buffer)

    def _cut(self, *, at_end: bool) -> Iterator[bytes]:
        line, search = self._line, self._searched
        while match := _LINE_END.search(self._buffer, search):
            # A carriage return at the very end may be half of CR LF: wait for what follows.
            if match.group() == b"\r" and match.end() == len(self._buffer) and not at_end:
                break
            if match.start() == line:
                event = bytes(self._buffer[: match.end()])
                del self._buffer[: match.end()]
                line = search = 0
                yield event
            else:
                line = search = match.end()
        self._line = line
        self._searched = match.start() if match else len(self._buffer)
