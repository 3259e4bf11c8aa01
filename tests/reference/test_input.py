"""Multi round-trip requests of the reference server."""

from typing import Any

import pytest

from mcpcheck.reference.server import Server
from mcpcheck.reference.state import LIFETIME
from tests.reference.driver import ALL, Stdio, meta

Json = Any

ELICITED = {"action": "accept", "content": {"name": "Alice"}}
SAMPLED = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "Paris"}}
ROOTS = {"roots": [{"uri": "file:///home"}]}
ANSWERS = {"elicitation/create": ELICITED, "sampling/createMessage": SAMPLED, "roots/list": ROOTS}


def ask(client: Stdio, name: str, **params: Json) -> dict[str, Json]:
    return client.result("tools/call", {"name": name, "arguments": {}, **params})


def retry(asked: dict[str, Json], answers: Json = None) -> dict[str, Json]:
    """What a retry carries: an answer to each request, and the state."""
    requests = asked.get("inputRequests", {})
    given = {key: ANSWERS[request["method"]] for key, request in requests.items()} if answers is None else answers
    state = {"requestState": asked["requestState"]} if "requestState" in asked else {}
    return {"inputResponses": given, **state}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("test_input_required_result_elicitation", "Hello, Alice!"),
        ("test_input_required_result_sampling", "The model answered: Paris"),
        ("test_input_required_result_list_roots", "1 roots"),
        ("test_input_required_result_multiple_inputs", "Name: Alice; Greeting: Paris; Roots: 1"),
    ],
)
def test_a_tool_asks_and_completes_on_the_retry_in_another_process(name: str, said: str) -> None:
    asked = ask(Stdio(), name)
    assert asked["resultType"] == "input_required"
    assert not asked.keys() & {"ttlMs", "cacheScope"}
    done = ask(Stdio(), name, **retry(asked))
    assert done["content"][0]["text"] == said


def test_prompts_and_resources_ask_too() -> None:
    client = Stdio()
    for method, params in (
        ("prompts/get", {"name": "test_input_required_result_prompt"}),
        ("resources/read", {"uri": "test://input-required"}),
    ):
        asked = client.result(method, params)
        assert asked["resultType"] == "input_required"
        answers = {"user_name": ELICITED, "user_context": {"action": "accept", "content": {"context": "c"}}}
        done = client.result(method, {**params, "inputResponses": answers})
        assert done["resultType"] == "complete"


def test_rounds_follow_each_other_and_the_state_keeps_what_was_said() -> None:
    client, name = Stdio(), "test_input_required_result_multi_round"
    first = ask(client, name)
    second = ask(client, name, **retry(first))
    assert list(second["inputRequests"]) == ["step2"]
    assert second["requestState"] != first["requestState"]
    done = ask(client, name, **retry(second, {"step2": {"action": "accept", "content": {"color": "blue"}}}))
    assert done["content"][0]["text"] == "Two rounds: Alice likes blue"


def test_state_alone_is_enough_to_come_again() -> None:
    client, name = Stdio(), "test_input_required_result_state_only"
    asked = ask(client, name)
    assert "inputRequests" not in asked
    assert ask(client, name, requestState=asked["requestState"])["resultType"] == "complete"


@pytest.mark.parametrize("action", ["decline", "cancel"])
@pytest.mark.parametrize(
    "name",
    [
        "test_input_required_result_elicitation",
        "test_input_required_result_request_state",
        "test_elicitation",
        "test_elicitation_url",
        "test_elicitation_sep1034_defaults",
        "test_elicitation_sep1330_enums",
        "test_streaming_elicitation",
    ],
)
def test_a_user_may_say_no(name: str, action: str) -> None:
    client = Stdio()
    asked = ask(client, name)
    given = {key: {"action": action} for key in asked["inputRequests"]}
    assert ask(client, name, **retry(asked, given))["resultType"] == "complete"


