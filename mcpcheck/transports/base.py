"""What every transport has in common: a log of records with a clock, and the ways to send."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

import anyio

from mcpcheck.wire.record import Dir, Kind, Record, RequestHead, ResponseHead


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a peer may send before it is cut off, and how long it has for things. Bytes and seconds."""

    session_bytes: int = 32 * 2**20
    session_units: int = 10_000
    start: float = 20.0
    answer: float = 5.0
    shutdown: float = 2.0
    connect: float = 5.0


@dataclass(slots=True)
class Log:
    """The records of one connection, in order. ``observe`` is called with each before anybody waiting wakes."""

    observe: Callable[[Record], None] = lambda record: None
    records: list[Record] = field(default_factory=list)
    started: str = field(default_factory=lambda: f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}")
    _begun: float = field(default_factory=time.monotonic)
    _changed: anyio.Event = field(default_factory=anyio.Event)

    def note(
        self,
        dir: Dir,
        kind: Kind,
        data: bytes = b"",
        *,
        end: bytes = b"\n",
        exchange: int | None = None,
        http: RequestHead | ResponseHead | None = None,
        event: str | None = None,
        **detail: Any,
    ) -> Record:
        """Add a record, stamped now."""
        t = round(time.monotonic() - self._begun, 6)
        record = Record(len(self.records) + 1, t, dir, kind, data, end, exchange, http, event, detail)
        self.records.append(record)
        self.observe(record)
        changed, self._changed = self._changed, anyio.Event()
        changed.set()
        return record

    async def until(self, holds: Callable[[], bool], within: float) -> bool:
        """Wait until something holds; False when the time is up first."""
        with anyio.move_on_after(within):
            while not holds():
                await self._changed.wait()
        return holds()


class Transport(ABC):
    """One connection to a server: a process, or an HTTP endpoint. An asynchronous context manager."""

    kind: str
    endpoint: str | None = None  # the path of the MCP endpoint, on HTTP

    def __init__(self, log: Log, limits: Limits) -> None:
        self.log = log
        self.limits = limits

    @abstractmethod
    async def __aenter__(self) -> "Transport": ...

    @abstractmethod
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    async def send_line(self, data: bytes, end: bytes = b"\n") -> Record:
        """stdio: write bytes and an end; the record of what was sent."""
        raise NotImplementedError(f"{self.kind} has no lines")

    async def send_http(self, head: RequestHead, body: bytes) -> int:
        """HTTP: send a request on a connection of its own; the number of the exchange, whose answer will be noted."""
        raise NotImplementedError(f"{self.kind} has no exchanges")

    async def leave(self, exchange: int) -> None:
        """HTTP: close the connection of an exchange before its answer is whole."""
        raise NotImplementedError(f"{self.kind} has no exchanges")

    async def end_input(self) -> None:
        """stdio: close the server's standard input."""
        raise NotImplementedError(f"{self.kind} has no input stream")

    async def until(self, holds: Callable[[], bool], within: float) -> bool:
        """Wait until something holds that a record brings; False when the time is up, or nothing more can come."""
        return await self.log.until(holds, within)

    @property
    @abstractmethod
    def alive(self) -> bool:
        """Whether the other side can still answer."""

    @property
    def pending(self) -> bytes:
        """What the peer has begun to send as a line and not ended yet."""
        return b""

    def told(self) -> str:
        """What the peer said outside the protocol (the tail of its standard error), for messages to the user."""
        return ""
