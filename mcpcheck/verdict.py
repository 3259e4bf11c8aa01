"""The result model: what was found, how it counts, and the report that holds all of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from mcpcheck.catalogue.requirement import Requirement
from mcpcheck.wire.record import Record


class Outcome(StrEnum):
    """What one look at one thing showed."""

    HOLDS = "holds"
    BROKEN = "broken"
    SUSPECT = "suspect"  # unclear text or heuristic: at most a warning
    UNTESTABLE = "untestable"


class Status(StrEnum):
    """What a run says of a requirement."""

    PASSED = "passed"
    BROKEN = "broken"
    UNTESTABLE = "untestable"
    NOT_EXERCISED = "not exercised"
    ERROR = "error"


class Severity(StrEnum):
    """How a finding counts."""

    FAIL = "fail"
    WARN = "warn"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One judgement of one requirement. ``frames`` are record numbers in the session named ``session``."""

    requirement: str
    outcome: Outcome
    blames: str  # "client" or "server"
    frames: tuple[int, ...] = ()
    expected: str = ""
    actual: str = ""
    session: str = ""
    scenario: str = ""

    @property
    def is_finding(self) -> bool:
        return self.outcome in {Outcome.BROKEN, Outcome.SUSPECT}


@dataclass(frozen=True, slots=True)
class Finding:
    """A requirement that did not hold, once: with the frames that show it and the command that shows it again."""

    requirement: Requirement
    severity: Severity
    suspect: bool
    blames: str
    session: str
    frames: tuple[int, ...]
    expected: str
    actual: str
    scenario: str = ""
    reproduce: str = ""
    curl: str = ""  # HTTP: the command that sends the very request again
    evidence: tuple[Record, ...] = ()
    known: str = ""  # the reason, where a baseline names it
    times: int = 1  # how often the same was seen in this run


@dataclass(frozen=True, slots=True)
class Result:
    """What a run says of one requirement.

    ``note`` is the missing piece of an untestable one, the reason why one is not exercised, or the error.
    """

    requirement: Requirement
    status: Status
    held: int = 0
    findings: tuple[Finding, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that mcpcheck itself could not do."""

    where: str
    text: str


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """One recorded session of the run: its name, its transport, how many units it held, and its file if kept."""

    name: str
    transport: str
    units: int
    file: str = ""
    revisions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """All that a run found. Run id, clock, version and seed come from the caller: a rendering is repeatable."""

    title: str  # "conform", "lint", ...
    target: str
    run: str
    started: str
    tool: str
    results: tuple[Result, ...]
    sessions: tuple[SessionInfo, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    strict: bool = False
    seconds: float = 0.0
    stale: tuple[str, ...] = ()  # baseline entries that no longer fail
    next_steps: tuple[str, ...] = ()
    extra: Mapping[str, str] = field(default_factory=dict)  # what else the head of a report says, by name

    def of(self, status: Status) -> list[Result]:
        return [result for result in self.results if result.status is status]

    @property
    def findings(self) -> list[Finding]:
        return [finding for result in self.results for finding in result.findings]

    @property
    def failures(self) -> list[Finding]:
        """The findings that make the run fail: a broken MUST; with ``strict`` a broken SHOULD, too."""
        return [
            finding
            for finding in self.findings
            if not finding.known and (finding.severity is Severity.FAIL or (self.strict and not finding.suspect))
        ]

    @property
    def exit_code(self) -> int:
        """0 nothing broken, 1 findings or stale baseline entries, 2 mcpcheck could not do its work."""
        if self.troubles or self.of(Status.ERROR):
            return 2
        return 1 if self.failures or self.stale else 0


def severity(requirement: Requirement, outcome: Outcome) -> Severity:
    """MUST fails, SHOULD warns, a suspicion at most warns."""
    fails = outcome is Outcome.BROKEN and requirement.level.fails
    return Severity.FAIL if fails else Severity.WARN


def broken_ids(verdicts: Iterable[Verdict], blames: str | None = None) -> set[str]:
    """The ids of the requirements that some verdict calls broken."""
    return {v.requirement for v in verdicts if v.outcome is Outcome.BROKEN and blames in {None, v.blames}}
