"""HTTP/1.1 messages out of a byte stream: heads, pieces of body, ends. No opinion on what they say (RFC 9112).

A reader never raises on what a peer sends: where the stream is no HTTP it yields ``Broken`` once and then nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mcpcheck.wire.record import RequestHead, ResponseHead, header, header_values

HEAD_LIMIT = 256 * 1024
"""Bytes that a head may have."""

_REQUEST = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\S+) HTTP/1\.[01]")
_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})(?: (.*))?", re.DOTALL)
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a message. ``raw`` is its bytes, the blank line included."""

    head: RequestHead | ResponseHead
    raw: bytes


@dataclass(frozen=True, slots=True)
class Data:
    """A piece of body, without the framing of chunks; ``raw`` with it."""

    data: bytes
    raw: bytes


@dataclass(frozen=True, slots=True)
class End:
    """The message is whole; ``raw`` is what is left of its framing."""

    raw: bytes = b""


@dataclass(frozen=True, slots=True)
class Broken:
    """The stream is no HTTP from here on, or ended in the middle of a message."""

    reason: str
    raw: bytes = b""


Part = Head | Data | End | Broken


class Reader:
    """The messages of one direction of a connection, in order. Linear in what it is fed."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._searched = 0
        self._left: int | None = 0  # of a body: bytes to come; None until the connection ends
        self._state = "head"

    @property
    def between(self) -> bool:
        """Whether no message is under way."""
        return self._state == "head" and not self._buffer

    def feed(self, chunk: bytes) -> Iterator[Part]:
        """The parts that this chunk completes."""
        self._buffer += chunk
        while (part := self._next()) is not None:
            yield part

    def finish(self) -> Iterator[Part]:
        """What the end of the stream means."""
        if self._state == "body" and self._left is None:
            self._state = "head"
            yield End()
        elif not self.between and self._state != "broken":
            yield self._break("the connection ended in the middle of a message")

    def _next(self) -> Part | None:
        match self._state:
            case "head":
                return self._head()
            case "body":
                return self._body()
            case "size":
                return self._size()
            case "chunk":
                return self._chunk()
            case "trailer":
                return self._trailer()
        return None

    def _break(self, reason: str) -> Broken:
        self._state = "broken"
        raw = bytes(self._buffer)
        self._buffer.clear()
        return Broken(reason, raw)

    def _take(self, size: int) -> bytes:
        raw = bytes(self._buffer[:size])
        del self._buffer[:size]
        self._searched = 0
        return raw

    def _head(self) -> Part | None:
        end = self._buffer.find(b"\r\n\r\n", max(0, self._searched - 3))
        if end < 0:
            self._searched = len(self._buffer)
            if len(self._buffer) > HEAD_LIMIT:
                return self._break(f"a head of more than {HEAD_LIMIT} bytes")
            return None
        raw = self._take(end + 4)
        head = self._parse(raw.lstrip(b"\r\n"))
        if head is None:
            self._buffer[:0] = raw
            return self._break("no head of HTTP/1.1")
        if not is_interim(head):
            self._begin(head)
        return Head(head, raw)

    def _parse(self, raw: bytes) -> RequestHead | ResponseHead | None:
        raise NotImplementedError

    def _length(self, head: RequestHead | ResponseHead) -> int | None:
        """How long the body is that follows; None where only the end of the connection ends it."""
        raise NotImplementedError

    def _begin(self, head: RequestHead | ResponseHead) -> None:
        coding = ",".join(header_values(head, "transfer-encoding")).lower()
        if coding.rstrip().endswith("chunked") and self._may_have_body(head):
            self._state = "size"
            return
        self._left = self._length(head)
        self._state = "body"

    def _may_have_body(self, head: RequestHead | ResponseHead) -> bool:
        return True

    def _body(self) -> Part | None:
        if self._left == 0:
            self._state = "head"
            return End()
        if not self._buffer:
            return None
        raw = self._take(len(self._buffer) if self._left is None else min(self._left, len(self._buffer)))
        if self._left is not None:
            self._left -= len(raw)
        return Data(raw, raw)

    def _size(self) -> Part | None:
        """A chunk's size line; what follows it is known by then."""
        end = self._buffer.find(b"\n", 0, 1024)
        if end < 0:
            return self._break("a chunk without a size") if len(self._buffer) > 1024 else None
        match = _SIZE.fullmatch(bytes(self._buffer[:end]).rstrip(b"\r"))
        if match is None:
            return self._break("a chunk whose size is no number")
        self._left = int(match.group(1), 16)
        self._state = "chunk" if self._left else "trailer"
        return Data(b"", self._take(end + 1))

    def _chunk(self) -> Part | None:
        if self._left:
            if not self._buffer:
                return None
            raw = self._take(min(self._left, len(self._buffer)))
            self._left -= len(raw)
            return Data(raw, raw)
        end = self._buffer.find(b"\n", 0, 2)
        if end < 0:
            return self._break("a chunk longer than its size") if len(self._buffer) > 1 else None
        self._state = "size"
        return Data(b"", self._take(end + 1))

    def _trailer(self) -> Part | None:
        end = self._buffer.find(b"\n")
        if end < 0:
            return self._break("a trailer that is too long") if len(self._buffer) > HEAD_LIMIT else None
        line = self._take(end + 1)
        if line.strip(b"\r\n"):
            return Data(b"", line)
        self._state = "head"
        return End(line)


