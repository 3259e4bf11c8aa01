"""A server of the handshake era alone: what it is, in place of a wall of failures."""

import anyio
import pytest

from mcpcheck.conform import Conform, Plan, joined
from mcpcheck.lab import Target
from mcpcheck.reference.call import Call, Json, Refusal
from mcpcheck.reference.server import Server
from mcpcheck.report import render
from mcpcheck.transports.base import Limits
from mcpcheck.verdict import Report
from mcpcheck.wire.protocol import LEGACY
from tests.support.conforming import on_http, on_stdio


def report(target: Target) -> Report:
    run = Conform(target, Plan(limits=Limits(answer=1, start=1)))
    anyio.run(run.run)
    return joined([run], run="test", started="2026-07-28T00:00:00Z", tool="mcpcheck")


@pytest.mark.parametrize("target", [on_stdio, on_http])
def test_it_is_said_what_it_speaks_and_offers_and_nothing_is_judged(target: object) -> None:
    told = report(target(Server, LEGACY))  # type: ignore[operator]
    assert told.exit_code == 2
    assert told.results == ()
    (trouble,) = told.troubles
    assert trouble.text.startswith("the server speaks only the legacy revisions: initialize is served")
    assert "server/discover is not: error -32022" in trouble.text
    assert told.extra["speaks"] == ", ".join(LEGACY)
    assert told.extra["server"].startswith("mcpcheck-reference ")
    assert "tools (" in told.extra["offers"]
    assert "revision" not in told.extra


def test_the_revision_is_the_one_that_it_agrees_to() -> None:
    assert report(on_stdio(Server, ["2025-06-18"])).extra["speaks"] == "2025-06-18"


def test_the_report_says_what_to_do_next_and_no_more() -> None:
    text = render(report(on_stdio(Server, ["2025-06-18"])), "text")
    assert "mcpcheck tap -o" in text
    assert "mcpcheck lint session.ndjson" in text
    assert "Not exercised" not in text
    assert "is below is incomplete" not in text
    assert text.splitlines()[-1] == "0 passed, 0 broken, 1 error"


class Discovers(Server):
    """Serves server/discover to whoever asks, and nothing else of the stateless era."""

    def check_version(self, call: Call) -> None:
        if call.method != "server/discover":
            super().check_version(call)


@pytest.mark.parametrize("target", [on_stdio, on_http])
def test_one_that_serves_discovery_but_names_no_later_revision_is_as_old(target: object) -> None:
    told = report(target(Discovers, LEGACY))  # type: ignore[operator]
    assert told.exit_code == 2
    assert told.results == ()
    (trouble,) = told.troubles
    assert "server/discover names no later one" in trouble.text


class Listless(Server):
    """Promises tools and refuses to list them."""

    def list_tools(self, call: Call) -> dict[str, Json]:
        raise Refusal(-32603, "Internal error")


def test_what_cannot_be_counted_is_just_named() -> None:
    told = report(on_stdio(Listless, ["2025-11-25"]))
    assert "tools (0)" in told.extra["offers"]
    assert told.exit_code == 2
