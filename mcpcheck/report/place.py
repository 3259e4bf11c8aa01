"""Where a finding stands: in the recording, and in the specification."""

from mcpcheck.verdict import Finding, Report
from mcpcheck.wire.protocol import REVISIONS


def places(finding: Finding) -> list[str]:
    """``session:frame`` for each frame; the session's name alone where no frame shows it."""
    if not finding.frames:
        return [finding.session] if finding.session else []
    return [f"{finding.session}:{frame}" if finding.session else str(frame) for frame in finding.frames]


def place(finding: Finding) -> str:
    """The same in one phrase: the session is named once, ``session:3, 4``."""
    first, *rest = places(finding) or [""]
    return ", ".join([first, *(str(frame) for frame in finding.frames[1:])]) if rest else first


def page(finding: Finding, report: Report) -> str:
    """The address of the requirement's page, in the revision that the session spoke where that is known."""
    requirement = finding.requirement
    spoken = {rev for session in report.sessions if session.name == finding.session for rev in session.revisions}
    shared = [revision for revision in REVISIONS if revision in spoken and revision in requirement.revisions]
    return requirement.url_in(shared[-1]) if shared else requirement.url
