"""What a run against a server says of its target and of what the user named."""

import anyio
import pytest

from mcpcheck.conform import Conform, Plan, joined
from mcpcheck.lab import command, url
from mcpcheck.roles import ToolPolicy
from mcpcheck.transports.base import Limits
from mcpcheck.verdict import Outcome, Report, Verdict
from tests.support.conforming import on_stdio

FOUND = Verdict("tools.error.unknown-tool", Outcome.BROKEN, "server")


def report(plan: Plan) -> Report:
    run = Conform(on_stdio(), plan)
    anyio.run(run.run)
    return joined([run], run="test", started="2026-07-28T00:00:00Z", tool="mcpcheck")


def test_a_command_is_told_without_its_secrets() -> None:
    run = Conform(command(["python", "server.py", "--token", "hunter2", "--port", "8 0"]), Plan(options="--tools all"))
    assert run.target == "python server.py --token redacted --port '8 0'"
    assert run.reproduce(FOUND) == (
        "mcpcheck conform --tools all --only tools.error.unknown-tool -- python server.py --token redacted --port '8 0'"
    )


def test_an_address_is_told_without_its_secrets() -> None:
    run = Conform(url("http://me:hunter2@127.0.0.1:8000/mcp?api_key=hunter2&v=2"), Plan())
    assert "hunter2" not in run.target + run.reproduce(FOUND)
    assert run.target.endswith("127.0.0.1:8000/mcp?api_key=redacted&v=2")
    assert run.base == "http://127.0.0.1:8000"


def test_what_is_no_address_has_no_base() -> None:
    target = on_stdio()
    assert Conform(target, Plan()).base == ""
    assert Conform(target, Plan()).words == "--demo"


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ("test_simple_txt", "the server lists no tool 'test_simple_txt'; did you mean test_simple_text"),
        ("reed-only", "did you mean read-only?"),
        ("zzzzzzzz", "it lists "),
    ],
)
def test_a_tool_that_the_server_does_not_list_is_an_error_that_names_what_is_near(names: str, says: str) -> None:
    plan = Plan(only=("discover",), policy=ToolPolicy.of(names), limits=Limits(answer=1, start=1))
    told = report(plan)
    assert told.exit_code == 2
    assert [trouble.where for trouble in told.troubles] == ["--tools"]
    assert says in told.troubles[0].text


def test_a_run_that_finds_nothing_broken_says_how_to_see_more() -> None:
    told = report(Plan(only=("discover",), limits=Limits(answer=1, start=1)))
    assert told.exit_code == 0
    assert any("--report verdicts" in step for step in told.next_steps)
