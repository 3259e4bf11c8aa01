"""``mcpcheck explain``: what a requirement means, who must obey it, where it stands, and what checks it."""

from collections.abc import Iterable
from typing import Final

import click

from mcpcheck.catalogue.load import Catalogue, load
from mcpcheck.catalogue.requirement import SITE, Level, Observe, Requirement
from mcpcheck.catalogue.unproved import unproved
from mcpcheck.cli import fixtures, output
from mcpcheck.cli.coverage import rule_of, scenarios_of
from mcpcheck.cli.example import cut, shown
from mcpcheck.errors import UsageError
from mcpcheck.report.sheet import Sheet
from mcpcheck.scenarios.registry import Scenario, scenarios
from mcpcheck.wire.protocol import REVISIONS

ROLES: Final = {"both": "client and server", "authorization-server": "the authorization server"}
TRANSPORTS: Final = {
    "any": "every transport",
    "stdio": "stdio",
    "http": "Streamable HTTP",
    "sse": "HTTP with SSE (2024-11-05)",
}
SHOWN_BY: Final = {
    Observe.WIRE: "any traffic that it speaks of",
    Observe.PROBE: "an answer to a message that is sent for it",
    Observe.FIXTURE: "a peer that has what it takes, a certain tool say",
    Observe.INTERNAL: "nothing on the wire: it is listed, and cannot be checked from outside",
}
COUNTS: Final = {
    "MUST": "breaking it fails a run",
    "SHOULD": "breaking it is a warning, and fails a run with --strict",
    "MAY": "either way is fine",
}
RELATED: Final = 8


@click.command("explain")
@click.argument("id")
def command(id: str) -> None:
    """Say what a requirement means, who must obey it, where it stands, and what checks it.

    ID is a requirement's id, a prefix (which lists what is under it), or the name of a scenario. fixture lists what a
    server can offer so that more of it is tested, and fixture.ROLE says how to offer it.

    \b
    mcpcheck explain base.request.id-not-null
    mcpcheck explain tools.call
    mcpcheck explain fixture.tool.elicits
    """
    sheet = Sheet(output.width(), output.colour())
    catalogue = load()
    story = next((found for found in scenarios() if found.name == id), None)
    if id.partition(".")[0] == "fixture":
        fixtures.explain(sheet, id.partition(".")[2])
    elif id in catalogue:
        _requirement(sheet, catalogue[id], catalogue)
    elif story:
        _scenario(sheet, story)
    else:
        _prefix(sheet, id, catalogue)
    output.show(sheet.text(), styled=output.colour())


def _prefix(sheet: Sheet, prefix: str, catalogue: Catalogue) -> None:
    """What is under a prefix; a UsageError with the nearest ids where nothing is."""
    try:
        under = catalogue.select([prefix])
    except UsageError:
        catalogue.find(prefix)
        raise
    for id, requirement in catalogue.items():
        if id in under:
            sheet.line((id, "bold"), f"  {requirement.level}")
            sheet.paragraph(requirement.summary, indent=4)


def _requirement(sheet: Sheet, one: Requirement, catalogue: Catalogue) -> None:
    sheet.line((one.id, "bold"))
    sheet.paragraph(one.summary, indent=2)
    sheet.line()
    fields = {
        "level": f"{one.level}: {COUNTS[one.level.split()[0]]}",
        "who": ROLES.get(one.role, f"the {one.role}"),
        "where": ", ".join(TRANSPORTS[transport] for transport in sorted(one.transports)),
        "revisions": ", ".join(one.revisions),
        "shown by": SHOWN_BY[one.observe],
    }
    for label, text in fields.items():
        sheet.field(label, text, indent=0)
    sheet.field("page", one.url, "underline", indent=0, wrap=False)
    for number, address in enumerate(one.see):
        dated = address[:10] in REVISIONS  # an address without a date is of the same revision as the page
        place = f"{SITE}/{address}" if dated else f"{SITE}/{one.revisions[-1]}/{address}"
        sheet.field("see also" if number == 0 else "", place, indent=0, wrap=False)
    sheet.line()
    _checks(sheet, one)
    _examples(sheet, one)
    related = list(_related(one, catalogue))[:RELATED]
    if related:
        sheet.line()
        sheet.field("related", ", ".join(related), indent=0)


def _checks(sheet: Sheet, one: Requirement) -> None:
    """What the rule and the scenarios say of themselves."""
    rule, stories = rule_of(one.id), scenarios_of(one.id)
    if rule:
        sheet.field("rule", _sentence(rule.doc) or "judges every message that it speaks of.", indent=0)
    for story in stories:
        sheet.field("scenario", f"{story.name}: {_sentence(story.doc)}", indent=0)
    if not rule and not stories:
        sheet.field("check", _unchecked(one), indent=0)
    if one.official:
        sheet.field("official", f"the official suite's {', '.join(one.official)}", indent=0)


def _unchecked(one: Requirement) -> str:
    """Why nothing checks a requirement."""
    if one.level is Level.MAY:
        return "none: either way is fine"
    if one.observe is Observe.INTERNAL:
        return "none: nothing on the wire shows it"
    reason = unproved().get(one.id)
    return f"none: {reason}" if reason else "none yet"


def _examples(sheet: Sheet, one: Requirement) -> None:
    """What it looks like when it holds and when it doesn't."""
    lines = {"good": [*map(cut, shown(one.good))], "bad": [*map(cut, shown(one.bad))]}
    for label, style in (("good", "green"), ("bad", "red")):
        if lines[label]:
            sheet.line()
        for number, line in enumerate(lines[label]):
            sheet.field(label if number == 0 else "", line, style, indent=0, wrap=False)
    if lines["good"] or lines["bad"]:
        usual = "; {...} is what _meta always holds" if "{...}" in str(lines) else ""
        sheet.line()
        sheet.field("", f"(c> is sent by the client, s> by the server{usual})", "dim", indent=0)
    if one.repair:
        sheet.line()
        sheet.field("repair", one.repair, indent=0)


def _scenario(sheet: Sheet, story: Scenario) -> None:
    sheet.line((story.name, "bold"), f"  a scenario against a {story.role}, on {' and '.join(story.transports)}")
    sheet.paragraph(_sentence(story.doc), indent=2)
    sheet.line()
    for id in story.exercises:
        sheet.line(id, indent=2)


def _related(one: Requirement, catalogue: Catalogue) -> Iterable[str]:
    """Its siblings, then what stands at the same place of the same page."""
    parent = one.id.rpartition(".")[0]
    siblings = [id for id in catalogue if id.rpartition(".")[0] == parent]
    beside = [other.id for other in catalogue.values() if (other.page, other.anchor) == (one.page, one.anchor)]
    return (id for id in dict.fromkeys(siblings + beside) if id != one.id)


def _sentence(doc: str) -> str:
    return " ".join(doc.split())
