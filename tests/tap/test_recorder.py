"""The recorder: whatever happens to it, who notes goes on; what it could not keep is counted."""

import os
import stat
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mcpcheck.capture import open_capture
from mcpcheck.tap import recorder as module
from mcpcheck.tap.recorder import Recorder, Source, Transcript
from mcpcheck.tap.stdio import Missed
from mcpcheck.tap.transcript import StdioTranscript
from mcpcheck.wire.record import Record
from tests.support.tap_streams import events, rebuilt
from tests.tap.test_transcript import HEAD

LINE = b'{"jsonrpc":"2.0","id":1,"method":"m"}\n'


def recorder(path: Path) -> tuple[Recorder, Source]:
    made = Recorder(lambda: (str(path), StdioTranscript(HEAD)))
    return made, made.source("c2s", Missed)


def records(path: Path) -> list[Record]:
    with open_capture(path) as capture:
        found = list(capture)
        assert capture.faults == []
    return found


@pytest.fixture
def fifo(tmp_path: Path) -> Iterator[Path]:
    """A file whose every write waits for ever, as on a disk that does not answer."""
    path = tmp_path / "slow"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    yield path
    os.close(reader)


def soon(condition: Callable[[], bool]) -> None:
    """Wait for what another thread brings about."""
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        threading.Event().wait(0.001)


def test_what_is_noted_is_in_the_file_in_its_order(tmp_path: Path) -> None:
    made, notes = recorder(tmp_path / "s.ndjson")
    made.start()
    for number in range(1000):
        notes.note(b"%d\n" % number, 9)
    made.close(5)
    assert made.warning() is None
    assert rebuilt(records(tmp_path / "s.ndjson"))["c2s"] == b"".join(b"%d\n" % n for n in range(1000))
    assert stat.S_IMODE((tmp_path / "s.ndjson").stat().st_mode) == 0o600


def test_what_is_noted_while_the_file_is_written_does_not_wait_for_the_next_note(tmp_path: Path) -> None:
    made, notes = recorder(tmp_path / "s.ndjson")
    made.start()
    for number in range(1, 200):
        notes.note(LINE, len(LINE))
        if number % 20 == 0:
            soon(lambda: made.waiting == 0)
    soon(lambda: made.waiting == 0)
    made.close(5)


def test_a_full_queue_loses_lines_and_counts_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIMIT", 100_000)
    made, notes = recorder(tmp_path / "s.ndjson")
    for _ in range(2000):
        notes.keep(LINE, len(LINE))
    made.start()
    soon(lambda: made.waiting == 0)
    notes.note(b"after\n", 6)
    notes.note(b"", 0)
    made.close(5)
    found = records(tmp_path / "s.ndjson")
    kept = rebuilt(found)["c2s"]
    lost = 2000 - kept.count(LINE)
    assert lost > 1000
    assert events(found) == [("open", {}), ("gap", {"lost": lost}), ("eof", {})]
    assert kept.endswith(b"after\n")
    assert made.warning() == f"{lost} lines are missing from {tmp_path / 's.ndjson'}"


def test_the_end_of_a_stream_is_kept_where_nothing_else_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIMIT", 0)
    made, notes = recorder(tmp_path / "s.ndjson")
    for _ in range(100):
        notes.keep(LINE, len(LINE))
    notes.keep(b"", 0, always=True)
    made.start()
    made.close(5)
    lost = 100 - rebuilt(records(tmp_path / "s.ndjson"))["c2s"].count(LINE)
    assert events(records(tmp_path / "s.ndjson"))[1:] == [("gap", {"lost": lost}), ("eof", {})]


def test_a_full_disk_costs_a_gap_and_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = threading.Event()
    write = os.write

    def put(fd: int, data: memoryview) -> int:
        if full.is_set():
            if len(data) > 10:
                return write(fd, data[:10])
            raise OSError(28, "No space left on device")
        return write(fd, data)

    monkeypatch.setattr(os, "write", put)
    made, notes = recorder(tmp_path / "s.ndjson")
    made.start()
    notes.note(b"before\n", 7)
    soon(lambda: made.waiting == 0)
    full.set()
    for _ in range(3):
        notes.note(b"during\n", 7)
        soon(lambda: made.waiting == 0)
    full.clear()
    notes.note(b"after\n", 6)
    made.close(5)
    found = records(tmp_path / "s.ndjson")
    assert [record.data or record.detail for record in found[1:]] == [b"before", {"lost": 3}, b"after"]
    assert [record.n for record in found] == [1, 2, 3, 6]
    assert "3 lines are missing" in (made.warning() or "")
    assert "No space left" in (made.warning() or "")


