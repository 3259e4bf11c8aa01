"""Captures as streams: written one record at a time, read one record at a time, whatever their length."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Self

from mcpcheck.capture.file import create
from mcpcheck.capture.format import BadLine, Header, UnknownFormat, from_line, header_line, read_header, to_line
from mcpcheck.capture.redact import Redactor, redact_target
from mcpcheck.errors import UsageError
from mcpcheck.wire.record import Record

Path = str | os.PathLike[str]


class Writer:
    """Writes a capture to a binary stream. With a redactor, no secret reaches the stream."""

    def __init__(self, stream: BinaryIO, header: Header, redactor: Redactor | None = None) -> None:
        self._stream = stream
        self._redactor = redactor
        if redactor is not None:
            header = redact_target(header, redactor)
        stream.write(header_line(header))

    def write(self, record: Record) -> None:
        """Write one record as the next line."""
        if self._redactor is not None:
            record = self._redactor.record(record)
        self._stream.write(to_line(record))


@dataclass(slots=True)
class Capture:
    """An open capture: its header, and its records, which are read as they are asked for.

    ``faults`` says what was wrong with the file and did not keep it from being read; it is complete when the records
    are at their end.
    """

    header: Header
    name: str
    _stream: BinaryIO
    _owned: bool = False
    faults: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[Record]:
        """The records that are left, in order. Raises UsageError at a line that is none."""
        number = 1
        for line in self._stream:
            number += 1
            if not line.strip():
                continue
            try:
                record = from_line(line)
            except BadLine as error:
                if line.endswith(b"\n"):
                    raise UsageError(f"{self.name}, line {number}: {error}; the file is damaged") from None
                self.faults.append(f"{self.name} breaks off in the middle of line {number}; what is before it is whole")
                break
            yield record
        self.close()

    def close(self) -> None:
        """Close the file, where this capture opened it."""
        if self._owned:
            self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def read(stream: BinaryIO, name: str = "the capture") -> Capture:
    """Read a capture from a binary stream: its header now, its records later. Raises UsageError where it is none."""
    return _open(stream, name, owned=False)


def open_capture(path: Path) -> Capture:
    """Open a capture file. Raises UsageError where there is none, or where the file is no capture."""
    try:
        stream = open(path, "rb")  # noqa: SIM115 - the Capture closes it
    except OSError as error:
        raise UsageError(f"cannot read {os.fspath(path)}: {error.strerror}") from None
    try:
        return _open(stream, os.fspath(path), owned=True)
    except BaseException:
        stream.close()
        raise


def _open(stream: BinaryIO, name: str, *, owned: bool) -> Capture:
    line = stream.readline()
    if not line.strip():
        raise UsageError(f"{name} is empty; a capture begins with a line that says what it is")
    try:
        header = read_header(line)
    except UnknownFormat as error:
        raise UsageError(f"{name} cannot be read: {error}; use the mcpcheck that wrote it, or a newer one") from None
    except BadLine as error:
        raise UsageError(f"{name} is no capture: {error}; record one with mcpcheck tap") from None
    return Capture(header, name, stream, owned)


def write_capture(path: Path, header: Header, records: Iterable[Record], redactor: Redactor | None = None) -> None:
    """Write a whole capture to a file of mode 0600, redacted; give a redactor to share its digests between captures."""
    with create(path) as stream:
        writer = Writer(stream, header, redactor or Redactor())
        for record in records:
            writer.write(record)
