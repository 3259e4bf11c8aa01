"""Bodies that were compressed are recorded as they were before, and judged as what they are."""

import gzip
import itertools
import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpcheck.capture.format import from_line
from mcpcheck.tap.http_transcript import HttpTranscript, Noted
from mcpcheck.tap.inflate import Inflate
from mcpcheck.wire.decode import Decoder
from mcpcheck.wire.event import Answer, Event, HttpBody, HttpResponse
from mcpcheck.wire.record import Record, RequestHead

MESSAGE = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"text": "a" * 200}}).encode()
BARE = zlib.compressobj(wbits=-15)
FORMS = {
    "gzip": ("gzip", gzip.compress(MESSAGE)),
    "two members": ("gzip", gzip.compress(MESSAGE[:50]) + gzip.compress(MESSAGE[50:])),
    "zlib": ("deflate", zlib.compress(MESSAGE)),
    "bare": ("deflate", BARE.compress(MESSAGE) + BARE.flush()),
    "no gzip at all": ("gzip", MESSAGE),
    "no deflate at all": ("deflate", MESSAGE),
}


def inflated(coding: str, data: bytes, cuts: list[int]) -> bytes:
    edges = sorted({0, *(min(cut, len(data)) for cut in cuts), len(data)})
    inflate = Inflate(coding)
    return b"".join(inflate.feed(data[start:end]) for start, end in itertools.pairwise(edges))


@pytest.mark.parametrize("form", FORMS)
@given(cuts=st.lists(st.integers(0, 300), max_size=6))
def test_any_chunking_gives_what_was_compressed(form: str, cuts: list[int]) -> None:
    assert inflated(*FORMS[form], cuts) == MESSAGE


@given(st.lists(st.binary(max_size=30)), st.sampled_from(["gzip", "deflate"]))
def test_any_bytes_can_be_fed(chunks: list[bytes], coding: str) -> None:
    inflate = Inflate(coding)
    for chunk in chunks:
        inflate.feed(chunk)


def test_a_bomb_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcpcheck.tap.inflate.MOST", 1000)
    assert len(Inflate("gzip").feed(gzip.compress(b"\0" * 1_000_000))) == 1000


def recorded(coding: str, media: str, body: bytes) -> list[Record]:
    """The capture of one answer, its body in pieces of seven bytes."""
    transcript = HttpTranscript(b"")
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: {media}\r\nContent-Encoding: {coding}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    notes = [
        Noted(1, "request", 1, head=RequestHead("POST", "/mcp")),
        Noted(1, "end", 1),
        Noted(1, "answer", data=head.encode()),
        *(Noted(1, "answer", data=body[at : at + 7]) for at in range(0, len(body), 7)),
    ]
    lines = b"".join(transcript.see(0.0, "http", None, note) for note in notes)
    return [from_line(line) for line in lines.splitlines()]


def events(records: list[Record]) -> list[Event]:
    decoder = Decoder()
    return [event for record in records for event in decoder.decode(record)]


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "deflate", "GZIP"])
def test_a_compressed_answer_is_a_message(coding: str) -> None:
    records = recorded(coding, "application/json", FORMS["gzip"][1])
    assert records[2].data == MESSAGE
    assert isinstance(events(records)[2], Answer)


def test_a_compressed_stream_is_its_events() -> None:
    stream = b"data: " + MESSAGE + b"\n\n: ping\n\n"
    records = recorded("gzip", "text/event-stream", gzip.compress(stream))
    assert b"".join(record.data for record in records) == stream
    assert isinstance(events(records)[2], Answer)


@pytest.mark.parametrize("media", ["application/json", "text/event-stream"])
def test_what_is_compressed_in_a_way_that_is_not_known_is_judged_to_be_nothing(media: str) -> None:
    records = recorded("br", media, b"\x8b\x01\x80{}\x03")
    assert [type(event) for event in events(records)][1:3] == [HttpResponse, HttpBody]
