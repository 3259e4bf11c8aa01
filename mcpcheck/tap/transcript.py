"""What was noted of a stdio session, as the lines of a capture. Pure: any chunking gives the same lines."""

from collections.abc import Iterator
from typing import Any

from mcpcheck.capture import secret
from mcpcheck.capture.format import Header, header_line, message_line, to_line
from mcpcheck.capture.redact import Redactor, redact_target
from mcpcheck.capture.strict import is_plain
from mcpcheck.wire.framing import Line
from mcpcheck.wire.record import Dir, Kind, Record

LONGEST = 64 << 20
"""A line longer than this is not kept in memory, and not kept at all."""


class MissedLines:
    """Chunks of a stream that are lost: how many lines they ended, and whether they left one unfinished."""

    def __init__(self) -> None:
        self.lines = 0
        self.open = False

    def add(self, chunk: bytes) -> None:
        """One more chunk that is lost."""
        if chunk:
            self.lines += chunk.count(b"\n")
            self.open = not chunk.endswith(b"\n")


class Stream:
    """One of the three streams: the part of a line that waits for its end, and what is lost of it."""

    def __init__(self, dir_: Dir, kind: Kind) -> None:
        self.dir = dir_
        self.kind = kind
        self.parts: list[bytes] = []
        self.held = 0
        self.torn = False  # the line that is under way has lost a part: it is lost with it
        self.lost = 0  # lines that no gap has been written for

    def miss(self, lines: int, unfinished: bool) -> None:
        """Lose what is under way, and more."""
        self.lost += lines
        self.torn = unfinished or (self.torn and not lines)
        self.parts.clear()
        self.held = 0

    def take(self, chunk: bytes) -> bytes:
        """The whole lines that this chunk completes, as one block."""
        if self.torn:
            _, newline, chunk = chunk.partition(b"\n")
            if not newline:
                return b""
            self.torn = False
            self.lost += 1
        cut = chunk.rfind(b"\n") + 1
        if not cut:
            self._keep(chunk)
            return b""
        block = b"".join((*self.parts, chunk[:cut])) if self.parts else chunk[:cut]
        self.parts.clear()
        self.held = 0
        self._keep(chunk[cut:])
        return block

    def rest(self) -> bytes:
        """The last line, which nothing ended."""
        if self.torn:
            self.torn = False
            self.lost += 1
        rest = b"".join(self.parts)
        self.parts.clear()
        return rest

    def _keep(self, part: bytes) -> None:
        if part:
            self.parts.append(part)
            self.held += len(part)
            if self.held > LONGEST:
                self.miss(0, unfinished=True)


class StdioTranscript:
    """The capture of one stdio session. Sources: ``c2s``, ``s2c``, ``stderr`` (chunks), ``life`` (event, detail)."""

    def __init__(self, header: Header, redactor: Redactor | None = None) -> None:
        self.n = 0
        self.lost = 0
        self._header = header
        self._redactor = redactor or Redactor()
        self._streams = {
            "c2s": Stream(Dir.C2S, Kind.LINE),
            "s2c": Stream(Dir.S2C, Kind.LINE),
            "stderr": Stream(Dir.S2C, Kind.STDERR),
        }

    def start(self) -> bytes:
        """The header, and the beginning of the session."""
        return header_line(redact_target(self._header, self._redactor)) + self._event(0.0, Dir.C2S, "open", {})

    def see(self, t: float, source: str, missed: MissedLines | None, item: Any) -> bytes:
        """The lines that a chunk completes, or what became of a stream or of the process."""
        if source == "life":
            dir_, event, detail = item
            return self._event(t, dir_, event, detail)
        stream = self._streams[source]
        if missed is not None:
            stream.miss(missed.lines, missed.open)
        block: bytes = stream.take(item) if item else stream.rest()
        lines = self._gap_of(stream, t)
        if block:
            lines += self._block(stream, t, block)
        if not item and stream.kind is Kind.LINE:
            lines += self._event(t, stream.dir, "eof", {})
        return lines

    def end(self, t: float, missed: dict[str, Any]) -> bytes:
        """What is left in the streams that never came to their end."""
        out = b""
        for name, stream in self._streams.items():
            if (lost := missed.get(name)) is not None:
                stream.miss(lost.lines, lost.open)
            rest = stream.rest()
            out += self._gap_of(stream, t)
            if rest:
                out += self._block(stream, t, rest)
        return out

    def gap(self, n: int, t: float, lost: int) -> bytes:
        """The line that says that lines were lost on their way to the disk."""
        return to_line(Record(n, t, Dir.S2C, Kind.EVENT, event="gap", detail={"lost": lost}))

    def _gap_of(self, stream: Stream, t: float) -> bytes:
        if not stream.lost or stream.torn:
            return b""
        lost, stream.lost = stream.lost, 0
        self.lost += lost
        return self._event(t, stream.dir, "gap", {"lost": lost})

    def _event(self, t: float, dir_: Dir, event: str, detail: dict[str, Any]) -> bytes:
        self.n += 1
        return to_line(Record(self.n, t, dir_, Kind.EVENT, event=event, detail=detail))

    def _block(self, stream: Stream, t: float, block: bytes) -> bytes:
        """The lines of a block. Where it holds no secret, what is plain in it is copied as it is: the common case."""
        if stream.kind is Kind.LINE and not secret.may_stand_in(block):
            try:
                texts = block.decode("utf-8").split("\n")
            except UnicodeDecodeError:
                pass
            else:
                last = texts.pop()
                return "".join(self._fast(stream, t, texts, last)).encode("utf-8")
        return b"".join(self._slow(stream, t, line) for line in _lines(block))

    def _fast(self, stream: Stream, t: float, texts: list[str], last: str) -> Iterator[str]:
        stamp, dir_ = f"{t:.6f}", stream.dir.value
        for text in texts:
            if is_plain(text):
                self.n += 1
                yield message_line(self.n, stamp, dir_, text)
            else:
                yield self._slow(stream, t, _line(text.encode("utf-8"))).decode("utf-8")
        if last:
            yield self._slow(stream, t, Line(last.encode("utf-8"), b"")).decode("utf-8")

    def _slow(self, stream: Stream, t: float, line: Line) -> bytes:
        self.n += 1
        record = Record(self.n, t, stream.dir, stream.kind, line.data, line.end)
        return to_line(self._redactor.record(record))


def _lines(block: bytes) -> Iterator[Line]:
    *whole, last = block.split(b"\n")
    yield from map(_line, whole)
    if last:
        yield Line(last, b"")


def _line(data: bytes) -> Line:
    return Line(data[:-1], b"\r\n") if data.endswith(b"\r") else Line(data, b"\n")
