"""``mcpcheck explain``: every requirement, every prefix, and what was meant."""

from collections.abc import Callable

import pytest
from click.testing import Result

from mcpcheck.catalogue.load import load
from mcpcheck.cli.fixtures import lets_test
from mcpcheck.roles import roles
from mcpcheck.rules.registry import rules
from mcpcheck.scenarios.registry import scenarios

Run = Callable[..., Result]


def test_a_requirement_is_explained(run: Run) -> None:
    done = run("explain", "base.request.id-not-null")
    assert done.exit_code == 0
    text = " ".join(done.stdout.split())
    requirement = load()["base.request.id-not-null"]
    for part in (requirement.summary, requirement.url, "MUST NOT", "the client", *requirement.revisions):
        assert part in text
    assert "base.request.id-unique" in text.partition("related")[2]


def test_the_checks_tell_their_story(run: Run) -> None:
    for id, rule in list(rules().items())[:20]:
        assert " ".join(rule.doc.split()) in " ".join(run("explain", id).stdout.split())
    for scenario in scenarios()[:20]:
        text = " ".join(run("explain", scenario.exercises[0]).stdout.split())
        assert scenario.name in text
        assert run("explain", scenario.name).exit_code == 0


def test_a_prefix_lists_what_is_under_it(run: Run) -> None:
    done = run("explain", "base.request")
    assert done.exit_code == 0
    assert "base.request.id-type  MUST" in done.stdout
    assert "base.message" not in done.stdout


@pytest.mark.parametrize(("typed", "meant"), [("base.reqest.id-type", "base.request.id-type"), ("discovr", "discover")])
def test_a_mistyped_id_gets_the_nearest(run: Run, typed: str, meant: str) -> None:
    done = run("explain", typed)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert meant in done.stderr


def test_an_id_like_nothing_says_where_to_look(run: Run) -> None:
    assert "mcpcheck spec" in run("explain", "qqqqqqqq").stderr


def test_a_fixture_says_what_to_add_and_what_that_tests(run: Run) -> None:
    told = " ".join(run("explain", "fixture.tool.slow").stdout.split())
    assert "reports progress at each step" in told
    assert "found as count_slowly" in told
    assert '"tool.slow" = "my_tool"' in told
    assert "cancellation.cancelled_work_stops" in told
    assert "cancel.server.stop" in told


def test_every_fixture_lets_something_be_tested_but_for_one_of_the_official_suite(run: Run) -> None:
    assert [role for role in roles() if not lets_test(role)] == ["tool.reconnects"]
    assert "the official suite asks for it" in run("explain", "fixture.tool.reconnects").stdout


def test_all_fixtures_are_listed_and_a_mistyped_one_brings_what_is_near(run: Run) -> None:
    listed = run("explain", "fixture").stdout
    assert listed.count("\nfixture.") + 1 == len(roles())
    wrong = run("explain", "fixture.tool.elicit")
    assert wrong.exit_code == 2
    assert "did you mean fixture.tool.elicits" in wrong.stderr
