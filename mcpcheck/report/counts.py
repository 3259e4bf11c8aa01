"""How a report counts: every requirement of a run falls into exactly one of these."""

from dataclasses import dataclass

from mcpcheck.verdict import Report, Result, Severity, Status


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of requirements by what the run says of them; ``errors`` counts the troubles, too."""

    passed: int = 0
    broken: int = 0
    warnings: int = 0
    known: int = 0
    untestable: int = 0
    not_exercised: int = 0
    errors: int = 0
    stale: int = 0

    def line(self) -> str:
        """All of it in one line; what is nought is left out, but for passed and broken."""
        parts = [f"{self.passed} passed", f"{self.broken} broken"]
        rest = [
            (self.warnings, "warning" if self.warnings == 1 else "warnings"),
            (self.known, "known"),
            (self.untestable, "untestable"),
            (self.not_exercised, "not exercised"),
            (self.errors, "error" if self.errors == 1 else "errors"),
            (self.stale, "stale baseline entry" if self.stale == 1 else "stale baseline entries"),
        ]
        return ", ".join(parts + [f"{number} {word}" for number, word in rest if number])


def count(report: Report) -> Counts:
    """The counts of a report."""
    kinds = [kind(result, strict=report.strict) for result in report.results]
    return Counts(
        passed=kinds.count("passed"),
        broken=kinds.count("broken"),
        warnings=kinds.count("warning"),
        known=kinds.count("known"),
        untestable=kinds.count("untestable"),
        not_exercised=kinds.count("not exercised"),
        errors=kinds.count("error") + len(report.troubles),
        stale=len(report.stale),
    )


def kind(result: Result, *, strict: bool) -> str:
    """What a result counts as: a status, "warning" where nothing in it fails the run, or "known"."""
    if result.status not in {Status.PASSED, Status.BROKEN} or not result.findings:
        return str(result.status)
    new = [finding for finding in result.findings if not finding.known]
    if any(finding.severity is Severity.FAIL or (strict and not finding.suspect) for finding in new):
        return "broken"
    return "warning" if new else "known"
