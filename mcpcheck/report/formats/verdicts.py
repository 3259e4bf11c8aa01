"""Every requirement of a run on a line of its own: what the run says of it, and why."""

from typing import Final

from mcpcheck.ledger import worst_first
from mcpcheck.report.counts import count, kind
from mcpcheck.report.sheet import Sheet
from mcpcheck.verdict import Report, Result, Status

_COLOUR: Final = {
    "broken": "red",
    "warning": "yellow",
    "known": "yellow",
    "untestable": "magenta",
    "error": "magenta",
    "passed": "green",
}


def render(report: Report, *, width: int, colour: bool) -> str:
    """Columns that any tool can split: the verdict, the id, the reason; the count is the last line."""
    sheet = Sheet(width, colour)
    kinds = [kind(result, strict=report.strict) for result in report.results]
    widest = max((len(result.requirement.id) for result in report.results), default=0)
    left = max(map(len, kinds), default=0)
    for said, result in zip(kinds, report.results, strict=True):
        verdict = (said.replace(" ", "-").ljust(left), _COLOUR.get(said, ""))
        sheet.line(verdict, f"  {result.requirement.id.ljust(widest)}  {_why(result)}")
    for entry in report.stale:
        sheet.line(("stale".ljust(left), _COLOUR["broken"]), f"  {entry}")
    for trouble in report.troubles:
        sheet.line(("error".ljust(left), _COLOUR["error"]), f"  {trouble.where.ljust(widest)}  {trouble.text}")
    sheet.line(count(report).line())
    return sheet.text()


def _why(result: Result) -> str:
    if result.note:
        return result.note
    if result.findings:
        worst = worst_first(result.findings)[0]
        return f"{worst.actual or 'it did not hold'}; expected: {worst.expected or 'what the page says'}"
    if result.status is Status.NOT_EXERCISED:
        return "nothing in these sessions speaks of it"
    return f"held {result.held} time{'s' if result.held != 1 else ''}"
