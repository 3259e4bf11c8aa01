"""With the tap between them, two peers see the same bytes in the same order, and the capture holds all of them."""

import contextlib
import os
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpcheck.capture import open_capture
from mcpcheck.tap.recorder import Recorder, Source
from mcpcheck.tap.relay import pump
from mcpcheck.tap.stdio import Missed
from mcpcheck.tap.transcript import StdioTranscript
from tests.support.tap_process import tapped
from tests.support.tap_server import write
from tests.support.tap_streams import chunkings, events, rebuilt
from tests.tap.test_transcript import HEAD

WITHIN = 15.0
RECORDERS = ("works", "starts late", "has no room", "has no file", "is full", "breaks", "is gone")


class Gone(Source):
    """One who notes, and cannot: as if the recorder were not there."""

    def __init__(self, recorder: Recorder, name: str) -> None:
        super().__init__(recorder, name, Missed)
        recorder.queue = None  # type: ignore[assignment]


def broken() -> tuple[str, StdioTranscript]:
    raise ZeroDivisionError("on purpose")


class Wire:
    """Two pumps between a client and a server in this process, and a recorder in some state."""

    def __init__(self, state: str, path: Path) -> None:
        begin: Callable[[], tuple[str, StdioTranscript]] = lambda: (str(path), StdioTranscript(HEAD))  # noqa: E731
        self.recorder = Recorder(broken if state == "breaks" else begin)
        names = ("c2s", "s2c")
        self.sources: list[Source] = (
            [Gone(self.recorder, name) for name in names]
            if state == "is gone"
            else [self.recorder.source(name, Missed) for name in names]
        )
        if state == "has no room":
            self.recorder.queue.extend((0.0, "c2s", None, b"", 1 << 20) for _ in range(100))
            self.sources[0].noted += 100 << 20
        self.started = state in {"works", "has no file", "is full", "breaks"}
        if self.started:
            self.recorder.start()

    def run(self, chunks: dict[str, list[bytes]]) -> dict[str, bytes]:
        """What comes out of each direction when these chunks go in, both at the same time."""
        out: dict[str, bytes] = {}
        threads = [
            threading.Thread(target=work, args=args, daemon=True)
            for source in self.sources
            for work, args in self._ends(source, chunks[source.name], out)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WITHIN)
            assert not thread.is_alive()
        return out

    def _ends(
        self, notes: Source, chunks: list[bytes], out: dict[str, bytes]
    ) -> list[tuple[Callable[..., None], tuple[object, ...]]]:
        (source, feed), (end, sink) = os.pipe(), os.pipe()

        def relay() -> None:
            with contextlib.ExitStack() as closing:
                closing.callback(os.close, sink)
                closing.callback(os.close, source)
                notes.keep(b"" if pump(source, sink, notes) else None, 0, always=True)

        def send() -> None:
            for chunk in chunks:
                write(feed, chunk)
            os.close(feed)

        def receive() -> None:
            with open(end, "rb") as file:
                out[notes.name] = file.read()

        return [(relay, ()), (send, ()), (receive, ())]


@settings(deadline=None, max_examples=150)
@given(chunkings, chunkings, st.sampled_from(RECORDERS))
def test_bytes_out_equal_bytes_in_both_ways_whatever_the_recorder_does(
    up: list[bytes], down: list[bytes], state: str
) -> None:
    sent = {"c2s": up, "s2c": down}
    whole = {name: b"".join(chunks) for name, chunks in sent.items()}
    with tempfile.TemporaryDirectory() as folder:
        path = {"is full": Path("/dev/full"), "has no file": Path(folder, "nowhere", "x")}.get(state, Path(folder, "x"))
        wire = Wire(state, path)
        assert wire.run(sent) == whole
        if state == "starts late":
            wire.recorder.start()
        if state not in {"is gone", "has no room"}:
            wire.recorder.close(5)
        if state in {"works", "starts late"}:
            with open_capture(path) as capture:
                found = list(capture)
            assert rebuilt(found) == {**whole, "stderr": b""}
            assert capture.faults == []
            assert wire.recorder.warning() is None
        elif state == "is gone":
            assert not any(up + down) or wire.recorder.problem
        elif state in {"is full", "has no file", "breaks"}:
            assert wire.recorder.warning() is not None


def test_an_answer_never_stands_before_its_request(tmp_path: Path) -> None:
    """Many requests in one chunk, of which the first are answered while the rest of it is on its way."""
    count = 30_000
    asked = b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"m","params":{}}\n' % number for number in range(count))
    with tapped("echoes", capture=tmp_path / "s.ndjson") as session:
        session.send(asked)
        assert session.read(len(asked)) == asked
        session.close_input()
        assert session.wait() == 0
    ahead = 0
    for record in session.records():
        if record.data:
            ahead += 1 if record.dir == "c2s" else -1
            assert ahead >= 0
    assert ahead == 0


ODD = b"\r\n\n{}\r\n \xff\xfe\n[1,\n" + b'{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}\r\nno newline at the end'


@pytest.mark.parametrize(
    ("up", "down", "err"),
    [
        pytest.param(b"", b"", b"", id="nothing"),
        pytest.param(ODD, ODD[::-1], ODD * 3, id="odd"),
        pytest.param(os.urandom(300_000), os.urandom(200_000), os.urandom(100_000), id="random"),
        pytest.param(b"x" * (16 << 20) + b"\n", b"{}\n", b"", id="16 MiB from the client"),
        pytest.param(b"{}", b'{"s":"' + b"y" * (16 << 20) + b'"}\n', b"", id="16 MiB from the server"),
        pytest.param(b"a\n" * 10_000, b"[]\n" * 100_000, b"c\n" * 1000, id="many lines"),
    ],
)
def test_two_processes_see_the_same_bytes_and_the_capture_has_them_all(
    tmp_path: Path, up: bytes, down: bytes, err: bytes
) -> None:
    out, errors, heard = (tmp_path / name for name in ("out", "err", "heard"))
    out.write_bytes(down)
    errors.write_bytes(err)
    with tapped("plays", str(out), str(errors), str(heard), "7", capture=tmp_path / "s.ndjson") as session:
        said: list[bytes] = []
        listener = threading.Thread(target=lambda: said.append(session.errors()))
        listener.start()
        session.send(up)
        assert session.read(len(down)) == down
        session.close_input()
        assert session.wait() == 7
        assert session.read() == b""
        listener.join(WITHIN)
    assert said == [err]
    assert heard.read_bytes() == up
    found = session.records()
    assert rebuilt(found) == {"c2s": up, "s2c": down, "stderr": err}
    assert events(found)[0] == ("open", {})
    assert events(found)[-1] == ("exit", {"code": 7})
    assert [name for name, _ in events(found)].count("eof") == 2
