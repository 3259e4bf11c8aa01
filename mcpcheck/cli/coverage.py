"""Which rule and which scenarios speak of a requirement."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from mcpcheck.catalogue.requirement import Observe, Requirement
from mcpcheck.rules.registry import Rule, rules
from mcpcheck.scenarios.registry import Scenario, scenarios


@cache
def _by_id() -> dict[str, list[Scenario]]:
    found: dict[str, list[Scenario]] = defaultdict(list)
    for scenario in scenarios():
        for id in scenario.exercises:
            found[id].append(scenario)
    return dict(found)


def rule_of(id: str) -> Rule | None:
    """The rule that judges a requirement wherever traffic shows it."""
    return rules().get(id)


def scenarios_of(id: str) -> list[Scenario]:
    """The scenarios that cause what a requirement speaks of."""
    return _by_id().get(id, [])


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many requirements of an area can be observed, and how many of all are judged by what."""

    area: str
    requirements: int
    observable: int
    rule: int
    scenario: int
    judged: int


def cover(area: str, requirements: Iterable[Requirement]) -> Coverage:
    """The coverage of some requirements under a name."""
    all_ = list(requirements)
    with_rule = {one.id for one in all_ if rule_of(one.id)}
    with_scenario = {one.id for one in all_ if scenarios_of(one.id)}
    observable = sum(one.observe is not Observe.INTERNAL for one in all_)
    judged = len(with_rule | with_scenario)
    return Coverage(area, len(all_), observable, len(with_rule), len(with_scenario), judged)
