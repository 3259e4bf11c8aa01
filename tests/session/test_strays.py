"""What stands in place of a message is told apart, at once or when the rest of it shows what it is."""

import pytest

from mcpcheck.session.strays import Stray, Strays
from mcpcheck.wire.decode import Decoder
from mcpcheck.wire.event import Event, NotMessage
from mcpcheck.wire.record import Dir, Kind, Record


def settled(*lines: bytes, end: bytes = b"\n", kind: Kind = Kind.LINE) -> list[Event]:
    """Every event that these lines of a server settle, the end of the session included."""
    decoder, strays = Decoder(), Strays()
    found: list[Event] = []
    for n, data in enumerate(lines, 1):
        last = end if n == len(lines) else b"\n"
        for event in decoder.decode(Record(n, 0, Dir.S2C, kind, data, last, exchange=1 if kind is Kind.SSE else None)):
            found += strays.see(event)
    return found + strays.finish()


def kinds(*lines: bytes, **how: bytes) -> list[str]:
    return [event.kind for event in settled(*lines, **how) if isinstance(event, Stray)]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"", "empty"),
        (b" \t", "empty"),
        (b"Welcome!", "text"),
        (b"[INFO] ready", "text"),
        (b"{ booting }", "text"),
        (b"{'jsonrpc': '2.0'}", "broken"),
        (b'{"jsonrpc":"2.0",}', "broken"),
        (b'{"jsonrpc":"2.0","x":"a\tb"}', "broken"),
        (b'{"jsonrpc":"2.0"}{"jsonrpc":"2.0"}', "joined"),
        (b'{"a":1} {"b":2}', "joined"),
        (b"caf\xe9", "text"),
        (b'{"jsonrpc":"caf\xe9"}', "encoding"),
        ('{"jsonrpc":"2.0"}'.encode("utf-16"), "encoding"),
        (b"[" * 100_000 + b"]" * 100_000, "deep"),
    ],
)
def test_a_line_is_told_by_what_it_was_meant_to_be(line: bytes, kind: str) -> None:
    assert kinds(line) == [kind]


def test_a_message_over_several_lines_is_one_stray() -> None:
    (stray,) = settled(b"{", b'  "jsonrpc": "2.0",', b"", b'  "id": 1', b"}")
    assert isinstance(stray, Stray)
    assert stray.kind == "spread"
    assert [line.record.n for line in stray.lines] == [1, 2, 3, 4, 5]


def test_a_brace_within_a_string_closes_nothing() -> None:
    assert kinds(b'{"jsonrpc": "}",', b'"b": "\\"{",', b'"c": 1}') == ["spread"]


def test_half_a_message_is_broken_when_a_whole_one_follows() -> None:
    assert kinds(b'{"jsonrpc":"2.0","id":1', b'{"jsonrpc":"2.0","id":2,"result":{}}') == ["broken"]


def test_lines_that_make_no_text_together_are_told_one_by_one_and_what_is_json_comes_back() -> None:
    found = settled(b"{", b"42", b"}")
    assert [type(event) for event in found] == [Stray, NotMessage, Stray]


def test_the_end_of_the_stream_settles_what_was_kept_back() -> None:
    assert kinds(b"{", b'"a": 1,') == ["text", "text"]


def test_a_last_line_that_was_cut_off_is_no_broken_message() -> None:
    assert kinds(b'{"jsonrpc":"2.0","id":', end=b"") == ["cut"]


def test_nothing_is_kept_back_for_ever() -> None:
    assert len(kinds(b"{", *[b"log line"] * 10_001)) >= 10_000


def test_the_data_of_an_event_stream_is_told_at_once() -> None:
    assert [event.kind for event in settled(b"data: {\n\n", kind=Kind.SSE) if isinstance(event, Stray)] == ["text"]


def test_an_object_over_several_lines_that_is_no_message_is_text() -> None:
    assert kinds(b"{", b'  "level": "info"', b"}") == ["text"]


def test_the_two_directions_are_kept_apart() -> None:
    decoder, strays = Decoder(), Strays()
    found: list[list[str]] = []
    for n, (dir, data) in enumerate([(Dir.S2C, b"{"), (Dir.C2S, b"}"), (Dir.S2C, b'"jsonrpc":1}')], 1):
        for event in decoder.decode(Record(n, 0, dir, Kind.LINE, data)):
            found.append([stray.kind for stray in strays.see(event) if isinstance(stray, Stray)])
    assert found == [[], ["text"], ["spread"]]
