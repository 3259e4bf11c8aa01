"""The report for people: what is broken first, with its evidence; the count is the last line."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from mcpcheck.ledger import worst_first
from mcpcheck.report import frames
from mcpcheck.report.counts import count
from mcpcheck.report.place import page, places
from mcpcheck.report.sheet import Sheet
from mcpcheck.verdict import Finding, Report, SessionInfo, Severity, Status

FULL: Final = 3
"""How many findings of one requirement are shown in full."""
FRAMES: Final = 4
"""How many frames of one finding are shown."""


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
        _heading(sheet, "What mcpcheck could not do", "what is below is incomplete")
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
    for finding in findings[:FULL]:
        _finding(sheet, finding)
    for finding in findings[FULL:]:
        sheet.paragraph(f"also {_at(finding)}: {finding.actual}", indent=4, hang=2)
    if requirement.repair:
        sheet.field("repair", requirement.repair, indent=4)
    sheet.field("page", page(findings[0], report), "underline", indent=4, wrap=False)
    commands = dict.fromkeys(finding.reproduce for finding in findings if finding.reproduce)
    for command in list(commands)[:FULL]:
        sheet.field("reproduce", command, "cyan", indent=4, wrap=False)
    sent = next((finding.curl for finding in findings if finding.curl), "")
    if sent:
        sheet.field("or", sent, "cyan", indent=4, wrap=False)


def _finding(sheet: Sheet, finding: Finding) -> None:
    who = f"the {finding.blames}" + (", perhaps: this is a heuristic or the text is unclear" if finding.suspect else "")
    sheet.field("at", _at(finding), indent=4)
    sheet.field("by", who, indent=4)
    if finding.scenario:
        sheet.field("scenario", finding.scenario, indent=4)
    sheet.field("expected", finding.expected or "(see the page)", indent=4)
    sheet.field("actual", finding.actual or "(see the frames)", indent=4)
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
    at = ", ".join(places(finding)) or "the whole session"
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
    missing: dict[str, list[str]] = defaultdict(list)
    for result in report.of(Status.UNTESTABLE):
        missing[result.note or "the missing piece was not named"].append(result.requirement.id)
    if missing:
        _heading(sheet, "Untestable", "what is missing, and what it would test")
        for note, ids in missing.items():
            sheet.paragraph((note, "yellow"), indent=2, hang=2)
            sheet.paragraph(", ".join(ids), indent=6)


def _not_exercised(sheet: Sheet, report: Report) -> None:
    notes: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for result in report.of(Status.NOT_EXERCISED):
        notes[result.note.partition(";")[0]][result.requirement.area] += 1
    if notes:
        _heading(sheet, "Not exercised", "nothing in these sessions speaks of them" if set(notes) == {""} else "")
    for note, areas in notes.items():
        counts = ", ".join(f"{area} {number}" for area, number in areas.items())
        sheet.paragraph(f"{note}: {counts}" if note else counts, indent=2, hang=2)


def _next(sheet: Sheet, report: Report) -> None:
    steps = dict.fromkeys([*report.next_steps, *_advice(report)])
    if steps:
        _heading(sheet, "What to do next")
        for step in steps:
            sheet.paragraph(f"- {step}", indent=2, hang=2, fold=False)


def _advice(report: Report) -> Iterator[str]:
    """What holds for any run; the caller adds what it knows of its own."""
    if report.troubles or report.of(Status.ERROR):
        yield "the errors come first: with them nothing here is a verdict on the peer as a whole"
    worst = worst_first([finding for finding in report.findings if not finding.known])
    if worst:
        yield f"`mcpcheck explain {worst[0].requirement.id}` says what the first one means and what it takes to hold it"
    if not report.of(Status.PASSED) and not worst and not report.troubles:
        yield "nothing was judged: check that the target is the one you mean, and the selection not too narrow"
