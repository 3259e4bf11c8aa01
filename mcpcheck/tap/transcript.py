"""What was noted of a stdio session, as the lines of a capture. Pure: any chunking gives the same lines.

What is plain takes a short way, without a record; most of a session does, and only the rest needs most of ``capture``.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from mcpcheck.capture.plain import event_line, is_plain, message_line

LONGEST = 64 << 20
"""A line longer than this is not kept in memory, and not kept at all."""


class Stream:
    """One of the three streams: the part of a line that waits for its end, and what is lost of it."""

    def __init__(self, dir_: str, stderr: bool = False) -> None:
        self.dir = dir_
        self.stderr = stderr
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
    """The capture of one stdio session. Sources: ``c2s``, ``s2c``, ``stderr`` (chunks), ``life`` (event and detail)."""

    def __init__(self, first_line: bytes) -> None:
        self.n = 0
        self.lost = 0
        self._first_line = first_line
        self._streams = {"c2s": Stream("c2s"), "s2c": Stream("s2c"), "stderr": Stream("s2c", stderr=True)}

    def start(self) -> bytes:
        """The first line, and the beginning of the session."""
        return self._first_line + self._event(0.0, "c2s", "open", {})

    def see(self, t: float, source: str, missed: Any, item: Any) -> bytes:
        """The lines that a chunk completes. Empty: the stream is at its end. None: nobody reads it any more."""
        if source == "life":
            return self._event(t, "s2c", *item)
        stream = self._streams[source]
        if missed is not None:
            stream.miss(missed.lines, missed.open)
        block: bytes = stream.take(item) if item else stream.rest()
        lines = self._gap_of(stream, t)
        if block:
            lines += self._block(stream, t, block)
        if not stream.stderr and item == b"":
            lines += self._event(t, stream.dir, "eof", {})
        elif not stream.stderr and item is None:
            deaf, role = ("s2c", "server") if stream.dir == "c2s" else ("c2s", "client")
            lines += self._event(t, deaf, "abort", {"reason": f"the {role} reads no more"})
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
        return event_line(n, t, "s2c", "gap", {"lost": lost})

    def _gap_of(self, stream: Stream, t: float) -> bytes:
        if not stream.lost or stream.torn:
            return b""
        lost, stream.lost = stream.lost, 0
        self.lost += lost
        return self._event(t, stream.dir, "gap", {"lost": lost})

    def _event(self, t: float, dir_: str, event: str, detail: dict[str, Any]) -> bytes:
        self.n += 1
        return event_line(self.n, t, dir_, event, detail)

    def _block(self, stream: Stream, t: float, block: bytes) -> bytes:
        """The lines of a block. Where it holds no secret, what is plain in it is copied as it is: the common case."""
        if not stream.stderr and not self._may_hold_secret(block):
            try:
                *texts, last = block.decode("utf-8").split("\n")
            except UnicodeDecodeError:
                pass
            else:
                return "".join(self._plain(stream, t, texts, last)).encode("utf-8")
        *whole, rest = block.split(b"\n")
        lines = [self._exact(stream, t, line, b"\n") for line in whole]
        if rest:
            lines.append(self._exact(stream, t, rest, b""))
        return b"".join(lines)

    def _plain(self, stream: Stream, t: float, texts: list[str], last: str) -> Iterator[str]:
        stamp, dir_ = f"{t:.6f}", stream.dir
        for text in texts:
            if is_plain(text):
                self.n += 1
                yield message_line(self.n, stamp, dir_, text)
            else:
                yield self._exact(stream, t, text.encode("utf-8"), b"\n").decode("utf-8")
        if last:
            yield self._exact(stream, t, last.encode("utf-8"), b"").decode("utf-8")

    def _exact(self, stream: Stream, t: float, line: bytes, end: bytes) -> bytes:
        """The line of anything at all."""
        if end and line.endswith(b"\r"):
            line, end = line[:-1], b"\r\n"
        self.n += 1
        return self._record_line(self.n, t, stream, line, end)

    @cached_property
    def _may_hold_secret(self) -> Callable[[bytes], bool]:
        from mcpcheck.capture.secret import may_stand_in

        return may_stand_in

    @cached_property
    def _record_line(self) -> Callable[[int, float, Stream, bytes, bytes], bytes]:
        from mcpcheck.capture.format import to_line
        from mcpcheck.capture.redact import Redactor
        from mcpcheck.wire.record import Dir, Kind, Record

        redactor = Redactor()

        def line(n: int, t: float, stream: Stream, data: bytes, end: bytes) -> bytes:
            kind = Kind.STDERR if stream.stderr else Kind.LINE
            return to_line(redactor.record(Record(n, t, Dir(stream.dir), kind, data, end)))

        return line
