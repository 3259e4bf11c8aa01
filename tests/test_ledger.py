"""A run's verdicts become results: what held, what broke, what could not be tested, and what was never spoken of."""

from mcpcheck.catalogue.load import Catalogue
from mcpcheck.catalogue.requirement import Level
from mcpcheck.ledger import DISTINCT, Ledger, worst_first
from mcpcheck.verdict import Outcome, Report, Result, Severity, Status, Trouble, Verdict
from mcpcheck.wire.record import Dir
from tests.report.samples import line, requirement

MUST, SHOULD = requirement("area.must"), requirement("area.should", Level.SHOULD)
OTHER = requirement("area.other")
CATALOGUE = Catalogue([MUST, SHOULD, OTHER])
RECORDS = {n: line(n, Dir.S2C, f'"{n}"') for n in range(1, 6)}


def ledger(*considered: str) -> Ledger:
    return Ledger(considered, reproduce=lambda verdict: f"again {verdict.requirement}", catalogue=CATALOGUE)


def verdict(outcome: Outcome, id: str = "area.must", actual: str = "", frames: tuple[int, ...] = (2, 3)) -> Verdict:
    return Verdict(id, outcome, "server", frames, "a number", actual, "stdio-1", "story")


def results(of: Ledger) -> dict[str, Result]:
    return {result.requirement.id: result for result in of.results()}


def report(of: Ledger, **head: object) -> Report:
    return of.report(title="lint", target="x", run="r", started="s", tool="t", **head)


def test_what_was_considered_and_never_seen_is_not_exercised() -> None:
    found = results(ledger("area.must", "area.other"))
    assert {id: result.status for id, result in found.items()} == {
        "area.must": Status.NOT_EXERCISED,
        "area.other": Status.NOT_EXERCISED,
    }


def test_what_held_every_time_passed_and_is_counted() -> None:
    run = ledger()
    run.extend([verdict(Outcome.HOLDS)] * 3)
    assert results(run)["area.must"] == Result(MUST, Status.PASSED, held=3)


def test_a_finding_has_its_evidence_and_its_command() -> None:
    run = ledger()
    run.extend([verdict(Outcome.HOLDS), verdict(Outcome.BROKEN, actual="null", frames=(2, 3, 99))], RECORDS)
    result = results(run)["area.must"]
    assert (result.status, result.held) == (Status.BROKEN, 1)
    (finding,) = result.findings
    assert finding.evidence == (RECORDS[2], RECORDS[3])
    assert (finding.reproduce, finding.scenario, finding.session) == ("again area.must", "story", "stdio-1")
    assert (finding.severity, finding.expected, finding.actual) == (Severity.FAIL, "a number", "null")


def test_the_same_finding_is_kept_once_and_counted() -> None:
    run = ledger()
    run.extend([verdict(Outcome.BROKEN, actual="null", frames=(n,)) for n in range(1, 6)], RECORDS)
    (finding,) = results(run)["area.must"].findings
    assert (finding.times, finding.frames) == (5, (1,))


def test_findings_of_one_requirement_are_bounded() -> None:
    run = ledger()
    run.extend(verdict(Outcome.BROKEN, actual=f"way {n}") for n in range(DISTINCT + 7))
    findings = results(run)["area.must"].findings
    assert len(findings) == DISTINCT
    assert sum(finding.times for finding in findings) == DISTINCT + 7


def test_a_suspicion_alone_breaks_nothing() -> None:
    run = ledger()
    run.add(verdict(Outcome.SUSPECT))
    result = results(run)["area.must"]
    assert result.status is Status.PASSED
    assert (result.findings[0].severity, result.findings[0].suspect) == (Severity.WARN, True)
    assert report(run, strict=True).exit_code == 0


def test_what_could_not_be_tested_names_the_missing_piece_unless_it_was_tested_elsewhere() -> None:
    run = ledger()
    run.add(verdict(Outcome.UNTESTABLE, actual="a tool that fails"))
    assert results(run)["area.must"] == Result(MUST, Status.UNTESTABLE, note="a tool that fails")
    run.add(verdict(Outcome.HOLDS))
    assert results(run)["area.must"].status is Status.PASSED


def test_a_broken_should_fails_only_a_strict_run() -> None:
    run = ledger()
    run.add(verdict(Outcome.BROKEN, "area.should"))
    assert report(run).exit_code == 0
    assert report(run, strict=True).exit_code == 1


def test_a_trouble_is_noted_once_and_outweighs_a_failure() -> None:
    run = ledger()
    run.add(verdict(Outcome.BROKEN))
    assert report(run).exit_code == 1
    run.trouble("stdio-1", "it broke off")
    run.trouble("stdio-1", "it broke off")
    done = report(run)
    assert done.troubles == (Trouble("stdio-1", "it broke off"),)
    assert done.exit_code == 2


def test_the_worst_comes_first() -> None:
    run = ledger()
    for id, outcome in (
        ("area.should", Outcome.BROKEN),
        ("area.other", Outcome.SUSPECT),
        ("area.must", Outcome.BROKEN),
    ):
        run.add(verdict(outcome, id))
    ordered = worst_first(finding for result in run.results() for finding in result.findings)
    assert [finding.requirement.id for finding in ordered] == ["area.must", "area.should", "area.other"]
