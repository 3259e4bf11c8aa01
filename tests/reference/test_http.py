"""The stateless era of the reference server behind Streamable HTTP."""

import base64
from typing import Any

import pytest

from mcpcheck.reference.http import HttpServer
from mcpcheck.wire.protocol import LOG_LEVEL, MODERN, PROTOCOL_VERSION, SUBSCRIPTION_ID
from mcpcheck.wire.record import RequestHead
from tests.reference.driver import Http, body, events, meta

Json = Any


def modern_only() -> Http:
    return Http(HttpServer(revisions=(MODERN,)))


def code(reply: Json) -> int:
    error: int = body(reply)["error"]["code"]
    return error


def test_a_request_is_answered_with_one_json_object() -> None:
    reply = Http().ask("server/discover")
    assert (reply.status, reply.open_stream) == (200, False)
    assert body(reply)["id"] == 1


def test_progress_and_logs_are_streamed_and_the_answer_ends_the_stream() -> None:
    for name, extra in (("test_tool_with_progress", {"progressToken": 1}), ("test_logging_tool", {LOG_LEVEL: "debug"})):
        reply = Http().ask("tools/call", {"name": name}, **extra)
        assert ("X-Accel-Buffering", "no") in reply.headers
        assert ("Content-Type", "text/event-stream") in reply.headers
        *notes, answer = events(reply.stream)
        assert notes
        assert all("id" not in note for note in notes)
        assert answer["id"] == 1
        assert not reply.open_stream


def test_who_takes_one_form_of_an_answer_gets_that() -> None:
    plain = Http().ask(
        "tools/call", {"name": "test_tool_with_progress"}, {"Accept": "application/json"}, progressToken=1
    )
    assert body(plain)["result"]["content"]
    streamed = Http().ask("server/discover", headers={"Accept": "text/event-stream;q=0.5"})
    assert events(streamed.stream)[-1]["id"] == 1
    assert Http().ask("server/discover", headers={"Accept": None}).status == 200
    assert Http().ask("server/discover", headers={"Accept": "text/html, application/json;q=0"}).status == 406
    listening = {"notifications": {}}
    assert Http().ask("subscriptions/listen", listening, {"Accept": "application/json"}).status == 406
    assert Http().ask("server/discover", headers={"Content-Type": "text/plain"}).status == 415


@pytest.mark.parametrize("origin", ["http://mcpcheck.invalid", "null", "http://localhost.mcpcheck.invalid", "http://["])
def test_a_foreign_origin_is_forbidden_on_every_request(origin: str) -> None:
    client = Http()
    for method in ("server/discover", "tools/list", "subscriptions/listen"):
        reply = client.ask(method, {"notifications": {}}, {"Origin": origin})
        assert reply.status == 403
        assert "id" not in body(reply)
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
    assert client.post(note, {"Origin": origin}).status == 403


def test_a_local_origin_is_let_in_and_a_foreign_host_is_not() -> None:
    assert Http().ask("server/discover", headers={"Origin": "http://localhost:3000"}).status == 200
    assert Http().ask("server/discover", headers={"Host": "mcpcheck.invalid"}).status == 421
    assert Http().ask("server/discover", headers={"Host": "[::1]:8000"}).status == 200
    assert Http().post(Http().request("server/discover"), path="/other").status == 404


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD"])
def test_nothing_but_post_is_served_by_a_server_of_this_revision_alone(method: str) -> None:
    reply = modern_only().server.handle(RequestHead(method, "/mcp", (("Host", "localhost"),)))
    assert (reply.status, reply.headers) == (405, [("Allow", "POST")])


