"""Evidence is short, harmless, and still what was sent."""

import pytest

from mcpcheck.report import frames
from mcpcheck.report.escape import encodable, printable
from mcpcheck.report.sheet import fold
from mcpcheck.wire.record import Dir, Kind, Record
from tests.report.samples import HEAD, META, REFUSED, TIMEOUT, line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ü 漢字", "plain ü 漢字"),
        ("\x1b[31m\x9b\x7f", "\\x1b[31m\\x9b\\x7f"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("\u202eabc\u2066\u200b\ufeff", "\\u202eabc\\u2066\\u200b\\ufeff"),
        ("\ud800 \U000e0041", "\\ud800 \\U000e0041"),
    ],
)
def test_what_does_not_print_is_written_as_an_escape(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_only_lone_surrogates_cannot_be_encoded() -> None:
    assert encodable("a\x1b\u202e\ud800") == "a\x1b\u202e\\ud800"


def test_a_head_shows_what_matters_and_no_secret() -> None:
    assert frames.lines(HEAD) == [
        "POST /mcp?(not shown)",
        "Host: 127.0.0.1:8000",
        "Content-Type: application/json",
        "Mcp-Method: tools/call",
        "(also Authorization, User-Agent)",
    ]
    assert frames.lines(REFUSED)[-1] == "(also Set-Cookie)"
    assert frames.lines(TIMEOUT) == ['[timeout {"waited": 5}]']


def test_a_long_payload_is_shortened_in_the_middle_without_reading_all_of_it() -> None:
    (shown,) = frames.lines(line(1, Dir.S2C, ("ä" * 9_000_000).encode()))
    assert shown == f"{'ä' * frames.HEAD} [... 18,000,000 bytes in all ...] {'ä' * frames.TAIL}"


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"{", b'"\\ud800"', b"\n\n", b'{"_meta":{"a":', b'{"_meta":{}}', b"\x00"]
)
def test_any_payload_can_be_shown(data: bytes) -> None:
    for kind in (Kind.LINE, Kind.STDERR, Kind.BODY, Kind.SSE):
        for meta in (True, False):
            assert all(text.isprintable() for text in frames.lines(Record(1, 0, Dir.S2C, kind, data), meta=meta))


def test_the_usual_meta_is_left_out_and_any_other_stays() -> None:
    usual = f'{{"params":{{"_meta": {META},"a":"ö"}},"x":{{"_meta":{META}}}}}'
    assert (
        frames.without_usual_meta(usual.encode()).decode() == '{"params":{"_meta": {...},"a":"ö"},"x":{"_meta":{...}}}'
    )
    for text in (
        '{"_meta":{"progressToken":1}}',
        '{"_meta":{}}',
        '{"_meta":5}',
        '{"_meta":{"io.modelcontextprotocol/a"',
    ):
        assert frames.without_usual_meta(text.encode()).decode() == text


def test_lines_are_cut_after_a_comma_by_width_on_the_screen() -> None:
    assert fold('{"a":1,"b":2,"c":3}', 10) == ['{"a":1,', '"b":2,', '"c":3}']
    assert fold("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]
    assert fold("漢" * 6, 10) == ["漢" * 5, "漢"]
    assert fold("", 10) == [""]
