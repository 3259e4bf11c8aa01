"""The handshake era of the reference server, on stdio."""

from typing import Any

import pytest

from mcpcheck.reference.server import Server
from mcpcheck.wire.protocol import LEGACY, MODERN
from tests.reference.driver import ALL, Stdio, meta

Json = Any

ELICITED = {"action": "accept", "content": {"name": "Alice", "response": "yes"}}
SAMPLED = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "Paris"}}


def opening(version: Json, **more: Json) -> dict[str, Json]:
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}, **more}


@pytest.mark.parametrize("revision", LEGACY)
def test_initialize_echoes_a_version_that_is_spoken(revision: str) -> None:
    client = Stdio(revision=LEGACY[-1])
    client = Stdio()
    client.shapes.revision = revision
    result = client.result("initialize", opening(revision))
    assert result["protocolVersion"] == revision
    assert ("completions" in result["capabilities"]) is (revision != "2024-11-05")
    assert "resultType" not in result
    assert "_meta" not in result


@pytest.mark.parametrize("asked", ["1999-01-01", MODERN, "odd"])
def test_initialize_offers_the_latest_version_instead_of_one_that_is_not_spoken(asked: str) -> None:
    client = Stdio()
    client.shapes.revision = "2025-11-25"
    assert client.result("initialize", opening(asked))["protocolVersion"] == "2025-11-25"
    client = Stdio(Server(("2025-03-26",)))
    client.shapes.revision = "2025-03-26"
    assert client.result("initialize", opening(asked))["protocolVersion"] == "2025-03-26"


@pytest.mark.parametrize(
    "params",
    [{}, opening(5), opening("2025-11-25", capabilities=[]), opening("2025-11-25", clientInfo={"name": "t"})],
)
def test_a_malformed_initialize_is_refused(params: dict[str, Json]) -> None:
    client = Stdio()
    client.shapes.revision = "2025-11-25"
    assert client.error("initialize", params)["code"] == -32602
    assert client.result("initialize", opening("2025-11-25"))
    assert client.error("initialize", opening("2025-11-25"))["code"] == -32600


def test_before_initialize_only_ping_is_served() -> None:
    client = Stdio()
    client.shapes.revision = "2025-11-25"
    assert client.result("ping") == {}
    assert client.error("tools/list")["code"] == -32602


@pytest.mark.parametrize("revision", LEGACY)
def test_a_session_serves_lists_calls_and_its_own_methods(revision: str) -> None:
    client = Stdio(revision=revision)
    assert client.result("ping") == {}
    assert client.call("add", {"a": 1, "b": 2})["content"][0]["text"] == '{"sum": 3}'
    assert client.result("resources/subscribe", {"uri": "test://watched-resource"}) == {}
    assert client.result("logging/setLevel", {"level": "error"}) == {}
    assert client.error("logging/setLevel", {"level": "verbose"})["code"] == -32602
    assert client.error("resources/subscribe", {"uri": "not a uri"})["code"] == -32602
    assert client.error("resources/read", {"uri": "x-mcpcheck-none://x"})["code"] == -32002
    assert client.error("tools/call", {"name": "mcpcheck-no-such-tool"})["code"] == -32602
    assert client.error("mcpcheck/no-such-method")["code"] == -32601
    assert client.error("server/discover")["code"] == -32601
    reference = {"type": "ref/prompt", "name": "test_prompt_with_arguments"}
    params = {"ref": reference, "argument": {"name": "arg1", "value": ""}}
    assert len(client.result("completion/complete", params)["completion"]["values"]) == 100


@pytest.mark.parametrize("revision", LEGACY)
def test_what_a_revision_does_not_know_stays_out_of_it(revision: str) -> None:
    client = Stdio(revision=revision)
    tools = {tool["name"]: tool for tool in client.result("tools/list")["tools"]}
    assert ("annotations" in tools["add"]) is (revision >= "2025-03-26")
    assert ("outputSchema" in tools["add"]) is (revision >= "2025-06-18")
    assert "outputSchema" not in tools["squares"]
    assert ("structuredContent" in client.call("add", {"a": 1, "b": 2})) is (revision >= "2025-06-18")
    assert "structuredContent" not in client.call("squares")
    audio = client.call("test_audio_content")["content"][0]["type"]
    assert audio == ("audio" if revision >= "2025-03-26" else "text")
    link = client.call("test_multiple_content_types")["content"][2]["type"]
    assert link == ("resource_link" if revision >= "2025-06-18" else "text")


def test_changes_reach_the_session_that_asked_for_them() -> None:
    client = Stdio(revision="2025-06-18")

    def told(name: str) -> list[str]:
        return [message["method"] for message in client.ask("tools/call", {"name": name}) if "method" in message]

    assert told("test_trigger_tool_change") == ["notifications/tools/list_changed"]
    assert told("test_trigger_prompt_change") == ["notifications/prompts/list_changed"]
    assert told("test_trigger_resource_change") == ["notifications/resources/list_changed"]
    assert told("test_update_resource") == []
    client.result("resources/subscribe", {"uri": "test://watched-resource"})
    assert told("test_update_resource") == ["notifications/resources/updated"]
    client.result("resources/unsubscribe", {"uri": "test://watched-resource"})
    assert told("test_update_resource") == []


