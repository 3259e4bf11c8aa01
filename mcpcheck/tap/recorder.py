"""The recorder: a bounded queue, and a thread that writes down what is in it.

Whatever happens to the disk, the session goes on: units that could not be kept are counted, and a ``gap`` stands in
their place. The thread is woken once for a burst and looks at the queue a moment later, not once for every chunk: to
wake it costs a session more than to write does.

The order of the queue is the order of the capture. Who puts an item there before it passes it on can be sure that the
answer to it stands after it.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

LIMIT = 32 << 20
"""Bytes that may wait to be written down. What comes past it is lost."""

BEHIND = 16 << 20
"""Bytes past which the recorder is given time to catch up."""

PATIENCE = 0.25
"""Seconds that it may take for that, once the chunk itself has been passed on."""

DISK_PATIENCE = 0.02
"""Seconds that it may take where it is the disk that holds it up."""

LONGEST_WORK = 30.0
"""Seconds that one item may take: a line of many mebibytes on a busy machine."""

_BURST = 0.02
_FEW = 64  # items that need no count of their bytes
_LOOK = 1.0  # seconds after which the queue is looked at all the same: the chunk in it may be slow to be taken
_BATCH = 1 << 20
_OVERHEAD = 200


class Missed(Protocol):
    """What a source noted and the queue had no room for, in little space."""

    def add(self, item: Any) -> None:
        """One more item that is lost."""


class Transcript(Protocol):
    """Turns what was noted into lines of a capture. It has no I/O and no clock; ``n`` counts the lines."""

    n: int
    lost: int

    def start(self) -> bytes:
        """What the capture begins with."""

    def see(self, t: float, source: str, missed: Any, item: Any) -> bytes:
        """The lines that an item completes; before it, what was missed."""

    def end(self, t: float, missed: dict[str, Any]) -> bytes:
        """The lines that nothing completed, and what was missed at the end."""

    def gap(self, n: int, t: float, lost: int) -> bytes:
        """The line that says that lines were lost on their way to the disk."""


class Source:
    """One of those that note. Each belongs to one thread."""

    def __init__(self, recorder: "Recorder", name: str, missed: Callable[[], Missed]) -> None:
        self.name = name
        self.noted = 0
        self.missed: Missed | None = None
        self._new_missed = missed
        self._recorder = recorder

    def note(self, item: Any, size: int) -> None:
        """Keep an item that has been passed on. Never raises, and never takes longer than the recorder's patience."""
        self.keep(item, size)
        self.passed()

    def keep(self, item: Any, size: int, *, always: bool = False) -> None:
        """Put an item in the queue; count it where there is no room, but for some. Never waits, and never raises."""
        recorder = self._recorder
        t = time.monotonic() - recorder.began
        size += _OVERHEAD
        try:
            if len(recorder.queue) > _FEW and recorder.waiting + size > LIMIT and not always:
                if self.missed is None:
                    self.missed = self._new_missed()
                self.missed.add(item)
                return
            self.noted += size
            recorder.queue.append((t, self.name, self.missed, item, size))
            self.missed = None
        except Exception as error:
            recorder.fault(error)

    def passed(self) -> None:
        """Wake the recorder; where it is behind, give it the time that patience allows. Never raises."""
        recorder = self._recorder
        try:
            if not recorder.awake.is_set():
                recorder.awake.set()
            if len(recorder.queue) > _FEW and recorder.waiting > BEHIND:
                recorder.catch_up()
        except Exception as error:
            recorder.fault(error)


