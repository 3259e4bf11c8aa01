"""Campaigns against good servers find nothing; against a faulty one the fault, small, and again with the same seed."""

import gc
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcpcheck.capture import open_capture
from mcpcheck.conform import Plan
from mcpcheck.engine import judge
from mcpcheck.errors import PeerUnavailable
from mcpcheck.fuzz.campaign import Campaign, Settings
from mcpcheck.fuzz.outcome import report_of
from mcpcheck.fuzz.strategies import key
from mcpcheck.lab import Target, command
from mcpcheck.lab import url as endpoint
from mcpcheck.listening import listening
from mcpcheck.reference.call import Call
from mcpcheck.reference.http import HttpServer
from mcpcheck.reference.server import Server
from mcpcheck.roles import ToolPolicy
from mcpcheck.transports.base import Limits
from mcpcheck.transports.memory import MemoryHttp
from mcpcheck.verdict import Report, broken_ids
from mcpcheck.wire.record import RequestHead
from tests.fuzz import servers
from tests.support.conforming import on_http, on_stdio
from tests.support.processes import ROOT

ANSWERED = "base.response.one-per-request"


def held(
    target: Target, examples: int = 150, seed: int = 1, *, seconds: float | None = None, save: Path | None = None
) -> Campaign:
    """A campaign that has run."""
    plan = Plan(policy=ToolPolicy.of("all"), limits=Limits(answer=0.4, start=10), save=save)
    campaign = Campaign(target, Settings(seed, examples, seconds, plan))
    campaign.run()
    return campaign


def reported(campaign: Campaign) -> Report:
    return report_of(campaign, run="test", started="2026-07-28T00:00:00Z", tool="mcpcheck")


def process(server: type[Server]) -> Target:
    return command([sys.executable, "-m", "tests.fuzz.servers", server.__name__], cwd=str(ROOT))


@pytest.mark.parametrize("target", [on_stdio(), on_http()], ids=["stdio", "http"])
def test_the_reference_is_clean(target: Target) -> None:
    campaign = held(target, 300)
    report = reported(campaign)
    assert not campaign.found
    assert not campaign.troubles
    assert not report.findings
    assert campaign.played == 300
    assert len(campaign.kinds) > 60
    assert report.exit_code == 0


@pytest.mark.parametrize("server", [servers.ReadsLeniently, servers.SaysLittle])
def test_what_a_server_may_do_draws_no_complaint(server: type[Server]) -> None:
    report = reported(held(on_stdio(server), 300))
    assert not report.findings
    assert not report.troubles


def test_the_reference_is_clean_as_a_process_that_serves_all_sessions() -> None:
    campaign = held(command([sys.executable, "-m", "mcpcheck.reference"]), 100)
    assert not reported(campaign).findings
    assert campaign.connections == 1


def test_the_reference_is_clean_over_a_socket() -> None:
    with listening([sys.executable, "-m", "mcpcheck.reference", "--http", "0"]) as address, warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # a connection that is cancelled in its last exchange
        assert not reported(held(endpoint(address), 80)).findings
        gc.collect()


FAULTS: list[tuple[type[Server], str, str]] = [
    (servers.AnswersTwice, ANSWERED, "valid prompts/list"),
    (servers.AnswersNotifications, "base.notification.no-response", "params.params_of_notification"),
    (servers.WritesIds, "base.result.id-match", "valid server/discover"),
    (servers.TakesAnyVersion, "versioning.server.unsupported-version", "params.unknown_version"),
    (servers.RemembersMetadata, "base.meta.missing-rejected", "params.no_required_meta"),
    (servers.LosesHeart, "base.stateless.no-prior-context", "envelope.method_in_other_case"),
    (servers.AnswersWithoutCode, "base.error.shape", "text."),
]


@pytest.mark.parametrize(("server", "id", "who"), FAULTS, ids=[server.__name__ for server, _, _ in FAULTS])
def test_a_fault_is_found_in_a_small_session(server: type[Server], id: str, who: str) -> None:
    campaign = held(on_stdio(server))
    found = next(found for found in campaign.found if found.verdict.requirement == id)
    assert found.confirmed
    assert found.verdict.scenario.startswith(who)
    assert len(found.play) == 1
    assert reported(campaign).exit_code == 1


@pytest.mark.parametrize("target", [on_stdio, on_http], ids=["stdio", "http"])
def test_the_same_seed_makes_the_same_sessions_and_finds_the_same(target: Callable[[type[Server]], Target]) -> None:
    first, second = (held(target(servers.TakesAnyVersion), 90) for _ in range(2))
    assert first.found
    assert [key(one.play) for one in first.found] == [key(one.play) for one in second.found]
    assert first._known == second._known
    assert first._known != held(target(servers.TakesAnyVersion), 90, seed=2)._known


