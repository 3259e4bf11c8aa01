"""Captures as files: what is written is read again, and what is broken is named."""

import io
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpcheck.capture import Header, Writer, create, open_capture, read, write_capture
from mcpcheck.errors import UsageError
from mcpcheck.wire.record import Dir, Kind, Record, RequestHead, ResponseHead
from tests.capture.test_format import records

HEADER = Header("2026-11-30T21:24:00.123456Z", "stdio", {"command": ["server"]}, "mcpcheck 0.1.0")
SCHEMA = jsonschema_rs.validator_for(
    json.loads((Path(__file__).parents[2] / "specs" / "capture.schema.json").read_text(encoding="utf-8"))
)


def session() -> list[Record]:
    """One record of every kind."""
    head = RequestHead("POST", "/mcp", (("Host", "a"), ("Accept", "b"), ("accept", "c")))
    return [
        Record(1, 0.0, Dir.C2S, Kind.EVENT, event="open"),
        Record(2, 0.1, Dir.C2S, Kind.LINE, b'{"a":1}'),
        Record(3, 0.1, Dir.S2C, Kind.LINE, b"banner", end=b"\r\n"),
        Record(4, 0.1, Dir.S2C, Kind.LINE, b"\xff", end=b""),
        Record(5, 0.2, Dir.S2C, Kind.STDERR, b"warning"),
        Record(6, 0.3, Dir.C2S, Kind.HEAD, exchange=1, http=head),
        Record(7, 0.3, Dir.C2S, Kind.BODY, b'{\n"a": 1}', exchange=1),
        Record(8, 0.4, Dir.S2C, Kind.HEAD, exchange=1, http=ResponseHead(200, "OK")),
        Record(9, 0.4, Dir.S2C, Kind.SSE, b": hi\n\n", exchange=1),
        Record(10, 0.4, Dir.S2C, Kind.SSE, b"id: 1\ndata: {}\n\n", exchange=1),
        Record(11, 0.5, Dir.S2C, Kind.EVENT, exchange=1, event="abort", detail={"reason": "reset"}),
        Record(12, 0.6, Dir.S2C, Kind.EVENT, event="gap", detail={"lost": 3}),
        Record(13, 0.7, Dir.S2C, Kind.EVENT, event="exit", detail={"code": 0}),
    ]


def written(*records_: Record) -> bytes:
    stream = io.BytesIO()
    writer = Writer(stream, HEADER)
    for record in records_:
        writer.write(record)
    return stream.getvalue()


def test_what_is_written_is_read_again() -> None:
    capture = read(io.BytesIO(written(*session())))
    assert capture.header == HEADER
    assert list(capture) == session()
    assert capture.faults == []


@given(st.lists(records(), max_size=4))
def test_every_line_fits_the_schema(drawn: list[Record]) -> None:
    for line in written(*session(), *drawn).split(b"\n")[:-1]:
        try:
            value = json.loads(line)
        except ValueError:  # digits past what Python's own reader takes
            continue
        assert [error.message for error in SCHEMA.iter_errors(value)] == []


@pytest.mark.parametrize(
    "line",
    [
        {"n": 0, "t": 0, "dir": "c2s", "msg": 1},
        {"n": 1, "t": 0, "dir": "c2s"},
        {"n": 1, "t": 0, "dir": "c2s", "msg": 1, "event": "eof"},
        {"n": 1, "t": 0, "dir": "c2s", "ch": "stderr", "msg": 1},
        {"n": 1, "t": 0, "dir": "c2s", "raw": "", "raw_b64": ""},
        {"mcpcheck": "capture/2", "started": "", "transport": "stdio", "target": {}, "by": ""},
    ],
)
def test_the_schema_refuses_what_is_no_line(line: object) -> None:
    assert not SCHEMA.is_valid(line)


def test_a_file_that_breaks_off_yields_what_is_whole_and_says_so() -> None:
    whole = written(*session())
    start = whole.rindex(b'{"n":13')
    for cut in range(start + 1, len(whole) - 1):
        capture = read(io.BytesIO(whole[:cut]), "x.ndjson")
        assert list(capture) == session()[:-1]
        assert capture.faults == ["x.ndjson breaks off in the middle of line 14; what is before it is whole"]


def test_a_last_line_without_its_newline_is_whole() -> None:
    capture = read(io.BytesIO(written(*session())[:-1]))
    assert list(capture) == session()
    assert capture.faults == []


def test_blank_lines_between_records_are_passed_over() -> None:
    assert list(read(io.BytesIO(written(*session()).replace(b"\n", b"\n\n")))) == session()


def test_a_damaged_line_is_named_after_what_is_before_it() -> None:
    lines = written(*session()).split(b"\n")
    lines[3] = lines[3][:-2]
    found = iter(read(io.BytesIO(b"\n".join(lines)), "x.ndjson"))
    assert [next(found).n, next(found).n] == [1, 2]
    with pytest.raises(UsageError, match=r"x\.ndjson, line 4: .* damaged"):
        next(found)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "is empty"),
        (b"\n", "is empty"),
        (b'{"jsonrpc":"2.0"}\n', "is no capture: .*mcpcheck tap"),
        (b"\x89PNG", "is no capture"),
        (b'{"mcpcheck":"capture/9"}\n', "the format 'capture/9'.*newer"),
    ],
)
def test_what_is_no_capture_is_refused_with_what_to_do(text: bytes, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        read(io.BytesIO(text))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere\.ndjson: No such file"):
        open_capture(tmp_path / "nowhere.ndjson")


def test_a_capture_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.ndjson"
    for mode in (None, 0o644):
        if mode:
            os.chmod(path, mode)
        write_capture(path, HEADER, session())
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with open_capture(path) as capture:
        assert list(capture) == session()


def test_a_capture_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.ndjson"
    with create(path) as stream:
        stream.write(b"mine")
        with pytest.raises(OSError, match="another session"):
            create(path)
    assert path.read_bytes() == b"mine"
    create(path).close()
    assert path.read_bytes() == b""


def test_writing_to_a_device_leaves_its_mode_alone() -> None:
    before = os.stat(os.devnull).st_mode
    write_capture(os.devnull, HEADER, session())
    assert os.stat(os.devnull).st_mode == before


def test_a_secret_never_reaches_the_file(tmp_path: Path) -> None:
    path = tmp_path / "s.ndjson"
    head = RequestHead("GET", "/mcp?api_key=abc123", (("Authorization", "Bearer abc123"),))
    target = Header(HEADER.started, "stdio", {"command": ["server", "--token", "abc123", "TOKEN=abc123"]}, HEADER.by)
    records_ = [
        Record(1, 0.0, Dir.C2S, Kind.HEAD, exchange=1, http=head),
        Record(2, 0.0, Dir.C2S, Kind.LINE, b'{"params":{"password":"abc123"}}'),
    ]
    write_capture(path, target, records_)
    assert b"abc123" not in path.read_bytes()


def test_reading_keeps_no_more_than_a_line_in_memory() -> None:
    class Endless(io.RawIOBase):
        """A capture that has no end."""

        def __init__(self) -> None:
            self.lines: Iterator[bytes] = iter(written(*session()).splitlines(keepends=True))

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            line = next(self.lines, b'{"n":14,"t":1,"dir":"c2s","msg":{}}\n')
            memoryview(buffer)[: len(line)] = line
            return len(line)

    capture = read(Endless())  # type: ignore[arg-type]
    assert sum(1 for _ in zip(capture, range(5000), strict=False)) == 5000
