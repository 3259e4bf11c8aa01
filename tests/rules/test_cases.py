"""Every rule has cases in shorthand, good ones and broken ones, and the requirement's own examples."""

from pathlib import Path

import pytest

from mcpcheck.catalogue.load import load
from mcpcheck.rules.registry import rules
from mcpcheck.verdict import Outcome
from tests.support import sessions

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*/*.session"))
CASES = [(path, case) for path in FILES for case in sessions.read(path)]


@pytest.mark.parametrize(("path", "case"), CASES, ids=[f"{path.stem}:{case.title}" for path, case in CASES])
def test_a_session_earns_exactly_the_verdicts_written_in_it(path: Path, case: sessions.Case) -> None:
    complaints = list(case.complaints(case.judge()))
    assert not complaints, f"{path.name}, line {case.line}: " + "\n".join(complaints)


@pytest.mark.parametrize("id", rules())
def test_a_rule_has_cases_in_which_it_holds_and_cases_in_which_it_does_not(id: str) -> None:
    path = HERE / id.partition(".")[0] / f"{id}.session"
    outcomes = {
        verdict.outcome for case in sessions.read(path) for verdict in case.judge() if verdict.requirement == id
    }
    assert Outcome.HOLDS in outcomes
    assert outcomes & {Outcome.BROKEN, Outcome.SUSPECT}


@pytest.mark.parametrize("id", rules())
def test_a_rule_leaves_a_legal_neighbour_of_its_fault_alone(id: str) -> None:
    """A case whose title begins with "legal: " looks like the fault to a hasty rule. One earns no finding at all."""
    path = HERE / id.partition(".")[0] / f"{id}.session"
    neighbours = [case for case in sessions.read(path) if case.title.startswith("legal: ")]
    findings = [{verdict.requirement for verdict in case.judge() if verdict.is_finding} for case in neighbours]
    assert not [case.title for case, ids in zip(neighbours, findings, strict=True) if id in ids]
    assert set() in findings


@pytest.mark.parametrize("id", rules())
def test_the_catalogues_examples_of_a_requirement_show_what_they_claim(id: str) -> None:
    requirement = load()[id]
    assert requirement.good
    assert requirement.bad
    good = [verdict for case in example(id, requirement.good) for verdict in case.judge()]
    bad = [verdict for case in example(id, requirement.bad) for verdict in case.judge()]
    assert not [verdict for verdict in good if verdict.requirement == id and verdict.is_finding]
    assert [verdict for verdict in good if verdict.requirement == id]
    assert [verdict for verdict in bad if verdict.requirement == id and verdict.is_finding]


def example(id: str, text: str) -> list[sessions.Case]:
    """An example of the catalogue as a session; it names its revision and transport where they are not the usual."""
    assert "# " not in text, f"{id}: an example is one session"
    return list(sessions.parse(text))


def test_no_case_file_is_for_a_requirement_without_a_rule() -> None:
    assert {path.stem for path in FILES} <= set(rules())
