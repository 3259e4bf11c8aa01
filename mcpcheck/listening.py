"""Child processes that say on standard error where they listen: the demo server, a tap in front of a URL."""

import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from mcpcheck.errors import PeerUnavailable

START = 20.0
"""Seconds that a process has to say where it listens."""


@contextmanager
def listening(command: Sequence[str]) -> Iterator[str]:
    """Run a command; yields the first URL that it names, and ends it afterwards."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        yield _first_url(process)
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _first_url(process: "subprocess.Popen[bytes]") -> str:
    """The first URL on standard error; the rest of it is read and dropped, so that the process never blocks."""
    found: list[str] = []
    said: list[str] = []
    ready = threading.Event()

    def read() -> None:
        assert process.stderr
        with process.stderr as stream:
            for line in stream:
                text = line.decode("utf-8", "replace")
                said.append(text)
                found.extend(word for word in text.split() if word.startswith("http://"))
                if found:
                    ready.set()
        ready.set()

    threading.Thread(target=read, daemon=True).start()
    ready.wait(START)
    if not found:
        raise PeerUnavailable(f"{process.args!r} did not say where it listens: {''.join(said)[-500:]}")
    return found[0]
