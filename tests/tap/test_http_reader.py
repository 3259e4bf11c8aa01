"""The HTTP reader: any chunking gives the same parts, and nothing that is sent makes it raise."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpcheck.tap.http_transcript import HttpTranscript, Noted
from mcpcheck.wire.http import Broken, Data, End, Head, Part, Reader, RequestReader, ResponseReader
from mcpcheck.wire.record import RequestHead, ResponseHead

TWO = (
    b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
    b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nT: 1\r\n\r\n"
)
ANSWERS = (
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    b"HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"
)


def cut(data: bytes, at: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in at)})
    return [data[a:b] for a, b in pairwise(edges)]


def summary(reader: Reader, chunks: list[bytes]) -> list[tuple[str, object]]:
    """The parts with neighbouring pieces of body joined, and then the end of the stream."""
    found: list[tuple[str, object]] = []
    for part in [*(part for chunk in chunks for part in reader.feed(chunk)), *reader.finish()]:
        name, what = named(part)
        if name == "data" and found and found[-1][0] == "data":
            found[-1] = ("data", found[-1][1] + what)  # type: ignore[operator]
        elif (name, what) != ("data", b""):
            found.append((name, what))
    return found


def named(part: Part) -> tuple[str, object]:
    match part:
        case Head(head=head):
            return "head", head
        case Data(data=data):
            return "data", data
        case End():
            return "end", None
        case Broken(reason=reason):
            return "broken", reason


@given(st.lists(st.integers(0, 1000)))
def test_any_chunking_gives_the_same_requests(at: list[int]) -> None:
    assert summary(RequestReader(), cut(TWO, at)) == [
        ("head", RequestHead("POST", "/mcp", (("Host", "a"), ("Content-Length", "5")))),
        ("data", b"hello"),
        ("end", None),
        ("head", RequestHead("GET", "/", (("Host", "a"),))),
        ("end", None),
        ("head", RequestHead("POST", "/", (("Transfer-Encoding", "chunked"),))),
        ("data", b"abc"),
        ("end", None),
    ]


@given(st.lists(st.integers(0, 1000)))
def test_any_chunking_gives_the_same_answers(at: list[int]) -> None:
    reader = ResponseReader()
    for _ in range(3):
        reader.asked("POST")
    found = [
        (name, what.status if isinstance(what, ResponseHead) else what)
        for name, what in summary(reader, cut(ANSWERS, at))
    ]
    assert found == [
        ("head", 100),
        ("head", 200),
        ("data", b"ok"),
        ("end", None),
        ("head", 204),
        ("end", None),
        ("head", 200),
        ("data", b"x"),
        ("end", None),
    ]


@given(st.lists(st.binary(max_size=40)), st.booleans())
def test_nothing_that_is_sent_makes_it_raise(chunks: list[bytes], asks: bool) -> None:
    reader: Reader = RequestReader() if asks else ResponseReader()
    summary(reader, chunks)


@given(st.binary(max_size=60), st.integers(0, len(TWO)))
def test_every_byte_of_a_request_comes_out_again(tail: bytes, size: int) -> None:
    reader = RequestReader()
    data = TWO[:size] + tail
    out = b"".join(part.raw for part in reader.feed(data))
    assert data.startswith(out)


@pytest.mark.parametrize(
    "data",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/2\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /\x00a b HTTP/1.1\r\n\r\n",
    ],
)
def test_what_is_no_request_is_broken_once(data: bytes) -> None:
    reader = RequestReader()
    assert [named(part)[0] for part in [*reader.feed(data), *reader.feed(data)]] == ["broken"]


@given(st.lists(st.integers(0, 2000)))
def test_any_chunking_of_answers_gives_the_same_capture(at: list[int]) -> None:
    pieces = [b': hi\n\nid: 1\ndata: {"jsonrpc":"2.', b'0","id":1}\r\n\r\ndata:', b" x\n\n"]
    stream = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    stream += b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"

    def capture(chunks: list[bytes]) -> bytes:
        transcript = HttpTranscript(b"")
        head = RequestHead("POST", "/mcp")
        notes = [Noted(1, "request", 1, head=head), Noted(1, "end", 1), *(Noted(1, "answer", data=c) for c in chunks)]
        return b"".join(transcript.see(0.0, "http", None, note) for note in notes)

    whole = capture([stream])
    assert capture(cut(stream, at)) == whole
    assert whole.count(b'"sse"') == 3
