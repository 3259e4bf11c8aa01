"""The tap on stdio: starts the server, relays its three streams, and ends as the server ends.

Standard input, output and error belong to the session. The main thread waits for signals, the child's end among them;
three pumps carry the bytes; the recorder writes. None of them waits for another.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from mcpcheck.tap import process
from mcpcheck.tap.recorder import Recorder, Source
from mcpcheck.tap.relay import pump

PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
GRACE = 10.0
"""Seconds that a server has to end after SIGTERM before it is killed."""

RECORDER_PATIENCE = 2.0
_FROM_TERMINAL = 0x80  # SI_KERNEL: the terminal has sent it to the whole group, the server included


def run(command: list[str], path: str | None) -> None:
    """Tap a stdio session with the server that a command starts. Does not return: it ends as the server does."""
    _hold_standard_descriptors()
    passed_on = [number for number in PASSED_ON if signal.getsignal(number) is not signal.SIG_IGN]
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [*passed_on, signal.SIGCHLD])
    began, started = time.monotonic(), time.time()
    try:
        server = process.start(command, mask)
    except OSError as error:
        _say(f"cannot start {command[0]}: {error.strerror}")
        os._exit(126 if isinstance(error, PermissionError) else 127)
    session = Session(server, _recorder(command, path, began, started))
    status = session.watch(passed_on)
    session.recorder.close(RECORDER_PATIENCE)
    if warning := _warning(session.recorder):
        _say(warning)
    process.leave(status)


class Session:
    """One tapped session: the pumps, and the wait for its end."""

    def __init__(self, server: process.Process, recorder: Recorder) -> None:
        self.server = server
        self.recorder = recorder
        self._gone, self._goodbye = os.pipe()  # closing the second tells the pumps that the server is no more
        self._life = recorder.source("life", Nothing)
        lines = Lines
        self._pumps = [
            self._pump(server.stdout, 1, recorder.source("s2c", lines), self._gone),
            self._pump(server.stderr, 2, recorder.source("stderr", lines), self._gone),
        ]
        self._pump(0, server.stdin, recorder.source("c2s", lines), None)
        recorder.start()

    def _pump(self, source: int, sink: int, notes: Source, until: int | None) -> threading.Thread:
        def run() -> None:
            try:
                whole = pump(source, sink, lambda chunk: notes.note(chunk, len(chunk)), until)
                if not whole:
                    self._life.note((None, "broken", notes.name), 0)
                notes.note(b"", 0)
            finally:
                _let_go(source)
                _let_go(sink)
                os.kill(os.getpid(), signal.SIGCHLD)  # the main thread looks again

        thread = threading.Thread(target=run, name=notes.name, daemon=True)
        thread.start()
        return thread

    def watch(self, passed_on: Iterable[int]) -> int:
        """Pass signals on until the server has ended and all that it wrote has been passed on."""
        status: int | None = None
        kill_at: float | None = None
        while status is None or any(thread.is_alive() for thread in self._pumps):
            number = _wait([*passed_on, signal.SIGCHLD], kill_at)
            if status is None:
                pid, found = os.waitpid(self.server.pid, os.WNOHANG)
                if pid:
                    status = found
                    os.close(self._goodbye)
                elif number is None:
                    os.kill(self.server.pid, signal.SIGKILL)
                    kill_at = None
                elif number != signal.SIGCHLD:
                    os.kill(self.server.pid, number)
                    if number == signal.SIGTERM and kill_at is None:
                        kill_at = time.monotonic() + GRACE
            elif number is not None and number != signal.SIGCHLD:
                break  # the server is gone already, and the client does not want what is left
        return self._ended(status)
