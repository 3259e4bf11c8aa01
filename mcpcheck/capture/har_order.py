"""The order in which the units of an archive were sent, as far as it can be told.

An exchange has a start and a duration, the events of a stream have no time. An answer comes when its exchange ends;
but a server's request on a stream comes before the client answers it, and on the stream of a GET an answer comes as
soon as its request has been sent.
"""

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from mcpcheck.capture.guess import Key, key
from mcpcheck.wire import sse
from mcpcheck.wire.decode import classify
from mcpcheck.wire.event import Answer, Request
from mcpcheck.wire.record import Dir, Kind, Record, RequestHead, ResponseHead, header
from mcpcheck.wire.sse import SseSplitter

_STREAM: Final = "text/event-stream"


@dataclass(slots=True)
class Answered:
    """One exchange: a request, and its answer if there was one. Times are in seconds since 1970."""

    number: int
    start: float
    end: float
    place: tuple[str, str]  # the origin, and the path
    request: RequestHead
    body: bytes
    response: ResponseHead | None
    content: bytes
    headers_seen: bool = True
    lacks_body: bool = False

    @property
    def is_stream(self) -> bool:
        return is_stream(self.response)


def is_stream(head: ResponseHead | None) -> bool:
    """Whether an answer is an event stream."""
    media = header(head, "content-type") if head else None
    return (media or "").partition(";")[0].strip().lower() == _STREAM


Unit = tuple[Kind, bytes]


@dataclass(slots=True)
class _Pending:
    """An answer that is under way: the units of it that are still to come."""

    entry: Answered
    units: deque[Unit]
    headed: bool = False
    answered: bool = False  # the stream has held an answer, or is none that owes one

    def upto(self, last: int) -> Iterator[Unit]:
        for _ in range(last + 1):
            yield self.units.popleft()


@dataclass(slots=True)
class _Order:
    whole: bool
    start: float
    pending: list[_Pending] = field(default_factory=list)
    sent: set[Key] = field(default_factory=set)
    n: int = 0

    def records(self, entries: list[Answered]) -> Iterator[Record]:
        if not self.whole:
            yield Record(0, 0.0, Dir.C2S, Kind.EVENT, event="gap", detail={"lost": 1})
        for entry in entries:
            yield from self._finish(entry.start)
            yield from self._before(entry)
            yield self._record(entry, entry.start, Dir.C2S, Kind.HEAD, http=entry.request)
            if entry.body:
                yield self._record(entry, entry.start, Dir.C2S, Kind.BODY, entry.body)
            self.sent |= {key(value["id"]) for value in _values(entry.body) if classify(value) is Request}
            pending = _Pending(entry, deque(_units(entry)))
            self.pending.append(pending)
            if _names_endpoint(pending):
                yield from self._tell(pending, 0, entry.start)
        yield from self._finish(float("inf"))

    def _finish(self, now: float) -> Iterator[Record]:
        """The answers that were whole by now, in the order of their ends."""
        over = sorted((one for one in self.pending if one.entry.end <= now), key=lambda one: one.entry.end)
        self.pending = [one for one in self.pending if one.entry.end > now]
        for one in over:
            at = one.entry.end
            yield from self._tell(one, len(one.units) - 1, at)
            broken_off = one.entry.lacks_body or one.entry.response is None
            owes = one.entry.is_stream and not one.answered
            event = "abort" if broken_off or owes else "eof"
            yield self._record(one.entry, at, Dir.S2C, Kind.EVENT, event=event)

    def _before(self, entry: Answered) -> Iterator[Record]:
        """What must have come before a client could send this."""
        replies = {key(value.get("id")) for value in _values(entry.body) if classify(value) is Answer}
        for one in self.pending:
            if not one.entry.is_stream:
                continue
            last = max((at for at, unit in enumerate(one.units) if _asks(unit, replies)), default=-1)
            if one.entry.request.method == "GET":
                last = max(last, self._answered(one))
            if last >= 0:
                yield from self._tell(one, last, entry.start)

    def _answered(self, one: _Pending) -> int:
        """The last of the coming units up to which every answer is to a request that has been sent; -1 for none."""
        last = -1
        for at, unit in enumerate(one.units):
            for value in _values_of(unit):
                if classify(value) is Answer:
                    if key(value.get("id")) not in self.sent:
                        return last
                    last = at
        return last

    def _tell(self, one: _Pending, last: int, t: float) -> Iterator[Record]:
        if not one.headed and one.entry.response:
            one.headed = True
            yield self._record(one.entry, t, Dir.S2C, Kind.HEAD, http=one.entry.response)
        for kind, data in one.upto(last):
            one.answered = one.answered or any(classify(value) is Answer for value in _values_of((kind, data)))
            yield self._record(one.entry, t, Dir.S2C, kind, data)

    def _record(
        self,
        entry: Answered,
        t: float,
        dir: Dir,
        kind: Kind,
        data: bytes = b"",
        *,
        http: RequestHead | ResponseHead | None = None,
        event: str | None = None,
    ) -> Record:
        self.n += 1
        since = max(0.0, round(t - self.start, 6))
        return Record(self.n, since, dir, kind, data, exchange=entry.number, http=http, event=event)


def in_order(entries: list[Answered], *, whole: bool) -> Iterator[Record]:
    """The records of exchanges that are sorted by their start; ``whole``: nothing is missing, and the order is sure."""
    return _Order(whole, entries[0].start if entries else 0.0).records(entries)


def _units(entry: Answered) -> Iterator[Unit]:
    """The body of an answer, or the events of its stream. A last event without an end is left out unless it is JSON."""
    if not entry.content:
        return
    if not entry.is_stream:
        yield Kind.BODY, entry.content
        return
    splitter = SseSplitter()
    for raw in splitter.feed(entry.content):
        yield Kind.SSE, raw
    for raw in splitter.finish():
        data = sse.data_bytes(raw)
        if raw.strip() and (not data or _json(data) is not None):
            yield Kind.SSE, raw


def _names_endpoint(one: _Pending) -> bool:
    return bool(one.units) and one.units[0][0] is Kind.SSE and sse.parse(one.units[0][1]).event == "endpoint"


def _asks(unit: Unit, ids: set[Key]) -> bool:
    """Whether a unit is a server's request with one of these ids."""
    return bool(ids) and any(classify(v) is Request and key(v["id"]) in ids for v in _values_of(unit))


def _values_of(unit: Unit) -> list[Any]:
    kind, data = unit
    return _values(data if kind is Kind.BODY else sse.data_bytes(data) or b"")


def _values(data: bytes) -> list[Any]:
    value = _json(data)
    return value if isinstance(value, list) else [value]


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None