def test_headers_of_older_revisions_are_ignored() -> None:
    reply = modern_only().ask("server/discover", headers={"Mcp-Session-Id": "bogus", "Last-Event-ID": "1"})
    assert body(reply)["result"]["resultType"] == "complete"
    assert not [name for name, _ in reply.headers if name.lower() == "mcp-session-id"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Mcp-Method": None},
        {"Mcp-Method": "tools/list"},
        {"Mcp-Method": "SERVER/DISCOVER"},
        {"Mcp-Method": "server/discover\x01"},
        {"MCP-Protocol-Version": "1900-01-01"},
        {"MCP-Protocol-Version": None},
    ],
)
def test_headers_that_are_missing_or_differ_are_refused(headers: dict[str, str | None]) -> None:
    reply = modern_only().ask("server/discover", headers=headers)
    assert (reply.status, code(reply)) == (400, -32020)
    assert body(reply)["id"] == 1


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "test_simple_text"}),
        ("prompts/get", {"name": "test_simple_prompt"}),
        ("resources/read", {"uri": "test://static-text"}),
    ],
)
def test_the_name_is_repeated_in_a_header(method: str, params: dict[str, str]) -> None:
    (name,) = params.values()
    encoded = f"=?base64?{base64.b64encode(name.encode()).decode()}?="
    for right in (name, encoded, f"  {name}\t"):
        assert Http().ask(method, params, {"Mcp-Name": right}).status == 200
    for wrong in (None, "mcpcheck-wrong", name.upper(), "=?base64?!!!?=", encoded.upper(), "Grüße"):
        reply = Http().ask(method, params, {"Mcp-Name": wrong})
        assert (reply.status, code(reply)) == (400, -32020)


def test_header_names_have_no_case() -> None:
    request = Http().request("server/discover")
    pairs = (
        ("HOST", "localhost"),
        ("content-TYPE", "application/json; charset=utf-8"),
        ("mcp-protocol-version", MODERN),
        ("MCP-METHOD", "server/discover"),
    )
    import json

    assert HttpServer().handle(RequestHead("POST", "/mcp", pairs), json.dumps(request).encode()).status == 200


PARAM = "test_x_mcp_header"


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({}, {}),
        ({"region": "Hello"}, {"Region": "Hello"}),
        ({"region": "Hello"}, {"Region": "=?base64?SGVsbG8=?="}),
        ({"region": "Grüße"}, {"Region": "=?base64?R3LDvMOfZQ==?="}),
        ({"region": "SGVsbG8="}, {"Region": "SGVsbG8="}),
        ({"region": "=?base64?SGVsbG8="}, {"Region": "=?base64?SGVsbG8="}),
        ({"region": ""}, {"Region": ""}),
        ({"count": 42}, {"Count": "42"}),
        ({"count": 42}, {"Count": "42.0"}),
        ({"count": 42.0}, {"Count": "42"}),
        ({"count": 9007199254740991}, {"Count": "9007199254740991"}),
        ({"verbose": False}, {"Verbose": "false"}),
        ({"target": {"tenant": "a"}}, {"Tenant": "a"}),
        ({"target": {}}, {}),
    ],
)
def test_headers_that_repeat_arguments_are_accepted(arguments: Json, headers: dict[str, str]) -> None:
    sent = {f"Mcp-Param-{name}": value for name, value in headers.items()}
    reply = Http().ask("tools/call", {"name": PARAM, "arguments": arguments}, sent)
    assert "isError" not in body(reply)["result"]


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({"region": "Hello"}, {}),
        ({"region": "Us-West"}, {"Region": "us-west"}),
        ({"region": "Hello"}, {"Region": "=?base64?SGVsbG8?="}),
        ({"region": "Hello"}, {"Region": "=?base64?SGVs!!!bG8=?="}),
        ({"region": "Hello"}, {"Region": "Hel\x01lo"}),
        ({"region": "Grüße"}, {"Region": "GrÃ¼Ã\x9fe"}),
        ({"count": 0}, {}),
        ({"count": 42}, {"Count": "43"}),
        ({"count": 42}, {"Count": "NaN"}),
        ({"count": 9007199254740991}, {"Count": "9007199254740990"}),
        ({"verbose": False}, {}),
        ({"verbose": True}, {"Verbose": "false"}),
        ({"verbose": True}, {"Verbose": "True"}),
        ({"target": {"tenant": "a"}}, {"Tenant": "b"}),
    ],
)
def test_headers_that_do_not_repeat_arguments_are_refused(arguments: Json, headers: dict[str, str]) -> None:
    sent = {f"Mcp-Param-{name}": value for name, value in headers.items()}
    reply = Http().ask("tools/call", {"name": PARAM, "arguments": arguments}, sent)
    assert (reply.status, code(reply)) == (400, -32020)


def test_an_argument_that_is_null_needs_no_header() -> None:
    reply = Http().ask("tools/call", {"name": PARAM, "arguments": {"region": None}})
    assert body(reply)["result"]["isError"] is True


