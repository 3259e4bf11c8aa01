"""Tools, prompts, resources, completion and pagination of the reference server."""

import base64
import json
from typing import Any

import jsonschema_rs
import pytest

from mcpcheck.catalogue.schemas import Schemas
from mcpcheck.reference.prompts import PROMPTS
from mcpcheck.reference.resources import RESOURCES
from mcpcheck.reference.toolbox import TOOLS
from mcpcheck.wire.protocol import LEGACY, LOG_LEVEL, MODERN
from tests.reference.driver import Stdio

Json = Any


def walk(client: Stdio, method: str, member: str) -> list[Json]:
    """Every item of a list, page by page."""
    items: list[Json] = []
    params: dict[str, Json] = {}
    for _ in range(20):
        page = client.result(method, params)
        items += page[member]
        if "nextCursor" not in page:
            return items
        params = {"cursor": page["nextCursor"]}
    raise AssertionError("the pages do not end")


LISTS = {
    "tools/list": ("tools", len(TOOLS)),
    "prompts/list": ("prompts", len(PROMPTS)),
    "resources/list": ("resources", len(RESOURCES)),
    "resources/templates/list": ("resourceTemplates", 2),
}


@pytest.mark.parametrize("revision", [*LEGACY, MODERN])
@pytest.mark.parametrize("method", LISTS)
def test_every_list_is_whole_and_the_same_each_time(method: str, revision: str) -> None:
    member, count = LISTS[method]
    client = Stdio(revision=revision)
    items = walk(client, method, member)
    assert len(items) == count
    assert items == walk(Stdio(revision=revision), method, member)
    if revision == MODERN:
        for item in items:
            assert not any(value is None for value in item.values())


@pytest.mark.parametrize("method", ["prompts/list", "resources/list", "resources/templates/list"])
def test_lists_have_pages_and_a_cursor_is_good_in_any_process(method: str) -> None:
    cursor = Stdio().result(method)["nextCursor"]
    first, second = Stdio().result(method, {"cursor": cursor}), Stdio().result(method, {"cursor": cursor})
    assert first == second
    assert "nextCursor" not in first


@pytest.mark.parametrize("method", LISTS)
@pytest.mark.parametrize("cursor", ["mcpcheck-invalid-cursor", "", 5, None, "dG9vbHMvbGlzdDo1", "é", "\ud800"])
def test_a_cursor_that_was_never_handed_out_is_refused(method: str, cursor: object) -> None:
    assert Stdio().error(method, {"cursor": cursor})["code"] == -32602


def test_every_schema_is_valid_and_every_output_fits() -> None:
    client = Stdio()
    for tool in walk(client, "tools/list", "tools"):
        jsonschema_rs.meta.validate(tool["inputSchema"])
        assert tool["inputSchema"]["type"] == "object"
    listed = {tool["name"]: tool for tool in walk(client, "tools/list", "tools")}
    for name, arguments in (("add", {"a": 1, "b": 2}), ("squares", {})):
        result = client.call(name, arguments)
        jsonschema_rs.validate(listed[name]["outputSchema"], result["structuredContent"])
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


def test_unknown_tools_and_malformed_calls_are_refused_and_wrong_arguments_are_told_to_the_model() -> None:
    client = Stdio()
    for params in (
        {"name": "mcpcheck-no-such-tool"},
        {"name": "ADD"},
        {"name": 5},
        {},
        {"name": "add", "arguments": "text"},
        {"name": "add", "arguments": []},
    ):
        assert client.error("tools/call", params)["code"] == -32602
    for arguments in ({}, {"a": 1}, {"a": 1, "b": "2"}, {"a": 1.5, "b": 2}, {"a": 1, "b": 2, "c": 3}):
        assert client.call("add", arguments)["isError"] is True
    assert client.call("take_pair", {"pair": ["a", 1, 2]})["isError"] is True
    assert "isError" not in client.call("take_pair", {"pair": ["a", 1]})
    assert client.call("json_schema_2020_12_tool", {"contactMethod": "phone"})["isError"] is True


def test_a_failing_tool_says_so_in_its_result() -> None:
    result = Stdio().call("test_error_handling")
    assert result["isError"] is True
    assert result["content"][0]["text"]


def test_contents_are_base64() -> None:
    client = Stdio()
    for name in ("test_image_content", "test_audio_content"):
        base64.b64decode(client.call(name)["content"][0]["data"], validate=True)
    blob = client.result("resources/read", {"uri": "test://static-binary"})["contents"][0]["blob"]
    assert base64.b64decode(blob, validate=True).startswith(b"\x89PNG")


def test_progress_grows_and_stops_with_the_answer() -> None:
    client = Stdio()
    *notes, answer = client.ask("tools/call", {"name": "test_tool_with_progress"}, progressToken="p")
    assert [note["params"]["progress"] for note in notes] == [0, 50, 100]
    assert {note["params"]["progressToken"] for note in notes} == {"p"}
    assert answer["result"]["content"][0]["text"] == "p"
    assert len(client.ask("tools/call", {"name": "test_tool_with_progress"})) == 1


def test_logs_come_only_when_asked_for_and_from_the_level_on() -> None:
    client = Stdio()
    assert len(client.ask("tools/call", {"name": "test_logging_tool"})) == 1
    *notes, _ = client.ask("tools/call", {"name": "test_logging_tool"}, **{LOG_LEVEL: "error"})
    assert [note["params"]["level"] for note in notes] == ["error", "critical", "alert", "emergency"]
    assert len(client.ask("tools/call", {"name": "test_logging_tool"})) == 1


