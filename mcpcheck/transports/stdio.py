"""A server as a child process, on its standard streams."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, Process, TaskGroup

from mcpcheck.errors import PeerUnavailable
from mcpcheck.transports.base import Limits, Log, Transport
from mcpcheck.wire.framing import LineSplitter
from mcpcheck.wire.record import Dir, Kind, Record

_CHUNK = 65536
_TOLD = 6  # lines of standard error that are quoted from its start, and from its end


class StdioTransport(Transport):
    """Starts a command in a process group of its own and ends all of the group at the end."""

    kind = "stdio"

    def __init__(
        self,
        command: Sequence[str],
        log: Log,
        limits: Limits,
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> None:
        super().__init__(log, limits)
        self._command = list(command)
        self._env = {**os.environ, **env} if env else None
        self._cwd = cwd
        self._process: Process | None = None
        self._tasks: TaskGroup | None = None
        self._units = 0
        self._bytes = 0
        self._open_streams = 2
        self._lines = LineSplitter()
        self._input_open = True
        self.exited = False

    async def __aenter__(self) -> "StdioTransport":
        try:
            self._process = await anyio.open_process(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self._env,
                cwd=self._cwd,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            doubt = "Is it executable?" if isinstance(error, PermissionError) else "Is the command spelled right?"
            raise PeerUnavailable(f"cannot start {self._command[0]!r}: {reason}. {doubt}") from None
        self.log.note(Dir.C2S, Kind.EVENT, event="open")
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        assert self._process.stdout
        assert self._process.stderr
        self._tasks.start_soon(self._read, self._process.stdout, Kind.LINE)
        self._tasks.start_soon(self._read, self._process.stderr, Kind.STDERR)
        self._tasks.start_soon(self._watch)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process
        assert self._tasks
        with anyio.CancelScope(shield=True):
            await self._shut_down(self._process)
        self._tasks.cancel_scope.cancel()
        await self._tasks.__aexit__(None, None, None)
        with anyio.CancelScope(shield=True):
            await self._process.aclose()

    async def _shut_down(self, process: Process) -> None:
        """End of input first, then SIGTERM, then SIGKILL to the whole group (stdio.shutdown.client-order)."""
        await self.end_input()
        await self.log.until(lambda: self.exited, self.limits.shutdown)
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self.exited and number is signal.SIGTERM:
                continue
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
            await self.log.until(lambda: self.exited, self.limits.shutdown / 2)
        await self.log.until(lambda: self._open_streams == 0, self.limits.shutdown / 4)

    async def send_line(self, data: bytes, end: bytes = b"\n") -> Record:
        assert self._process
        assert self._process.stdin
        record = self.log.note(Dir.C2S, Kind.LINE, data, end=end)
        try:
            with anyio.fail_after(self.limits.answer):
                await self._process.stdin.send(data + end)
        except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            self.log.note(Dir.C2S, Kind.EVENT, event="abort", reason="the server no longer reads its standard input")
        except TimeoutError:
            self.log.note(Dir.S2C, Kind.EVENT, event="timeout", reason="the server does not read its standard input")
        return record

    async def end_input(self) -> None:
        assert self._process
        assert self._process.stdin
        if self._input_open:
            self._input_open = False
            with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                await self._process.stdin.aclose()
            self.log.note(Dir.C2S, Kind.EVENT, event="eof")

    @property
    def alive(self) -> bool:
        return not self.exited and self._open_streams > 0 and self._within_limits()

    @property
    def pending(self) -> bytes:
        return self._lines.begun

    def told(self) -> str:
        lines = [record.data.decode("utf-8", "replace") for record in self.log.records if record.kind is Kind.STDERR]
        return "\n".join(lines if len(lines) <= 2 * _TOLD else [*lines[:_TOLD], "...", *lines[-_TOLD:]])

    def _too_much(self) -> str:
        return f"the server sent more than is read of one session: {self._bytes} bytes in {self._units} lines"

    def _within_limits(self) -> bool:
        return self._bytes <= self.limits.session_bytes and self._units <= self.limits.session_units

    async def _read(self, stream: ByteReceiveStream, kind: Kind) -> None:
        """Note the lines of one output stream until it ends or the peer sends more than the limits allow."""
        lines = LineSplitter()
        if kind is Kind.LINE:
            self._lines = lines
        try:
            while self._within_limits():
                chunk = await stream.receive(_CHUNK)
                self._bytes += len(chunk)
                for line in lines.feed(chunk):
                    self._units += 1
                    self.log.note(Dir.S2C, kind, line.data, end=line.end)
        except anyio.EndOfStream:
            pass
        except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            return
        for line in lines.finish():
            self.log.note(Dir.S2C, kind, line.data, end=line.end)
        self._open_streams -= 1
        if not self._within_limits():
            self.log.note(Dir.S2C, Kind.EVENT, event="abort", reason=self._too_much())
        elif kind is Kind.LINE:
            self.log.note(Dir.S2C, Kind.EVENT, event="eof")

    async def _watch(self) -> None:
        assert self._process
        code = await self._process.wait()
        detail: dict[str, Any] = {"code": code} if code >= 0 else {"signal": -code}
        await self.log.until(lambda: self._open_streams == 0, 0.5)  # what it wrote last comes before its exit
        self.exited = True
        self.log.note(Dir.S2C, Kind.EVENT, event="exit", **detail)