def test_what_of_a_burst_has_room_on_the_disk_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = 500
    write = os.write

    def put(fd: int, data: memoryview) -> int:
        left = room - os.fstat(fd).st_size
        if left <= 0:
            raise OSError(28, "No space left on device")
        return write(fd, data[:left])

    made, notes = recorder(tmp_path / "s.ndjson")
    for number in range(100):
        notes.keep(b"%d\n" % number, 9)
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", put)
        made.start()
        soon(lambda: made.waiting == 0)
        soon(lambda: not made.awake.is_set())
        made.close(5)
    assert (tmp_path / "s.ndjson").read_bytes().endswith(b"}\n")
    found = rebuilt(records(tmp_path / "s.ndjson"))["c2s"]
    kept = found.count(b"\n")
    assert 0 < kept < 20
    assert found == b"".join(b"%d\n" % number for number in range(kept))
    assert (made.warning() or "").startswith(f"{100 - kept} lines are missing")


def test_a_disk_that_does_not_answer_holds_nobody_up(fifo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIMIT", 8 << 20)
    monkeypatch.setattr(module, "BEHIND", 4 << 20)
    made, notes = recorder(fifo)
    made.start()
    chunk = LINE * 1000
    slowest = 0.0
    for _ in range(500):
        start = time.monotonic()
        notes.note(chunk, len(chunk))
        slowest = max(slowest, time.monotonic() - start)
    assert slowest < 5
    assert made.waiting <= module.LIMIT
    made.close(0.05)
    assert "does not answer" in (made.warning() or "")


def test_a_folder_that_is_not_there_is_named_and_nothing_piles_up(tmp_path: Path) -> None:
    made, notes = recorder(tmp_path / "nowhere" / "s.ndjson")
    made.start()
    for _ in range(1000):
        notes.note(LINE, len(LINE))
    soon(lambda: made.waiting == 0)
    made.close(5)
    assert made.warning() == f"nothing is recorded: {tmp_path / 'nowhere' / 's.ndjson'}: No such file or directory"


def test_a_file_that_was_taken_away_is_told(tmp_path: Path) -> None:
    made, notes = recorder(tmp_path / "s.ndjson")
    made.start()
    notes.note(LINE, len(LINE))
    soon((tmp_path / "s.ndjson").exists)
    (tmp_path / "s.ndjson").unlink()
    made.close(5)
    assert "it is gone" in (made.warning() or "")


def test_another_file_in_its_place_is_told(tmp_path: Path) -> None:
    made, notes = recorder(tmp_path / "s.ndjson")
    made.start()
    notes.note(LINE, len(LINE))
    soon((tmp_path / "s.ndjson").exists)
    (tmp_path / "s.ndjson").rename(tmp_path / "moved")
    (tmp_path / "s.ndjson").touch()
    made.close(5)
    assert "another file" in (made.warning() or "")


def broken() -> tuple[str, Transcript]:
    raise ZeroDivisionError("on purpose")


def test_a_fault_of_the_recorder_is_said_and_harms_nobody() -> None:
    made = Recorder(broken)
    notes = made.source("c2s", Missed)
    made.start()
    for _ in range(1000):
        notes.note(LINE, len(LINE))
    soon(lambda: made.waiting == 0)
    made.close(5)
    assert "a fault of mcpcheck's own" in (made.warning() or "")
    assert "on purpose" in (made.warning() or "")


def test_a_recorder_that_is_behind_gets_time_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIMIT", 8 << 20)
    monkeypatch.setattr(module, "BEHIND", 4 << 20)
    monkeypatch.setattr(module, "PATIENCE", 20.0)
    monkeypatch.setattr(module, "DISK_PATIENCE", 20.0)
    made, notes = recorder(tmp_path / "s.ndjson")
    made.start()
    chunk = LINE * 1000
    for _ in range(300):
        notes.note(chunk, len(chunk))
        assert made.waiting <= module.BEHIND + len(chunk) + 200
    made.close(5)
    assert made.warning() is None
    assert rebuilt(records(tmp_path / "s.ndjson"))["c2s"] == chunk * 300
