"""Captures as streams: written one record at a time, read one record at a time, whatever their length."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Self

from mcpcheck.capture.file import create
from mcpcheck.capture.format import BadLine, Header, UnknownFormat, from_line, header_line, read_header, to_line
from mcpcheck.capture.redact import Redactor, redact_target
from mcpcheck.capture.source import DOCUMENT_LIMIT, LongLine, Path, Source
from mcpcheck.errors import UsageError
from mcpcheck.wire.record import Dir, Kind, Record

_HEADER = b'{"mcpcheck":"capture/'


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
    """A recorded session: its header, and its records, which are read as they are asked for.

    ``faults`` says what was wrong with the file and did not keep it from being read, ``notes`` what else a reader of
    verdicts has to know; both are complete when the records are at their end. ``unseen`` are the ids of requirements
    (or what they begin with) that this kind of recording cannot show. ``file`` is what was opened, ``share`` how much
    of it has been read.
    """

    header: Header
    name: str
    records: Iterator[Record]
    source: Source | None = None
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unseen: frozenset[str] = frozenset()
    file: str = ""
    owned: bool = False

    def __iter__(self) -> Iterator[Record]:
        """The records that are left, in order. Raises UsageError at a line that is none."""
        yield from self.records
        self.close()

    @property
    def share(self) -> float | None:
        """How much of the file has been read, from 0 to 1; None where nobody knows how long it is."""
        return self.source.share if self.source else None

    def close(self) -> None:
        """Close the file, where this capture opened it."""
        if self.source and self.owned:
            self.source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def read(stream: BinaryIO, name: str = "the capture") -> Capture:
    """Read a capture from a binary stream: its header now, its records later. Raises UsageError where it is none."""
    return _open(Source(stream, name))


def open_capture(path: Path) -> Capture:
    """Open a capture file. Raises UsageError where there is none, or where the file is no capture."""
    source = Source.open(path)
    try:
        return _open(source)
    except BaseException:
        source.close()
        raise


def _open(source: Source) -> Capture:
    capture = begin(source, first_line(source), source.name)
    capture.records = _alone(capture.records, source)
    capture.source, capture.owned = source, True
    return capture


def _alone(records: Iterator[Record], source: Source) -> Iterator[Record]:
    yield from records
    if source.next_line():
        raise UsageError(f"{source.name} holds several captures, and here one is asked for")


def first_line(source: Source) -> bytes:
    """The first line that is not blank. Raises UsageError where there is none."""
    while line := source.next_line(DOCUMENT_LIMIT):
        if line.strip():
            return line
    raise UsageError(f"{source.name} is empty; a capture begins with a line that says what it is")


def begin(source: Source, line: bytes, name: str) -> Capture:
    """The capture that begins with this line, which has been read. Raises UsageError where it is no header."""
    try:
        header = read_header(line)
    except UnknownFormat as error:
        raise UsageError(f"{name} cannot be read: {error}; use the mcpcheck that wrote it, or a newer one") from None
    except BadLine as error:
        raise UsageError(f"{name} is no capture: {error}; record one with mcpcheck tap") from None
    return Capture(header, name, _records(source), faults=source.faults)


def _records(source: Source) -> Iterator[Record]:
    """The records up to the end, or to the header of the next capture, which is given back."""
    last = 0
    while True:
        try:
            line = source.next_line()
            if not line:
                return
            record = from_line(line)
        except LongLine as long:
            source.faults.append(f"{source.name}, line {source.line}: {long}, and was passed over")
            record = Record(last + 1, 0.0, Dir.C2S, Kind.EVENT, event="gap", detail={"lost": 1})
        except BadLine as error:
            if not line.strip():
                continue
            if _ends_here(line, source, error):
                return
        last = record.n
        yield record


def _ends_here(line: bytes, source: Source, error: BadLine) -> bool:
    """Whether what is no record ends a capture: the next header, or a line that was cut off. Raises UsageError."""
    next_header = line.find(_HEADER)
    number = source.line
    if next_header >= 0:
        source.push_back(line[next_header:])
    elif line.endswith(b"\n"):
        raise UsageError(f"{source.name}, line {number}: {error}; the file is damaged")
    if next_header:
        source.faults.append(f"{source.name} breaks off in the middle of line {number}; what is before it is whole")
    return True


def write_capture(path: Path, header: Header, records: Iterable[Record], redactor: Redactor | None = None) -> None:
    """Write a whole capture to a file of mode 0600, redacted; give a redactor to share its digests between captures."""
    with create(path) as stream:
        writer = Writer(stream, header, redactor or Redactor())
        for record in records:
            writer.write(record)
