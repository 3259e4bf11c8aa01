"""Each mutant of the reference server is caught by exactly what it breaks, and the reference breaks nothing.

A mutant meets a whole run on its first transport. On its other one, where it has one, it meets the scenarios that
exercise what it breaks, and a tour of those that cause every kind of traffic.
"""

from collections.abc import Sequence
from itertools import product

import pytest

from mcpcheck.lab import Target
from mcpcheck.reference.server import Server
from mcpcheck.scenarios.registry import scenarios
from mcpcheck.verdict import Report
from mcpcheck.wire.protocol import LEGACY, MODERN, REVISIONS
from tests.support.conforming import Streaming, broken, conform_in_memory, on_http, on_stdio
from tests.support.handshake import Judged, judged_in_a_session
from tests.support.proof import Mutant, file_name, mutants

TOUR = (
    "base.broken_json",
    "base.ids_come_back",
    "base.notification",
    "capability",
    "completion",
    "discover",
    "errors.unknown",
    "lists.pages",
    "mrtr.other_methods",
    "mrtr.round_trips",
    "notifications",
    "prompts.listed",
    "versioning.unknown",
)
"""Scenarios that cause every kind of traffic."""

MODERN_MUTANTS = [mutant for mutant in mutants() if mutant.breaks or mutant.suspects]
LEGACY_MUTANTS = [mutant for mutant in mutants() if mutant.breaks_legacy or mutant.suspects_legacy]


def target(mutant: Mutant, transport: str) -> Target:
    if transport == "http":
        return on_http(mutant.server, mutant.revisions)
    return on_stdio(mutant.server, mutant.revisions)  # type: ignore[arg-type]


def in_streams(revisions: Sequence[str]) -> Target:
    return on_http(Streaming, revisions)


def suspect(report: Report) -> set[str]:
    return {finding.requirement.id for finding in report.findings if finding.suspect}


@pytest.mark.parametrize("mutant", MODERN_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_caught_by_exactly_what_it_breaks(mutant: Mutant) -> None:
    report = conform_in_memory(target(mutant, mutant.transports[0]))
    assert broken(report) == mutant.breaks
    assert suspect(report) == mutant.suspects


ELSEWHERE = [(mutant, transport) for mutant in MODERN_MUTANTS for transport in mutant.transports[1:]]


def tour_of(mutant: Mutant) -> tuple[str, ...]:
    """The scenarios that a mutant has to meet."""
    ids = mutant.breaks | mutant.suspects
    return (*TOUR, *(found.name for found in scenarios("server") if ids & set(found.exercises)))


@pytest.mark.parametrize(("mutant", "transport"), ELSEWHERE, ids=[f"{m.name}-{on}" for m, on in ELSEWHERE])
def test_a_mutant_is_caught_by_the_same_on_the_other_transport(mutant: Mutant, transport: str) -> None:
    report = conform_in_memory(target(mutant, transport), tour=tour_of(mutant))
    assert broken(report) == mutant.breaks
    assert suspect(report) == mutant.suspects


@pytest.mark.parametrize("mutant", LEGACY_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_caught_in_a_legacy_session_by_exactly_what_it_breaks_there(mutant: Mutant) -> None:
    server = mutant.server
    opened = on_stdio(server, LEGACY[-1:]) if issubclass(server, Server) else on_http(server, LEGACY[-1:])
    judged = judged_in_a_session(opened, LEGACY[-1])
    assert judged == Judged(mutant.breaks_legacy, mutant.suspects_legacy)


@pytest.mark.parametrize(("opened", "revision"), [*product([on_stdio], LEGACY), *product([on_http], LEGACY[1:])])
def test_the_reference_is_clean_in_a_legacy_session(opened: type[Target], revision: str) -> None:
    judged = judged_in_a_session(opened(revisions=(revision,)), revision)  # type: ignore[call-arg]
    assert judged == Judged(frozenset(), frozenset())


@pytest.mark.parametrize("revisions", [REVISIONS, (MODERN,)], ids=["all revisions", "modern only"])
@pytest.mark.parametrize("opened", [on_stdio, on_http, in_streams], ids=["stdio", "http", "http in streams"])
def test_the_reference_is_clean(opened: type[Target], revisions: Sequence[str]) -> None:
    report = conform_in_memory(opened(revisions=revisions))  # type: ignore[call-arg]
    assert not report.findings
    assert not report.troubles


@pytest.mark.parametrize("mutant", mutants(), ids=lambda mutant: mutant.name)
def test_a_mutant_is_named_after_what_it_breaks_and_says_so_in_one_sentence(mutant: Mutant) -> None:
    ids = mutant.breaks | mutant.suspects | mutant.breaks_legacy | mutant.suspects_legacy
    assert any(mutant.name.startswith(file_name(id)) for id in ids)
    assert mutant.doc.endswith(".")
    assert "\n" not in mutant.doc
