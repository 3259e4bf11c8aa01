"""Ledger: gathers the verdicts of a run, from all its sessions, and makes the Report of them."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from mcpcheck.catalogue.load import Catalogue, load
from mcpcheck.verdict import Finding, Outcome, Report, Result, Severity, Status, Trouble, Verdict, severity
from mcpcheck.wire.record import Record

Curl = Callable[[Verdict, Mapping[int, Record]], str]

DISTINCT = 10
"""How many different findings of one requirement a report shows; the rest is counted in the last of them."""


class Ledger:
    """What a run has judged so far.

    ``considered`` are the ids that the run was able to judge: those without a verdict are "not exercised".
    ``reproduce`` makes the command that shows a verdict again. ``by_session``: the same in two sessions is two.
    """

    def __init__(
        self,
        considered: Collection[str],
        *,
        reproduce: Callable[[Verdict], str] = lambda verdict: "",
        by_session: bool = False,
        catalogue: Catalogue | None = None,
    ) -> None:
        self._considered = set(considered)
        self._by_session = by_session
        self._reproduce = reproduce
        self._catalogue = catalogue or load()
        self._held: dict[str, int] = defaultdict(int)
        self._missing: dict[str, str] = {}
        self._notes: dict[str, str] = {}
        self._findings: dict[str, dict[tuple[str, ...], Finding]] = defaultdict(dict)
        self.curl: Curl = lambda verdict, records: ""  # makes the command that sends the very request again
        self.troubles: list[Trouble] = []

    def add(self, verdict: Verdict, records: Mapping[int, Record] | None = None) -> None:
        """Take a verdict in; ``records`` are its session's, by number, for the evidence."""
        id = verdict.requirement
        self._considered.add(id)
        match verdict.outcome:
            case Outcome.HOLDS:
                self._held[id] += 1
            case Outcome.UNTESTABLE:
                self._missing.setdefault(id, verdict.actual)
            case _:
                self._finding(verdict, records or {})

    def hold(self, id: str, times: int) -> None:
        """Count that a requirement held, a number of times."""
        self._considered.add(id)
        self._held[id] += times

    def extend(self, verdicts: Iterable[Verdict], records: Mapping[int, Record] | None = None) -> None:
        for verdict in verdicts:
            self.add(verdict, records)

    def consider(self, ids: Iterable[str]) -> None:
        """Name more ids that the run was able to judge."""
        self._considered.update(ids)

    def note(self, id: str, why: str) -> None:
        """Say why a requirement is not exercised, if nothing comes of it."""
        self._considered.add(id)
        self._notes[id] = why

    def trouble(self, where: str, text: str) -> None:
        """Note something that mcpcheck itself could not do."""
        if Trouble(where, text) not in self.troubles:
            self.troubles.append(Trouble(where, text))

    def _finding(self, verdict: Verdict, records: Mapping[int, Record]) -> None:
        kept = self._findings[verdict.requirement]
        session = verdict.session if self._by_session else ""
        alike: tuple[str, ...] = (verdict.outcome, verdict.expected, verdict.actual, verdict.scenario, session)
        if alike not in kept and len(kept) >= DISTINCT:
            alike = next(reversed(kept))
        if alike in kept:
            kept[alike] = replace(kept[alike], times=kept[alike].times + 1)
            return
        requirement = self._catalogue[verdict.requirement]
        kept[alike] = Finding(
            requirement=requirement,
            severity=severity(requirement, verdict.outcome),
            suspect=verdict.outcome is Outcome.SUSPECT,
            blames=verdict.blames,
            session=verdict.session,
            frames=verdict.frames,
            expected=verdict.expected,
            actual=verdict.actual,
            scenario=verdict.scenario,
            reproduce=self._reproduce(verdict),
            curl=self.curl(verdict, records),
            evidence=tuple(records[n] for n in verdict.frames if n in records),
        )

    def results(self) -> tuple[Result, ...]:
        """One result for each id that was considered, in the catalogue's order."""
        return tuple(self._result(id) for id in self._catalogue if id in self._considered)

    def _result(self, id: str) -> Result:
        requirement = self._catalogue[id]
        findings = tuple(self._findings.get(id, {}).values())
        held = self._held.get(id, 0)
        if any(not finding.suspect for finding in findings):
            return Result(requirement, Status.BROKEN, held, findings)
        if held or findings:
            return Result(requirement, Status.PASSED, held, findings)
        if id in self._missing:
            return Result(requirement, Status.UNTESTABLE, note=self._missing[id])
        return Result(requirement, Status.NOT_EXERCISED, note=self._notes.get(id, ""))

    def report(self, **head: Any) -> Report:
        """The Report of all that was added; ``head`` are its other fields."""
        return Report(results=self.results(), troubles=tuple(self.troubles), **head)


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Failures before warnings, certain ones before suspicions; within these the order of the catalogue."""
    return sorted(findings, key=lambda finding: (finding.severity is not Severity.FAIL, finding.suspect))
