"""Event streams: cut into their events' exact bytes, and read as the standard says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpcheck.wire.sse import SseEvent, SseSplitter, data_bytes, parse

EVENTS = [
    (b"data: a\n\n", SseEvent("a")),
    (b"data:a\r\n\r\n", SseEvent("a")),
    (b"data: a\rdata: b\r\r", SseEvent("a\nb")),
    (b"data:  a\ndata\n\n", SseEvent(" a\n")),
    (b"event: message\nid: 7\nretry: 10\ndata: {}\n\n", SseEvent("{}", "message", "7", "10")),
    (b": hi\n:there\n\n", SseEvent(comments=("hi", "there"))),
    (b"id\n\n", SseEvent(id="")),
    (b"unknown: x\nDATA: y\n data: z\n\n", SseEvent()),
    (b"data: \xff\n\n", SseEvent("\ufffd")),
    (b"event: a\nevent: b\ndata\n\n", SseEvent("", "b")),
    (b"\n", SseEvent()),
]


def events(*chunks: bytes) -> list[bytes]:
    splitter = SseSplitter()
    found = [event for chunk in chunks for event in splitter.feed(chunk)]
    return [*found, *splitter.finish()]


@pytest.mark.parametrize(("raw", "wanted"), EVENTS)
def test_an_event_is_read_as_the_standard_says(raw: bytes, wanted: SseEvent) -> None:
    assert parse(raw) == wanted
    assert parse(b"\xef\xbb\xbf" + raw).data == wanted.data


@pytest.mark.parametrize(("raw", "wanted"), EVENTS)
def test_the_data_of_an_event_is_the_bytes_that_were_sent(raw: bytes, wanted: SseEvent) -> None:
    data = data_bytes(raw)
    assert (None if data is None else data.decode("utf-8", "replace")) == wanted.data


@pytest.mark.parametrize("raw", [raw for raw, _ in EVENTS])
def test_an_event_is_cut_out_whole_byte_by_byte_and_with_what_follows(raw: bytes) -> None:
    following = b"data: next\n\n"
    stream = raw + following
    assert events(stream) == [raw, following]
    assert events(*(stream[at : at + 1] for at in range(len(stream)))) == [raw, following]


def test_every_event_is_there_as_soon_as_the_blank_line_that_ends_it() -> None:
    splitter = SseSplitter()
    assert list(splitter.feed(b"data: a\n")) == []
    assert list(splitter.feed(b"\ndata")) == [b"data: a\n\n"]
    assert splitter.pending
    assert list(splitter.feed(b": b\r\n\r\n")) == [b"data: b\r\n\r\n"]
    assert not splitter.pending


def test_a_carriage_return_may_be_half_of_a_line_end() -> None:
    assert events(b"data: a\r", b"\n\r", b"\ndata: b\r\r", b"data: c\n\n") == [
        b"data: a\r\n\r\n",
        b"data: b\r\r",
        b"data: c\n\n",
    ]
    assert events(b"data: a\r\r") == [b"data: a\r\r"]


def test_what_no_blank_line_ended_comes_at_the_end() -> None:
    assert events(b"data: a\n\ndata: b") == [b"data: a\n\n", b"data: b"]


pieces = st.lists(
    st.sampled_from([b"\n", b"\r", b"\r\n", b"\n\n", b"data: a", b": c", b"id:", b"\xff"]) | st.binary(max_size=5)
)


@given(pieces)
def test_any_chunking_gives_the_same_events_and_none_loses_a_byte(chunks: list[bytes]) -> None:
    stream = b"".join(chunks)
    assert events(*chunks) == events(stream)
    assert b"".join(events(stream)) == stream


@given(st.binary(max_size=60))
def test_any_bytes_can_be_read(raw: bytes) -> None:
    assert isinstance(parse(raw), SseEvent)
    assert (data_bytes(raw) is None) == (parse(raw).data is None)


def test_a_long_event_in_small_pieces_takes_linear_time() -> None:
    stream = [b"data: "] + [b"x" * 64] * (1 << 15) + [b"\n\n"]
    (event,) = events(*stream)
    assert len(event) == 6 + (1 << 21) + 2
