"""Envelope, metadata and versions of the reference server."""

import json

import pytest

from mcpcheck.reference.server import Server
from mcpcheck.wire.protocol import LEGACY, MODERN, PROTOCOL_VERSION, SERVER_INFO
from tests.reference.driver import Stdio, meta


def request(**members: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta()}, **members}


def test_discovery_tells_versions_capabilities_and_who_it_is() -> None:
    result = Stdio().result("server/discover")
    assert result["supportedVersions"] == [MODERN, *reversed(LEGACY)]
    assert result["capabilities"]["resources"] == {"subscribe": True, "listChanged": True}
    assert result["_meta"][SERVER_INFO]["name"] == "mcpcheck-reference"
    assert (result["ttlMs"], result["cacheScope"]) == (60_000, "public")


@pytest.mark.parametrize("id_", [1, 0, -1, 2**53 - 1, "", "0", "abc", "é😀", 10**400])
def test_the_id_comes_back_as_it_was(id_: object) -> None:
    client = Stdio()
    client.shapes.methods[id_] = "server/discover"
    (answer,) = client.send(request(id=id_))
    assert answer["id"] == id_
    assert type(answer["id"]) is type(id_)


@pytest.mark.parametrize("id_", [None, 1.5, True, [], {}])
def test_an_id_of_another_type_is_refused_without_one(id_: object) -> None:
    (answer,) = Stdio().send(request(id=id_))
    assert answer["error"]["code"] == -32600
    assert "id" not in answer


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"jsonrpc": "2.0", "id": 7, "method":', -32700),
        (b"\xff\xfe", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"x":NaN}}', -32700),
        (b"[" * 100_000, -32600),
        (b"[]", -32600),
        (b"5", -32600),
        (b"null", -32600),
        (b'"text"', -32600),
    ],
)
def test_what_is_no_message_is_refused_without_an_id(line: bytes, code: int) -> None:
    (answer,) = Stdio().send(line)
    assert answer["error"]["code"] == code
    assert "id" not in answer


@pytest.mark.parametrize("line", [b"", b"  ", b"{}", b'{"jsonrpc":"2.0","method":5}'])
def test_a_blank_line_and_an_object_that_nobody_asked_with_are_passed_over(line: bytes) -> None:
    assert Stdio().send(line) == []


def test_a_request_without_method_or_version_of_the_protocol_is_refused_with_its_id() -> None:
    for message in (
        {"jsonrpc": "2.0", "id": 11},
        {"jsonrpc": "2.0", "id": 11, "method": 5},
        {"jsonrpc": "1.0", "id": 11, "method": "server/discover", "params": {"_meta": meta()}},
        {"id": 11, "method": "server/discover", "params": {"_meta": meta()}},
    ):
        (answer,) = Stdio().send(message)
        assert (answer["id"], answer["error"]["code"]) == (11, -32600)


def test_a_batch_is_refused_as_a_whole() -> None:
    (answer,) = Stdio().send([request(id=21), request(id=22)])
    assert answer["error"]["code"] == -32600
    assert "id" not in answer


def test_notifications_and_stray_answers_draw_nothing() -> None:
    client = Stdio()
    for message in (
        {"method": "notifications/unheard-of", "params": {"_meta": meta()}},
        {"method": "notifications/cancelled", "params": {"requestId": "nobody"}},
        {"method": "notifications/cancelled", "params": {"requestId": None}},
        {"method": "notifications/cancelled", "params": {}},
        {"method": "notifications/cancelled"},
        {"method": "notifications/cancelled", "params": [1]},
        {"id": 1, "result": {}},
        {"id": 2, "error": {"code": 1, "message": ""}},
    ):
        assert client.send({"jsonrpc": "2.0", **message}) == []


@pytest.mark.parametrize("revisions", [(MODERN,), (*LEGACY, MODERN)])
def test_metadata_that_is_missing_is_refused(revisions: tuple[str, ...]) -> None:
    client = Stdio(Server(revisions))
    for key in (PROTOCOL_VERSION, "io.modelcontextprotocol/clientCapabilities"):
        left = {name: value for name, value in meta().items() if name != key}
        assert client.error("server/discover", {"_meta": left})["code"] == -32602
    for params in ({}, {"_meta": {}}, {"_meta": "x"}):
        (answer,) = client.send(request(params=params))
        assert answer["error"]["code"] == -32602
    without = {name: value for name, value in request().items() if name != "params"}
    assert client.send(without)[0]["error"]["code"] == -32602
    assert client.send(request(params=[1]))[0]["error"]["code"] == -32602
    for key in meta():
        for wrong in ("x" if key != PROTOCOL_VERSION else 5, [], None):
            assert client.error("server/discover", {"_meta": meta() | {key: wrong}})["code"] == -32602


def test_an_unsupported_version_is_refused_with_those_that_are_supported() -> None:
    client = Stdio()
    for version in ("1900-01-01", "2999-12-31", "v999", "2025-11-25"):
        error = client.error("tools/list", {"_meta": meta() | {PROTOCOL_VERSION: version}})
        assert error["code"] == -32022
        assert error["data"]["requested"] == version
        assert MODERN in error["data"]["supported"]
        assert version not in error["data"]["supported"]
    assert client.result("tools/list")["resultType"] == "complete"


def test_unknown_and_removed_methods_are_not_found() -> None:
    client = Stdio()
    for method in (
        "mcpcheck/no-such-method",
        "ping",
        "initialize",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "roots/list",
        "sampling/createMessage",
        "elicitation/create",
    ):
        assert client.error(method)["code"] == -32601


def test_an_unknown_log_level_and_an_odd_progress_token_are_refused() -> None:
    client = Stdio()
    for extra in ({"io.modelcontextprotocol/logLevel": "verbose"}, {"io.modelcontextprotocol/logLevel": 7}):
        assert client.error("server/discover", {"_meta": meta() | extra})["code"] == -32602
    assert client.error("server/discover", {"_meta": meta(progressToken=1.5)})["code"] == -32602


def test_a_server_without_the_handshake_names_its_versions() -> None:
    (answer,) = Stdio(Server((MODERN,))).send(
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
    )
    assert MODERN in answer["error"]["message"]
    assert answer["error"]["data"]["supported"] == [MODERN]


def test_a_server_of_the_handshake_era_alone_refuses_modern_requests() -> None:
    error = Stdio(Server(LEGACY)).error("server/discover")
    assert error["code"] == -32022


def test_a_fault_of_its_own_is_an_internal_error_and_says_nothing_of_the_inside() -> None:
    class Faulty(Server):
        def list_tools(self, call: object) -> dict[str, object]:
            raise RuntimeError("secret")

    error = Stdio(Faulty()).error("tools/list")
    assert error == {"code": -32603, "message": "Internal error"}


def test_lone_surrogates_and_endless_numbers_do_no_harm() -> None:
    client = Stdio()
    client.shapes.methods[1] = "tools/call"
    arguments = '{"text":"\\ud800"}'
    line = json.dumps(request(method="tools/call", params={"_meta": meta(), "name": "echo", "arguments": 0}))
    lines = client.server.receive(line.replace('"arguments": 0', f'"arguments": {arguments}').encode())
    assert b"\\ud800" in lines[0]
    big = line.replace('"arguments": 0', '"arguments": {"text":1e999}').encode()
    (answer,) = client.send(big)
    assert answer["result"]["isError"] is True
    deep = line.replace('"arguments": 0', '"arguments": {"text":' + "[" * 400 + "]" * 400 + "}").encode()
    (answer,) = client.send(deep)
    assert answer["result"]["isError"] is True
