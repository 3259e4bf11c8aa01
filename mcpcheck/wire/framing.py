"""Lines on stdio: a byte stream cut at 0x0A and nowhere else (stdio.framing.no-embedded-newline)."""

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its end, and how it ended: ``\\n``, ``\\r\\n``, or nothing for the last one."""

    data: bytes
    end: bytes


@dataclass(slots=True)
class LineSplitter:
    """Cuts chunks into lines. Linear in what it is fed, however the chunks fall."""

    _parts: list[bytes] = field(default_factory=list)

    def feed(self, chunk: bytes) -> Iterator[Line]:
        """The lines that this chunk completes."""
        start = 0
        while (at := chunk.find(b"\n", start)) >= 0:
            self._parts.append(chunk[start:at])
            yield self._take(b"\n")
            start = at + 1
        if start < len(chunk):
            self._parts.append(chunk[start:])

    def finish(self) -> Iterator[Line]:
        """The last line, if the stream ended without a newline."""
        if self._parts:
            yield self._take(b"")

    @property
    def begun(self) -> bytes:
        """The line that is waiting for its end, as far as it has come."""
        return b"".join(self._parts)

    def _take(self, end: bytes) -> Line:
        data = b"".join(self._parts)
        self._parts.clear()
        if end == b"\n" and data.endswith(b"\r"):
            return Line(data[:-1], b"\r\n")
        return Line(data, end)
