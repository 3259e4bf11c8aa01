"""The tap on stdio: starts the server, relays its three streams, and ends as the server ends.

Standard input, output and error belong to the session. The main thread waits for signals, the child's end among them;
three pumps carry the bytes; the recorder writes. None of them waits for another.
"""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterable
from functools import partial

from mcpcheck.tap import process
from mcpcheck.tap.recorder import Recorder, Source, Transcript
from mcpcheck.tap.relay import pump

PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
GRACE = 10.0
"""Seconds that a server has to end after SIGTERM before it is killed."""

RECORDER_PATIENCE = 2.0
_FROM_TERMINAL = 0x80  # SI_KERNEL: the terminal has sent it to the whole group, the server included


def run(command: list[str], out: str | None) -> None:
    """Tap a stdio session with the server that a command starts. Does not return: it ends as the server does."""
    _hold_standard_descriptors()
    passed_on = [number for number in PASSED_ON if signal.getsignal(number) is not signal.SIG_IGN]
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [*passed_on, signal.SIGCHLD])
    try:
        server = process.start(command, mask)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        unknown = missing and os.sep not in command[0]
        _say(f"cannot start {command[0]}: {'there is no such command' if unknown else error.strerror}")
        os._exit(127 if missing else 126)
    process.keep_memory()
    recorder = Recorder(partial(_begin, command, out, time.time()))
    status = Session(server, recorder).watch(passed_on)
    recorder.close(RECORDER_PATIENCE)
    if warning := recorder.warning():
        _say(warning)
    process.leave(status)


def _begin(command: list[str], out: str | None, started: float) -> tuple[str, Transcript]:
    """Where the capture goes and what makes its lines: in the recorder's thread, the session being under way."""
    from mcpcheck.tap.begin import head, place
    from mcpcheck.tap.transcript import StdioTranscript

    return place(out, started, command[0]), StdioTranscript(head(started, "stdio", {"command": command}))


class Missed:
    """Chunks of a stream that are lost: how many lines they ended, and whether they left one unfinished."""

    def __init__(self) -> None:
        self.lines = 0
        self.open = False

    def add(self, item: bytes | None) -> None:
        """One more chunk that is lost."""
        if item:
            self.lines += item.count(b"\n")
            self.open = not item.endswith(b"\n")


class Session:
    """One tapped session: the pumps, and the wait for its end."""

    def __init__(self, server: process.Process, recorder: Recorder) -> None:
        self._server = server
        self._gone, self._goodbye = os.pipe()  # closing the second tells the pumps that the server is no more
        self._life = recorder.source("life", Missed)
        self._unfinished = {"s2c", "stderr"}
        sources = {name: recorder.source(name, Missed) for name in ("c2s", "s2c", "stderr")}
        self._pump(0, server.stdin, sources["c2s"], None)
        self._pump(server.stdout, 1, sources["s2c"], self._gone)
        self._pump(server.stderr, 2, sources["stderr"], self._gone)
        recorder.start()

    def _pump(self, source: int, sink: int, notes: Source, until: int | None) -> None:
        def run() -> None:
            try:
                whole = pump(source, sink, notes, until)
                notes.keep(b"" if whole else None, 0, always=True)
                notes.passed()
            finally:
                _let_go(source)
                _let_go(sink)
                self._unfinished.discard(notes.name)
                os.kill(os.getpid(), signal.SIGCHLD)  # the main thread looks again

        threading.Thread(target=run, name=notes.name, daemon=True).start()

    def watch(self, passed_on: Iterable[int]) -> int:
        """Pass signals on until the server has ended and all that it wrote has been passed on; the status it left."""
        signals = [*passed_on, signal.SIGCHLD]
        kill_at: float | None = None
        while (found := os.waitpid(self._server.pid, os.WNOHANG)) == (0, 0):
            number = _wait(signals, kill_at)
            if number == signal.SIGCHLD:
                continue
            if number is None:
                number, kill_at = signal.SIGKILL, None
            elif number == signal.SIGTERM and kill_at is None:
                kill_at = time.monotonic() + GRACE
            if not self._signal(number) and number == signal.SIGTERM:
                return int(signal.SIGTERM)
        os.close(self._goodbye)
        # A client that is slow to read gets all that was written, unless it asks for the end.
        while self._unfinished and _wait(signals, None) == signal.SIGCHLD:
            pass
        code = os.waitstatus_to_exitcode(found[1])
        self._life.keep(("exit", {"code": code} if code >= 0 else {"signal": -code}), 0, always=True)
        return found[1]

    def _signal(self, number: int) -> bool:
        """Pass a signal on. False where the server runs as somebody else: only the end of its pipes can reach it."""
        try:
            os.kill(self._server.pid, number)
        except PermissionError:
            return False
        return True


def _wait(numbers: list[int], deadline: float | None) -> int | None:
    """The next signal; None where the deadline comes first. One that the server has had already is none to pass on."""
    if not hasattr(signal, "sigtimedwait"):  # macOS
        return _wait_plainly(numbers, deadline)
    if deadline is None:
        found = signal.sigwaitinfo(numbers)
    else:
        timed = signal.sigtimedwait(numbers, max(0.0, deadline - time.monotonic()))
        if timed is None:
            return None
        found = timed
    return int(signal.SIGCHLD) if found.si_code == _FROM_TERMINAL else found.si_signo


def _wait_plainly(numbers: list[int], deadline: float | None) -> int | None:
    if deadline is None:
        return int(signal.sigwait(numbers))
    timer = threading.Timer(max(0.0, deadline - time.monotonic()), os.kill, (os.getpid(), signal.SIGCHLD))
    timer.start()
    number = int(signal.sigwait(numbers))
    timer.cancel()
    return None if time.monotonic() >= deadline else number


def _hold_standard_descriptors() -> None:
    """Give 0, 1 and 2 to something where they are closed, so that no pipe of ours gets their numbers."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _let_go(fd: int) -> None:
    """Close a descriptor; of the standard ones the number stays taken, and standard error stays until the end."""
    if fd > 2:
        os.close(fd)
    elif fd != 2:
        nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        os.dup2(nothing, fd)
        os.close(nothing)


def _say(text: str) -> None:
    with contextlib.suppress(OSError):
        os.write(2, f"mcpcheck tap: {text}\n".encode("utf-8", "replace"))
