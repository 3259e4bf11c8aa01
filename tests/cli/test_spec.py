"""``mcpcheck spec``: the catalogue as lines, as numbers and as JSON."""

import json
from collections.abc import Callable

from click.testing import Result

from mcpcheck.catalogue.load import load

Run = Callable[..., Result]


def test_every_requirement_has_one_line(run: Run) -> None:
    lines = run("spec").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(load())


def test_a_selection_holds_only_what_was_asked_for(run: Run) -> None:
    options = ("--area", "tools.call", "--role", "server", "--revision", "2026-07-28", "--level", "must", "--json")
    found = json.loads(run("spec", *options).stdout)
    assert found
    for one in found:
        assert one["id"].startswith("tools.call")
        assert one["role"] in {"server", "both"}
        assert one["level"] in {"MUST", "MUST NOT"}
        assert "2026-07-28" in one["revisions"]


def test_coverage_adds_up(run: Run) -> None:
    told = json.loads(run("spec", "--coverage", "--json").stdout)
    total, kinds = told["total"], ("wire", "probe", "fixture")
    assert total["requirements"] == len(load())
    for area in told["areas"]:
        assert area["requirements"] >= area["observable"] >= area["checked"] >= area["proved"]
        for name in ("observable", "checked", "proved", "excused"):
            assert area[name] == sum(area[kind][name] for kind in kinds)
        assert area["wire"]["observable"] == area["wire"]["proved"] + area["wire"]["excused"]
    for name in ("requirements", "observable", "checked", "proved", "excused"):
        assert total[name] == sum(area[name] for area in told["areas"])
    for kind in kinds:
        for name, number in total[kind].items():
            assert number == sum(area[kind][name] for area in told["areas"])


def test_coverage_is_a_table_with_a_total_and_sentences(run: Run) -> None:
    lines = run("spec", "--coverage", "--role", "server").stdout.splitlines()
    heads, total = lines[1].split(), next(line for line in lines if line.startswith("total")).split()
    assert heads.count("obs") == 4
    assert len(heads) == len(total)
    assert [line.partition(":")[0] for line in lines[-5:-1]] == ["wire", "probe", "fixture", "probe and fixture"]
    assert "the same without" in lines[-1]
    assert max(map(len, lines[:-1])) <= 120


def test_a_selection_without_anything_is_an_error(run: Run) -> None:
    assert run("spec", "--area", "nowhere").exit_code == 2
    empty = run("spec", "--area", "discover.client", "--level", "MAY")
    assert empty.exit_code == 2
    assert "loosen" in empty.stderr
