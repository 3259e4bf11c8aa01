"""Which rule and which scenarios speak of a requirement, and how much of the catalogue that is."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from functools import cache

from mcpcheck.catalogue.requirement import Observe, Requirement
from mcpcheck.catalogue.unproved import unproved
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
    """How many requirements of an area can be observed, are checked, and are proved: a mutant that breaks it is caught.

    ``wire`` counts those of them that a recording shows by itself, ``stimulus`` those that take a message sent for
    them, or a peer that offers something; ``..._excused`` those of these that nothing proves, each with its reason in
    tests/unproved.txt.
    """

    area: str
    requirements: int
    observable: int
    checked: int
    proved: int
    wire: int
    wire_checked: int
    wire_proved: int
    wire_excused: int
    stimulus: int
    stimulus_checked: int
    stimulus_proved: int
    stimulus_excused: int


def cover(area: str, requirements: Iterable[Requirement]) -> Coverage:
    """The coverage of some requirements under a name."""
    all_ = list(requirements)
    observable = {one.id for one in all_ if one.observable}
    checked = {id for id in observable if rule_of(id) or scenarios_of(id)}
    wire = {one.id for one in all_ if one.id in observable and one.observe is Observe.WIRE}
    proved = observable - unproved().keys()
    excused = {id for id in observable if unproved().get(id)}
    counts = [all_, observable, checked, proved]
    for kind in (wire, observable - wire):
        counts += [kind, kind & checked, kind & proved, kind & excused]
    return Coverage(area, *map(len, counts))


def combined(areas: Iterable[Coverage]) -> Coverage:
    """The sums over all areas."""
    columns = list(zip(*(astuple(area)[1:] for area in areas), strict=True))
    return Coverage("total", *map(sum, columns))
