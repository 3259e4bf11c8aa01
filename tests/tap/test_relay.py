"""The pump: bytes out equal bytes in, in order, whatever becomes of what it notes."""

import contextlib
import os
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpcheck.tap import relay
from mcpcheck.tap.relay import pump
from tests.support.tap_server import write
from tests.support.tap_streams import chunkings

WITHIN = 15.0


class Kept:
    """Remembers chunks, and what had been kept when each was on its way."""

    def __init__(self) -> None:
        self.chunks: list[bytes] = []
        self.passes: list[int] = []

    def keep(self, chunk: bytes, size: int) -> None:
        assert size == len(chunk)
        self.chunks.append(chunk)

    def passed(self) -> None:
        self.passes.append(len(self.chunks))


class Pipes:
    """A pump between two pipes, and the test at the far end of each."""

    def __init__(self, blocking: bool = True) -> None:
        (self.source, self.feed), (self.out, self.sink) = os.pipe(), os.pipe()
        os.set_blocking(self.source, blocking)
        os.set_blocking(self.sink, blocking)
        self.notes = Kept()
        self.whole: bool | None = None
        self._open = {self.source, self.feed, self.out, self.sink}
        self._threads: list[threading.Thread] = []

    def close(self, *fds: int) -> None:
        for fd in set(fds) & self._open:
            self._open.discard(fd)
            os.close(fd)

    def _start(self, work: threading.Thread) -> None:
        self._threads.append(work)
        work.start()

    def run(self, until: int | None = None) -> None:
        def work() -> None:
            self.whole = pump(self.source, self.sink, self.notes, until)
            self.close(self.sink)

        self._start(threading.Thread(target=work, daemon=True))

    def send(self, *chunks: bytes) -> None:
        def work() -> None:
            with contextlib.suppress(OSError):
                for chunk in chunks:
                    write(self.feed, chunk)
            self.close(self.feed)

        self._start(threading.Thread(target=work, daemon=True))

    def receive(self) -> bytes:
        parts = []
        while part := os.read(self.out, 1 << 16):
            parts.append(part)
        return b"".join(parts)

    def end(self) -> None:
        for thread in self._threads:
            thread.join(WITHIN)
            assert not thread.is_alive()


@contextlib.contextmanager
def pipes(*, blocking: bool = True) -> Iterator[Pipes]:
    made = Pipes(blocking)
    try:
        yield made
        made.end()
    finally:
        made.close(made.source, made.feed, made.out, made.sink)


@settings(deadline=None)
@given(chunkings, st.booleans())
def test_bytes_out_equal_bytes_in(chunks: list[bytes], blocking: bool) -> None:
    with pipes(blocking=blocking) as made:
        made.run()
        made.send(*chunks)
        assert made.receive() == b"".join(chunks) == b"".join(made.notes.chunks)
    assert made.whole is True


@pytest.mark.parametrize("blocking", [True, False])
def test_a_line_of_sixteen_mebibytes_passes(blocking: bool) -> None:
    line = os.urandom(1 << 20).replace(b"\n", b"-") * 16 + b"\n"
    with pipes(blocking=blocking) as made:
        made.run()
        made.send(line)
        assert made.receive() == line
    assert b"".join(made.notes.chunks) == line


def test_a_chunk_has_its_place_before_the_other_end_can_answer_it() -> None:
    with pipes() as made:
        made.run()
        for at in range(1, 4):
            write(made.feed, b"request\n")
            assert os.read(made.out, 100) == b"request\n"
            assert len(made.notes.chunks) == at
        made.close(made.feed)
    assert made.notes.passes == [1, 2, 3]


def test_a_sink_that_has_gone_ends_the_pump() -> None:
    with pipes() as made:
        made.close(made.out)
        made.run()
        made.send(b"to nobody\n")
    assert made.whole is False
    assert made.notes.chunks == [b"to nobody\n"]


def test_when_the_writer_is_gone_the_pump_takes_what_is_there_and_ends_though_the_pipe_is_open() -> None:
    gone, goodbye = os.pipe()
    with pipes() as made:
        write(made.feed, b"the last word")
        os.close(goodbye)
        made.run(until=gone)
        assert made.receive() == b"the last word"
    os.close(gone)
    assert made.whole is True


def test_a_source_that_breaks_off_is_at_its_end() -> None:
    folder = os.open("/", os.O_RDONLY)
    assert relay.read(folder) == b""
    os.close(folder)