@pytest.mark.parametrize(
    "answer",
    [
        12345,
        {},
        {"action": "maybe"},
        {"action": ["accept"]},
        {"action": "accept"},
        {"action": "accept", "content": {}},
        {"action": "accept", "content": {"name": 5}},
        {"action": "accept", "content": ["Alice"]},
    ],
)
def test_an_answer_that_does_not_fit_is_refused(answer: object) -> None:
    params = {"name": "test_input_required_result_elicitation", "inputResponses": {"user_name": answer}}
    assert Stdio().error("tools/call", params)["code"] == -32602


@pytest.mark.parametrize(
    ("name", "key", "answer"),
    [
        ("test_input_required_result_sampling", "capital_question", {"role": "assistant"}),
        ("test_input_required_result_sampling", "capital_question", {**SAMPLED, "content": {"type": "odd"}}),
        ("test_input_required_result_sampling", "capital_question", {**SAMPLED, "content": {"type": ["text"]}}),
        ("test_input_required_result_sampling", "capital_question", {**SAMPLED, "content": {"type": "text"}}),
        ("test_input_required_result_list_roots", "client_roots", {}),
        ("test_input_required_result_list_roots", "client_roots", {"roots": [{"uri": "https://example.com"}]}),
        ("test_input_required_result_list_roots", "client_roots", {"roots": [5]}),
    ],
)
def test_answers_of_models_and_about_roots_are_checked(name: str, key: str, answer: object) -> None:
    params = {"name": name, "inputResponses": {key: answer}}
    assert Stdio().error("tools/call", params)["code"] == -32602


def test_what_is_missing_is_asked_for_again_and_what_nobody_asked_for_is_ignored() -> None:
    client, name = Stdio(), "test_input_required_result_multiple_inputs"
    asked = ask(client, name)
    again = ask(client, name, **retry(asked, {"greeting": SAMPLED, "odd": 5}))
    assert sorted(again["inputRequests"]) == ["client_roots", "user_name"]
    done = ask(client, name, **retry(again, {"user_name": ELICITED, "client_roots": ROOTS, "odd": None}))
    assert done["content"][0]["text"] == "Name: Alice; Greeting: Paris; Roots: 1"
    assert ask(client, "test_input_required_result_elicitation", inputResponses={})["resultType"] == "input_required"
    assert ask(client, "test_simple_text", inputResponses={"odd": 5})["resultType"] == "complete"


@pytest.mark.parametrize("params", [{"inputResponses": wrong} for wrong in (None, [], "x")] + [{"requestState": 5}])
def test_retries_that_break_the_protocol_are_refused(params: dict[str, Json]) -> None:
    for name in ("test_input_required_result_elicitation", "test_simple_text"):
        assert Stdio().error("tools/call", {"name": name, **params})["code"] == -32602


def test_altered_and_foreign_state_is_refused() -> None:
    client, name = Stdio(), "test_input_required_result_tampered_state"
    asked = ask(client, name)
    state: str = asked["requestState"]
    other = ask(client, "test_input_required_result_request_state")["requestState"]
    middle = len(state) // 2
    swapped = state[:middle] + state[middle + 1] + state[middle] + state[middle + 2 :]
    changed = state[:9] + ("A" if state[9] != "A" else "B") + state[10:]
    for forged in ("", "x", state + "-", state[:middle], swapped, changed, other, "a" * 2**20, "e30.00", "é.\ud800"):
        params = {"name": name, "arguments": {}, **retry(asked), "requestState": forged}
        error = client.error("tools/call", params)
        assert error["code"] == -32602
    ask(client, name, **retry(asked, {"confirm": {"action": "accept", "content": {"ok": True}}}))


def test_state_belongs_to_its_arguments_and_its_time() -> None:
    time = [0.0]
    client = Stdio(Server(now=lambda: time[0]))
    params: dict[str, Json] = {"name": "test_input_required_result_request_state", "arguments": {}}
    asked = client.result("tools/call", params)
    good = retry(asked, {"confirm": {"action": "accept", "content": {"ok": True}}})
    assert client.error("tools/call", {"name": params["name"], **good})["code"] == -32602
    time[0] = LIFETIME - 1
    assert client.result("tools/call", {**params, **good})["resultType"] == "complete"
    time[0] = LIFETIME + 1
    assert client.error("tools/call", {**params, **good})["code"] == -32602


