"""The shapes of messages: where they come from, what they say, and that both validators say the same."""

import importlib.util
import json
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mcpcheck.catalogue.place import specs_root
from mcpcheck.catalogue.problems import Problem
from mcpcheck.catalogue.schemas import Schemas
from mcpcheck.errors import UsageError
from mcpcheck.wire.protocol import INPUT_METHODS, MODERN, MODERN_METHODS, REVISIONS
from tests.catalogue.instances import Instances

META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}


def document(revision: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((specs_root() / "schema" / f"{revision}.json").read_text(encoding="utf-8"))
    return loaded


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.fixture
def modern() -> Schemas:
    return Schemas.for_revision(MODERN)


@pytest.fixture(scope="module")
def derivation() -> ModuleType:
    pytest.importorskip("mcp_types")
    spec = importlib.util.spec_from_file_location(
        "derive_schemas", Path(__file__).parents[2] / "specs/derive_schemas.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_files_are_what_the_script_derives(derivation: ModuleType, revision: str) -> None:
    edits = tomllib.loads((specs_root() / "schema" / "edits.toml").read_text(encoding="utf-8"))
    assert derivation.derive(revision, edits) == document(revision)


def test_every_edit_says_why_and_for_which_revision() -> None:
    edits = tomllib.loads((specs_root() / "schema" / "edits.toml").read_text(encoding="utf-8"))
    for entry in edits["edit"]:
        assert entry["why"].endswith(".")
        assert set(entry["revisions"]) <= set(REVISIONS)
        assert len({"set", "type", "drop", "require"} & set(entry)) == 1, entry


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_files_hold_no_prose(revision: str) -> None:
    def words(schema: Any) -> set[str]:
        if isinstance(schema, list):
            return set().union(*map(words, schema))
        if not isinstance(schema, dict):
            return set()
        members = schema.get("properties", {})
        rest = {key: value for key, value in schema.items() if key != "properties"}
        return set(rest).union(*map(words, members.values()), *map(words, rest.values()))

    for schema in document(revision)["$defs"].values():
        assert not words(schema) & {"description", "title", "examples", "$comment", "format", "default"}


@pytest.mark.parametrize("revision", REVISIONS)
def test_both_validators_agree(revision: str) -> None:
    schemas = Schemas.for_revision(revision)
    instances = Instances(document(revision)["$defs"], seed=3)
    for name in sorted(schemas.types()):
        for value in instances.of(name, 120):
            found = schemas.problems(name, value)
            assert schemas.valid(name, value) is not bool(found), (name, json.dumps(value), found)


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_table_names_types_that_exist(revision: str) -> None:
    schemas = Schemas.for_revision(revision)
    for table in (schemas.requests, schemas.inputs, schemas.notifications):
        for method, message in table.items():
            named = {message.type, *message.instead, *([message.result] if message.result else [])}
            assert named <= schemas.types()
            assert bool(message.senders) is (table is not schemas.inputs)
            assert document(revision)["$defs"][message.type]["properties"]["method"] == {"const": method}


def test_an_unknown_revision_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match=r"2019-01-01.*2026-07-28"):
        Schemas.for_revision("2019-01-01")


def test_a_revision_is_loaded_once() -> None:
    assert Schemas.for_revision(MODERN) is Schemas.for_revision(MODERN)


def test_a_type_that_does_not_exist_is_our_own_mistake(modern: Schemas) -> None:
    with pytest.raises(KeyError, match="InitializeRequest"):
        modern.valid("InitializeRequest", {})


def test_the_modern_tables_hold_the_modern_methods(modern: Schemas) -> None:
    assert set(modern.requests) == MODERN_METHODS
    assert {method for method in modern.requests if modern.instead_types(method)} == INPUT_METHODS
    assert modern.request_type("tools/call") == "CallToolRequest"
    assert modern.result_type("tools/call") == "CallToolResult"
    assert modern.instead_types("tools/call") == ("InputRequiredResult",)
    assert modern.notification_type("notifications/cancelled") == "CancelledNotification"
    assert modern.notifications["notifications/progress"].senders == {"server"}
    assert modern.request_type("elicitation/create") is None
    assert modern.input_type("elicitation/create") == "ElicitRequest"
    assert modern.input_result_type("sampling/createMessage") == "CreateMessageResult"
    assert modern.error_type(-32022) == "UnsupportedProtocolVersionError"
    assert modern.error_type(-32600) is None
    assert modern.error_type("-32022") is None


def test_the_legacy_tables_hold_the_legacy_methods() -> None:
    last, first = Schemas.for_revision("2025-11-25"), Schemas.for_revision("2024-11-05")
    assert last.requests["ping"].senders == {"client", "server"}
    assert last.result_type("resources/subscribe") == "EmptyResult"
    assert last.result_type("tasks/result") == "GetTaskPayloadResult"
    assert last.instead_types("tools/call") == ("CreateTaskResult",)
    assert last.error_type(-32042) == "URLElicitationRequiredError"
    assert not last.inputs
    assert first.request_type("elicitation/create") is None
    assert first.request_type("tasks/get") is None
    assert first.instead_types("tools/call") == ()
    assert first.notification_type("notifications/elicitation/complete") is None


def test_an_optional_member_may_be_absent_but_not_null(modern: Schemas) -> None:
    tool = {"name": "t", "inputSchema": {"type": "object"}}
    assert modern.valid("Tool", tool)
    assert modern.valid("Tool", tool | {"com.example/unknown": None})
    assert not modern.valid("Tool", tool | {"description": None})


def test_a_result_has_a_result_type(modern: Schemas) -> None:
    assert modern.valid("Result", {"resultType": "com.example/other"})
    assert not modern.valid("Result", {})
    assert modern.valid("InputRequiredResult", {"resultType": "input_required"})


@pytest.mark.parametrize(
    "odd",
    [1e400, -1e400, 10**5000, nested(5000), "\ud800", {"\ud800": "\udfff"}, {"a": nested(500)}],
    ids=["infinite", "-infinite", "huge", "deep", "surrogate", "surrogate-name", "deep-member"],
)
def test_odd_values_are_judged_like_any_other(modern: Schemas, odd: Any) -> None:
    fine = {"resultType": "complete", "content": [], "structuredContent": odd}
    assert modern.valid("CallToolResult", fine)
    assert modern.explain("CallToolResult", fine) == ""
    wrong = {"resultType": odd, "content": odd, "isError": odd, "structuredContent": odd}
    assert not modern.valid("CallToolResult", wrong)
    assert 0 < len(modern.explain("CallToolResult", wrong)) < 400


def test_a_number_past_the_range_of_a_float_is_a_number(modern: Schemas) -> None:
    for number in (1e400, -1e400, 10**5000):
        assert modern.valid("ProgressNotificationParams", {"progress": number, "progressToken": "\ud800"})


TEXT = {"type": "text", "text": "x"}
FORM = {"type": "object", "properties": {"a": {"type": "obj"}}}


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("Tool", {"name": "t", "inputSchema": {}}, "result.inputSchema: 'type' is missing"),
        ("Tool", [], "result is an array; an object is expected"),
        (
            "Tool",
            {"name": None, "inputSchema": {"type": "object"}},
            "result.name is null; a string is expected (an optional member is left out, not null)",
        ),
        (
            "CallToolResult",
            {"resultType": "complete", "content": [TEXT, {"type": "vidoe"}]},
            'result.content[1].type is "vidoe"; "text", "image", "audio", "resource_link" or "resource" is expected',
        ),
        (
            "CallToolResult",
            {"resultType": "complete", "content": [{"text": "x"}]},
            "result.content[0]: 'type' is missing",
        ),
        (
            "CallToolResult",
            {"resultType": "complete", "content": [{"type": "image", "data": 5, "mimeType": "image/png"}]},
            "result.content[0].data is the number 5; a string is expected",
        ),
        (
            "CallToolResult",
            {"resultType": "complete", "content": ["x"]},
            'result.content[0] is the string "x"; an object is expected',
        ),
        (
            "CacheableResult",
            {"resultType": "complete", "cacheScope": "all", "ttlMs": 1},
            'result.cacheScope is "all"; "private" or "public" is expected',
        ),
        (
            "CacheableResult",
            {"resultType": "complete", "cacheScope": "public", "ttlMs": -1},
            "result.ttlMs is -1; it may not be below 0",
        ),
        ("CacheableResult", {"resultType": "complete"}, "result: 'cacheScope' is missing (and 1 more)"),
        (
            "CompleteResult",
            {"resultType": "complete", "completion": {"values": ["x"] * 101}},
            "result.completion.values has 101 items; 100 are allowed",
        ),
        (
            "InputRequests",
            {"a b": {"method": "elicitation/create", "params": {"message": "m", "requestedSchema": FORM}}},
            'result["a b"].params.requestedSchema.properties.a.type is "obj"; '
            '"string", "integer", "number", "boolean" or "array" is expected',
        ),
        (
            "InputRequests",
            {"a": {"method": "elicitation/create", "params": {"message": "m", "mode": "url"}}},
            "result.a.params: 'url' is missing",
        ),
        (
            "InputResponses",
            {"a": {"action": "accept", "content": {"n": {}}}},
            "result.a.content.n is an object; true or false, a number, a string or an array is expected",
        ),
        ("InputResponses", {"a": {}}, "result.a is no CreateMessageResult, ListRootsResult or ElicitResult"),
        (
            "SamplingMessage",
            {"role": "user", "content": [TEXT, {"type": "text"}]},
            "result.content[1]: 'text' is missing",
        ),
    ],
)
def test_an_explanation_says_where_and_what(modern: Schemas, name: str, value: Any, text: str) -> None:
    assert modern.explain(name, value, "result") == text


