"""Scenarios: each tells its story, has a name of its own, and exercises what the catalogue holds."""

from collections import defaultdict
from functools import partial

import pytest

from mcpcheck.catalogue.load import load
from mcpcheck.conform import Conform
from mcpcheck.lab import Lab
from mcpcheck.peer import Peer
from mcpcheck.roles import Fixture
from mcpcheck.scenarios.registry import Scenario, scenario, scenarios
from mcpcheck.verdict import Status
from mcpcheck.wire.protocol import MODERN, REVISIONS
from tests.support.conforming import Streaming, conform_in_memory, on_http, on_stdio

TRANSPORTS = ("stdio", "http")


@pytest.mark.parametrize("found", scenarios(), ids=lambda found: found.name)
class TestEachScenario:
    def test_tells_its_story_in_a_sentence(self, found: Scenario) -> None:
        first = found.doc.splitlines()[0]
        assert first.endswith(".")
        assert first[0].isupper()

    def test_exercises_requirements_of_its_side(self, found: Scenario) -> None:
        assert {load()[id].role for id in found.exercises} <= {found.role, "both"}

    def test_names_no_requirement_twice(self, found: Scenario) -> None:
        assert len(set(found.exercises)) == len(found.exercises)

    def test_runs_where_all_that_it_exercises_can_hold(self, found: Scenario) -> None:
        assert set(found.transports) <= set(TRANSPORTS)
        for id in found.exercises:
            assert any(load()[id].holds_on(transport) for transport in found.transports), id


async def unheard_of(peer: object) -> None:
    """Never runs."""


def test_a_scenario_that_exercises_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing"):
        scenario(exercises=[])(unheard_of)


def test_a_scenario_that_exercises_something_unheard_of_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no\.such\.requirement"):
        scenario(exercises=["no.such.requirement"])(unheard_of)


def test_two_scenarios_of_one_name_are_refused() -> None:
    one = scenarios("server")[0]
    with pytest.raises(ValueError, match="two scenarios"):
        scenario(exercises=one.exercises)(one.run)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_all_that_scenarios_exercise_gets_a_verdict_on_the_reference(transport: str) -> None:
    opened = {"stdio": on_stdio, "http": on_http}[transport]
    reports = [conform_in_memory(opened(revisions=revisions)) for revisions in (REVISIONS, (MODERN,))]
    held = {result.requirement.id for report in reports for result in report.results if result.held}
    able = [found for found in scenarios("server") if transport in found.transports]
    exercised = {id for found in able for id in found.exercises if load()[id].holds_on(transport)}
    lacking = {"base.error.capability-gated-method", "completion.error.method-not-found"}
    assert exercised - held == lacking, "they take a server without some capability"


@pytest.mark.parametrize("served", ["stdio", "http", "http in streams"])
def test_nothing_is_untestable_on_the_reference(served: str) -> None:
    target = {"stdio": on_stdio, "http": on_http, "http in streams": partial(on_http, Streaming)}[served]
    reports = [conform_in_memory(target(revisions=revisions)) for revisions in (REVISIONS, (MODERN,))]
    untestable = [{result.requirement.id for result in report.of(Status.UNTESTABLE)} for report in reports]
    assert untestable[0] & untestable[1] == set()


def test_a_scenario_names_every_fixture_that_it_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, set[str]] = defaultdict(set)
    scene = {"name": ""}
    play, fixture = Conform.play, Lab.fixture

    async def noted(self: Conform, found: Scenario, peer: Peer) -> bool:
        scene["name"] = found.name
        return await play(self, found, peer)

    def noting(self: Lab, role: str) -> Fixture:
        asked[scene["name"]].add(role)
        return fixture(self, role)

    monkeypatch.setattr(Conform, "play", noted)
    monkeypatch.setattr(Conform, "ready", lambda self, found: True)
    monkeypatch.setattr(Lab, "fixture", noting)
    conform_in_memory(on_stdio())
    for story in scenarios("server"):
        assert asked[story.name] <= {*story.needs, *story.any_of, *story.also}, story.name
