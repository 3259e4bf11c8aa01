"""A tap between a test and a server, as processes; every wait has a deadline, and nothing is left running."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mcpcheck.capture import open_capture
from mcpcheck.wire.record import Record
from tests.support import tap_server
from tests.support.processes import ROOT

SERVER = (sys.executable, "-I", "-S", tap_server.__file__)
TAP = (sys.executable, "-m", "mcpcheck", "tap")
WITHIN = 20.0


@dataclass
class Tapped:
    """The client's side of a session with a tap in it."""

    process: subprocess.Popen[bytes]
    capture: Path
    _writers: list[threading.Thread] = field(default_factory=list)

    def send(self, data: bytes) -> None:
        """Write in a thread of its own, so that a server that reads nothing does not stop the test."""
        assert self.process.stdin is not None
        fd = self.process.stdin.fileno()

        def write() -> None:
            with contextlib.suppress(OSError):
                tap_server.write(fd, data)

        self._writers.append(threading.Thread(target=write, daemon=True))
        self._writers[-1].start()

    def close_input(self) -> None:
        """The end of input, once all of it has been written."""
        assert self.process.stdin is not None
        for writer in self._writers:
            writer.join(WITHIN)
            assert not writer.is_alive(), "the tap has stopped reading"
        with contextlib.suppress(OSError):
            self.process.stdin.close()

    def read(self, count: int | None = None, within: float = WITHIN) -> bytes:
        """So many bytes of output, or all of it to its end."""
        assert self.process.stdout is not None
        return _read(self.process.stdout.fileno(), count, within)

    def line(self, within: float = WITHIN) -> bytes:
        """The next line of output."""
        line = b""
        while not line.endswith(b"\n"):
            line += self.read(1, within)
        return line

    def errors(self, within: float = WITHIN) -> bytes:
        """All of standard error."""
        assert self.process.stderr is not None
        return _read(self.process.stderr.fileno(), None, within)

    def wait(self, within: float = WITHIN) -> int:
        """The exit status, negative for a signal."""
        return self.process.wait(within)

    def records(self) -> list[Record]:
        """What was recorded."""
        with open_capture(self.capture) as capture:
            found = list(capture)
            assert capture.faults == []
        return found


def _read(fd: int, count: int | None, within: float) -> bytes:
    got = bytearray()
    deadline = time.monotonic() + within
    while count is None or len(got) < count:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            raise TimeoutError(f"{count} bytes were to come within {within} s; {len(got)} came: {bytes(got[-200:])!r}")
        part = os.read(fd, 1 << 16 if count is None else min(1 << 16, count - len(got)))
        if not part:
            if count is None:
                break
            raise EOFError(f"{count} bytes were to come; {len(got)} came: {bytes(got[-200:])!r}")
        got += part
    return bytes(got)


@contextlib.contextmanager
def tapped(
    *part: str,
    capture: Path,
    tap: Sequence[str] = TAP,
    server: Sequence[str] = SERVER,
    env: Mapping[str, str] | None = None,
) -> Iterator[Tapped]:
    """Run a tap in front of a server for as long as the block lasts; then end both, and all that they have started."""
    out = ["-o", str(capture)] if tap is TAP else []
    with subprocess.Popen(
        [*tap, *out, "--", *server, *part],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        start_new_session=True,
    ) as process:
        try:
            yield Tapped(process, capture)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(WITHIN)


def is_gone(pid: int, within: float = WITHIN) -> bool:
    """Whether a process ends in time; it need not be a child of this one, and nobody has to wait for it."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], within)[0])
    finally:
        os.close(process)
