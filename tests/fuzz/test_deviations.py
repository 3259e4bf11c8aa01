"""Each deviation breaks what it names on our side, and nothing else; a legal one breaks nothing."""

from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings

from mcpcheck.engine import judgeable
from mcpcheck.fuzz.player import Player, prime
from mcpcheck.fuzz.registry import Deviation, Owes, deviations
from mcpcheck.fuzz.strategies import Stimulus, Template, templates
from mcpcheck.lab import Lab
from mcpcheck.survey import survey
from mcpcheck.verdict import Outcome, Verdict
from tests.support.conforming import on_http, on_stdio

LABS: dict[str, Lab] = {}


def lab(kind: str) -> Lab:
    """A surveyed reference server."""
    if kind not in LABS:
        LABS[kind] = Lab(on_stdio() if kind == "stdio" else on_http())
        anyio.run(survey, LABS[kind])
    return LABS[kind]


def fitting(bent: Deviation, kind: str) -> list[Template]:
    return [template for template in templates(lab(kind)) if bent.fits(template.method, template.kind)]


async def faults(kind: str, stimulus: Stimulus) -> list[Verdict]:
    """What the rules say of the client when it sends a stimulus, on purpose or not."""
    async with lab(kind).connect("test") as peer:
        await prime(peer)
        before = peer.frame
        found: list[Verdict] = []
        take = peer._take

        def kept(verdict: Verdict) -> None:
            take(verdict)
            if verdict.blames == "client" and verdict.outcome is not Outcome.HOLDS:
                found.append(verdict)

        peer._take = kept  # type: ignore[method-assign]
        await Player(peer, serves=True).play((stimulus,))
    return [verdict for verdict in found if verdict.frames and max(verdict.frames) > before]


UNSEEN = {"params.invented_cursor"}
"""What a recording alone does not show to be wrong: a client may have kept the cursor from before."""

PAIRS = [(bent, kind) for kind in ("stdio", "http") for bent in deviations(kind)]


@pytest.mark.parametrize(("bent", "kind"), PAIRS, ids=[f"{kind}:{bent.name}" for bent, kind in PAIRS])
def test_a_deviation_breaks_what_it_names_and_nothing_else(bent: Deviation, kind: str) -> None:
    broken: set[str] = set()
    outcomes: set[str] = set()
    allowed = {
        *bent.breaks,
        *(() if kind == "stdio" or bent.area == "headers" or bent.owes is Owes.RESULT else ("http",)),
    }

    @settings(max_examples=8, database=None, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(value=bent.values)
    def each_value(value: Any) -> None:
        for template in fitting(bent, kind)[:2]:
            for verdict in anyio.run(faults, kind, Stimulus(template, deviation=bent, value=value)):
                outcomes.add(verdict.requirement)
                if verdict.outcome is Outcome.BROKEN:
                    broken.add(verdict.requirement)

    each_value()
    undeclared = {id for id in broken if not any(id == area or id.startswith(area + ".") for area in allowed)}
    assert not undeclared - set(_of_templates(bent, kind))
    if set(bent.breaks) & judgeable() and bent.name not in UNSEEN:
        assert outcomes & set(bent.breaks)


def _of_templates(bent: Deviation, kind: str) -> Iterator[str]:
    for template in fitting(bent, kind):
        yield from template.breaks


@pytest.mark.parametrize("bent", deviations(), ids=lambda bent: bent.name)
def test_a_deviation_can_bend_something_on_each_of_its_transports_and_says_what_it_does(bent: Deviation) -> None:
    assert bent.doc.endswith(".")
    for kind in bent.transports:
        assert fitting(bent, kind)


@pytest.mark.parametrize("kind", ["stdio", "http"])
def test_valid_messages_break_nothing(kind: str) -> None:
    for template in templates(lab(kind)):
        found = {verdict.requirement for verdict in anyio.run(faults, kind, Stimulus(template))}
        assert found <= set(template.breaks)