@pytest.mark.parametrize("make", [Http, modern_only])
def test_statuses_follow_the_error(make: Any) -> None:
    client = make()
    reply = client.ask("mcpcheck/no-such-method")
    assert (reply.status, code(reply)) == (404, -32601)
    reply = client.ask("server/discover", {"_meta": meta() | {PROTOCOL_VERSION: "1900-01-01"}})
    assert (reply.status, code(reply)) == (400, -32022)
    reply = client.ask("tools/call", {"name": "test_missing_capability", "_meta": meta({})})
    assert (reply.status, code(reply)) == (400, -32021)
    reply = client.ask("tools/call", {"name": "mcpcheck-no-such-tool"})
    assert (reply.status, code(reply)) == (200, -32602)
    modern = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "server/discover"}
    for params in ({}, {"_meta": {}}, {"_meta": {PROTOCOL_VERSION: MODERN}}):
        message = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": params}
        reply = client.post(message, modern)
        assert (reply.status, code(reply)) == (400, -32602)
    for text, expected in ((b'{"jsonrpc":', -32700), (b"[]", -32600), (b'{"jsonrpc":"2.0","id":1}', -32600)):
        reply = client.post(text, modern)
        assert (reply.status, code(reply)) == (400, expected)
    assert client.post({"jsonrpc": "2.0", "id": 1, "result": {}}, modern).status == 400


def test_an_error_is_no_stream_even_where_progress_was_asked_for() -> None:
    reply = Http().ask("tools/call", {"name": "test_streaming_elicitation", "_meta": meta({}, progressToken=1)})
    assert (reply.status, code(reply)) == (400, -32021)


def test_a_server_of_this_revision_alone_names_its_versions_to_initialize() -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
    reply = modern_only().post(message)
    assert (reply.status, code(reply)) == (400, -32020)
    assert MODERN in body(reply)["error"]["message"]


def test_notifications_are_accepted_without_a_word() -> None:
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "notifications/cancelled"}
    for method in ("notifications/cancelled", "notifications/mcpcheck-unknown"):
        note = {"jsonrpc": "2.0", "method": method, "params": {"requestId": "none"}}
        reply = Http().post(note, headers)
        assert (reply.status, reply.body) == (202, b"")
    reply = Http().post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": "text"}, headers)
    assert reply.status == 400
    assert "id" not in body(reply)


def test_a_subscription_stays_open_and_carries_changes_until_the_client_leaves() -> None:
    client = Http()
    reply = client.ask("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    (ack,) = events(reply.stream)
    assert ack["params"]["_meta"][SUBSCRIPTION_ID] == 1
    client.ask("tools/call", {"name": "test_trigger_tool_change"}, progressToken=1)
    client.ask("tools/call", {"name": "test_trigger_prompt_change"})
    (changed,) = events(reply.stream)
    assert changed["method"] == "notifications/tools/list_changed"
    assert reply.open_stream
    assert reply.stream is not None
    client.server.disconnected(reply.stream)
    assert not client.server.server.open
    client.ask("tools/call", {"name": "test_trigger_tool_change"})
    assert events(reply.stream) == []


def test_a_shutdown_ends_subscriptions_with_their_results() -> None:
    client = Http()
    reply = client.ask("subscriptions/listen", {"notifications": {}})
    events(reply.stream)
    client.server.shutdown()
    (result,) = events(reply.stream)
    assert result["result"]["_meta"][SUBSCRIPTION_ID] == 1
    assert not reply.open_stream


def test_slow_work_streams_and_a_disconnection_cancels_that_request_alone() -> None:
    client = Http()
    call = {"name": "count_slowly", "arguments": {"to": 5, "counter": "a"}}
    first = client.ask("tools/call", call, progressToken="a")
    call = {"name": "count_slowly", "arguments": {"to": 2, "counter": "b"}}
    second = client.ask("tools/call", call, progressToken="b")
    assert [note["params"]["progressToken"] for note in events(first.stream)] == ["a"]
    assert client.server.busy
    assert first.stream is not None
    client.server.disconnected(first.stream)
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    client.post(note, {"MCP-Protocol-Version": MODERN})
    client.server.step()
    client.server.step()
    *notes, answer = events(second.stream)
    assert {note["params"]["progressToken"] for note in notes} == {"b"}
    assert answer["result"]["content"][0]["text"] == "Counted to 2"
    assert not client.server.busy
    assert events(first.stream) == []
    reply = client.ask("tools/call", {"name": "counted", "arguments": {"counter": "a"}})
    assert body(reply)["result"]["content"][0]["text"] == "0"
