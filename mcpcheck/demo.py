"""The built-in server, served over HTTP by a process of its own for as long as it takes."""

import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from mcpcheck.errors import PeerUnavailable

START = 20.0
"""Seconds that it has to say where it listens."""


@contextmanager
def served_over_http(command: Sequence[str]) -> Iterator[str]:
    """Start ``command --http 0``, which says on standard error where it listens; yields the URL and ends it after."""
    process = subprocess.Popen(
        [*command, "--http", "0"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        yield _address(process)
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stderr:
            process.stderr.close()


def _address(process: "subprocess.Popen[bytes]") -> str:
    """The URL on the first line that names one; the rest of standard error is read and dropped."""
    found: list[str] = []
    ready = threading.Event()

    def read() -> None:
        assert process.stderr
        for line in process.stderr:
            words = line.decode("utf-8", "replace").split()
            found.extend(word for word in words if word.startswith("http://"))
            if found:
                ready.set()
        ready.set()

    threading.Thread(target=read, daemon=True).start()
    ready.wait(START)
    if not found:
        raise PeerUnavailable("the built-in server did not start over HTTP")
    return found[0]
