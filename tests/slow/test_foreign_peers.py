"""mcpcheck against peers that are not ours and not the newest: the 1.x SDK, and a server in another language."""

import json
import re
import signal
import sys
from pathlib import Path

import pytest

from mcpcheck.lint import lint
from tests.support.foreign import everything, fastmcp_notes, from_npm, legacy_tickets
from tests.support.processes import ROOT, TICKETS_CLIENT, http_process, run, server_process

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

MCPCHECK = (sys.executable, "-c", "from mcpcheck.cli import main; main()")
LEGACY = "2025-11-25"
SDK_CLIENT = (sys.executable, str(ROOT / "fixtures" / "sdk_client.py"))
TOUR = (sys.executable, str(ROOT / "fixtures" / "tour.py"))
CALLS = (
    "echo",
    "get-sum",
    "get-tiny-image",
    "get-annotated-message",
    "get-resource-reference",
    "get-resource-links",
    "get-structured-content",
    "toggle-subscriber-updates",
)
ASKING = ("trigger-sampling-request", "trigger-elicitation-request", "get-roots-list")
TOURS = [(LEGACY, set()), ("2025-03-26", {"tools.content.block-shape"})]


def conform(*target: str) -> tuple[int, str]:
    """The exit status of a run and all that it said."""
    finished = run(*MCPCHECK, "conform", *target, within=120)
    return finished.returncode, " ".join((finished.stdout + finished.stderr).split())


def asked(tools: tuple[str, ...]) -> list[str]:
    """The options by which a tour calls these tools."""
    return [word for tool in tools for word in ("--call", tool)]


def other_url(url: str) -> re.Pattern[bytes]:
    """The first loopback URL that is not this one."""
    return re.compile(rb"(?<!\S)(?!%b)(http://127\.0\.0\.1:\d+[^\s,;]*)" % re.escape(url.encode()))


def test_conform_says_that_the_legacy_sdk_is_of_the_handshake_era_on_stdio() -> None:
    status, said = conform("--", *legacy_tickets())
    assert status == 2
    assert "speaks only the legacy revisions" in said
    assert LEGACY in said


def test_conform_says_that_the_legacy_sdk_is_of_the_handshake_era_on_http() -> None:
    with http_process(*legacy_tickets(), "--http", "0") as server:
        status, said = conform(server.url)
    assert status == 2
    assert "speaks only the legacy revisions" in said
    assert LEGACY in said


def test_conform_says_that_server_everything_is_of_the_handshake_era_on_stdio() -> None:
    status, said = conform("--", *everything())
    assert status == 2
    assert "speaks only the legacy revisions" in said
    assert LEGACY in said


@pytest.mark.parametrize("name", ["server-filesystem", "server-memory"])
def test_conform_says_who_a_server_of_the_handshake_era_is_and_what_it_offers(name: str, tmp_path: Path) -> None:
    words = (str(tmp_path),) if name == "server-filesystem" else ()
    status, said = conform("--", *from_npm(name, *words))
    assert status == 2
    flat = " ".join(said.split())
    assert "speaks only the legacy revisions: initialize is served (" in flat
    assert "2025-11-25" in flat
    assert "tools" in flat
    assert "Not exercised" not in flat


def test_what_a_server_on_fastmcp_breaks_is_written_down() -> None:
    baseline = ("--tools", "all", "--baseline", str(ROOT / "fixtures" / "baselines" / "fastmcp-4.2.3.toml"))
    status, said = conform(*baseline, "--", *fastmcp_notes())
    assert status == 0, said
    assert " warning" not in said.rpartition("0 broken")[2], said
    with http_process(*fastmcp_notes(), "--http", "0") as server:
        status, said = conform(*baseline, server.url)
    assert status == 0, said
    assert " warning" not in said.rpartition("0 broken")[2], said


def test_conform_says_that_server_everything_is_of_the_handshake_era_on_http() -> None:
    with http_process(*everything("streamableHttp"), env={"PORT": "0"}) as server:
        status, said = conform(server.url)
    assert status == 2
    assert "speaks only the legacy revisions" in said
    assert LEGACY in said


