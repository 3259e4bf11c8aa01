"""What was noted of a stdio session becomes a capture: any chunking gives the same one, and nothing is lost in it."""

import io
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpcheck.capture import read
from mcpcheck.capture.plain import first_line
from mcpcheck.tap import transcript
from mcpcheck.tap.stdio import Missed
from mcpcheck.tap.transcript import StdioTranscript
from mcpcheck.wire.framing import LineSplitter
from mcpcheck.wire.record import Dir, Kind, Record
from tests.support.tap_streams import chunkings, events, rebuilt, streams

HEAD = first_line("2026-11-30T21:24:00.123456Z", "stdio", {"command": ["server"]}, "mcpcheck 0.1.0")
Item = tuple[str, Any]


def written(items: Sequence[Item], missed: Sequence[int] = ()) -> list[Record]:
    """The records of a session, item by item; those at the places in ``missed`` find no room in the queue."""
    made = StdioTranscript(HEAD)
    text = made.start()
    lost: dict[str, Missed] = {}
    for at, (source, item) in enumerate(items):
        if at in missed:
            lost.setdefault(source, Missed()).add(item)
            continue
        text += made.see(at / 4, source, lost.pop(source, None), item)
    text += made.end(len(items) / 4, lost)
    capture = read(io.BytesIO(text))
    found = list(capture)
    assert capture.faults == []
    assert [record.n for record in found] == list(range(1, len(found) + 1))
    assert made.n == len(found)
    return found


def units(records: Sequence[Record]) -> list[Any]:
    """Records without number and time."""
    return [(r.dir, r.kind, r.data, r.end, r.event, r.detail) for r in records]


@settings(deadline=None)
@given(chunkings, chunkings, chunkings, st.randoms(use_true_random=False))
def test_every_stream_can_be_rebuilt_from_the_capture(
    up: list[bytes], down: list[bytes], err: list[bytes], random: Any
) -> None:
    left = {"c2s": list(up), "s2c": list(down), "stderr": list(err)}
    items: list[Item] = []
    while names := [name for name, chunks in left.items() if chunks]:
        name = random.choice(names)
        items.append((name, left[name].pop(0)))
    items += [("c2s", b""), ("s2c", b""), ("stderr", b""), ("life", ("exit", {"code": 3}))]
    found = written(items)
    assert rebuilt(found) == {"c2s": b"".join(up), "s2c": b"".join(down), "stderr": b"".join(err)}
    assert events(found, Dir.C2S) == [("open", {}), ("eof", {})]
    assert events(found, Dir.S2C) == [("eof", {}), ("exit", {"code": 3})]


@settings(deadline=None)
@given(chunkings, st.sampled_from(["c2s", "s2c", "stderr"]))
def test_any_chunking_gives_the_same_units(chunks: list[bytes], source: str) -> None:
    whole = b"".join(chunks)
    once = written([(source, whole)]) if whole else written([])
    bytewise = [(source, bytes([byte])) for byte in whole]
    assert units(written([(source, chunk) for chunk in chunks])) == units(once) == units(written(bytewise))


@settings(deadline=None)
@given(streams)
def test_lines_are_those_of_the_framing(stream: bytes) -> None:
    splitter = LineSplitter()
    lines = [*splitter.feed(stream), *splitter.finish()]
    found = [record for record in written([("s2c", stream)] if stream else []) if record.kind is Kind.LINE]
    assert [(record.data, record.end) for record in found] == [(line.data, line.end) for line in lines]


@settings(deadline=None)
@given(chunkings, st.sets(st.integers(0, 8)), st.sampled_from(["c2s", "stderr"]))
def test_what_found_no_room_is_counted_and_what_is_kept_is_whole(
    chunks: list[bytes], missed: set[int], source: str
) -> None:
    found = written([(source, chunk) for chunk in chunks], sorted(missed))
    splitter = LineSplitter()
    lines = [(line.data, line.end) for line in (*splitter.feed(b"".join(chunks)), *splitter.finish())]
    kept = [(record.data, record.end) for record in found if record.kind in (Kind.LINE, Kind.STDERR)]
    lost = sum(record.detail["lost"] for record in found if record.event == "gap")
    rest = iter(lines)
    assert all(line in rest for line in kept), "a line that was never sent, or out of order"
    assert len(kept) + lost == len(lines)


def test_a_gap_stands_where_the_lines_were() -> None:
    items = [("s2c", b"1\n2\n"), ("s2c", b"3\n4\n5"), ("s2c", b"6\n7\n")]
    assert [record.data or record.detail for record in written(items, [1])][1:] == [b"1", b"2", {"lost": 3}, b"7"]


def test_a_side_that_takes_no_more_is_an_abort_of_that_side() -> None:
    found = written([("c2s", b"{}\n"), ("c2s", None), ("s2c", None)])
    assert events(found)[1:] == [
        ("abort", {"reason": "the server reads no more"}),
        ("abort", {"reason": "the client reads no more"}),
    ]
    assert [record.dir for record in found[-2:]] == [Dir.S2C, Dir.C2S]


def test_a_line_past_what_is_kept_in_memory_is_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript, "LONGEST", 100)
    chunks = [b"1\n", b"x" * 60, b"x" * 60, b"x" * 60, b"x\n2\n", b"y" * 101]
    found = written([("s2c", chunk) for chunk in chunks])
    assert [record.data or record.detail for record in found[1:]] == [b"1", {"lost": 1}, b"2", {"lost": 1}]


SECRETS = [b'{"token":"hunter2-9"}', b"Authorization: Bearer hunter2-9abcdef"]
SPELLED = b'{"tok\\u0065n":"hunter2-9"}'


@pytest.mark.parametrize(
    ("source", "line"),
    [*((source, line) for source in ("c2s", "s2c", "stderr") for line in SECRETS), ("c2s", SPELLED), ("s2c", SPELLED)],
)
def test_a_secret_never_gets_into_a_line(source: str, line: bytes) -> None:
    found = written([(source, line[:9]), (source, line[9:] + b"\n{}\n")])
    assert b"hunter2" not in b"".join(record.data for record in found)
    assert found[-1].data == b"{}"


def test_a_message_bears_the_time_of_its_last_byte() -> None:
    found = written([("c2s", b'{"a":'), ("c2s", b"1}\n2"), ("c2s", b"\n")])
    assert [(record.data, record.t) for record in found[1:]] == [(b'{"a":1}', 0.25), (b"2", 0.5)]