@pytest.mark.parametrize(
    ("name", "declared", "required"),
    [
        ("test_input_required_result_elicitation", {}, {"elicitation": {"form": {}}}),
        ("test_input_required_result_elicitation", {"elicitation": {"url": {}}}, {"elicitation": {"form": {}}}),
        ("test_elicitation_url", {"elicitation": {}}, {"elicitation": {"url": {}}}),
        ("test_elicitation_url", {"elicitation": {"form": {}}}, {"elicitation": {"url": {}}}),
        ("test_input_required_result_sampling", {"elicitation": {}}, {"sampling": {}}),
        ("test_missing_capability", {}, {"sampling": {}}),
        ("test_sampling_tool_loop", {"sampling": {}}, {"sampling": {"tools": {}}}),
        ("test_input_required_result_list_roots", {}, {"roots": {}}),
        (
            "test_input_required_result_multiple_inputs",
            {"sampling": {}},
            {"elicitation": {"form": {}}, "roots": {}},
        ),
    ],
)
def test_an_undeclared_capability_is_named_and_nothing_is_remembered(
    name: str, declared: dict[str, Json], required: dict[str, Json]
) -> None:
    client = Stdio()
    assert ask(client, name)["resultType"] in ("input_required", "complete")
    error = client.error("tools/call", {"name": name, "arguments": {}, "_meta": meta(declared)})
    assert error["code"] == -32021
    assert error["data"] == {"requiredCapabilities": required}
    assert ask(client, name)["resultType"] in ("input_required", "complete")


def test_an_empty_elicitation_capability_means_forms() -> None:
    params = {"name": "test_input_required_result_elicitation", "_meta": meta({"elicitation": {}})}
    assert Stdio().result("tools/call", params)["resultType"] == "input_required"


def test_a_tool_that_can_do_without_asks_for_what_is_declared_only() -> None:
    params = {"name": "test_input_required_result_capabilities", "arguments": {}}
    client = Stdio()
    asked = client.result("tools/call", {**params, "_meta": meta({"sampling": {}})})
    assert [request["method"] for request in asked["inputRequests"].values()] == ["sampling/createMessage"]
    assert client.result("tools/call", {**params, "_meta": meta({})})["resultType"] == "complete"
    assert len(client.result("tools/call", {**params, "_meta": meta(ALL)})["inputRequests"]) == 2


def test_a_loop_of_tool_uses_is_balanced_and_ends() -> None:
    client, name = Stdio(), "test_sampling_tool_loop"
    use = {"type": "tool_use", "name": "get_weather", "input": {"city": "Paris"}}
    asked = ask(client, name)
    for round_ in range(1, 10):
        if asked["resultType"] == "complete":
            break
        (key,) = asked["inputRequests"]
        messages = asked["inputRequests"][key]["params"]["messages"]
        assert len(messages) == 2 * round_ - 1
        answer = {**SAMPLED, "content": [{**use, "id": "c1"}, {**use, "id": f"c{round_ + 1}"}]}
        asked = ask(client, name, **retry(asked, {key: answer}))
        if asked["resultType"] == "input_required":
            (request,) = asked["inputRequests"].values()
            assistant, user = request["params"]["messages"][-2:]
            assert assistant == {"role": "assistant", "content": answer["content"]}
            assert [block["toolUseId"] for block in user["content"]] == ["c1", f"c{round_ + 1}"]
    assert asked["resultType"] == "complete"
    assert round_ == 4


def test_input_is_asked_for_by_the_three_methods_alone() -> None:
    client = Stdio()
    for method in ("server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"):
        assert client.result(method)["resultType"] == "complete"