def test_a_problem_says_its_place_also_where_a_member_is_missing(modern: Schemas) -> None:
    params = {"name": "t", "_meta": {key: META[key] for key in META if "Capabilities" in key}}
    (problem,) = modern.problems("CallToolRequestParams", params)
    assert problem.path == ("_meta", "io.modelcontextprotocol/protocolVersion")
    assert problem.kind == "missing"
    assert problem.text("params") == "params._meta: 'io.modelcontextprotocol/protocolVersion' is missing"
    assert modern.problems("CallToolRequestParams", params | {"_meta": META}) == ()


def test_an_explanation_without_a_place_speaks_of_the_value(modern: Schemas) -> None:
    assert modern.explain("Tool", 5) == "the value is the number 5; an object is expected"
    assert Problem(("a", 0, "b c"), "value", "is wrong").text() == 'a[0]["b c"] is wrong'


def test_explanations_stay_short_and_few(modern: Schemas) -> None:
    params = {"name": 5, "_meta": META | {"x" * 2000: None}, "arguments": "y" * 5000}
    assert len(modern.explain("CallToolRequestParams", params)) < 400
    tools = {"resultType": "complete", "cacheScope": "public", "ttlMs": 0, "tools": [{}] * 500}
    assert len(modern.problems("ListToolsResult", tools)) == 50