DEATHS = [
    pytest.param(servers.DiesOnNullId, ANSWERED, "envelope.null_id", "wrote \"KeyError: 'id'\"", id="dies"),
    pytest.param(servers.Banner, "stdio.server.stdout-pure", "params.", "WARNING", id="talks"),
    pytest.param(servers.Hangs, ANSWERED, "params.", "no answer within", marks=pytest.mark.slow, id="hangs"),
    pytest.param(servers.DiesOnNotUtf8, ANSWERED, "text.", "exited with 1", marks=pytest.mark.slow, id="cannot read"),
]


@pytest.mark.parametrize(("server", "id", "who", "told"), DEATHS)
def test_a_process_that_dies_hangs_or_talks_is_found(
    server: type[Server], id: str, who: str, told: str, tmp_path: Path
) -> None:
    campaign = held(process(server), 200, save=tmp_path)
    found = next(found for found in campaign.found if found.verdict.scenario.startswith(who))
    assert found.confirmed
    assert found.verdict.requirement == id
    assert told in found.verdict.actual
    assert len(found.play) == 1
    report = reported(campaign)
    assert report.exit_code == 1
    assert not report.troubles
    finding = next(finding for finding in report.findings if finding.scenario == found.verdict.scenario)
    assert finding.reproduce.startswith("mcpcheck fuzz --seed 1 --examples 200 ")


def test_the_smallest_session_is_kept_and_can_be_judged_again(tmp_path: Path) -> None:
    campaign = held(on_stdio(servers.AnswersTwice), save=tmp_path)
    info = next(info for info in reported(campaign).sessions if info.file)
    with open_capture(info.file) as capture:
        records = list(capture)
    assert Path(info.file).parent == tmp_path
    assert len(records) < 20
    assert ANSWERED in broken_ids(judge(records, "stdio"), "server")


def test_what_does_not_come_again_by_itself_is_a_suspicion() -> None:
    servers.FailsOnce.lists = 0
    campaign = held(on_stdio(servers.FailsOnce))
    report = reported(campaign)
    (found,) = campaign.found
    assert not found.confirmed
    assert "did not come again" in found.verdict.actual
    assert [finding.suspect for finding in report.findings] == [True]
    assert report.exit_code == 0


def test_the_time_ends_a_campaign() -> None:
    campaign = held(on_stdio(), 100_000, seconds=0.5)
    assert 0 < campaign.played < 100_000
    assert "the time was up" in reported(campaign).extra["examples"]
    assert not campaign.troubles


def test_a_server_of_the_handshake_era_alone_is_no_target() -> None:
    report = reported(held(on_stdio(revisions=("2025-11-25",))))
    assert report.exit_code == 2
    assert "2025-11-25" in report.troubles[0].text


def test_tools_that_the_policy_forbids_are_not_called() -> None:
    served: list[str] = []

    class Watched(Server):
        def serve(self, call: Call, work: Any = None) -> None:
            served.append(f"{call.method} {call.params.get('name')}")
            super().serve(call, work)

    plan = Plan(policy=ToolPolicy.of("none"), limits=Limits(answer=1, start=1))
    campaign = Campaign(on_stdio(Watched), Settings(1, 100, plan=plan))
    campaign.run()
    assert campaign.played == 100
    assert {name for name in served if name.startswith("tools/call")} == {"tools/call mcpcheck-no-such-tool"}


def test_a_tool_that_takes_its_time_is_no_fault_and_is_not_called_again() -> None:
    class Slow(Server):
        def serve(self, call: Call, work: Any = None) -> None:
            if call.method == "tools/call" and call.params.get("name") == "test_simple_text":
                return
            super().serve(call, work)

    campaign = held(on_stdio(Slow))
    assert not campaign.found
    assert not campaign.troubles
    assert campaign._slow == {"tools/call test_simple_text"}


def test_a_server_over_http_that_goes_away_is_a_failure_although_it_cannot_be_shown_again() -> None:
    class Goes(MemoryHttp):
        gone = False

        async def send_http(self, head: RequestHead, body: bytes) -> int:
            if Goes.gone:
                raise PeerUnavailable("cannot connect to localhost: connection refused")
            Goes.gone = b'"com.example/mcpcheck"' in body
            return await super().send_http(head, body)

    server = HttpServer(Server)
    target = Target("http", "goes", lambda log, limits: Goes(server, log, limits), "--demo", "/mcp")
    campaign = held(target, 300)
    (found,) = campaign.found
    assert found.verdict.scenario == "params.extra_meta"
    assert "connection refused" in found.verdict.actual
    report = reported(campaign)
    assert report.exit_code == 1
    assert "the server is gone" in report.extra["examples"]
