"""subscriptions/listen of the reference server."""

from typing import Any

import pytest

from mcpcheck.wire.protocol import SUBSCRIPTION_ID
from tests.reference.driver import Stdio, meta

Json = Any

EVERYTHING = {
    "toolsListChanged": True,
    "promptsListChanged": True,
    "resourcesListChanged": True,
    "resourceSubscriptions": ["test://watched-resource"],
}
CHANGES = {
    "test_trigger_tool_change": "notifications/tools/list_changed",
    "test_trigger_prompt_change": "notifications/prompts/list_changed",
    "test_trigger_resource_change": "notifications/resources/list_changed",
    "test_update_resource": "notifications/resources/updated",
}


def listen(client: Stdio, id_: Json, wanted: Json) -> list[dict[str, Json]]:
    params = {"_meta": meta(), "notifications": wanted}
    client.shapes.methods[id_] = "subscriptions/listen"
    return client.send({"jsonrpc": "2.0", "id": id_, "method": "subscriptions/listen", "params": params})


def call(client: Stdio, name: str) -> list[dict[str, Json]]:
    """What comes when a tool is called, without its answer."""
    *notes, answer = client.ask("tools/call", {"name": name})
    assert answer["result"]["resultType"] == "complete"
    return notes


@pytest.mark.parametrize("id_", [0, 17, "17", "listen-a", ""])
def test_the_acknowledgement_comes_first_and_bears_the_id(id_: Json) -> None:
    (ack,) = listen(Stdio(), id_, EVERYTHING)
    assert ack["method"] == "notifications/subscriptions/acknowledged"
    assert ack["params"]["notifications"] == EVERYTHING
    named = ack["params"]["_meta"][SUBSCRIPTION_ID]
    assert named == id_
    assert type(named) is type(id_)


@pytest.mark.parametrize("wanted", [{}, {"toolsListChanged": False}, {"resourceSubscriptions": []}, {"unknown": True}])
def test_nothing_that_was_not_asked_for_is_granted_or_sent(wanted: Json) -> None:
    client = Stdio()
    (ack,) = listen(client, "s", wanted)
    assert ack["params"]["notifications"] == {}
    assert [call(client, name) for name in CHANGES] == [[], [], [], []]


@pytest.mark.parametrize(
    "wanted",
    ["x", None, [], {"toolsListChanged": "yes"}, {"resourceSubscriptions": "x"}, {"resourceSubscriptions": [5]}],
)
def test_a_filter_of_another_form_is_refused(wanted: Json) -> None:
    (answer,) = listen(Stdio(), 1, wanted)
    assert answer["error"]["code"] == -32602


@pytest.mark.parametrize("name", CHANGES)
def test_each_subscription_gets_its_own_copy_of_what_it_asked_for(name: str) -> None:
    client = Stdio()
    listen(client, "all", EVERYTHING)
    listen(client, 2, EVERYTHING)
    listen(client, "none", {})
    notes = call(client, name)
    assert [note["method"] for note in notes] == [CHANGES[name]] * 2
    assert [note["params"]["_meta"][SUBSCRIPTION_ID] for note in notes] == ["all", 2]


def test_another_resource_is_not_told_of() -> None:
    client = Stdio()
    listen(client, "a", {"resourceSubscriptions": ["test://static-text", "not a uri"]})
    assert call(client, "test_update_resource") == []


def test_a_cancelled_subscription_is_silent() -> None:
    client = Stdio()
    listen(client, 5, EVERYTHING)
    listen(client, "5", EVERYTHING)
    assert client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}) == []
    (note,) = call(client, "test_trigger_tool_change")
    assert note["params"]["_meta"][SUBSCRIPTION_ID] == "5"


def test_a_subscription_that_the_server_ends_gets_its_result_and_a_notice() -> None:
    client = Stdio()
    listen(client, "s", EVERYTHING)
    result, notice = call(client, "test_end_subscriptions")
    assert result["id"] == "s"
    assert result["result"]["_meta"][SUBSCRIPTION_ID] == "s"
    assert notice["method"] == "notifications/cancelled"
    assert notice["params"]["requestId"] == "s"
    assert call(client, "test_trigger_tool_change") == []


def test_a_new_connection_knows_nothing_of_old_subscriptions() -> None:
    client = Stdio()
    listen(client, "s", EVERYTHING)
    assert client.server.closed() == []
    assert call(Stdio(), "test_trigger_tool_change") == []
