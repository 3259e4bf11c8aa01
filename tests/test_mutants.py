"""Each mutant of the reference server is caught by exactly what it breaks, and the reference breaks nothing."""

from collections.abc import Sequence

import pytest

from mcpcheck.lab import Target
from mcpcheck.verdict import Report
from mcpcheck.wire.protocol import MODERN, REVISIONS
from tests.support.conforming import broken, conform_in_memory, on_http, on_stdio
from tests.support.proof import Mutant, file_name, mutants

CASES = [(mutant, transport) for mutant in mutants() for transport in mutant.transports]


def target(mutant: Mutant, transport: str) -> Target:
    if transport == "http":
        return on_http(mutant.server, mutant.revisions)
    return on_stdio(mutant.server, mutant.revisions)  # type: ignore[arg-type]


def suspect(report: Report) -> set[str]:
    return {finding.requirement.id for finding in report.findings if finding.suspect}


@pytest.mark.parametrize(("mutant", "transport"), CASES, ids=[f"{m.name}-{transport}" for m, transport in CASES])
def test_a_mutant_is_caught_by_exactly_what_it_breaks(mutant: Mutant, transport: str) -> None:
    report = conform_in_memory(target(mutant, transport))
    assert broken(report) == mutant.breaks
    assert suspect(report) == mutant.suspects


@pytest.mark.parametrize("revisions", [REVISIONS, (MODERN,)], ids=["all revisions", "modern only"])
@pytest.mark.parametrize("opened", [on_stdio, on_http], ids=["stdio", "http"])
def test_the_reference_is_clean(opened: type[Target], revisions: Sequence[str]) -> None:
    report = conform_in_memory(opened(revisions=revisions))  # type: ignore[call-arg]
    assert not report.findings
    assert not report.troubles


@pytest.mark.parametrize("mutant", mutants(), ids=lambda mutant: mutant.name)
def test_a_mutant_is_named_after_what_it_breaks_and_says_so_in_one_sentence(mutant: Mutant) -> None:
    ids = mutant.breaks | mutant.suspects
    assert any(mutant.name.startswith(file_name(id)) for id in ids)
    assert mutant.doc.endswith(".")
    assert "\n" not in mutant.doc
