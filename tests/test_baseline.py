"""A baseline excuses what it names, and complains of what it need not name any more."""

from pathlib import Path

import pytest

from mcpcheck.baseline import Baseline, Known, apply, load, parse
from mcpcheck.catalogue.load import Catalogue
from mcpcheck.catalogue.requirement import Level
from mcpcheck.errors import UsageError
from mcpcheck.verdict import Report, Result, Status
from tests.report.samples import finding, report, requirement

A, B, C = (requirement(id) for id in ("tools.call.first", "tools.call.second", "tools.list"))
D = requirement("tools.call.third", Level.SHOULD)
CATALOGUE = Catalogue([A, B, C, D])


def passed(*of: str) -> Report:
    return report(results=tuple(Result(CATALOGUE[id], Status.PASSED, held=1) for id in of))


def broken(*of: str) -> Report:
    return report(results=tuple(Result(CATALOGUE[id], Status.BROKEN, findings=(finding(CATALOGUE[id]),)) for id in of))


def undecided(status: Status, *of: str) -> tuple[Result, ...]:
    return tuple(Result(CATALOGUE[id], status) for id in of)


def baseline(*ids: str, target: str = "") -> Baseline:
    return Baseline(tuple(Known(id, f"why {id}", target) for id in ids), "known.toml")


def test_a_known_failure_no_longer_fails_the_run() -> None:
    run = broken("tools.call.first", "tools.list")
    assert run.exit_code == 1
    assert apply(run, baseline("tools.call.first")).exit_code == 1
    done = apply(run, baseline("tools.call.first", "tools.list"))
    assert done.exit_code == 0
    assert [finding.known for finding in done.findings] == ["why tools.call.first", "why tools.list"]


def test_a_prefix_excuses_all_under_it_and_the_nearest_entry_gives_the_reason() -> None:
    done = apply(broken("tools.call.first", "tools.call.second", "tools.list"), baseline("tools", "tools.call.second"))
    assert [finding.known for finding in done.findings] == ["why tools", "why tools.call.second", "why tools"]
    assert not done.stale


def test_an_entry_excuses_no_id_that_only_begins_like_it() -> None:
    longer = requirement("tools.list-changed")
    run = report(results=(Result(longer, Status.BROKEN, findings=(finding(longer),)),))
    assert apply(run, baseline("tools.list")).exit_code == 1


def test_an_entry_that_passes_is_stale_and_fails_the_run() -> None:
    done = apply(passed("tools.list"), baseline("tools.list"))
    assert done.stale == ("tools.list (known.toml: why tools.list)",)
    assert done.exit_code == 1


@pytest.mark.parametrize("status", [Status.UNTESTABLE, Status.NOT_EXERCISED])
def test_an_entry_that_was_not_judged_is_not_stale(status: Status) -> None:
    assert not apply(report(results=undecided(status, "tools.list")), baseline("tools.list")).stale
    assert not apply(report(results=()), baseline("tools.list")).stale


def test_a_prefix_is_stale_only_where_nothing_under_it_may_still_fail() -> None:
    one = passed("tools.call.first").results
    assert apply(report(results=one), baseline("tools.call")).stale
    assert apply(
        report(results=one + undecided(Status.NOT_EXERCISED, "tools.call.second")), baseline("tools.call")
    ).stale
    assert not apply(
        report(results=one + undecided(Status.UNTESTABLE, "tools.call.second")), baseline("tools.call")
    ).stale
    assert not apply(report(results=one + broken("tools.call.second").results), baseline("tools.call")).stale


def test_an_entry_for_another_target_neither_excuses_nor_is_stale() -> None:
    assert apply(broken("tools.list"), baseline("tools.list", target="python other.py")).exit_code == 1
    assert not apply(passed("tools.list"), baseline("tools.list", target="python other.py")).stale
    assert apply(broken("tools.list"), baseline("tools.list", target="*server.py")).exit_code == 0


def test_a_warning_can_be_known_too() -> None:
    done = apply(broken("tools.call.third"), baseline("tools.call.third"))
    assert done.findings[0].known == "why tools.call.third"


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text('[[known]]\nid = "tools.list"\nreason = "because"\ntarget = "http://*"\n')
    assert load(path, CATALOGUE) == Baseline((Known("tools.list", "because", "http://*"),), str(path))
    assert parse("", catalogue=CATALOGUE) == Baseline(())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[known]]\nid = tools", "no TOML.*line 2"),
        ('[[known]]\nid="tools.list"\nreason="x"\n\n[[known]]\nid="tools"\nwhy="y"', "line 5: there is no key 'why'"),
        ('[[known]]\nid="tools.list"', "line 1: reason is missing"),
        ('[[known]]\nreason="x"', "line 1: id is missing"),
        ('[[known]]\nid="tools.list"\nreason=" "', "line 1: reason has to be a text"),
        ('[[known]]\nid="tools.lits"\nreason="x"', "line 1: .*nearest are tools.list"),
        ('known = [{id="tools.list", reason="x"}, {id="tools.list", reason="y"}]', "entry 2: .* second time"),
        ('known = "all"', "made of \\[\\[known\\]\\] tables"),
        ("known = [1]", "an entry is a table"),
        ("[server]\n", "'server' has no place here"),
    ],
)
def test_a_mistake_is_named_with_its_place(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse(text, "known.toml", CATALOGUE)


def test_a_file_that_is_not_there_is_the_users_to_fix(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load(tmp_path / "none.toml")
