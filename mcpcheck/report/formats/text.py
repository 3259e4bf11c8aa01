"""The report for people: what is broken first, with its evidence; the count is the last line."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Final

from mcpcheck.ledger import worst_first
from mcpcheck.report import curl, frames
from mcpcheck.report.counts import count
from mcpcheck.report.place import page, place
from mcpcheck.report.sheet import Sheet
from mcpcheck.verdict import Finding, Report, SessionInfo, Severity, Status

FULL: Final = 3
"""How many different findings of one requirement are shown in full."""
FRAMES: Final = 4
"""How many frames of one finding are shown."""
NAMED: Final = 4
"""Up to so many ids are named; of more, their areas are."""
RARE: Final = 5
"""Reasons that speak of fewer requirements are not told one by one, where there are many."""
ONE_SIDED: Final = frozenset({"conform", "conform-client", "fuzz"})
"""The runs that judge one side: of its findings it need not be said whose they are."""


def render(report: Report, *, width: int, colour: bool) -> str:
    """The whole report, top to bottom."""
    sheet = Sheet(width, colour)
    _head(sheet, report)
    _troubles(sheet, report)
    failures = {id(finding) for finding in report.failures}
    new = [finding for finding in report.findings if not finding.known]
    _findings(sheet, report, "Broken", [finding for finding in new if id(finding) in failures])
    _findings(sheet, report, "Warnings", [finding for finding in new if id(finding) not in failures])
    _known(sheet, report)
    _untestable(sheet, report)
    _not_exercised(sheet, report)
    _next(sheet, report)
    sheet.line()
    sheet.line((count(report).line(), _COLOUR[report.exit_code]))
    return sheet.text()


_COLOUR: Final = {0: "bold green", 1: "bold red", 2: "bold magenta"}

_FEW = 4
"""So many kept sessions are named one by one."""


def _head(sheet: Sheet, report: Report) -> None:
    sheet.line((f"{report.tool} {report.title}", "bold"))
    revisions = sorted({revision for session in report.sessions for revision in session.revisions})
    transports = sorted({session.transport for session in report.sessions})
    units = sum(session.units for session in report.sessions)
    fields = {
        "target": report.target,
        "revision": ", ".join(revisions),
        "transport": ", ".join(transports),
        "sessions": f"{len(report.sessions)} with {units:,} units" if report.sessions else "",
        "run": f"{report.run}, {report.started}, {report.seconds:.1f} s",
        **report.extra,
        "result": count(report).line(),
    }
    for name, value in fields.items():
        if value:
            sheet.field(name, value, indent=0)
    _files(sheet, [session for session in report.sessions if session.file and session.file != session.name])


def _files(sheet: Sheet, kept: list[SessionInfo]) -> None:
    """Where the sessions are: each by itself where they are few, else the folders that hold them."""
    folders = sorted({session.file.rpartition("/")[0] or "." for session in kept})
    if len(kept) > _FEW:
        sheet.field("", f"kept in {', '.join(folders)}, each under its name", indent=0)
        return
    for session in kept:
        sheet.field("", f"{session.name} is {session.file}", indent=0)


def _heading(sheet: Sheet, title: str, note: str = "") -> None:
    sheet.line()
    sheet.paragraph((title, "bold"), (f": {note}" if note else "", "dim"))


def _troubles(sheet: Sheet, report: Report) -> None:
    errors = [(result.requirement.id, result.note or "no reason given") for result in report.of(Status.ERROR)]
    troubles = errors + [(trouble.where, trouble.text) for trouble in report.troubles]
    if troubles:
        _heading(sheet, "What mcpcheck could not do", "what is below is incomplete" if report.results else "")
        for where, text in troubles:
            sheet.paragraph((where, "bold magenta"), f": {text}", indent=2, hang=2)


def _findings(sheet: Sheet, report: Report, title: str, findings: list[Finding]) -> None:
    if not findings:
        return
    _heading(sheet, title, "--> client, <-- server; {...} is what _meta always holds")
    for area, ordered in _by_area(findings).items():
        sheet.line()
        sheet.line(f"[{area}]", indent=2)
        for _, alike in groupby(ordered, key=lambda finding: finding.requirement.id):
            _requirement(sheet, report, list(alike))


def _by_area(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """Areas in the order of their worst finding; in each the worst requirement first, its findings together."""
    areas: dict[str, list[Finding]] = defaultdict(list)
    for finding in worst_first(findings):
        areas[finding.requirement.area].append(finding)
    for area, ordered in areas.items():
        rank = {id: number for number, id in reversed(list(enumerate(f.requirement.id for f in ordered)))}
        areas[area] = sorted(ordered, key=lambda finding: rank[finding.requirement.id])
    return areas


def _requirement(sheet: Sheet, report: Report, findings: list[Finding]) -> None:
    """One requirement, and each way in which it did not hold."""
    requirement = findings[0].requirement
    style = "bold red" if findings[0].severity is Severity.FAIL else "bold yellow"
    sheet.line()
    sheet.line((requirement.id, style), f"  {requirement.level}", indent=2)
    sheet.paragraph(requirement.summary, indent=4)
    groups: dict[tuple[object, ...], list[Finding]] = defaultdict(list)
    for finding in findings:
        groups[(finding.expected, finding.actual, finding.suspect, finding.blames)].append(finding)
    for alike in list(groups.values())[:FULL]:
        _finding(sheet, report, alike)
    for alike in list(groups.values())[FULL:]:
        sheet.paragraph(f"also {_at(alike[0])}: {alike[0].actual}", indent=4, hang=2)
    if requirement.repair:
        sheet.field("repair", requirement.repair, indent=4)
    sheet.field("page", page(findings[0], report), "underline", indent=4, wrap=False)
    commands = dict.fromkeys(finding.reproduce for finding in findings if finding.reproduce)
    for command in list(commands)[:FULL]:
        sheet.field("reproduce", command, "cyan", indent=4, wrap=False)
    _curl(sheet, next((finding.curl for finding in findings if finding.curl), ""))


def _curl(sheet: Sheet, sent: str) -> None:
    """The command that sends the very request again."""
    for number, line in enumerate(curl.folded(sent) if sent else ()):
        sheet.field("" if number else "or", f"  {line}" if number else line, "cyan", indent=4, wrap=False)
    if curl.hides(sent):
        sheet.field("", "(put your own where it says redacted: reports show no secrets)", "dim", indent=4)


def _finding(sheet: Sheet, report: Report, alike: list[Finding]) -> None:
    """One finding in full; ``alike`` has behind it those that say the same of other frames."""
    finding = alike[0]
    unsure = "this is a heuristic or the text is unclear" if finding.suspect else ""
    if report.title not in ONE_SIDED:
        sheet.field("by", f"the {finding.blames}{', perhaps: ' if unsure else ''}{unsure}", indent=4)
    elif unsure:
        sheet.field("perhaps", unsure, indent=4)
    sheet.field("expected", finding.expected or "(see the page)", indent=4)
    sheet.field("actual", finding.actual or "(see the frames)", indent=4)
    if finding.scenario and not finding.session.endswith(finding.scenario):
        sheet.field("scenario", finding.scenario, indent=4)
    sheet.field("at", _at(finding), indent=4)
    if len(alike) > 1:
        more = f" and {len(alike) - 1 - FULL} more" if len(alike) - 1 > FULL else ""
        sheet.field("also at", "; ".join(_at(other) for other in alike[1 : FULL + 1]) + more, indent=4)
    for record in finding.evidence[:FRAMES]:
        mark = f"#{record.n} {frames.arrow(record)} "
        for number, line in enumerate(frames.lines(record, meta=_speaks_of_meta(finding))):
            sheet.verbatim(" " * len(mark) if number else mark, line, indent=6)
    if len(finding.evidence) > FRAMES:
        sheet.line((f"and {len(finding.evidence) - FRAMES} more frames", "dim"), indent=6)


def _speaks_of_meta(finding: Finding) -> bool:
    """Whether a finding could lie in what _meta always holds: version, capabilities, the names of both sides."""
    said = f"{finding.requirement.summary} {finding.expected} {finding.actual}".lower()
    return any(word in said for word in ("meta", "version", "capabilit", "info", "declare"))


def _at(finding: Finding) -> str:
    at = place(finding) or "the whole session"
    return at if finding.times == 1 else f"{at} (seen {finding.times} times)"


def _known(sheet: Sheet, report: Report) -> None:
    known = [finding for finding in report.findings if finding.known]
    if known:
        _heading(sheet, "Known", "the baseline names them")
        for id, reason in dict.fromkeys((finding.requirement.id, finding.known) for finding in known):
            sheet.paragraph(f"{id}: {reason}", indent=2, hang=2)
    if report.stale:
        _heading(sheet, "Stale baseline entries", "they no longer fail: take them out")
        for entry in report.stale:
            sheet.paragraph((entry, "red"), indent=2, hang=2)


def _untestable(sheet: Sheet, report: Report) -> None:
    """What is missing, the most useful first: fixtures by their roles, which ``explain`` describes, then all else."""
    missing: dict[str, list[str]] = defaultdict(list)
    for result in report.of(Status.UNTESTABLE):
        missing[result.note or "the missing piece was not named"].append(result.requirement.id)
    if missing:
        _heading(sheet, "Untestable", "what is missing, and what it would test")
    fixtures: dict[str, list[str]] = defaultdict(list)
    for note in sorted(missing, key=lambda note: -len(missing[note])):
        if found := _FIXTURE.search(note):
            fixtures[found[1]] += missing.pop(note)
    if fixtures:
        told = "fixtures that the server does not offer; `mcpcheck explain fixture.ROLE` says what to add"
        sheet.paragraph((told, "yellow"), indent=2, hang=2)
    for role, ids in fixtures.items():
        sheet.field(role, _would_test(ids), indent=6, column=max(map(len, fixtures)) + 2)
    for note, ids in sorted(missing.items(), key=lambda item: -len(item[1])):
        sheet.paragraph((note, "yellow"), indent=2, hang=2)
        sheet.paragraph(_would_test(ids), indent=6)


_FIXTURE: Final = re.compile(r"\(mcpcheck explain fixture\.(\S+)\)$")


def _would_test(ids: list[str]) -> str:
    return ", ".join(ids) if len(ids) <= NAMED else _counts(Counter(id.partition(".")[0] for id in ids))


def _counts(areas: Mapping[str, int]) -> str:
    return ", ".join(f"{area} {number}" for area, number in areas.items())


def _not_exercised(sheet: Sheet, report: Report) -> None:
    """How many of which area, by the reason; many reasons that speak of few are one."""
    notes: dict[str, Counter[str]] = defaultdict(Counter)
    for result in report.of(Status.NOT_EXERCISED):
        notes[result.note.partition(";")[0]][result.requirement.area] += 1
    if notes:
        _heading(sheet, "Not exercised", "nothing in these sessions speaks of them" if set(notes) == {""} else "")
    rare = [note for note, areas in notes.items() if note and areas.total() < RARE]
    if len(rare) > 2:
        merged: Counter[str] = sum((notes.pop(note) for note in rare), Counter())
        notes["each for a reason of its own, which --report verdicts gives"] = merged
    for note, areas in sorted(notes.items(), key=lambda item: -item[1].total()):
        sheet.paragraph(f"{note}: {_counts(areas)}" if note else _counts(areas), indent=2, hang=2)


def _next(sheet: Sheet, report: Report) -> None:
    steps = dict.fromkeys([*_advice(report), *report.next_steps])
    if steps:
        _heading(sheet, "What to do next")
        for step in steps:
            sheet.paragraph(f"- {step}", indent=2, hang=2, fold=False)


def _advice(report: Report) -> Iterator[str]:
    """What holds for any run; the caller adds what it knows of its own."""
    if report.results and (report.troubles or report.of(Status.ERROR)):
        yield "the errors come first: with them nothing here is a verdict on the peer as a whole"
    worst = worst_first([finding for finding in report.findings if not finding.known])
    if worst:
        yield f"`mcpcheck explain {worst[0].requirement.id}` says what the first one means and what it takes to hold it"
    if not report.of(Status.PASSED) and not worst and not report.troubles:
        yield "nothing was judged: check that the target is the one you mean, and the selection not too narrow"
