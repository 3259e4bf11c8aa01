"""Files as lines: compressed or not, whole or not, and what is no text."""

import gzip
import io
import sys
from pathlib import Path

import pytest

from mcpcheck.capture import source as source_module
from mcpcheck.capture.source import LongLine, Source
from mcpcheck.errors import UsageError


def lines(source: Source) -> list[bytes]:
    return list(iter(source.next_line, b""))


def test_lines_are_counted_and_can_be_given_back() -> None:
    source = Source(io.BytesIO(b"a\nb\nc"), "x")
    assert (source.next_line(), source.next_line(), source.line) == (b"a\n", b"b\n", 2)
    source.push_back(b"b\n")
    source.push_back(b"a\n")
    assert source.line == 0
    assert (lines(source), source.line) == ([b"a\n", b"b\n", b"c"], 3)


def test_what_is_given_back_without_an_end_goes_on_where_it_broke_off() -> None:
    source = Source(io.BytesIO(b"abc\nd\n"), "x")
    source.push_back(source.next_line()[:2])
    assert lines(source) == [b"abd\n"]


def test_the_rest_is_read_up_to_a_limit() -> None:
    source = Source(io.BytesIO(b"a\nb\nc\n"), "x")
    source.next_line()
    assert source.rest(100) == b"b\nc\n"
    assert len(Source(io.BytesIO(b"x" * 100), "x").rest(10)) == 11


def test_gzip_is_read_through(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(b"a\nb\n"))
    with Source.open(path) as source:
        assert lines(source) == [b"a\n", b"b\n"]
        assert source.share == 1.0


def test_gzip_that_breaks_off_or_is_damaged_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    text = b"".join(b"%d\n" % number for number in range(200_000))
    packed = gzip.compress(text, 1)
    for damaged, says in (
        (packed[:-2000], "breaks off"),
        (packed[:60_000] + b"\xff" * 3000 + packed[63_000:], "damaged from here"),
    ):
        source = Source(io.BytesIO(damaged), "x.gz")
        found = lines(source)
        assert 1000 < len(found) < 200_000
        assert text.startswith(b"".join(found[:-1]))
        assert [says in fault for fault in source.faults] == [True]


def test_a_byte_order_mark_is_said_and_left_out() -> None:
    source = Source(io.BytesIO(b"\xef\xbb\xbfa\n"), "x")
    assert (lines(source), len(source.faults)) == ([b"a\n"], 1)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("{}".encode("utf-16"), "UTF-16.*iconv"),
        ("{}".encode("utf-16-be"), "UTF-16"),
        (b"PK\x03\x04abc", "a zip archive; unzip"),
        (b"\x28\xb5\x2f\xfd.", "zstd"),
        (b"BZh9", "bunzip2"),
        (b"\xd4\xc3\xb2\xa1\x02", "network packets"),
        (b"\x1f\x8b\x08", "damaged"),
        (b"\x1f\x8bxyz", "cannot read|damaged"),
    ],
)
def test_what_cannot_be_text_is_named_with_what_to_do(data: bytes, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        Source(io.BytesIO(data), "x")


@pytest.mark.parametrize("name", [".", "nowhere"])
def test_what_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        Source.open(tmp_path / name)


def test_a_long_line_is_passed_over_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source(io.BytesIO(b"a\n" + b"x" * 5000 + b"\nb\n"), "x")
    assert source.next_line(100) == b"a\n"
    with pytest.raises(LongLine, match=r"5,000 bytes"):
        source.next_line(100)
    assert (source.next_line(100), source.line) == (b"b\n", 3)


def test_the_share_of_a_pipe_is_not_known(tmp_path: Path) -> None:
    assert Source(io.BytesIO(b"a"), "x").share is None
    path = tmp_path / "x"
    path.write_bytes(b"a\n" * 100_000)
    with Source.open(path) as source:
        source.next_line()
        assert source.share is not None
        assert 0 < source.share < 1


def test_standard_input_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(b"a\n"))
    monkeypatch.setattr(sys, "stdin", stream)
    with Source.open("-") as source:
        assert (source.name, lines(source)) == ("standard input", [b"a\n"])
    assert not stream.buffer.closed


def test_limits_are_apart() -> None:
    assert source_module.LINE_LIMIT < source_module.DOCUMENT_LIMIT
