"""``mcpcheck spec``: the requirements that are known, one a line, and what of them is checked."""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import click

from mcpcheck.catalogue.load import Catalogue, load
from mcpcheck.catalogue.requirement import Requirement
from mcpcheck.cli import output
from mcpcheck.cli.coverage import Coverage, combined, cover, rule_of, scenarios_of
from mcpcheck.errors import UsageError
from mcpcheck.report.escape import printable
from mcpcheck.wire.protocol import REVISIONS


@click.command("spec")
@click.option("--area", "areas", multiple=True, metavar="PREFIX", help="Only what is under this id prefix.")
@click.option("--role", type=click.Choice(["client", "server"]), help="Only what this side must obey.")
@click.option("--revision", type=click.Choice(REVISIONS), help="Only what this revision says.")
@click.option("--level", type=click.Choice(["MUST", "SHOULD", "MAY"], case_sensitive=False), help="With its NOT.")
@click.option("--coverage", is_flag=True, help="For each area, how many can be observed, are checked, are proved.")
@click.option("--json", "as_json", is_flag=True, help="As JSON, for programs.")
def command(
    areas: tuple[str, ...], role: str | None, revision: str | None, level: str | None, coverage: bool, as_json: bool
) -> None:
    """List the requirements that are known, one a line.

    \b
    mcpcheck spec --area tools --role server
    mcpcheck spec --coverage
    """
    chosen = list(_chosen(load(), areas, role, revision, level))
    if not chosen:
        raise UsageError("no requirement is left; loosen --area, --role, --revision or --level")
    if coverage:
        _show_coverage(_areas(chosen), as_json)
    elif as_json:
        _json([_facts(one) for one in chosen])
    else:
        _show_list(chosen)


def _chosen(
    catalogue: Catalogue, areas: tuple[str, ...], role: str | None, revision: str | None, level: str | None
) -> Iterator[Requirement]:
    under = catalogue.select(areas) if areas else frozenset(catalogue)
    for one in catalogue.values():
        fits_role = role is None or one.role in {role, "both"}
        fits_level = level is None or one.level.split()[0] == level.upper()
        if one.id in under and fits_role and fits_level and (revision is None or revision in one.revisions):
            yield one


def _show_list(chosen: list[Requirement]) -> None:
    """Columns that any tool can split; cut to the terminal's width, and never in a pipe."""
    widest = max(len(one.id) for one in chosen)
    rows = [f"{one.id:<{widest}}  {one.level:<10}  {one.role:<6}  {printable(one.summary)}" for one in chosen]
    limit = output.width() if sys.stdout.isatty() else None
    output.show("".join(row[:limit] + "\n" for row in rows))


def _areas(chosen: list[Requirement]) -> list[Coverage]:
    names = dict.fromkeys(one.area for one in chosen)
    return [cover(name, (one for one in chosen if one.area == name)) for name in names]


def _show_coverage(areas: list[Coverage], as_json: bool) -> None:
    """A table with a line for each area; what the columns mean stands below it."""
    total = combined(areas)
    if as_json:
        _json({"areas": [asdict(area) for area in areas], "total": asdict(total)})
        return
    rows = [asdict(area) for area in [*areas, total]]
    heads = {name: f"| {name}" if name in {"wire", "stimulus"} else name.rpartition("_")[2] for name in rows[0]}
    widest = max(len(row["area"]) for row in rows)
    for row in [heads, *rows]:
        cells = [f"{row[name]:>{len(head) + 2}}" for name, head in list(heads.items())[1:]]
        output.show(f"{row['area']:<{widest}}{''.join(cells)}\n")
    output.show(f"\n{_LEGEND}{_sum(total)}\n")


_LEGEND = """\
observable: a breach shows from outside. checked: by a rule or a scenario. proved: a mutant that breaks it is caught.
wire: a recording alone shows it. stimulus: it takes a message sent for it, or a peer that offers something. Of each,
how many are checked, proved, and excused: nothing proves them, for the reason that tests/unproved.txt gives.
"""


def _sum(total: Coverage) -> str:
    return "\n".join(
        _share(what, *counts)
        for what, counts in (
            ("a stimulus", (total.stimulus, total.stimulus_proved, total.stimulus_excused)),
            ("a recording", (total.wire, total.wire_proved, total.wire_excused)),
        )
    )


def _share(what: str, all_: int, proved: int, excused: int) -> str:
    share = f"{100 * proved / all_:.0f} %" if all_ else "none"
    left = all_ - proved - excused
    return (
        f"Of {all_} requirements that {what} shows, {proved} are proved ({share}), {excused} are excused, "
        f"{left} are left."
    )


def _facts(one: Requirement) -> dict[str, Any]:
    return {
        "id": one.id,
        "level": str(one.level),
        "role": one.role,
        "transports": sorted(one.transports),
        "revisions": list(one.revisions),
        "page": one.url,
        "summary": one.summary,
        "observe": str(one.observe),
        "official": list(one.official),
        "rule": rule_of(one.id) is not None,
        "scenarios": [scenario.name for scenario in scenarios_of(one.id)],
    }


def _json(value: Any) -> None:
    output.show(json.dumps(value, indent=2) + "\n")