class RequestReader(Reader):
    """What a client sends."""

    def _parse(self, raw: bytes) -> RequestHead | None:
        first, fields = _split(raw)
        match = _REQUEST.fullmatch(first)
        if match is None or fields is None:
            return None
        return RequestHead(match.group(1).decode("ascii"), match.group(2).decode("latin-1"), fields)

    def _length(self, head: RequestHead | ResponseHead) -> int | None:
        return _content_length(head) or 0


class ResponseReader(Reader):
    """What a server sends. Name the method of each request, in order, with ``asked``."""

    def __init__(self) -> None:
        super().__init__()
        self._methods: list[str] = []

    def asked(self, method: str) -> None:
        """A request was sent, whose answer is to come."""
        self._methods.append(method)

    def _parse(self, raw: bytes) -> ResponseHead | None:
        first, fields = _split(raw)
        match = _STATUS.fullmatch(first)
        if match is None or fields is None:
            return None
        return ResponseHead(int(match.group(1)), (match.group(2) or b"").decode("latin-1"), fields)

    def _may_have_body(self, head: RequestHead | ResponseHead) -> bool:
        assert isinstance(head, ResponseHead)
        method = self._methods[0] if self._methods else "GET"
        return head.status >= 200 and head.status not in {204, 304} and method != "HEAD"

    def _length(self, head: RequestHead | ResponseHead) -> int | None:
        bodiless = not self._may_have_body(head)
        assert isinstance(head, ResponseHead)
        if head.status >= 200 and self._methods:
            self._methods.pop(0)
        return 0 if bodiless else _content_length(head)

    def _begin(self, head: RequestHead | ResponseHead) -> None:
        super()._begin(head)
        if self._state == "size" and self._methods:
            self._methods.pop(0)


def is_interim(head: RequestHead | ResponseHead) -> bool:
    """Whether a head is a 1xx answer, after which the real one comes."""
    return isinstance(head, ResponseHead) and 100 <= head.status < 200 and head.status != 101


def _content_length(head: RequestHead | ResponseHead) -> int | None:
    value = header(head, "content-length")
    return int(value) if value is not None and value.strip().isdecimal() else None


def _split(raw: bytes) -> tuple[bytes, tuple[tuple[str, str], ...] | None]:
    """The first line, and the fields; None where one of them is no field."""
    first, *lines = raw.rstrip(b"\r\n").split(b"\r\n")
    fields: list[tuple[str, str]] = []
    for line in lines:
        if line[:1] in (b" ", b"\t") and fields:  # a folded line, obsolete and still met
            fields[-1] = (fields[-1][0], f"{fields[-1][1]} {line.strip().decode('latin-1')}")
            continue
        name, colon, value = line.partition(b":")
        if not colon or not name or name.strip() != name:
            return first, None
        fields.append((name.decode("latin-1"), value.strip(b" \t").decode("latin-1")))
    return first, tuple(fields)
