"""The recorder: a bounded queue, and a thread that writes down what is in it.

Whatever happens to the disk, the session goes on: units that could not be kept are counted, and a ``gap`` stands in
their place. The thread sleeps between looks at the queue instead of being woken for every chunk, which would cost the
session more than the writing does.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

LIMIT = 32 << 20
"""Bytes that may wait to be written down. Past it a unit is lost rather than kept waiting."""

PATIENCE = 0.02
"""Seconds that a pump gives a recorder that is at work and merely behind, once it has passed its chunk on."""

_LOOK = 0.05
_HURRY = 1 << 18


class Transcript(Protocol):
    """Turns what was noted into lines of a capture. It has no I/O and no clock."""

    def start(self) -> bytes:
        """What the capture begins with."""
        ...

    def see(self, channel: str, t: float, item: object) -> bytes:
        """The lines that an item completes."""
        ...

    def miss(self, channel: str, t: float, item: object) -> None:
        """An item that could not be kept."""
        ...

    def end(self, t: float) -> bytes:
        """The lines that were not complete."""
        ...

    @property
    def lost(self) -> int:
        """How many units were lost so far."""
        ...


class Recorder:
    """Takes notes from any thread, and never raises and never holds one up for longer than its patience."""

    def __init__(self, open_: Callable[[], "Sink"], transcript: Callable[[], Transcript]) -> None:
        self._open = open_
        self._new_transcript = transcript
        self._queue: deque[tuple[float, str, object, bool]] = deque()
        self._noted: dict[str, int] = {}  # bytes by channel: each is counted up by one thread only
        self._taken = 0
        self._awake = threading.Event()
        self._closing = False
        self._began = time.monotonic()
        self.problem: str | None = None
        self.lost = 0
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)

    def start(self) -> None:
        """Start the thread. Only there the rest of mcpcheck is imported: the session does not wait for it."""
        self._thread.start()

    def note(self, channel: str, item: object, size: int) -> None:
        """Keep an item that was passed on. Called by one thread for each channel."""
        t = time.monotonic() - self._began
        waiting = sum(self._noted.values()) - self._taken
        if waiting + size > LIMIT and not self._room(size):
            self._queue.append((t, channel, item if size < 64 else _outline(item), False))
            return
        self._noted[channel] = self._noted.get(channel, 0) + size
        self._queue.append((t, channel, item, True))
        if waiting > _HURRY:
            self._awake.set()
