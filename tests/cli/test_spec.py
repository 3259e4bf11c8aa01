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
    total = told["total"]
    for name in total.keys() - {"area"}:
        assert total[name] == sum(area[name] for area in told["areas"])
    assert total["requirements"] == len(load())
    for area in told["areas"]:
        assert area["requirements"] >= area["observable"] >= area["checked"] >= area["proved"]
        assert area["wire"] >= area["wire_checked"] >= area["wire_proved"]
        assert area["wire"] == area["wire_proved"] + area["wire_excused"]
        assert area["stimulus"] >= area["stimulus_checked"] >= area["stimulus_proved"]
        assert area["observable"] == area["wire"] + area["stimulus"]


def test_coverage_is_a_table_with_a_total_and_a_sentence(run: Run) -> None:
    lines = run("spec", "--coverage").stdout.splitlines()
    total = next(line for line in lines if line.startswith("total"))
    assert total.split()[1] == str(len(load()))
    assert lines[-1].endswith("0 are left.")


def test_a_selection_without_anything_is_an_error(run: Run) -> None:
    assert run("spec", "--area", "nowhere").exit_code == 2
    empty = run("spec", "--area", "discover.client", "--level", "MAY")
    assert empty.exit_code == 2
    assert "loosen" in empty.stderr
