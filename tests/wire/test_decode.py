"""Records to events: total, and by the members of a message alone."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpcheck.wire.decode import Decoder, classify
from mcpcheck.wire.event import (
    Aborted,
    Answer,
    Batch,
    Closed,
    Event,
    Exited,
    Gap,
    HttpBody,
    HttpRequest,
    HttpResponse,
    Message,
    Notification,
    NotJson,
    NotMessage,
    Opened,
    Request,
    SseNoData,
    StderrLine,
    TimedOut,
)
from mcpcheck.wire.record import Dir, Kind, Record, RequestHead, ResponseHead
from tests.capture.test_format import records

REQUEST = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
JSON = (("Content-Type", "Application/JSON; charset=utf-8"),)


def line(data: bytes, kind: Kind = Kind.LINE, dir_: Dir = Dir.C2S, **rest: Any) -> Record:
    return Record(1, 0.0, dir_, kind, data, **rest)


def head(method: str = "POST", path: str = "/mcp", exchange: int = 1) -> Record:
    return Record(1, 0.0, Dir.C2S, Kind.HEAD, exchange=exchange, http=RequestHead(method, path))


def answer_head(status: int = 200, headers: tuple[tuple[str, str], ...] = JSON, exchange: int = 1) -> Record:
    return Record(1, 0.0, Dir.S2C, Kind.HEAD, exchange=exchange, http=ResponseHead(status, "", headers))


def body(data: bytes, dir_: Dir = Dir.S2C, exchange: int = 1) -> Record:
    return line(data, Kind.BODY, dir_, exchange=exchange)


def kinds(*records_: Record, endpoint: str | None = None) -> list[type[Event]]:
    decoder = Decoder(endpoint)
    return [type(event) for record in records_ for event in decoder.decode(record)]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"method": "m", "id": 1}, Request),
        ({"method": "m", "id": None}, Request),
        ({"method": "m"}, Notification),
        ({"id": 1, "result": None}, Answer),
        ({"error": {}}, Answer),
        ({"result": 1, "error": 2}, Answer),
        ({"method": "m", "id": 1, "result": {}}, None),
        ({"method": 1, "id": 1}, None),
        ({"id": 1}, None),
        ({}, None),
        ([], None),
        ("method", None),
        (None, None),
    ],
)
def test_a_message_is_what_its_members_make_it(value: Any, kind: type[Message] | None) -> None:
    assert classify(value) is kind


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (REQUEST, [Request]),
        (b"", [NotJson]),
        (b"banner", [NotJson]),
        (b'{"s":"\xff"}', [NotJson]),
        (b"{}", [NotMessage]),
        (b"3", [NotMessage]),
        (b"[]", [Batch]),
        (b"[" + REQUEST + b',3,{"method":"n"}]', [Batch, Request, NotMessage, Notification]),
        (b"\xef\xbb\xbf" + REQUEST, [Request]),
    ],
)
def test_a_line_is_one_message_or_what_stands_in_its_place(data: bytes, wanted: list[type[Event]]) -> None:
    assert kinds(line(data)) == wanted


def test_the_elements_of_a_batch_know_that_they_are_in_one() -> None:
    _, request = Decoder().decode(line(b"[" + REQUEST + b"]"))
    assert isinstance(request, Request)
    assert request.in_batch
    assert (request.id, request.method, request.params, request.meta) == (1, "ping", None, {})


def test_members_of_odd_types_are_there_to_be_judged() -> None:
    (request,) = Decoder().decode(line(b'{"id":[1],"method":"m","params":[{"_meta":1}]}'))
    assert isinstance(request, Request)
    assert (request.id, request.params, request.meta, request.param("x")) == ([1], [{"_meta": 1}], {}, None)
    (found,) = Decoder().decode(line(b'{"result":3,"error":"x"}'))
    assert isinstance(found, Answer)
    assert (found.id, found.has_id, found.code, found.meta) == (None, False, None, {})


def test_standard_error_is_no_message_whatever_it_holds() -> None:
    assert kinds(line(REQUEST, Kind.STDERR)) == [StderrLine]


def test_a_post_and_its_answer_are_messages() -> None:
    found = kinds(head(), body(REQUEST, Dir.C2S), answer_head(), body(b'{"id":1,"result":{}}'))
    assert found == [HttpRequest, Request, HttpResponse, Answer]


@pytest.mark.parametrize(
    ("status", "headers", "data", "wanted"),
    [
        (200, JSON, b"{", NotJson),
        (200, JSON, b"{}", NotMessage),
        (200, (("Content-Type", "text/html"),), b"<p>", HttpBody),
        (200, (), b"{}", NotMessage),
        (200, (), b"<p>", HttpBody),
        (400, JSON, b'{"jsonrpc":"2.0","error":{}}', Answer),
        (400, JSON, b'{"error":"invalid_token"}', HttpBody),
        (502, (), b"Bad Gateway", HttpBody),
    ],
)
def test_the_body_of_an_answer_is_a_message_where_one_has_to_stand(
    status: int, headers: tuple[tuple[str, str], ...], data: bytes, wanted: type[Event]
) -> None:
    assert kinds(head(), answer_head(status, headers), body(data))[-1] is wanted


def test_bodies_beside_the_endpoint_are_none_of_the_protocol() -> None:
    token = [head(path="/token"), body(b"grant_type=x", Dir.C2S), answer_head(), body(b'{"access_token":"x"}')]
    assert kinds(*token, endpoint="/mcp") == [HttpRequest, HttpBody, HttpResponse, HttpBody]
    (request,) = Decoder("/mcp").decode(head(path="/mcp?a=b"))
    assert isinstance(request, HttpRequest)
    assert request.to_endpoint


def test_exchanges_that_run_side_by_side_are_told_apart() -> None:
    found = kinds(
        head("GET", exchange=1),
        head("POST", exchange=2),
        answer_head(exchange=2),
        answer_head(404, (("Content-Type", "application/json"),), exchange=1),
        body(b'{"detail":"no"}', exchange=1),
        body(b'{"id":1,"result":{}}', exchange=2),
    )
    assert found[-2:] == [HttpBody, Answer]


@pytest.mark.parametrize(
    ("raw", "wanted"),
    [
        (b"data: " + REQUEST + b"\n\n", Request),
        (b'data: {"id":1,\r\ndata: "result":{}}\r\n\r\n', Answer),
        (b": ping\n\n", SseNoData),
        (b"id: 1\ndata:\n\n", SseNoData),
        (b"data: x\n\n", NotJson),
        (b"event: endpoint\ndata: /messages\n\n", NotJson),
    ],
)
def test_an_event_is_read_by_its_data(raw: bytes, wanted: type[Event]) -> None:
    assert kinds(line(raw, Kind.SSE, Dir.S2C, exchange=1)) == [wanted]


def test_what_is_no_payload_has_an_event_of_its_own() -> None:
    names = {"open": Opened, "eof": Closed, "exit": Exited, "abort": Aborted, "timeout": TimedOut, "gap": Gap}
    for name, kind in names.items():
        assert kinds(Record(1, 0.0, Dir.S2C, Kind.EVENT, event=name)) == [kind]


@given(st.lists(records(), max_size=6), st.sampled_from([None, "/mcp"]))
def test_every_record_decodes_to_something(drawn: list[Record], endpoint: str | None) -> None:
    decoder = Decoder(endpoint)
    for record in drawn:
        found = list(decoder.decode(record))
        assert found
        assert all(event.record is record and event.dir is record.dir for event in found)


@given(st.recursive(st.none() | st.integers() | st.text(), lambda kid: st.lists(kid) | st.dictionaries(st.text(), kid)))
def test_any_json_value_is_a_message_or_none(value: Any) -> None:
    kind = classify(value)
    assert kind is None or issubclass(kind, Message)
