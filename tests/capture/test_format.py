"""One record and one line: nothing is lost between them, and every line is strict JSON."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpcheck.capture.format import BadLine, Header, UnknownFormat, from_line, header_line, read_header, to_line
from mcpcheck.wire.record import Dir, Kind, Record, RequestHead, ResponseHead


def line(data: bytes, **rest: Any) -> Record:
    return Record(1, 0.5, Dir.C2S, Kind.LINE, data, **rest)


def shown(record: Record) -> dict[str, Any]:
    """The line as any strict reader sees it."""

    def refuse(name: str) -> Any:
        raise AssertionError(f"{name} is no JSON")

    def integer(digits: str) -> int:
        return int(digits[:4000])

    text = to_line(record)
    assert text.count(b"\n") == 1
    return dict(json.loads(text.decode("utf-8"), parse_constant=refuse, parse_int=integer))


ODD_JSON = [
    b'{ "jsonrpc" : "2.0",  "id":1.0, "method":"a/b", "params":{"z":1,"a":2e0} }',
    b'{"n":12345678901234567890123,"e":"\\u00e9\\/"}',
    b'{"id":3,"id":4,"method":"m"}',
    '{"u":"é€😀\u2028"}'.encode(),
    b'[{"id":7},{"b":[]}]',
    b'{"n":' + b"9" * 5000 + b"}",
    b"-1.5E+3",
    b'""',
    b"null",
]


@pytest.mark.parametrize("data", ODD_JSON)
def test_a_message_stands_in_its_line_byte_for_byte(data: bytes) -> None:
    text = to_line(line(data))
    assert b'"msg":' + data in text
    assert b'"raw"' not in text
    assert from_line(text) == line(data)


@pytest.mark.parametrize("data", [b' {"a":1}', b'{"a":1}\t', b'{"a":1}\r'])
def test_white_space_around_a_message_puts_raw_beside_it(data: bytes) -> None:
    assert shown(line(data)) == {"n": 1, "t": 0.5, "dir": "c2s", "msg": {"a": 1}, "raw": data.decode()}
    assert from_line(to_line(line(data))) == line(data)


def test_a_message_over_several_lines_is_joined_and_kept() -> None:
    body = Record(4, 1.0, Dir.S2C, Kind.BODY, b'{\r\n  "a": [\n 1\n ]\n}\n', exchange=2)
    assert b'"msg":{  "a": [ 1 ]},"raw":' in to_line(body)
    assert from_line(to_line(body)).data == body.data


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"Listening on port 3000",
        b'{"x":NaN}',
        b"[-Infinity]",
        b'\xef\xbb\xbf{"a":1}',
        b'{"a":"\\ud800"}',
        b'{"a":1',
        b"1 2",
    ],
)
def test_what_is_not_json_for_every_reader_is_raw(data: bytes) -> None:
    found = shown(line(data))
    assert "msg" not in found
    assert found["raw"] == data.decode("utf-8")
    assert from_line(to_line(line(data))).data == data


def test_what_is_not_utf_8_is_base64() -> None:
    data = b'{"s":"\xff\xfe"}'
    assert shown(line(data)).keys() == {"n", "t", "dir", "raw_b64"}
    assert from_line(to_line(line(data))).data == data


def test_an_event_shows_its_fields_its_text_and_its_message() -> None:
    raw = b'event: message\r\nid: 7\r\n: hello\r\ndata: {"a":\r\ndata:1}\r\n\r\n'
    record = Record(3, 0.25, Dir.S2C, Kind.SSE, raw, exchange=1)
    assert shown(record) == {
        "n": 3,
        "t": 0.25,
        "dir": "s2c",
        "x": 1,
        "sse": {"event": "message", "id": "7", "comment": "hello"},
        "msg": {"a": 1},
        "raw": raw.decode(),
    }
    assert from_line(to_line(record)) == record


def test_heads_keep_the_spelling_and_order_of_their_headers() -> None:
    headers = (("host", "a"), ("X-Twice", "1"), ("x-twice", "2"), ("X-Latin", "caf\xe9"))
    for head in (RequestHead("POST", "/mcp?a=b", headers), ResponseHead(404, "Not Found", headers)):
        record = Record(1, 0.0, Dir.C2S, Kind.HEAD, exchange=1, http=head)
        assert shown(record)["http"]["headers"] == [list(pair) for pair in headers]
        assert from_line(to_line(record)) == record


def test_a_lone_surrogate_in_a_header_does_not_break_the_line() -> None:
    record = Record(1, 0.0, Dir.C2S, Kind.HEAD, exchange=1, http=RequestHead("GET", "/", (("a", "\udcff"),)))
    assert from_line(to_line(record)) == record


def test_what_belongs_to_an_event_stands_in_its_line() -> None:
    record = Record(9, 1.0, Dir.S2C, Kind.EVENT, event="exit", detail={"code": 3})
    assert shown(record) == {"n": 9, "t": 1.0, "dir": "s2c", "event": "exit", "code": 3}
    assert from_line(to_line(record)) == record


payloads = st.one_of(
    st.binary(max_size=60),
    st.text(max_size=40).map(str.encode),
    st.sampled_from(ODD_JSON),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda kid: st.lists(kid) | st.dictionaries(st.text(), kid),
    ).map(lambda value: json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")),
    st.binary(max_size=20).map(lambda data: b'{"a":"' + data + b'"}'),
)
headers = st.lists(st.tuples(st.text(max_size=8), st.text(max_size=8)), max_size=3).map(tuple)
heads = st.builds(RequestHead, st.text(max_size=8), st.text(max_size=20), headers) | st.builds(
    ResponseHead, st.integers(0, 999), st.text(max_size=8), headers
)
details = st.fixed_dictionaries({}, optional={"code": st.integers(), "lost": st.integers(1), "reason": st.text()})


@st.composite
def records(draw: st.DrawFn) -> Record:
    """Any record that a session on stdio or HTTP can hold."""
    kind = draw(st.sampled_from(Kind))
    on_http = kind in (Kind.HEAD, Kind.BODY, Kind.SSE)
    return Record(
        n=draw(st.integers(1)),
        t=draw(st.integers(0, 10**12)) / 10**6,
        dir=draw(st.sampled_from(Dir)),
        kind=kind,
        data=draw(payloads) if kind not in (Kind.HEAD, Kind.EVENT) else b"",
        end=draw(st.sampled_from([b"\n", b"\r\n", b""])) if kind in (Kind.LINE, Kind.STDERR) else b"\n",
        exchange=draw(st.integers(1, 99)) if on_http else None,
        http=draw(heads) if kind is Kind.HEAD else None,
        event=draw(st.sampled_from(["open", "eof", "exit", "abort", "timeout", "gap"])) if kind is Kind.EVENT else None,
        detail=draw(details) if kind is Kind.EVENT else {},
        redacted=tuple(draw(st.lists(st.text(max_size=8), max_size=2))),
    )


@given(records())
def test_any_record_survives_its_line(record: Record) -> None:
    shown(record)
    assert from_line(to_line(record)) == record


@given(st.binary(max_size=80) | records().map(lambda record: to_line(record)[:-9]))
def test_a_line_is_read_or_refused_and_nothing_else(data: bytes) -> None:
    with contextlib.suppress(BadLine):
        from_line(data)


def test_a_line_written_by_another_tool_is_read() -> None:
    text = b'{ "dir": "s2c",\t"msg": {"b" : [1, 2]} , "note": "mine", "t": 1, "n": 4 }\r\n'
    assert from_line(text) == Record(4, 1.0, Dir.S2C, Kind.LINE, b'{"b" : [1, 2]}')


def test_values_past_what_a_reader_takes_are_cut_out_all_the_same() -> None:
    deep = b"[" * 20000 + b'"]"' + b"]" * 20000
    text = b'{"n":1,"t":0,"dir":"c2s","msg":' + deep + b',"end":""}'
    assert from_line(text).data == deep
    digits = b"7" * 6000
    assert from_line(b'{"n":1,"t":0,"dir":"c2s","msg":' + digits + b',"end":""}').data == digits


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{}",
        b'{"n":1,"t":0,"dir":"c2s"}',
        b'{"n":true,"t":0,"dir":"c2s","msg":1}',
        b'{"n":1,"t":0,"dir":"up","msg":1}',
        b'{"n":1,"t":0,"dir":"c2s","raw_b64":"***"}',
        b'{"n":1,"t":0,"dir":"c2s","msg":1}}',
        b'{"n":1,"t":0,"dir":"c2s","msg":}',
        b'{"n":1,"t":0,"dir":"c2s","msg":1,}',
        b'{"n":1,"t":0,"dir":"c2s","x":1,"http":{"method":"GET"}}',
        b'{"n":1,"t":0,"dir":"c2s","raw":"","end":"x"}',
        b'{"n":1,"t":0,"dir":"c2s","event":4}',
    ],
)
def test_a_line_that_is_none_is_refused(text: bytes) -> None:
    with pytest.raises(BadLine):
        from_line(text)


def test_the_header_survives_its_line() -> None:
    header = Header("2026-11-30T21:24:00.123456Z", "stdio", {"command": ["a", "é"]}, "mcpcheck 0.1.0")
    assert header_line(header).startswith(b'{"mcpcheck":"capture/1","started":"2026-11-30T21:24:00.123456Z",')
    assert read_header(header_line(header)) == header


def test_a_format_that_is_not_known_is_told_from_what_is_no_capture() -> None:
    with pytest.raises(UnknownFormat, match="capture/2"):
        read_header(b'{"mcpcheck":"capture/2"}\n')
    with pytest.raises(BadLine) as refused:
        read_header(b'{"jsonrpc":"2.0"}\n')
    assert not isinstance(refused.value, UnknownFormat)