def test_slow_work_goes_on_in_steps_and_stops_when_it_is_cancelled() -> None:
    client = Stdio()
    call = {"name": "count_slowly", "arguments": {"to": 3}}
    assert [note["params"]["progress"] for note in client.ask("tools/call", call, progressToken=1)] == [0]
    said = [message for _ in range(3) for message in client.step()]
    assert [note["params"]["progress"] for note in said[:-1]] == [1, 2]
    assert said[-1]["result"]["content"][0]["text"] == "Counted to 3"
    assert not client.server.busy
    client.ask("tools/call", call)
    client.step()
    assert client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}) == []
    assert not client.server.busy
    assert client.step() == []
    assert client.call("counted")["content"][0]["text"] == "1"


def test_prompts_are_filled_in_and_their_arguments_checked() -> None:
    client = Stdio()
    for name, prompt in PROMPTS.items():
        if name in ("test_failing_prompt", "test_input_required_result_prompt"):
            continue
        arguments = {argument["name"]: "test:x" for argument in prompt.definition.get("arguments", [])}
        assert client.result("prompts/get", {"name": name, "arguments": arguments})["messages"]
    for params in (
        {"name": "mcpcheck-no-such-prompt"},
        {"name": 5},
        {"name": "test_prompt_with_arguments"},
        {"name": "test_prompt_with_arguments", "arguments": {"arg1": "a"}},
        {"name": "test_prompt_with_arguments", "arguments": {"arg1": "a", "arg2": 5}},
        {"name": "test_prompt_with_arguments", "arguments": ["a", "b"]},
        {"name": "test_prompt_with_embedded_resource", "arguments": {"resourceUri": "not a uri"}},
    ):
        assert client.error("prompts/get", params)["code"] == -32602
    assert client.error("prompts/get", {"name": "test_failing_prompt"})["code"] == -32603


def test_resources_are_read_and_odd_uris_refused() -> None:
    client = Stdio()
    read = client.result("resources/read", {"uri": "test://template/a-1/data"})["contents"][0]
    assert json.loads(read["text"])["id"] == "a-1"
    for uri in RESOURCES:
        if uri not in ("test://failing", "test://input-required"):
            assert client.result("resources/read", {"uri": uri})["contents"][0]["uri"] == uri
    for odd in (
        "x-mcpcheck-none://no/such",
        "",
        "not a uri",
        "test://" + "a" * 10_000,
        "test://%00",
        "\ud800",
        5,
        None,
    ):
        assert client.error("resources/read", {"uri": odd})["code"] == -32602
    assert client.error("resources/read", {"uri": "test://failing"})["code"] == -32603


def test_a_change_shows_in_the_resource() -> None:
    client = Stdio()
    read = {"uri": "test://watched-resource"}
    before = client.result("resources/read", read)
    client.call("test_update_resource")
    assert client.result("resources/read", read) != before


def test_completion_offers_a_hundred_values_at_most_and_checks_what_it_is_given() -> None:
    client = Stdio()
    prompt = {"type": "ref/prompt", "name": "test_prompt_with_arguments"}
    typed = {"name": "arg1", "value": ""}
    completion = client.result("completion/complete", {"ref": prompt, "argument": typed})["completion"]
    assert (len(completion["values"]), completion["total"], completion["hasMore"]) == (100, 150, True)
    template = {"type": "ref/resource", "uri": "test://template/{id}/data"}
    typed = {"name": "id", "value": "value-14"}
    context = {"arguments": {"other": "x"}}
    params = {"ref": template, "argument": typed, "context": context}
    assert len(client.result("completion/complete", params)["completion"]["values"]) == 10
    for wrong in (
        {"ref": "x"},
        {"ref": {"type": "ref/unknown", "name": "a"}},
        {"ref": {"type": "ref/prompt", "name": "mcpcheck-no-such-prompt"}},
        {"ref": {"type": "ref/prompt"}},
        {"ref": {"type": "ref/resource", "uri": "test://none/{x}"}},
        {"argument": {"name": "id"}},
        {"argument": {"name": "id", "value": 5}},
        {"argument": 5},
        {"context": []},
        {"context": {"arguments": ["x"]}},
    ):
        assert client.error("completion/complete", {**params, **wrong})["code"] == -32602
    for missing in ("ref", "argument"):
        left = {name: value for name, value in params.items() if name != missing}
        assert client.error("completion/complete", left)["code"] == -32602


def test_header_annotations_obey_the_rules_for_them() -> None:
    found = []
    for tool in TOOLS.values():
        properties = dict(tool.definition["inputSchema"].get("properties", {}))
        while properties:
            name, schema = properties.popitem()
            properties.update({f"{name}.{inner}": value for inner, value in schema.get("properties", {}).items()})
            if "x-mcp-header" in schema:
                assert schema["type"] in ("string", "integer", "boolean")
                found.append(schema["x-mcp-header"].lower())
    assert sorted(found) == ["count", "region", "tenant", "verbose"]


def test_the_definitions_fit_the_published_shapes() -> None:
    schemas = Schemas.for_revision(MODERN)
    for tool in TOOLS.values():
        assert not schemas.explain("Tool", dict(tool.definition))
