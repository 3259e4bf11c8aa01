"""The JSON reader: it notes each fault, hides none, and never raises."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpcheck.wire import jsontext

KINDS = {"empty", "not-utf8", "bom", "syntax", "constant", "doubled-key", "depth", "surrogate"}


def faults(data: bytes) -> list[str]:
    return [fault.kind for fault in jsontext.read(data).faults]


@pytest.mark.parametrize("data", [b"{}", b' {"a":[1,2.5e3,null,true]}\r\n', b'"\\u00e9\\ud83d\\ude00"', b"-0", b'"a"'])
def test_strict_json_has_no_fault(data: bytes) -> None:
    text = jsontext.read(data)
    assert text == jsontext.JsonText(True, json.loads(data))
    assert jsontext.strict(data)


@pytest.mark.parametrize(
    ("data", "kind", "readable", "strict"),
    [
        (b"", "empty", False, False),
        (b" \r\n", "empty", False, False),
        (b'{"a":"\xff"}', "not-utf8", False, False),
        (b'{"a":"\xed\xa0\x80"}', "not-utf8", False, False),
        (b"\xef\xbb\xbf{}", "bom", True, False),
        (b"{'a':1}", "syntax", False, False),
        (b"{}{}", "syntax", False, False),
        (b'"a\nb"', "syntax", False, False),
        (b"[1,]", "syntax", False, False),
        (b"[01]", "syntax", False, False),
        (b"[NaN]", "constant", True, False),
        (b"-Infinity", "constant", True, False),
        (b'{"a":1,"a":2}', "doubled-key", True, True),
        (b'{"a":1,"\\u0061":2}', "doubled-key", True, True),
        (b"[" * 100_000, "depth", False, False),
        (b'"\\ud800"', "surrogate", True, False),
        (b'{"\\udc00":1}', "surrogate", True, False),
        (b'"\\ud83d"', "surrogate", True, False),
        ('{"a":1}'.encode("utf-16"), "not-utf8", False, False),
    ],
)
def test_a_fault_is_named(data: bytes, kind: str, readable: bool, strict: bool) -> None:
    text = jsontext.read(data)
    assert text.fault(kind)
    assert text.readable is readable
    assert jsontext.strict(data) is strict


def test_a_doubled_key_says_in_which_object() -> None:
    text = jsontext.read(b'{"a":{"b":1,"b":2},"c":{}}')
    fault = text.fault("doubled-key")
    assert fault
    assert fault.where is text.value["a"]
    assert text.value == {"a": {"b": 2}, "c": {}}


def test_a_number_of_any_length_is_read() -> None:
    assert jsontext.read(b"123456789012345678901234567890").value == 123456789012345678901234567890
    assert jsontext.read(b"9" * 5000).readable
    assert jsontext.strict(b"9" * 5000)


def test_the_same_fault_is_named_each_time() -> None:
    assert faults(b'[NaN,NaN,{"a":1,"a":1}]') == ["constant", "constant", "doubled-key"]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda kid: st.lists(kid, max_size=3) | st.dictionaries(st.text(max_size=4), kid, max_size=3),
)


@given(values, st.booleans())
def test_what_is_written_as_json_is_read_as_the_same(value: Any, ascii_only: bool) -> None:
    text = jsontext.read(json.dumps(value, ensure_ascii=ascii_only).encode("utf-8"))
    assert text.readable
    assert text.value == value
    assert text.faults == ()


@given(st.binary(max_size=40) | values.map(lambda value: json.dumps(value).encode()[:-1]))
def test_any_bytes_are_read_or_have_a_fault(data: bytes) -> None:
    text = jsontext.read(data)
    assert text.readable or text.faults
    assert {fault.kind for fault in text.faults} <= KINDS
    assert jsontext.strict(data) <= text.readable
