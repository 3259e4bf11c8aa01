"""``mcpcheck spec``: the requirements that are known, one a line, and what of them is checked."""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, astuple
from typing import Any, Final

import click

from mcpcheck.catalogue.load import Catalogue, load
from mcpcheck.catalogue.requirement import Requirement
from mcpcheck.cli import output
from mcpcheck.cli.coverage import SHOWING, Coverage, Kind, cover, rule_of, scenarios_of
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
        _show_coverage(chosen, as_json)
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


def _show_coverage(chosen: list[Requirement], as_json: bool) -> None:
    """A table with a line for each area; what the columns mean stands below it."""
    areas, total = _areas(chosen), cover("total", chosen)
    if as_json:
        _json({"areas": [asdict(area) for area in areas], "total": asdict(total)})
        return
    widest = max(len(area.area) for area in [*areas, total])
    kinds: dict[str, Kind] = {str(how): getattr(total, how) for how in SHOWING}
    over = "".join(f"  | {name:<{_WIDE}}" for name in kinds)
    output.show(f"{'':<{widest}}  {'':>{len(_ALL)}}{over}".rstrip() + "\n")
    output.show(f"{'area':<{widest}}  {_ALL}{f'  | {_OF_KIND}' * len(kinds)}\n")
    for area in [*areas, total]:
        cells = [f"{area.requirements:>3}  {_numbers(area)}", *(_numbers(getattr(area, name)) for name in kinds)]
        output.show(f"{area.area:<{widest}}  {'  | '.join(cells)}\n")
    output.show(f"\n{_LEGEND}\n")
    for name, kind in kinds.items():
        output.show(f"{_share(name, kind)}\n")
    output.show(f"{_share('probe and fixture', _stimulus([total]))}\n")
    waiting = [area for area in areas if _waits(_stimulus([area]))]
    if waiting:
        what = f"the same without {', '.join(area.area for area in waiting)}, where no scenario tests anything yet"
        output.show(f"{_share(what, _stimulus([area for area in areas if area not in waiting]))}\n")


_OF_KIND: Final = "obs  chk  prv  exc"
_ALL: Final = f"all  {_OF_KIND}"
_WIDE: Final = len(_OF_KIND)
_LEGEND: Final = """\
obs: observable, a breach shows from outside. chk: checked, by a rule or a scenario. prv: proved, a mutant that breaks
it is caught. exc: excused, nothing proves it, for the reason that tests/unproved.txt gives.
wire: a recording alone shows it. probe: it takes a message sent for it. fixture: it takes a peer that offers something.
"""


def _numbers(of: Coverage | Kind) -> str:
    return "  ".join(f"{number:>3}" for number in (of.observable, of.checked, of.proved, of.excused))


def _stimulus(areas: list[Coverage]) -> Kind:
    """What takes more than a recording, over some areas."""
    columns = zip(*(astuple(kind) for area in areas for kind in (area.probe, area.fixture)), strict=True)
    return Kind(*map(sum, columns))


def _waits(of: Kind) -> bool:
    """Whether nothing is checked although something could be."""
    return not of.checked and of.observable > of.excused


def _share(what: str, of: Kind) -> str:
    share = f"{100 * of.proved / of.observable:.0f} %" if of.observable else "none"
    left = of.observable - of.proved - of.excused
    return f"{what}: {of.proved} of {of.observable} proved ({share}), {of.excused} excused, {left} left"


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
