"""Campaigns against good servers find nothing; against a faulty one the fault, small, and again with the same seed."""

import sys
from pathlib import Path

import pytest

from mcpcheck.capture import open_capture
from mcpcheck.conform import Plan
from mcpcheck.engine import judge
from mcpcheck.fuzz.campaign import Campaign, Settings
from mcpcheck.fuzz.outcome import report_of
from mcpcheck.fuzz.strategies import key
from mcpcheck.lab import Target, command
from mcpcheck.lab import url as endpoint
from mcpcheck.listening import listening
from mcpcheck.reference.server import Server
from mcpcheck.roles import ToolPolicy
from mcpcheck.transports.base import Limits
from mcpcheck.verdict import Report, broken_ids
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
    with listening([sys.executable, "-m", "mcpcheck.reference", "--http", "0"]) as address:
        assert not reported(held(endpoint(address), 100)).findings


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
def test_a_fault_is_found_in_a_small_session_and_again_with_the_same_seed(
    server: type[Server], id: str, who: str
) -> None:
    first, second = held(on_stdio(server)), held(on_stdio(server))
    found = next(found for found in first.found if found.verdict.requirement == id)
    assert found.confirmed
    assert found.verdict.scenario.startswith(who)
    assert len(found.play) == 1
    assert [key(one.play) for one in first.found] == [key(one.play) for one in second.found]
    assert reported(first).exit_code == 1


DEATHS: list[tuple[type[Server], str, str, str]] = [
    (
        servers.DiesOnNullId,
        ANSWERED,
        "envelope.null_id",
        "exited with 1; on standard error it wrote \"KeyError: 'id'\"",
    ),
    (servers.DiesOnNotUtf8, ANSWERED, "text.", "exited with 1; on standard error it wrote"),
    (servers.Hangs, ANSWERED, "params.cursor_of_other_type", "no answer within"),
    (servers.Banner, "stdio.server.stdout-pure", "params.", "WARNING"),
]


@pytest.mark.parametrize(("server", "id", "who", "told"), DEATHS, ids=[server.__name__ for server, *_ in DEATHS])
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
    plan = Plan(policy=ToolPolicy.of("none"), limits=Limits(answer=1, start=1))
    campaign = Campaign(on_stdio(), Settings(1, 100, plan=plan))
    called: list[str] = []

    class Watched(Server):
        def run_tool(self, *args: object, **rest: object) -> object:
            called.append(str(args))
            return super().run_tool(*args, **rest)  # type: ignore[arg-type]

    campaign = Campaign(on_stdio(Watched), Settings(1, 100, plan=plan))
    campaign.run()
    assert campaign.played == 100
    assert not called
