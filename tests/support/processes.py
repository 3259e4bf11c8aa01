"""Server processes for tests: started, waited for with a deadline, and always ended."""

import contextlib
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[2]
TICKETS = (sys.executable, str(ROOT / "fixtures" / "tickets.py"))
ASKING = (sys.executable, "-m", "fixtures.asking")  # to be started with cwd=ROOT
TICKETS_CLIENT = (sys.executable, str(ROOT / "fixtures" / "tickets_client.py"))

LISTENING = re.compile(rb"listening on (http://\S+)")


class Lines:
    """The lines of one pipe, read by a thread of its own so that the process never waits for the test."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self.seen: list[bytes] = []
        self._pipe = pipe
        self._queue: queue.Queue[bytes] = queue.Queue()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        for line in self._pipe:
            self.seen.append(line)
            self._queue.put(line)
        self._queue.put(b"")

    def next(self, within: float) -> bytes:
        """The next line with its end, or nothing at the end of the pipe; TimeoutError after the deadline."""
        try:
            line = self._queue.get(timeout=within)
        except queue.Empty:
            raise TimeoutError(f"no line within {within} s; so far: {self.seen[-5:]}") from None
        if not line:
            self._queue.put(line)
        return line

    def find(self, pattern: re.Pattern[bytes], within: float) -> re.Match[bytes]:
        """The first line that the pattern matches; EOFError where the pipe ends before."""
        deadline = time.monotonic() + within
        while line := self.next(max(0.0, deadline - time.monotonic())):
            if found := pattern.search(line):
                return found
        raise EOFError(f"the process ended before it said {pattern.pattern!r}: {b''.join(self.seen)!r}")

    def close(self, within: float = 5.0) -> None:
        """Read what is left and close the pipe."""
        self._thread.join(within)
        # A grandchild that still holds the pipe keeps the thread reading; closing under it would block.
        if not self._thread.is_alive():
            self._pipe.close()


@dataclass
class ServerProcess:
    """A running server: its process, its standard streams, and its URL where it serves HTTP."""

    process: subprocess.Popen[bytes]
    stdout: Lines
    stderr: Lines
    url: str = field(default="")

    def send(self, data: bytes) -> None:
        """Write to standard input as it is."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def line(self, within: float = 20.0) -> bytes:
        """The next line of standard output, or nothing at its end."""
        return self.stdout.next(within)

    def close_input(self) -> None:
        """End standard input, which asks a stdio server to go."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()

    def wait(self, within: float = 10.0) -> int:
        """The exit status, negative for a signal."""
        return self.process.wait(within)


def end(process: subprocess.Popen[bytes], grace: float = 5.0) -> None:
    """End a process and what it started in its group: SIGTERM, then SIGKILL."""
    for number, wait in ((signal.SIGTERM, grace), (signal.SIGKILL, grace)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(wait)


@contextlib.contextmanager
def server_process(
    *command: str, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Iterator[ServerProcess]:
    """Run a server on stdio for as long as the block lasts."""
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **(env or {})},
        cwd=cwd,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        server = ServerProcess(process, Lines(process.stdout), Lines(process.stderr))
        try:
            yield server
        finally:
            server.close_input()
            end(process)
            server.stdout.close()
            server.stderr.close()


@contextlib.contextmanager
def http_process(
    *command: str,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    ready: re.Pattern[bytes] = LISTENING,
    within: float = 30.0,
) -> Iterator[ServerProcess]:
    """Run a server on HTTP; it is ready once a line of its standard error names the URL."""
    with server_process(*command, env=env, cwd=cwd) as server:
        server.url = server.stderr.find(ready, within).group(1).decode()
        yield server


def run(*command: str, within: float = 30.0, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with nothing on its standard input; it is killed after the deadline."""
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=within,
        env={**os.environ, **(env or {})},
        check=False,
    )
