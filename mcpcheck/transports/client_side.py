"""A client under test: it is started as a process, and a scripted server waits for it on loopback.

The script says what the server does about each message; this module moves the bytes, notes the records, and knows how
the client's run ended. Nothing here hangs: every run has a deadline, and the client's whole process group ends with it.
"""

import os
import secrets
import shlex
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import anyio
from anyio.abc import ByteReceiveStream, Process

from mcpcheck.errors import PeerUnavailable
from mcpcheck.transports.base import Log
from mcpcheck.wire.record import RequestHead

ENDPOINT = "/mcp"
_TAIL = 40
_GRACE = 2.0
_DRAIN = 0.5
_FLOOD = 2000


@dataclass(frozen=True, slots=True)
class Heard:
    """What a client sent: a line to process ``connection``, or the body of a POST under its head."""

    data: bytes
    connection: int
    head: RequestHead | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What the scripted server does about it.

    ``messages`` are JSON texts. On HTTP one goes as the body, several go as an event stream, as one does where
    ``stream`` is set; ``body`` replaces them, ``media`` is its type. ``hang`` holds the exchange open without a word,
    ``cut`` breaks off after what was sent. On stdio ``stderr`` is written first, and ``exit`` ends the process.
    """

    messages: tuple[bytes, ...] = ()
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    media: str = ""
    stream: bool = False
    hang: bool = False
    cut: bool = False
    stderr: bytes = b""
    exit: int | None = None

    @property
    def as_events(self) -> bool:
        return self.body is None and (self.stream or len(self.messages) > 1)

    @property
    def is_stream(self) -> bool:
        """HTTP: whether the body is an event stream by its type."""
        return any(name.lower() == "content-type" and "event-stream" in value for name, value in self.http_headers())

    def http_headers(self) -> list[tuple[str, str]]:
        """The headers of the answer, its length not among them."""
        media = self.media or ("text/event-stream" if self.as_events else "application/json")
        has_type = any(name.lower() == "content-type" for name, _ in self.headers)
        typed = [] if has_type or not (self.messages or self.body) else [("Content-Type", media)]
        return [*typed, *self.headers]

    def http_body(self) -> bytes:
        """The body of the answer."""
        if self.body is not None:
            return self.body
        if self.as_events:
            return b"".join(b"data: " + text + b"\n\n" for text in self.messages)
        return b"".join(self.messages)


class Script(Protocol):
    """A scripted server. ``stubborn``: its processes stay when their input ends, and ignore SIGTERM."""

    stubborn: bool

    def opened(self, connection: int) -> Reply:
        """stdio: a process was started."""

    def hear(self, heard: Heard) -> Reply:
        """Something came from the client."""


@dataclass(slots=True)
class Meeting:
    """One recorded session: a process on stdio, all exchanges on HTTP. Times are seconds since the run began."""

    log: Log
    transport: str
    connection: int = 1
    waiting: int = 0  # messages that the script left without an answer and that the client may wait for
    input_ended: float | None = None
    signals: list[tuple[float, int]] = field(default_factory=list)
    gone: float | None = None
    told_to_exit: bool = False
    left_behind: bool = False


@dataclass(slots=True)
class Encounter:
    """A whole run of the client against one script. ``code`` is None where it did not end by itself."""

    meetings: list[Meeting] = field(default_factory=list)
    code: int | None = None
    quiet: bool = False  # it lived on, but nothing more came and nothing was owed to it
    output: str = ""
    seconds: float = 0.0

    @property
    def ended_itself(self) -> bool:
        return self.code is not None

    def how_it_ended(self) -> str:
        """In a phrase."""
        if self.code is None:
            return f"it was still running after {self.seconds:.0f} s"
        return f"the client exited with {self.code}" if self.code >= 0 else f"the client died of signal {-self.code}"


@dataclass(slots=True)
class Reception:
    """What the listeners share during a run: the script, the meetings, and the moment something last happened."""

    script: Script
    encounter: Encounter = field(default_factory=Encounter)
    begun: float = field(default_factory=time.monotonic)
    stirred: float = field(default_factory=time.monotonic)
    heard: int = 0
    _changed: anyio.Event = field(default_factory=anyio.Event)

    def hear(self, heard: Heard) -> Reply:
        """What the script does about it; a client that sends without end gets no answer any more."""
        self.heard += 1
        return Reply(hang=True) if self.flooded else self.script.hear(heard)

    @property
    def flooded(self) -> bool:
        """Whether the client has sent more than any story takes."""
        return self.heard > _FLOOD

    def meeting(self, transport: str) -> Meeting:
        """A new session."""
        meeting = Meeting(Log(_begun=self.begun), transport, len(self.encounter.meetings) + 1)
        self.encounter.meetings.append(meeting)
        return meeting

    def now(self) -> float:
        return time.monotonic() - self.begun

    def stir(self) -> None:
        """Something passed."""
        self.stirred = time.monotonic()
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    async def until(self, holds: Callable[[], bool], within: float) -> None:
        """Wait until something holds that a stir brings, or the time is up."""
        with anyio.move_on_after(within):
            while not holds():
                await self._changed.wait()

    async def until_quiet(self, within: float) -> None:
        """Wait until nothing has passed for a while and the client waits for nothing."""
        while not self.flooded:
            since = time.monotonic() - self.stirred
            if self._may_rest() and since >= within:
                return
            with anyio.move_on_after(max(within - since, 0.01) if self._may_rest() else None):
                await self._changed.wait()

    def _may_rest(self) -> bool:
        meetings = self.encounter.meetings
        return bool(meetings) and not any(each.waiting > 0 and each.gone is None for each in meetings)


def shim_command(host: str, port: int, token: str) -> list[str]:
    """The command of the scripted server on stdio."""
    path = Path(__file__).with_name("shim.py")
    return [sys.executable, "-I", "-S", str(path), f"{host}:{port}:{token}"]


def place(words: Sequence[str], kind: str, where: Sequence[str]) -> list[str]:
    """The client's command with the server's place put in: for ``{url}`` or ``{server}``, else at its end."""
    mark, text = ("{url}", where[0]) if kind == "http" else ("{server}", shlex.join(where))
    if any(mark in word for word in words):
        return [word.replace(mark, text) for word in words]
    return [*words, *where]


@dataclass(frozen=True, slots=True)
class Stage:
    """How the client is started: its command, and how long it may take. Seconds."""

    command: tuple[str, ...]
    kind: str
    patience: float = 30.0
    quiet: float = 5.0
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None

    async def play(self, script: Script, patience: float | None = None) -> Encounter:
        """Run the client once against a script, to its end or to the deadline."""
        reception = Reception(script)
        async with _listening(self.kind, reception) as (words, settle):
            command = place(self.command, self.kind, words)
            named = {
                "MCPCHECK_SERVER_URL": words[0] if self.kind == "http" else "",
                "MCPCHECK_SERVER_COMMAND": shlex.join(words) if self.kind == "stdio" else "",
            }
            env = {**os.environ, **{name: value for name, value in named.items() if value}, **self.env}
            async with _started(command, env, self.cwd, reception.encounter) as process:
                await _until_over(process, reception, patience or self.patience, self.quiet)
                if reception.encounter.ended_itself:
                    await settle()
        reception.encounter.seconds = reception.now()
        return reception.encounter


@asynccontextmanager
async def _listening(kind: str, reception: Reception) -> AsyncIterator[tuple[list[str], Callable[[], Awaitable[None]]]]:
    if kind == "http":
        from mcpcheck.transports.client_side_http import HttpListener

        async with HttpListener(reception) as http:
            yield [http.url], http.settle
    else:
        from mcpcheck.transports.client_side_stdio import ShimListener

        async with ShimListener(reception, secrets.token_hex(8)) as shims:
            yield shims.command, shims.settle


@asynccontextmanager
async def _started(
    command: Sequence[str], env: Mapping[str, str], cwd: str | None, encounter: Encounter
) -> AsyncIterator[Process]:
    """The client as a process, with what it prints read all the time; in the end nothing of its group is left."""
    try:
        process = await anyio.open_process(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=env,
            cwd=cwd,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise PeerUnavailable(f"cannot start {command[0]!r}: {reason}. Is the command spelled right?") from None
    tail: deque[bytes] = deque(maxlen=_TAIL)
    read = anyio.Event()

    async def keep(stream: ByteReceiveStream) -> None:
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            while True:
                tail.append((await stream.receive())[-4000:])
        read.set()

    async with anyio.create_task_group() as tasks:
        assert process.stdout
        tasks.start_soon(keep, process.stdout)
        try:
            yield process
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process)
                with anyio.move_on_after(_DRAIN):
                    await read.wait()
            encounter.output = b"".join(tail).decode("utf-8", "replace")[-4000:]
            tasks.cancel_scope.cancel()
    await process.aclose()


async def _until_over(process: Process, reception: Reception, patience: float, quiet: float) -> None:
    encounter = reception.encounter
    with anyio.move_on_after(patience):
        async with anyio.create_task_group() as tasks:

            async def watch() -> None:
                encounter.code = await process.wait()
                tasks.cancel_scope.cancel()

            tasks.start_soon(watch)
            await reception.until_quiet(quiet)
            encounter.quiet = True
            tasks.cancel_scope.cancel()


async def _end(process: Process) -> None:
    """End the client and what it started in its group: SIGTERM, then SIGKILL."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        if process.returncode is None:
            with anyio.move_on_after(_GRACE):
                await process.wait()
