"""The scripted server on stdio: each process that the client starts is a shim, and calls in here over loopback."""

import struct
from types import TracebackType
from typing import Any

import anyio
from anyio.abc import SocketAttribute, SocketStream, TaskGroup
from anyio.streams.buffered import BufferedByteReceiveStream

from mcpcheck.transports.client_side import Heard, Meeting, Reception, Reply, shim_command
from mcpcheck.wire.framing import LineSplitter
from mcpcheck.wire.record import Dir, Kind

_HEAD = struct.Struct(">cI")
_SETTLE = 1.5


class ShimListener:
    """Listens for shims; an asynchronous context manager."""

    def __init__(self, reception: Reception, token: str) -> None:
        self._reception = reception
        self._token = token
        self._tasks: TaskGroup | None = None
        self.command: list[str] = []

    async def __aenter__(self) -> "ShimListener":
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
        self.command = shim_command("127.0.0.1", listener.extra(SocketAttribute.local_port), self._token)
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        self._tasks.start_soon(listener.serve, self._serve)
        self._listener = listener
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._tasks
        self._tasks.cancel_scope.cancel()
        await self._tasks.__aexit__(None, None, None)
        await self._listener.aclose()

    async def settle(self) -> None:
        """The client is gone: give its servers a moment to follow, and note which stay."""
        meetings = self._reception.encounter.meetings
        await self._reception.until(lambda: all(meeting.gone is not None for meeting in meetings), _SETTLE)
        for meeting in meetings:
            meeting.left_behind = meeting.gone is None

    async def _serve(self, stream: SocketStream) -> None:
        async with stream:
            try:
                frames = BufferedByteReceiveStream(stream)
                kind, payload = await _frame(frames)
                if kind == b"h" and payload.split(b" ")[0].decode() == self._token:
                    await _Process(self._reception, stream, frames).run()
            except (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError, OSError):
                return


async def _frame(frames: BufferedByteReceiveStream) -> tuple[bytes, bytes]:
    kind, length = _HEAD.unpack(await frames.receive_exactly(_HEAD.size))
    return kind, await frames.receive_exactly(length) if length else b""


class _Process:
    """One process that the client started."""

    def __init__(self, reception: Reception, stream: SocketStream, frames: BufferedByteReceiveStream) -> None:
        self._reception = reception
        self._stream = stream
        self._frames = frames
        self._meeting: Meeting = reception.meeting("stdio")
        self._lines = LineSplitter()

    async def run(self) -> None:
        """Serve it until it is gone."""
        reception, meeting = self._reception, self._meeting
        meeting.log.note(Dir.C2S, Kind.EVENT, event="open")
        reception.stir()
        try:
            if reception.script.stubborn:
                await self._send(b"k")
            await self._do(reception.script.opened(meeting.connection))
            while True:
                kind, payload = await _frame(self._frames)
                reception.stir()
                await self._take(kind, payload)
        except (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError, OSError):
            self._note_end()

    def _note_end(self) -> None:
        meeting = self._meeting
        meeting.gone = self._reception.now()
        detail: dict[str, Any] = {"code": 0}
        if not meeting.told_to_exit:
            detail = {"signal": meeting.signals[-1][1] if meeting.signals else 9}
        meeting.log.note(Dir.S2C, Kind.EVENT, event="exit", **detail)
        self._reception.stir()

    async def _take(self, kind: bytes, payload: bytes) -> None:
        meeting = self._meeting
        if kind == b"i":
            for line in self._lines.feed(payload):
                await self._line(line.data, line.end)
        elif kind == b"e":
            for line in self._lines.finish():
                await self._line(line.data, line.end)
            meeting.input_ended = self._reception.now()
            meeting.log.note(Dir.C2S, Kind.EVENT, event="eof")
            if not self._reception.script.stubborn:
                await self._exit(0)
        elif kind == b"s":
            meeting.signals.append((self._reception.now(), payload[0]))

    async def _line(self, data: bytes, end: bytes) -> None:
        self._meeting.log.note(Dir.C2S, Kind.LINE, data, end=end)
        await self._do(self._reception.hear(Heard(data, self._meeting.connection)))

    async def _do(self, reply: Reply) -> None:
        """Write what the script wants written, the log line first."""
        if reply.stderr:
            for line in reply.stderr.splitlines():
                self._meeting.log.note(Dir.S2C, Kind.STDERR, line)
            await self._send(b"r", reply.stderr)
        for text in reply.messages:
            self._meeting.log.note(Dir.S2C, Kind.LINE, text)
            await self._send(b"o", text + b"\n")
        if reply.hang:
            self._meeting.waiting += 1
        elif reply.messages:
            self._meeting.waiting = 0
        if reply.exit is not None:
            await self._exit(reply.exit)

    async def _exit(self, code: int) -> None:
        self._meeting.told_to_exit = True
        await self._send(b"x", bytes([code]))

    async def _send(self, kind: bytes, payload: bytes = b"") -> None:
        await self._stream.send(_HEAD.pack(kind, len(payload)) + payload)
