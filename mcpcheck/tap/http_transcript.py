"""What was noted of a session over HTTP, as the lines of a capture. Pure: any chunking gives the same lines.

The tap numbers the exchanges and reads the requests, as it has to know where each begins; answers are read here, after
they have been passed on.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from mcpcheck.capture.format import to_line
from mcpcheck.capture.redact import Redactor
from mcpcheck.tap.inflate import CODINGS, Inflate
from mcpcheck.tap.transcript import LONGEST
from mcpcheck.wire.http import Broken, Data, End, Head, ResponseReader, is_interim
from mcpcheck.wire.record import Dir, Kind, Record, RequestHead, ResponseHead, header
from mcpcheck.wire.sse import SseSplitter


@dataclass(slots=True)
class Noted:
    """Something that the tap has passed on.

    ``what``: ``request``, ``body`` and ``end`` of a request; ``answer`` (bytes); ``left`` (the client closed),
    ``gone`` (the server closed), ``down`` (there is no server).
    """

    connection: int
    what: str
    exchange: int = 0
    data: bytes = b""
    head: RequestHead | None = None
    reason: str = ""


class Missed:
    """Notes that were lost: how many, and of which connections."""

    def __init__(self) -> None:
        self.count = 0
        self.connections: set[int] = set()

    def add(self, item: Noted) -> None:
        """One more note that is lost."""
        self.count += 1
        self.connections.add(item.connection)


@dataclass(slots=True)
class _Body:
    """A body that is under way: kept whole until its end, or cut into events; as it was before it was compressed."""

    parts: list[bytes] = field(default_factory=list)
    size: int = 0
    events: SseSplitter | None = None
    inflate: Inflate | None = None


@dataclass(slots=True)
class _Connection:
    reader: ResponseReader = field(default_factory=ResponseReader)
    waiting: deque[int] = field(default_factory=deque)  # exchanges whose answer has not ended
    request: _Body = field(default_factory=_Body)
    answer: _Body = field(default_factory=_Body)
    torn: bool = False  # notes were lost: what follows cannot be told apart


class HttpTranscript:
    """The capture of the sessions over one tap. There is one source, ``http``, of ``Noted``."""

    def __init__(self, first_line: bytes) -> None:
        self.n = 0
        self.lost = 0
        self._first_line = first_line
        self._redactor = Redactor()
        self._connections: dict[int, _Connection] = {}
        self._out: list[bytes] = []
        self._t = 0.0

    def start(self) -> bytes:
        """The first line."""
        return self._first_line

    def see(self, t: float, source: str, missed: Any, item: Any) -> bytes:
        """The lines that a note completes."""
        self._t = t
        if missed is not None:
            self._miss(missed)
        self._note(item)
        return self._flush()

    def end(self, t: float, missed: dict[str, Any]) -> bytes:
        """What is left of exchanges that never came to their end."""
        self._t = t
        for lost in missed.values():
            self._miss(lost)
        for connection in list(self._connections):
            self._left(connection, Dir.C2S, "the tap was ended")
        return self._flush()

    def gap(self, n: int, t: float, lost: int) -> bytes:
        """The line that says that lines were lost on their way to the disk."""
        return to_line(Record(n, t, Dir.S2C, Kind.EVENT, event="gap", detail={"lost": lost}))

    def _flush(self) -> bytes:
        out = b"".join(self._out)
        self._out.clear()
        return out

    def _miss(self, missed: Missed) -> None:
        self.lost += missed.count
        for number in missed.connections:
            if number in self._connections:
                self._connections[number].torn = True
        self._event(Dir.S2C, "gap", None, lost=missed.count)

    def _note(self, item: Noted) -> None:
        connection = self._connections.setdefault(item.connection, _Connection())
        match item.what:
            case "request" if item.head:
                connection.waiting.append(item.exchange)
                connection.reader.asked(item.head.method)
                connection.request = _body_of(item.head)
                self._line(Dir.C2S, Kind.HEAD, item.exchange, http=item.head)
            case "body":
                self._keep(connection.request, item.data, Dir.C2S, item.exchange)
            case "end":
                self._whole(connection.request, Dir.C2S, item.exchange)
                connection.request = _Body()
            case "answer":
                self._answer(connection, item.data)
            case "left":
                self._left(item.connection, Dir.C2S, item.reason)
            case "gone":
                self._gone(item.connection, item.reason)
            case "down":
                self._left(item.connection, Dir.S2C, item.reason)

    def _answer(self, connection: _Connection, data: bytes) -> None:
        if connection.torn:
            return
        for part in connection.reader.feed(data):
            self._part(connection, part)

    def _part(self, connection: _Connection, part: Head | Data | End | Broken) -> None:
        exchange = connection.waiting[0] if connection.waiting else 0
        match part:
            case Head(head=head) if is_interim(head):
                pass  # 100 Continue is between the two HTTP layers
            case Head(head=head):
                assert isinstance(head, ResponseHead)
                connection.answer = _body_of(head)
                self._line(Dir.S2C, Kind.HEAD, exchange, http=head)
            case Data(data=data):
                self._keep(connection.answer, data, Dir.S2C, exchange)
            case End():
                if connection.waiting:
                    self._whole(connection.answer, Dir.S2C, exchange)
                    self._event(Dir.S2C, "eof", exchange)
                    connection.waiting.popleft()
                    connection.answer = _Body()
            case Broken(reason=reason):
                self._whole(connection.answer, Dir.S2C, exchange)
                if connection.waiting:
                    self._event(Dir.S2C, "abort", exchange, reason=reason)
                    connection.waiting.popleft()
                connection.torn = True

    def _keep(self, body: _Body, data: bytes, dir: Dir, exchange: int) -> None:
        if body.inflate is not None:
            data = body.inflate.feed(data)
        if not data:
            return
        if body.events is not None:
            for event in body.events.feed(data):
                self._line(dir, Kind.SSE, exchange, event)
            return
        body.size += len(data)
        if body.size <= LONGEST:
            body.parts.append(data)
        else:
            body.parts.clear()

    def _whole(self, body: _Body, dir: Dir, exchange: int) -> None:
        """A body has ended, or broken off."""
        if body.events is not None:
            for event in body.events.finish():
                self._line(dir, Kind.SSE, exchange, event)
        elif body.size > LONGEST:
            self.lost += 1
            self._event(dir, "gap", exchange, lost=1)
        elif body.parts:
            self._line(dir, Kind.BODY, exchange, b"".join(body.parts))

    def _gone(self, number: int, reason: str) -> None:
        """The server has closed its side: that may be the regular end of a body."""
        connection = self._connections.get(number)
        if connection is not None and not connection.torn:
            for part in connection.reader.finish():
                self._part(connection, part)
        self._left(number, Dir.S2C, reason or "the server closed the connection before its answer")

    def _left(self, number: int, dir: Dir, reason: str) -> None:
        """One side has left: what is under way on the connection is over."""
        connection = self._connections.pop(number, None)
        if connection is None:
            return
        for at, exchange in enumerate(connection.waiting):
            if at == len(connection.waiting) - 1:
                self._whole(connection.request, Dir.C2S, exchange)
            if at == 0:
                self._whole(connection.answer, Dir.S2C, exchange)
            self._event(dir, "abort", exchange, reason=reason)

    def _line(self, dir: Dir, kind: Kind, exchange: int, data: bytes = b"", **more: Any) -> None:
        self.n += 1
        record = Record(self.n, self._t, dir, kind, data, exchange=exchange, **more)
        self._out.append(to_line(self._redactor.record(record)))

    def _event(self, dir: Dir, event: str, exchange: int | None, **detail: Any) -> None:
        self.n += 1
        record = Record(self.n, self._t, dir, Kind.EVENT, exchange=exchange, event=event, detail=detail)
        self._out.append(to_line(record))


def _body_of(head: RequestHead | ResponseHead) -> _Body:
    """What is made of the body that follows a head. A coding that is not known leaves it as it is, in one piece."""
    coding = (header(head, "content-encoding") or "identity").strip().lower()
    media = (header(head, "content-type") or "").partition(";")[0].strip().lower()
    plain, known = coding == "identity", coding in CODINGS
    stream = isinstance(head, ResponseHead) and media == "text/event-stream" and (plain or known)
    return _Body(events=SseSplitter() if stream else None, inflate=Inflate(coding) if known else None)