class Recorder:
    """Writes what its sources note to a file. ``begin`` says where to and as what; it runs in the recorder's thread."""

    def __init__(self, begin: Callable[[], tuple[str, Transcript]]) -> None:
        self.began = time.monotonic()
        self.queue: deque[tuple[float, str, Missed | None, Any, int]] = deque()
        self.awake = threading.Event()
        self.problem: str | None = None
        self.lost = 0
        self.path = "the capture"
        self._begin = begin
        self._sources: list[Source] = []
        self._taken = 0
        self._writing: float | None = None
        self._writes = False
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)

    def source(self, name: str, missed: Callable[[], Missed]) -> Source:
        """Someone who may note, from a thread of their own."""
        source = Source(self, name, missed)
        self._sources.append(source)
        return source

    def start(self) -> None:
        """Start to write. What it takes to write is imported there: the session does not wait for it."""
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Bytes that are noted and not yet written down."""
        return sum(source.noted for source in self._sources) - self._taken

    def catch_up(self) -> None:
        """Wait as long as patience allows; less where the disk is what holds the recorder up."""
        end = time.monotonic() + PATIENCE
        while self.waiting > BEHIND and (now := time.monotonic()) < end and self._thread.is_alive():
            since = self._writing
            if since is not None and now - since > DISK_PATIENCE:
                return
            time.sleep(0.001)

    def fault(self, error: Exception) -> None:
        """Something went wrong in here; the session goes on."""
        self.problem = f"a fault of mcpcheck's own, please report it: {error!r}"

    def close(self, within: float) -> None:
        """Write down what is waiting; give up when the disk has taken nothing for ``within`` seconds."""
        self._closing.set()
        self.awake.set()
        moved, taken = time.monotonic(), self._taken
        while self._thread.is_alive():
            now = time.monotonic()
            if self._taken != taken:
                moved, taken = now, self._taken
            since = self._writing
            if now - moved > LONGEST_WORK or (since is not None and now - since > within):
                self.problem = "the disk does not answer"
                return
            self._thread.join(min(within, 0.1))

    def warning(self) -> str | None:
        """What the user has to know of the capture, in one sentence; None where all of it is there."""
        if not self._writes:
            return f"nothing is recorded: {self.path}: {self.problem}"
        if self.lost:
            return f"{self.lost} lines are missing from {self.path}" + (f": {self.problem}" if self.problem else "")
        return f"{self.path} is not complete: {self.problem}" if self.problem else None

    def _run(self) -> None:
        try:
            self._record()
        except OSError as error:
            self.path = str(error.filename or self.path)
            self.problem = error.strerror or str(error)
        except Exception as error:
            self.fault(error)
        while not self._closing.is_set():  # nothing can be kept any more, and nothing is to pile up
            self.awake.wait()
            self.awake.clear()
            self._discard()

    def _discard(self) -> None:
        while self.queue:
            self._taken += self.queue.popleft()[-1]

    def _record(self) -> None:
        self._writing = time.monotonic()
        self.path, transcript = self._begin()
        file = CaptureFile(self.path, transcript)
        self._writing = None
        self._writes = True
        self._write(file, transcript.start())
        closing = False
        while not closing:
            self.awake.wait(_LOOK)
            closing = self._closing.wait(_BURST)
            self.awake.clear()
            self._drain(file, transcript)
        now = time.monotonic() - self.began
        missed = {source.name: source.missed for source in self._sources if source.missed is not None}
        self._write(file, transcript.end(now, missed))
        file.close(now)
        self.lost = transcript.lost + file.lost
        self.problem = file.problem or self.problem

    def _drain(self, file: "CaptureFile", transcript: Transcript) -> None:
        batch: list[bytes] = []
        held = 0
        while self.queue:
            t, source, missed, item, size = self.queue.popleft()
            lines = transcript.see(t, source, missed, item)
            self._taken += size
            if lines:
                batch.append(lines)
                held += len(lines)
                if held > _BATCH:
                    self._write(file, b"".join(batch))
                    batch.clear()
                    held = 0
        self._write(file, b"".join(batch))

    def _write(self, file: "CaptureFile", lines: bytes) -> None:
        self._writing = time.monotonic()
        file.write(lines, self._writing - self.began)
        self._writing = None


class CaptureFile:
    """The file: holds whole lines only. Lines that do not reach it are counted, and a gap is written in their place."""

    def __init__(self, path: str, transcript: Transcript) -> None:
        from mcpcheck.capture.file import create

        self.path = path
        self.lost = 0
        self.problem: str | None = None
        self._file = create(path)
        self._fd = self._file.fileno()
        self._transcript = transcript
        self._end = 0  # where the last whole line ends
        self._gap = 0  # lines that a gap has still to be written for
        self._next = 0  # the number of the first of them

    def write(self, lines: bytes, t: float) -> None:
        """Write lines; of those that cannot be written, leave nothing in the file."""
        if not lines:
            return
        gap = self._transcript.gap(self._next, t, self._gap) if self._gap else b""
        data = gap + lines
        kept = self._put(data, len(gap))
        if kept:
            self._gap = 0
        if kept == len(data):
            return
        lost = data.count(b"\n", kept or len(gap))
        if not self._gap:
            self._next = self._transcript.n - lost + 1
        self._gap += lost
        self.lost += lost

    def close(self, t: float) -> None:
        """Write what is owed, and see whether the file is still where it was."""
        if self._gap:
            self._put(self._transcript.gap(self._next, t, self._gap))
        try:
            here, there = os.fstat(self._fd), os.stat(self.path)
            if (here.st_dev, here.st_ino) != (there.st_dev, there.st_ino):
                self.problem = "another file stands in its place now"
        except OSError as error:
            self.problem = self.problem or f"it is gone: {error.strerror}"
        self._file.close()

    def _put(self, data: bytes, alone: int = 0) -> int:
        """Append data; the length of the whole lines of it that are in the file now. The first bytes are none alone."""
        done = 0
        try:
            with memoryview(data) as view:
                while done < len(data):
                    done += os.write(self._fd, view[done:])
            kept = done
        except OSError as error:
            self.problem = error.strerror
            kept = data.rfind(b"\n", alone, done) + 1
        self._end += kept
        if kept < done:
            self._forget()
        return kept

    def _forget(self) -> None:
        """Take half a line back off the file; where that cannot be done, no more may follow it."""
        try:
            os.ftruncate(self._fd, self._end)
            os.lseek(self._fd, self._end, os.SEEK_SET)
        except OSError:
            devnull = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
            os.dup2(devnull, self._fd, inheritable=False)
            os.close(devnull)