def broken(capture: Path, revision: str = LEGACY) -> set[str]:
    """The ids of what lint calls broken in a session that settled on this revision."""
    report = lint([capture])
    assert revision in report.sessions[0].revisions
    return {finding.requirement.id for finding in report.findings if not finding.suspect}


def through_the_tap(client: tuple[str, ...], server: tuple[str, ...], capture: Path) -> None:
    """Run a session on stdio with the tap and without it: what the client says is the same."""
    tapped = run(*client, "--", *MCPCHECK, "tap", "-o", str(capture), "--", *server, within=60)
    bare = run(*client, "--", *server, within=60)
    assert tapped.returncode == bare.returncode == 0, tapped.stderr
    assert tapped.stdout == bare.stdout


def through_the_proxy(client: tuple[str, ...], url: str, capture: Path) -> None:
    """The same over HTTP."""
    with http_process(*MCPCHECK, "tap", "-o", str(capture), url, ready=other_url(url)) as tap:
        tapped = run(*client, "--url", tap.url, within=60)
        tap.process.send_signal(signal.SIGTERM)
        assert tap.wait() == 0
    bare = run(*client, "--url", url, within=60)
    assert tapped.returncode == bare.returncode == 0, tapped.stderr
    assert tapped.stdout == bare.stdout


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_session_with_the_legacy_sdk_is_the_same_through_the_tap_on_stdio(mode: str, tmp_path: Path) -> None:
    capture = tmp_path / "session.ndjson"
    through_the_tap((*TICKETS_CLIENT, "--mode", mode), legacy_tickets(), capture)
    assert broken(capture) == set()


@pytest.mark.parametrize(("mode", "faults"), [("auto", {"base.error.id-match"}), ("legacy", set())])
def test_the_session_with_the_legacy_sdk_is_the_same_through_the_tap_on_http(
    mode: str, faults: set[str], tmp_path: Path
) -> None:
    """It refuses the probe with an id of its own making."""
    capture = tmp_path / "session.ndjson"
    with http_process(*legacy_tickets(), "--http", "0") as server:
        through_the_proxy((*TICKETS_CLIENT, "--mode", mode), server.url, capture)
    assert broken(capture) == faults


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_client_gets_along_with_server_everything_through_the_tap(mode: str, tmp_path: Path) -> None:
    capture = tmp_path / "session.ndjson"
    through_the_tap((*SDK_CLIENT, "--mode", mode), everything(), capture)
    assert broken(capture) == set()


@pytest.mark.parametrize(("revision", "faults"), TOURS)
def test_a_tour_of_server_everything_is_the_same_through_the_tap_on_stdio(
    revision: str, faults: set[str], tmp_path: Path
) -> None:
    """Whatever the revision, it answers with resource_link, which came with 2025-06-18."""
    capture = tmp_path / "session.ndjson"
    through_the_tap((*TOUR, *asked(CALLS + ASKING), "--revision", revision), everything(), capture)
    assert broken(capture, revision) == faults


@pytest.mark.parametrize(("revision", "faults"), TOURS)
def test_a_tour_of_server_everything_is_the_same_through_the_tap_on_http(
    revision: str, faults: set[str], tmp_path: Path
) -> None:
    capture = tmp_path / "session.ndjson"
    with http_process(*everything("streamableHttp"), env={"PORT": "0"}) as server:
        through_the_proxy((*TOUR, *asked(CALLS), "--revision", revision), server.url, capture)
    assert broken(capture, revision) == faults


def test_a_probe_that_server_everything_refuses_over_http_is_no_fault(tmp_path: Path) -> None:
    capture = tmp_path / "session.ndjson"
    with http_process(*everything("streamableHttp"), env={"PORT": "0"}) as server:
        through_the_proxy((*SDK_CLIENT, "--mode", "auto"), server.url, capture)
    assert broken(capture) == set()


def test_server_everything_answers_through_the_tap_byte_for_byte(tmp_path: Path) -> None:
    params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}
    hello = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode() + b"\n"
    answers = []
    for before in ((), (*MCPCHECK, "tap", "-o", str(tmp_path / "session.ndjson"), "--")):
        with server_process(*before, *everything()) as server:
            server.send(hello)
            answers.append(server.line())
            server.close_input()
            assert server.wait() == 0
    assert answers[0] == answers[1]
