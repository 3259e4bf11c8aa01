"""Which rule and which scenarios speak of a requirement, and how much of the catalogue that is."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

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
class Kind:
    """How many requirements one sort of observation shows; of these, how many are checked, proved, excused."""

    observable: int
    checked: int
    proved: int
    excused: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many requirements of an area can be observed, are checked, and are proved: a mutant that breaks it is caught.

    ``wire`` are those of them that a recording shows by itself, ``probe`` those that take a message sent for them,
    ``fixture`` those that take a peer which offers something. Excused are those of the others that nothing proves,
    each with its reason in tests/unproved.txt.
    """

    area: str
    requirements: int
    observable: int
    checked: int
    proved: int
    excused: int
    wire: Kind
    probe: Kind
    fixture: Kind


def cover(area: str, requirements: Iterable[Requirement]) -> Coverage:
    """The coverage of some requirements under a name."""
    all_ = list(requirements)
    observable = [one for one in all_ if one.observable]
    whole = _kind(observable)
    kinds = [_kind(one for one in observable if one.observe is how) for how in SHOWING]
    return Coverage(area, len(all_), whole.observable, whole.checked, whole.proved, whole.excused, *kinds)


def _kind(observable: Iterable[Requirement]) -> Kind:
    ids = {one.id for one in observable}
    checked = {id for id in ids if rule_of(id) or scenarios_of(id)}
    excused = {id for id in ids if unproved().get(id)}
    return Kind(len(ids), len(checked), len(ids - unproved().keys()), len(excused))


SHOWING: Final = (Observe.WIRE, Observe.PROBE, Observe.FIXTURE)
"""What a breach shows in, in the order in which a coverage counts it."""
