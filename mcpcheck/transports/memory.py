"""The reference server in this process: no process, no socket, and no waiting, since nothing can come later."""

from abc import abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Any

from mcpcheck.reference.http import HttpServer
from mcpcheck.reference.server import Server
from mcpcheck.reference.streams import Stream
from mcpcheck.transports.base import Limits, Log, Transport
from mcpcheck.wire.record import Dir, Kind, Record, RequestHead, ResponseHead

STEPS = 10_000
"""How many steps of slow work a server in memory may take before a wait is over."""


class _Immediate(Transport):
    """Whatever a peer in memory has to say is said before a wait is over."""

    async def until(self, holds: Callable[[], bool], within: float) -> bool:
        for _ in range(STEPS):
            if holds() or not self._step():
                break
        return holds()

    @property
    def alive(self) -> bool:
        return True

    @abstractmethod
    def _step(self) -> bool:
        """Let the server do one step of its slow work; False where it has none."""


class MemoryStdio(_Immediate):
    """A server behind lines, in memory."""

    kind = "stdio"

    def __init__(self, make: Callable[[], Server], log: Log, limits: Limits) -> None:
        super().__init__(log, limits)
        self._server = make()
        self._ended = False
        self._exited = False

    async def __aenter__(self) -> "MemoryStdio":
        self.log.note(Dir.C2S, Kind.EVENT, event="open")
        self._hear(self._server.opened())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.end_input()
        if not self._exited:
            self._exit({"signal": 15})

    async def send_line(self, data: bytes, end: bytes = b"\n") -> Record:
        record = self.log.note(Dir.C2S, Kind.LINE, data, end=end)
        self._hear(self._server.receive(data))
        return record

    async def end_input(self) -> None:
        if self._ended:
            return
        self._ended = True
        self.log.note(Dir.C2S, Kind.EVENT, event="eof")
        self._hear(self._server.closed())
        if not self._server.lingers():
            self._exit({"code": 0})

    def _exit(self, how: dict[str, Any]) -> None:
        self._exited = True
        self.log.note(Dir.S2C, Kind.EVENT, event="eof")
        self.log.note(Dir.S2C, Kind.EVENT, event="exit", **how)

    @property
    def alive(self) -> bool:
        return not self._exited

    def _step(self) -> bool:
        busy = self._server.busy
        self._hear(self._server.step())
        return busy

    def _hear(self, lines: list[bytes]) -> None:
        for line in lines:
            for part in line.split(b"\n"):
                self.log.note(Dir.S2C, Kind.LINE, part)


class MemoryHttp(_Immediate):
    """A server behind HTTP exchanges, in memory. Connections to one server share it, as they do over a network."""

    kind = "http"
    endpoint = "/mcp"

    def __init__(self, server: HttpServer, log: Log, limits: Limits) -> None:
        super().__init__(log, limits)
        self._server = server
        self._exchanges = 0
        self._streams: dict[int, Stream] = {}

    async def __aenter__(self) -> "MemoryHttp":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for exchange in sorted(self._streams):
            await self.leave(exchange)

    async def send_http(self, head: RequestHead, body: bytes) -> int:
        self._exchanges += 1
        exchange = self._exchanges
        self.log.note(Dir.C2S, Kind.HEAD, exchange=exchange, http=head)
        if body:
            self.log.note(Dir.C2S, Kind.BODY, body, exchange=exchange)
        reply = self._server.handle(head, body)
        answer = ResponseHead(reply.status, "", tuple(reply.headers))
        self.log.note(Dir.S2C, Kind.HEAD, exchange=exchange, http=answer)
        if reply.body:
            self.log.note(Dir.S2C, Kind.BODY, reply.body, exchange=exchange)
        if reply.stream is not None:
            self._streams[exchange] = reply.stream
        else:
            self.log.note(Dir.S2C, Kind.EVENT, exchange=exchange, event="eof")
        self._flush()
        return exchange

    async def leave(self, exchange: int) -> None:
        stream = self._streams.pop(exchange, None)
        if stream is not None:
            self._server.disconnected(stream)
            self.log.note(Dir.C2S, Kind.EVENT, exchange=exchange, event="abort", reason="the client closed it")

    def _step(self) -> bool:
        busy = any(server.busy for server in self._server.servers())
        self._server.step()
        self._flush()
        return busy

    def _flush(self) -> None:
        """Note what the open streams hold, and the end of those that are over."""
        for exchange, stream in list(self._streams.items()):
            for event in stream.take():
                self.log.note(Dir.S2C, Kind.SSE, event, exchange=exchange)
            if stream.ended and not stream.left:
                del self._streams[exchange]
                self.log.note(Dir.S2C, Kind.EVENT, exchange=exchange, event="eof")
