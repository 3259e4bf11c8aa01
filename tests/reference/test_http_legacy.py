"""Sessions of the handshake era behind Streamable HTTP."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from mcpcheck.reference.http import HttpServer
from mcpcheck.reference.streams import HttpReply, Stream
from mcpcheck.wire import sse
from mcpcheck.wire.record import RequestHead
from tests.reference.driver import ALL, Http, body, events

Json = Any

STREAMABLE = ("2025-03-26", "2025-06-18", "2025-11-25")
ELICITED = {"action": "accept", "content": {"response": "yes"}}


class Session:
    """A client in one session."""

    def __init__(self, revision: str, server: HttpServer | None = None) -> None:
        self.http = Http(server or HttpServer())
        params = {"protocolVersion": revision, "capabilities": ALL, "clientInfo": {"name": "t", "version": "1"}}
        reply = self.http.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        assert body(reply)["result"]["protocolVersion"] == revision
        self.headers = {"MCP-Session-Id": dict(reply.headers)["MCP-Session-Id"]}
        if revision >= "2025-06-18":
            self.headers["MCP-Protocol-Version"] = revision
        assert self.post({"method": "notifications/initialized"}).status == 202

    def post(self, message: Json, headers: Mapping[str, str | None] | None = None) -> HttpReply:
        envelope = message if isinstance(message, list) else {"jsonrpc": "2.0", **message}
        return self.http.post(envelope, {**self.headers, **(headers or {})})

    def call(self, name: str) -> HttpReply:
        return self.post({"id": 1, "method": "tools/call", "params": {"name": name}})

    def handle(self, method: str, **headers: str) -> HttpReply:
        pairs = {"Host": "localhost", "Accept": "text/event-stream", **self.headers}
        pairs |= {name.replace("_", "-"): value for name, value in headers.items()}
        return self.http.server.handle(RequestHead(method, "/mcp", tuple(pairs.items())))


def ids(stream: Stream | None) -> list[str | None]:
    assert stream is not None
    return [sse.parse(event).id for event in stream.history]


@pytest.mark.parametrize("revision", STREAMABLE)
def test_a_session_is_opened_used_and_ended(revision: str) -> None:
    session = Session(revision)
    assert body(session.post({"id": 1, "method": "ping"}))["result"] == {}
    assert body(session.post({"id": 1, "method": "ping"}, {"MCP-Protocol-Version": None}))["result"] == {}
    assert session.post({"id": 1, "method": "ping"}, {"MCP-Session-Id": None}).status == 400
    assert session.handle("DELETE").status == 200
    assert session.post({"id": 1, "method": "ping"}).status == 404
    assert session.handle("GET").status == 404
    assert session.handle("DELETE").status == 404


def test_a_version_header_that_is_not_the_sessions_is_refused() -> None:
    session = Session("2025-11-25")
    for version in ("2025-06-18", "odd", "1900-01-01"):
        assert session.post({"id": 1, "method": "ping"}, {"MCP-Protocol-Version": version}).status == 400


def test_a_failed_initialize_opens_nothing() -> None:
    http = Http()
    reply = http.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}})
    assert "MCP-Session-Id" not in dict(reply.headers)
    assert body(reply)["error"]["code"] == -32602
    assert http.server.servers() == [http.server.server]


@pytest.mark.parametrize("revision", STREAMABLE)
def test_a_tool_call_is_a_stream_that_its_answer_ends(revision: str) -> None:
    reply = Session(revision).call("test_logging_tool")
    assert reply.stream is not None
    assert reply.stream.ended
    assert ids(reply.stream)[0] == ("stream2/0" if revision == "2025-11-25" else None)
    *notes, answer = events(reply.stream)
    assert len(notes) == 7
    assert answer["id"] == 1


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
def test_the_server_asks_on_the_stream_of_the_call_and_answers_there(revision: str) -> None:
    session = Session(revision)
    reply = session.call("test_elicitation")
    (request,) = events(reply.stream)
    assert request["method"] == "elicitation/create"
    answer = session.post({"id": request["id"], "result": ELICITED})
    assert (answer.status, answer.body) == (202, b"")
    (done,) = events(reply.stream)
    assert done["id"] == 1
    assert not reply.open_stream
    assert session.post({"id": "server-99", "result": {}}).status == 202


def test_changes_come_on_the_standing_stream_alone() -> None:
    session = Session("2025-06-18")
    session.call("test_trigger_tool_change")
    standing = session.handle("GET")
    (waiting,) = events(standing.stream)
    assert waiting["method"] == "notifications/tools/list_changed"
    call = session.call("test_trigger_prompt_change")
    assert [message["id"] for message in events(call.stream)] == [1]
    assert [note["method"] for note in events(standing.stream)] == ["notifications/prompts/list_changed"]
    assert standing.open_stream
    session.handle("DELETE")
    assert not standing.open_stream


def test_changes_cross_from_one_era_to_the_other() -> None:
    server = HttpServer()
    session, other = Session("2025-11-25", server), Http(server)
    standing = session.handle("GET")
    events(standing.stream)
    listening = other.ask("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    events(listening.stream)
    other.ask("tools/call", {"name": "test_trigger_tool_change"})
    assert [note["method"] for note in events(standing.stream)] == ["notifications/tools/list_changed"]
    assert [note["method"] for note in events(listening.stream)] == ["notifications/tools/list_changed"]
    assert body(other.ask("server/discover"))["result"]["resultType"] == "complete"


def test_a_stream_that_the_server_closes_early_goes_on_where_it_was() -> None:
    session = Session("2025-11-25")
    reply = session.call("test_reconnection")
    assert not reply.open_stream
    assert reply.stream is not None
    parsed = [sse.parse(event) for event in reply.stream.take()]
    assert [event.data for event in parsed] == ["", None]
    assert parsed[1].retry == "500"
    resumed = session.handle("GET", Last_Event_ID=parsed[0].id or "")
    (done,) = events(resumed.stream)
    assert done["id"] == 1
    assert not resumed.open_stream
    again = session.handle("GET", Last_Event_ID=parsed[0].id or "")
    assert events(again.stream) == [done]
    assert session.handle("GET", Last_Event_ID="odd").status == 400
    assert session.handle("GET", Last_Event_ID="stream2/99").status == 400


def test_a_broken_connection_cancels_nothing_and_nothing_is_lost() -> None:
    session = Session("2025-11-25")
    reply = session.call("test_elicitation")
    (request,) = events(reply.stream)
    assert reply.stream is not None
    session.http.server.disconnected(reply.stream)
    session.post({"id": request["id"], "result": ELICITED})
    assert events(reply.stream) == []
    resumed = session.handle("GET", Last_Event_ID=ids(reply.stream)[1] or "")
    (done,) = events(resumed.stream)
    assert done["id"] == 1


def test_a_cancelled_request_ends_its_stream() -> None:
    session = Session("2025-06-18")
    reply = session.call("test_elicitation")
    events(reply.stream)
    session.post({"method": "notifications/cancelled", "params": {"requestId": 1}})
    assert [message["method"] for message in events(reply.stream)] == ["notifications/cancelled"]
    assert not reply.open_stream


def test_batches_are_served_in_the_revision_that_knows_them() -> None:
    session = Session("2025-03-26")
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "none"}}
    reply = session.post([ping, {**ping, "id": 2}, note])
    assert [answer["id"] for answer in json.loads(reply.body)] == [1, 2]
    assert (session.post([note]).status, session.post([note]).body) == (202, b"")
    call = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "test_sampling"}}
    reply = session.post([ping, call])
    (request,) = events(reply.stream)
    sampled = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "hi"}}
    session.post({"id": request["id"], "result": sampled})
    assert reply.stream is not None
    (event,) = reply.stream.take()
    assert [answer["id"] for answer in json.loads(sse.data_bytes(event) or b"")] == [1, 3]
    assert Session("2025-06-18").post([ping]).status == 400


def test_accept_is_respected() -> None:
    session = Session("2025-11-25")
    assert session.handle("GET", Accept="application/json").status == 406
    reply = session.post(
        {"id": 1, "method": "tools/call", "params": {"name": "test_simple_text"}}, {"Accept": "application/json"}
    )
    assert body(reply)["id"] == 1


def test_the_transport_of_2024_11_05_says_everything_on_one_stream() -> None:
    server = HttpServer()

    def handle(method: str, path: str, message: Json = None) -> HttpReply:
        sent = b"" if message is None else json.dumps({"jsonrpc": "2.0", **message}).encode()
        return server.handle(RequestHead(method, path, (("Host", "localhost"),)), sent)

    stream = handle("GET", "/sse").stream
    assert stream is not None
    endpoint = sse.parse(stream.take()[0])
    assert endpoint.event == "endpoint"
    path = endpoint.data or ""
    params = {"protocolVersion": "2024-11-05", "capabilities": ALL, "clientInfo": {"name": "t", "version": "1"}}
    assert handle("POST", path, {"id": 1, "method": "initialize", "params": params}).status == 202
    (opened,) = events(stream)
    assert opened["result"]["protocolVersion"] == "2024-11-05"
    handle("POST", path, {"method": "notifications/initialized"})
    handle("POST", path, {"id": 2, "method": "tools/call", "params": {"name": "test_input_required_result_list_roots"}})
    (request,) = events(stream)
    handle("POST", path, {"id": request["id"], "result": {"roots": []}})
    assert [message["id"] for message in events(stream)] == [2]
    handle("POST", path, {"id": 3, "method": "tools/call", "params": {"name": "test_trigger_tool_change"}})
    assert [message.get("id") for message in events(stream)] == [None, 3]
    assert server.handle(RequestHead("POST", path, (("Host", "localhost"),)), b"nonsense").status == 400
    assert handle("POST", "/messages?session=none", {}).status == 404
    assert (handle("POST", "/sse").status, handle("GET", "/messages").status) == (405, 405)
    server.disconnected(stream)
    assert handle("POST", path, {"id": 4, "method": "ping"}).status == 404
    assert HttpServer(revisions=("2026-07-28",)).handle(RequestHead("GET", "/sse"), b"").status == 404
