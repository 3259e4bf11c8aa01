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
from mcpcheck.cli.coverage import Coverage, cover, rule_of, scenarios_of
from mcpcheck.errors import UsageError
from mcpcheck.report.escape import printable
from mcpcheck.wire.protocol import REVISIONS


@click.command("spec")
@click.option("--area", "areas", multiple=True, metavar="PREFIX", help="Only what is under this id prefix.")
@click.option("--role", type=click.Choice(["client", "server"]), help="Only what this side must obey.")
@click.option("--revision", type=click.Choice(REVISIONS), help="Only what this revision says.")
@click.option("--level", type=click.Choice(["MUST", "SHOULD", "MAY"], case_sensitive=False), help="With its NOT.")
@click.option("--coverage", is_flag=True, help="For each area, how many have a rule and a scenario.")
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
    if as_json:
        _json([asdict(area) for area in areas])
        return
    heads = list(asdict(areas[0]))
    rows = [list(asdict(area).values()) for area in areas]
    total = ["total", *(sum(column) for column in list(zip(*rows, strict=True))[1:])]
    widest = max(len(row[0]) for row in [*rows, total])
    for row in [heads, *rows, total]:
        cells = [f"{cell:>{len(head) + 2}}" for head, cell in zip(heads[1:], row[1:], strict=True)]
        output.show(f"{row[0]:<{widest}}{''.join(cells)}\n")


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
