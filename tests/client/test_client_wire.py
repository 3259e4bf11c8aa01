"""What the reference client writes and reads: header values, annotations, answers in any chunks."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpcheck.reference.client import Client
from mcpcheck.reference.client_values import fitting, members
from mcpcheck.reference.client_wire import Action, Send
from mcpcheck.wire.mcp_http import decode_value, request_headers
from mcpcheck.wire.protocol import MODERN
from mcpcheck.wire.record import ResponseHead, header


def message(action: Action) -> Any:
    assert isinstance(action, Send)
    return json.loads(action.data)


@given(st.text())
def test_a_header_value_is_ascii_and_decodes_to_what_it_stands_for(value: str) -> None:
    written = Client(transport="http").header_value(value)
    assert written.isascii()
    assert written.isprintable()
    assert written == written.strip()
    if not any("\ud800" <= char <= "\udfff" for char in value):
        assert decode_value(written) == value


@pytest.mark.parametrize(
    ("property", "good"),
    [
        ({"type": "string", "x-mcp-header": "Region"}, True),
        ({"type": "object", "properties": {"q": {"type": "integer", "x-mcp-header": "Q"}}}, True),
        ({"type": "string", "x-mcp-header": "No Blank"}, False),
        ({"type": "number", "x-mcp-header": "N"}, False),
        ({"type": "array", "items": {"type": "string", "x-mcp-header": "I"}}, False),
        ({"type": "object", "properties": {"x-mcp-header": {"type": "string"}}}, True),
        ({"type": "object", "default": {"x-mcp-header": 1}}, True),
    ],
)
def test_a_tool_is_taken_only_where_its_annotations_are_right(property: dict[str, Any], good: bool) -> None:
    tool = {"name": "t", "inputSchema": {"type": "object", "properties": {"p": property}}}
    assert Client((MODERN,), transport="http").learn_tool(tool) is good
    assert Client((MODERN,)).learn_tool(tool)


def test_a_posts_head_is_what_the_specification_makes_of_its_message() -> None:
    (send,) = Client(transport="http").start()
    assert isinstance(send, Send)
    assert send.head is not None
    for name, value in request_headers(json.loads(send.data)).items():
        assert header(send.head, name) == value


@given(st.data())
def test_an_event_stream_is_read_alike_in_any_chunks(data: st.DataObject) -> None:
    client = Client((MODERN,), transport="http")
    (send,) = client.start()
    result = {"resultType": "complete", "supportedVersions": [MODERN], "capabilities": {}}
    answer = json.dumps({"jsonrpc": "2.0", "id": message(send)["id"], "result": result}).encode()
    body = b": hello\r\n\r\nevent: message\ndata: " + answer + b"\n\n"
    assert isinstance(send, Send)
    assert send.exchange is not None
    client.http_head(send.exchange, ResponseHead(200, "", (("Content-Type", "text/event-stream"),)))
    actions: list[Action] = []
    while body:
        size = data.draw(st.integers(1, len(body)))
        actions += client.http_data(send.exchange, body[:size])
        body = body[size:]
    assert [message(action)["method"] for action in actions] == ["tools/list"]
    assert client.http_end(send.exchange) == []


def test_an_answer_that_nobody_waits_for_is_ignored() -> None:
    client = Client()
    client.start()
    for line in (b"", b"[]", b"null", b'{"id":1.0,"result":{}}', b'{"id":true,"result":{}}', b'{"id":99,"result":{}}'):
        assert client.receive(line) == []
    assert not client.done


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, "text"),
        ({"type": "string", "minLength": 6}, "textxx"),
        ({"type": "integer", "minimum": 18}, 18),
        ({"enum": ["a", "b"]}, "a"),
        ({"oneOf": [{"const": "x", "title": "X"}]}, "x"),
        ({"type": "array", "items": {"enum": ["y"]}, "minItems": 2}, ["y", "y"]),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "boolean"}}}, True),
        ({"type": ["null", "string"]}, None),
        (True, "text"),
    ],
)
def test_a_value_fits_its_schema(schema: Any, value: Any) -> None:
    assert fitting(schema) == value
    assert members({"properties": {"p": schema}, "$defs": {"n": {"type": "boolean"}}}) == {"p": value}
