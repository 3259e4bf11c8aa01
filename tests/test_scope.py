"""A run speaks of all that a server owes, and says for each requirement what came of it and why."""

from typing import Any

import pytest

from mcpcheck.catalogue.load import load
from mcpcheck.errors import UsageError
from mcpcheck.reference.call import Call, Refusal
from mcpcheck.reference.inputs import Work
from mcpcheck.reference.server import Server
from mcpcheck.scope import covered, in_scope, why_not
from mcpcheck.verdict import Status
from tests.support.conforming import broken, conform_in_memory, on_stdio


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_run_considers_all_that_a_server_owes_on_its_transport(transport: str) -> None:
    considered = in_scope((), (), transport)
    for id, one in load().items():
        owed = one.role in {"server", "both"} and "2026-07-28" in one.revisions and one.holds_on(transport)
        assert (id in considered) == (owed and one.observable)
    assert {id.partition(".")[0] for id in considered} >= {"tasks", "apps", "base", "tools"}


def test_every_requirement_of_a_run_has_a_verdict_and_what_says_why() -> None:
    report = conform_in_memory(on_stdio(), tools="read-only", tour=["discover", "errors"])
    assert {result.requirement.id for result in report.results} == in_scope((), (), "stdio")
    for result in report.results:
        assert result.note or result.held or result.findings


def test_what_was_not_exercised_has_the_reason_or_what_was_missing() -> None:
    assert why_not("tasks.update.unknown-task", "stdio") == "no check of this version covers it"
    assert why_not("base.meta.traceparent", "stdio") == "nothing in this run speaks of it"
    assert "names no limit" in why_not("progress.notification.rate-limit", "stdio")
    told = why_not("tools.error.unknown-tool", "stdio")
    assert told == "nothing in this run speaks of it; errors.unknown_tool found nothing that does"


@pytest.mark.parametrize(
    ("id", "says"),
    [
        ("discover.client.choose-listed", "it is a client that has to obey it; see mcpcheck conform-client"),
        ("base.support.core", "nothing on the wire shows it"),
        ("base.support.optional-parts", "either way is fine"),
        ("legacy", "it is not of 2026-07-28"),
        ("http.headers", "it is about HTTP"),
        ("tasks.update.unknown-task", "no check of this version covers it"),
    ],
)
def test_a_selection_that_nothing_checks_is_an_error_with_the_reason(id: str, says: str) -> None:
    with pytest.raises(UsageError, match="nothing under") as error:
        in_scope((id,), (), "stdio")
    assert says in str(error.value)


def test_such_an_error_names_what_is_near_and_checked() -> None:
    with pytest.raises(UsageError) as error:
        in_scope(("tasks.update.unknown-task",), (), "stdio")
    near = str(error.value).partition("the nearest that are checked are ")[2].split(", ")
    assert near
    assert set(near) <= covered()
    assert all(id.startswith("tasks.") for id in near)


def test_a_selection_of_which_nothing_is_left_is_an_error() -> None:
    with pytest.raises(UsageError, match="--skip leaves out"):
        in_scope(("tools.error",), ("tools",), "stdio")


class WithoutTools(Server):
    """Offers no tools, and says so."""

    def capabilities_for(self, revision: str) -> dict[str, Any]:
        return {name: value for name, value in super().capabilities_for(revision).items() if name != "tools"}

    def serve(self, call: Call, work: Work | None = None) -> None:
        if call.method.startswith("tools/"):
            self.refuse(call, Refusal(-32601, "Method not found"))
        else:
            super().serve(call, work)


class DeclaresToolsAlone(WithoutTools):
    """Says that it offers tools, and serves none of their methods."""

    def capabilities_for(self, revision: str) -> dict[str, Any]:
        return {"tools": {}, **super().capabilities_for(revision)}


def test_a_server_without_tools_is_not_blamed_for_tools() -> None:
    report = conform_in_memory(on_stdio(WithoutTools))
    assert broken(report) == set()
    tools = [result for result in report.results if result.requirement.area == "tools"]
    assert {result.status for result in tools} <= {Status.PASSED, Status.UNTESTABLE, Status.NOT_EXERCISED}
    assert sum(result.status is Status.UNTESTABLE for result in tools) >= 5


def test_a_server_that_declares_tools_and_serves_none_is_blamed() -> None:
    assert {"tools.list.responds", "discover.result.capabilities-true"} & broken(
        conform_in_memory(on_stdio(DeclaresToolsAlone), tour=["discover"])
    )