def test_logs_follow_the_level_that_was_set() -> None:
    client = Stdio(revision="2025-11-25")
    assert len(client.ask("tools/call", {"name": "test_logging_tool"})) == 8
    client.result("logging/setLevel", {"level": "critical"})
    assert len(client.ask("tools/call", {"name": "test_logging_tool"})) == 4


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
def test_a_tool_asks_by_requests_of_the_server_and_then_completes(revision: str) -> None:
    client = Stdio(revision=revision)
    requests = client.ask("tools/call", {"name": "test_input_required_result_multiple_inputs"})
    answers = {"elicitation/create": ELICITED, "sampling/createMessage": SAMPLED, "roots/list": {"roots": []}}
    assert [request["method"] for request in requests] == list(answers)
    assert len({request["id"] for request in requests}) == 3
    assert ("mode" in requests[0]["params"]) is (revision == "2025-11-25")
    said = []
    for request in requests:
        said += client.send({"jsonrpc": "2.0", "id": request["id"], "result": answers[request["method"]]})
    (done,) = said
    assert done["result"]["content"][0]["text"] == "Name: Alice; Greeting: Paris; Roots: 0"


def test_rounds_of_requests_follow_each_other() -> None:
    client = Stdio(revision="2025-11-25")
    (first,) = client.ask("tools/call", {"name": "test_input_required_result_multi_round"})
    (second,) = client.send({"jsonrpc": "2.0", "id": first["id"], "result": ELICITED})
    assert second["params"]["message"].startswith("Step 2")
    color = {"action": "accept", "content": {"color": "blue"}}
    (done,) = client.send({"jsonrpc": "2.0", "id": second["id"], "result": color})
    assert done["result"]["content"][0]["text"] == "Two rounds: Alice likes blue"
    assert client.send({"jsonrpc": "2.0", "id": second["id"], "result": color}) == []


@pytest.mark.parametrize("answer", [{"error": {"code": -1, "message": "no"}}, {"result": {"action": "maybe"}}])
def test_a_client_that_does_not_answer_well_makes_the_tool_fail(answer: dict[str, Json]) -> None:
    client = Stdio(revision="2025-11-25")
    (request,) = client.ask("tools/call", {"name": "test_elicitation"})
    (done,) = client.send({"jsonrpc": "2.0", "id": request["id"], **answer})
    assert done["result"]["isError"] is True
    (request,) = client.ask("prompts/get", {"name": "test_input_required_result_prompt"})
    (done,) = client.send({"jsonrpc": "2.0", "id": request["id"], **answer})
    assert done["error"]["code"] == -32603


@pytest.mark.parametrize(
    ("revision", "name", "capabilities"),
    [
        ("2025-11-25", "test_elicitation", {}),
        ("2025-11-25", "test_elicitation_url", {"elicitation": {}}),
        ("2025-06-18", "test_elicitation_url", ALL),
        ("2025-03-26", "test_elicitation", ALL),
        ("2025-06-18", "test_sampling_tool_loop", ALL),
        ("2024-11-05", "test_input_required_result_list_roots", {}),
    ],
)
def test_a_tool_whose_needs_the_session_does_not_meet_fails(
    revision: str, name: str, capabilities: dict[str, Json]
) -> None:
    client = Stdio()
    client.shapes.revision = revision
    client.open(revision, capabilities)
    assert client.call(name)["isError"] is True


def test_nothing_is_asked_before_the_session_is_initialized() -> None:
    client = Stdio()
    client.shapes.revision = "2025-11-25"
    client.result("initialize", opening("2025-11-25", capabilities=ALL))
    assert client.error("tools/call", {"name": "test_elicitation"})["code"] == -32600
    assert [m for m in client.ask("tools/call", {"name": "test_trigger_tool_change"}) if "method" in m] == []


def test_a_cancelled_request_is_given_up_with_what_was_asked_for_it() -> None:
    client = Stdio(revision="2025-11-25")
    (request,) = client.ask("tools/call", {"name": "test_elicitation"})
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
    (notice,) = client.send(cancelled)
    assert notice["params"]["requestId"] == request["id"]
    assert client.send({"jsonrpc": "2.0", "id": request["id"], "result": ELICITED}) == []


def test_batches_are_answered_as_one_in_the_revision_that_knows_them() -> None:
    client = Stdio(revision="2025-03-26")
    batch = [
        {"jsonrpc": "2.0", "id": "a", "method": "ping"},
        {"jsonrpc": "2.0", "id": "b", "method": "mcpcheck/no-such-method"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "none"}},
    ]
    import json

    (line,) = client.server.receive(json.dumps(batch).encode())
    answers = {answer["id"]: answer for answer in json.loads(line)}
    assert answers["a"]["result"] == {}
    assert answers["b"]["error"]["code"] == -32601
    assert client.server.receive(json.dumps(batch[2:]).encode()) == []
    assert Stdio(revision="2025-06-18").send(batch)[0]["error"]["code"] == -32600
    assert client.send([])[0]["error"]["code"] == -32600


def test_both_eras_are_served_in_one_process() -> None:
    client = Stdio(revision="2025-11-25")
    modern = Stdio(client.server)
    modern._id = 100
    assert modern.result("server/discover")["resultType"] == "complete"
    (answer,) = modern.ask("tools/call", {"name": "test_elicitation", "_meta": meta()})
    assert answer["result"]["resultType"] == "input_required"
    assert client.result("ping") == {}
