"""Source: a file or stream as lines of bounded length, whatever it is; gzip is read through."""

import gzip
import io
import os
import stat
import sys
import zlib
from typing import BinaryIO, Self

from mcpcheck.errors import UsageError

Path = str | os.PathLike[str]

LINE_LIMIT = 64 << 20
"""Bytes that a line may have. A longer one is passed over, and never in memory as a whole."""

DOCUMENT_LIMIT = 128 << 20
"""Bytes that a file may have which can only be read as a whole: a HAR, or one array."""

_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff", b"{\0", b"\0{", b"[\0", b"\0[")
_PACKED = {
    b"PK\x03\x04": ("a zip archive", "unzip it first"),
    b"\x28\xb5\x2f\xfd": ("compressed with zstd", "unzstd it first"),
    b"BZh": ("compressed with bzip2", "bunzip2 it first"),
    b"\xfd7zXZ": ("compressed with xz", "unxz it first"),
    b"\xd4\xc3\xb2\xa1": ("a capture of network packets", "record with mcpcheck tap, or export a HAR"),
    b"\x0a\x0d\x0d\x0a": ("a capture of network packets", "record with mcpcheck tap, or export a HAR"),
}


class LongLine(ValueError):
    """A line that is longer than what is read. It has been passed over; ``size`` is its length in bytes."""

    def __init__(self, size: int) -> None:
        super().__init__(f"it has {size:,} bytes")
        self.size = size


class Source:
    """Lines of a binary stream. ``line`` is the number of the last one; ``faults`` says what was wrong on the way.

    Raises UsageError where the stream is plainly no text.
    """

    def __init__(self, stream: BinaryIO, name: str, *, owned: bool = False) -> None:
        self.name = name
        self.line = 0
        self.faults: list[str] = []
        self._raw = stream
        self._owned = owned
        self._size = _size(stream)
        self._stream = _peekable(stream)
        self._back: io.BytesIO | None = None
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(cls, path: Path) -> Self:
        """A file, or standard input for ``-``. Raises UsageError where it cannot be read."""
        name = os.fspath(path)
        if name == "-":
            return cls(sys.stdin.buffer, "standard input")
        try:
            stream = open(path, "rb")  # noqa: SIM115 - the Source closes it
        except OSError as error:
            raise UsageError(f"cannot read {name}: {error.strerror}") from None
        return cls(stream, name, owned=True)

    def next_line(self, limit: int = LINE_LIMIT) -> bytes:
        """The next line with its end; empty at the end of the stream. Raises LongLine."""
        line = self._read_line(limit) if self._back is None else self._next(limit)
        if not line:
            return line
        self.line += 1
        if len(line) >= limit and line[-1:] != b"\n":
            raise LongLine(self._pass_over(len(line)))
        return line

    def push_back(self, lines: bytes) -> None:
        """Give back what was read last, to be read again."""
        self.line -= _count(lines)
        self._back = io.BytesIO(lines + (self._back.read() if self._back else b""))

    def rest(self, limit: int = DOCUMENT_LIMIT) -> bytes:
        """All that is left, where that is no more than the limit; else the limit's bytes and some more."""
        parts = [self._back.read() if self._back else b""]
        self._back = None
        left = limit + 1 - len(parts[0])
        while left > 0 and (part := self._read(min(left, 1 << 20))):
            parts.append(part)
            left -= len(part)
        text = b"".join(parts)
        self.line += _count(text)
        return text

    @property
    def share(self) -> float | None:
        """How much of a regular file has been read, from 0 to 1; None for anything else."""
        try:
            return min(self._raw.tell() / self._size, 1.0) if self._size else None
        except (OSError, ValueError):
            return None

    def close(self) -> None:
        """Close the file, where it was opened here."""
        if self._owned:
            self._raw.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _begin(self) -> None:
        try:
            start = self._stream.peek(6)[:6]
            if start.startswith(b"\x1f\x8b"):
                self._stream = io.BufferedReader(gzip.GzipFile(fileobj=self._stream))
                start = self._stream.peek(6)[:6]
        except OSError as error:
            raise self._unreadable(error) from None
        except (EOFError, zlib.error) as error:
            raise UsageError(f"{self.name} is damaged: {error}") from None
        if start.startswith(_BOM):
            self._stream.read(len(_BOM))
            self.faults.append(f"{self.name} begins with a byte order mark, which was left out")
        elif start.startswith(_UTF16):
            told = f"iconv -f UTF-16 -t UTF-8 {self.name}"
            raise UsageError(f"{self.name} is in UTF-16, and what is read here is UTF-8; convert it with: {told}")
        for magic, (what, remedy) in _PACKED.items():
            if start.startswith(magic):
                raise UsageError(f"{self.name} is {what}; {remedy}")

    def _next(self, limit: int) -> bytes:
        if self._back is not None:
            line = self._back.readline(limit)
            if line[-1:] == b"\n":
                return line
            self._back = None
            return line + self._read_line(limit)
        return self._read_line(limit)

    def _read_line(self, limit: int) -> bytes:
        try:
            return self._stream.readline(limit)
        except (EOFError, OSError, zlib.error) as error:
            return self._broken_off(error)

    def _read(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except (EOFError, OSError, zlib.error) as error:
            return self._broken_off(error)

    def _broken_off(self, error: Exception) -> bytes:
        if isinstance(error, EOFError):
            self.faults.append(f"{self.name} is compressed and breaks off; what is before that is whole")
        elif isinstance(error, OSError) and not isinstance(error, gzip.BadGzipFile):
            raise self._unreadable(error) from None
        else:
            self.faults.append(f"{self.name} is damaged from here on ({error}); what is before that is whole")
        self._stream = io.BufferedReader(io.BytesIO())
        return b""

    def _unreadable(self, error: OSError) -> UsageError:
        return UsageError(f"cannot read {self.name}: {error.strerror or error}")

    def _pass_over(self, size: int) -> int:
        """Read to the end of a line without keeping it: how many bytes it has in all."""
        while part := self._next(1 << 20):
            size += len(part)
            if part[-1:] == b"\n":
                return size - 1
        return size


def _count(lines: bytes) -> int:
    return lines.count(b"\n") + (lines[-1:] not in (b"", b"\n"))


def _peekable(stream: BinaryIO) -> io.BufferedReader:
    if hasattr(stream, "peek"):
        return stream  # type: ignore[return-value]
    return io.BufferedReader(_Kept(stream))


class _Kept(io.RawIOBase):
    """A stream that outlives its reader: whoever opened it closes it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _size(stream: BinaryIO) -> int | None:
    """The size of a regular file; None for a pipe, a device, and what is no file."""
    try:
        found = os.fstat(stream.fileno())
    except (OSError, AttributeError, ValueError):
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None
