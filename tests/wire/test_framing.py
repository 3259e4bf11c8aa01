"""Lines on stdio: cut at 0x0A and nowhere else, however the bytes come."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpcheck.wire.framing import Line, LineSplitter

CASES = [
    (b"", []),
    (b"\n", [Line(b"", b"\n")]),
    (b"a\nb", [Line(b"a", b"\n"), Line(b"b", b"")]),
    (b"a\r\n\r\n", [Line(b"a", b"\r\n"), Line(b"", b"\r\n")]),
    (b"a\rb\n", [Line(b"a\rb", b"\n")]),
    (b"a\r\r\n", [Line(b"a\r", b"\r\n")]),
    (b"a\r", [Line(b"a\r", b"")]),
    (b"\x0b\x0c\x1c\x85\xe2\x80\xa8\n", [Line(b"\x0b\x0c\x1c\x85\xe2\x80\xa8", b"\n")]),
    (b"\xff\x00\n", [Line(b"\xff\x00", b"\n")]),
]


def lines(*chunks: bytes) -> list[Line]:
    splitter = LineSplitter()
    found = [line for chunk in chunks for line in splitter.feed(chunk)]
    return [*found, *splitter.finish()]


@pytest.mark.parametrize(("data", "wanted"), CASES)
def test_a_stream_is_the_same_lines_whole_and_byte_by_byte(data: bytes, wanted: list[Line]) -> None:
    assert lines(data) == wanted
    assert lines(*(data[at : at + 1] for at in range(len(data)))) == wanted


@pytest.mark.parametrize(("data", "wanted"), CASES)
def test_what_follows_a_line_does_not_change_it(data: bytes, wanted: list[Line]) -> None:
    whole = [line for line in wanted if line.end]
    assert lines(data + b"{}\n")[: len(whole)] == whole


@given(st.lists(st.binary(max_size=8) | st.sampled_from([b"\n", b"\r\n", b"\r"])))
def test_any_chunking_gives_the_same_lines_and_none_loses_a_byte(chunks: list[bytes]) -> None:
    data = b"".join(chunks)
    assert lines(*chunks) == lines(data)
    assert b"".join(line.data + line.end for line in lines(data)) == data


def test_a_line_that_has_begun_can_be_seen() -> None:
    splitter = LineSplitter()
    assert [*splitter.feed(b'{}\n{"a"'), *splitter.feed(b":1")] == [Line(b"{}", b"\n")]
    assert splitter.begun == b'{"a":1'
    assert next(iter(splitter.feed(b"}\n"))).data == b'{"a":1}'
    assert splitter.begun == b""


def test_a_long_line_in_small_pieces_takes_linear_time() -> None:
    splitter = LineSplitter()
    pieces = itertools.chain(itertools.repeat(b"x" * 64, 1 << 16), [b"\n"])
    (line,) = [line for piece in pieces for line in splitter.feed(piece)]
    assert len(line.data) == 1 << 22
