"""A pump: one direction of a session on raw descriptors. Nothing stands between a chunk and the other end.

Each direction has its own thread and blocks for nobody else: a server that does not read its input can still speak.
A chunk takes its place in the recorder's queue before it goes on, since the answer to it, which the other direction's
pump may have at once, has to come after it; all that costs time is done once it is on its way.
"""

import os
import select
from typing import Protocol

CHUNK = 1 << 16


class Notes(Protocol):
    """Who remembers the chunks of one direction."""

    def keep(self, chunk: bytes, size: int) -> None:
        """Put a chunk where it has its place. Never waits, and never raises."""

    def passed(self) -> None:
        """The chunk is on its way: a wait, if there has to be one, comes here. Never raises."""


def pump(source: int, sink: int, notes: Notes, until: int | None = None) -> bool:
    """Copy source to sink to the end. False where the sink went away.

    ``until`` becomes readable when nobody is left who would write to the source: then what is in it is the rest of it,
    though somebody (a grandchild) may hold it open for ever.
    """
    poll = None
    if until is not None:
        poll = select.poll()
        poll.register(source, select.POLLIN)
        poll.register(until, select.POLLIN)
    while True:
        if poll is not None and source not in [fd for fd, _ in poll.poll()]:
            return True
        chunk = read(source)
        if not chunk:
            return True
        notes.keep(chunk, len(chunk))
        taken = write(sink, chunk)
        notes.passed()
        if not taken:
            return False


def read(source: int) -> bytes:
    """The next chunk; nothing at the end, which is also where a terminal or a socket breaks off."""
    while True:
        try:
            return os.read(source, CHUNK)
        except BlockingIOError:  # somebody else made it so; that is theirs to keep
            _wait(source, select.POLLIN)
        except OSError:
            return b""


def write(sink: int, data: bytes) -> bool:
    """Write all of it, however long that takes. False where there is nobody to take it."""
    at = 0
    while at < len(data):
        try:
            at += os.write(sink, data[at:] if at else data)
        except BlockingIOError:
            _wait(sink, select.POLLOUT)
        except OSError:
            return False
    return True


def _wait(fd: int, what: int) -> None:
    poll = select.poll()
    poll.register(fd, what)
    poll.poll()
