"""mcpcheck against peers that are not ours and not the newest: the 1.x SDK, and a server in another language."""

import json
import re
import sys
from pathlib import Path

import pytest

from tests.support.foreign import everything, legacy_tickets
from tests.support.processes import TICKETS_CLIENT, http_process, run, server_process

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

MCPCHECK = (sys.executable, "-c", "from mcpcheck.cli import main; main()")
LEGACY = "2025-11-25"


def conform(*target: str) -> tuple[int, str]:
    """The exit status of a run and all that it said."""
    finished = run(*MCPCHECK, "conform", *target, within=120)
    return finished.returncode, " ".join((finished.stdout + finished.stderr).split())


def other_url(url: str) -> re.Pattern[bytes]:
    """The first loopback URL that is not this one."""
    return re.compile(rb"(?<!\S)(?!%b)(http://127\.0\.0\.1:\d+[^\s,;]*)" % re.escape(url.encode()))


def test_conform_says_that_the_legacy_sdk_is_of_the_handshake_era_on_stdio() -> None:
    status, said = conform("--", *legacy_tickets())
    assert status == 2
    assert f"speaks {LEGACY}" in said


def test_conform_says_that_the_legacy_sdk_is_of_the_handshake_era_on_http() -> None:
    with http_process(*legacy_tickets(), "--http", "0") as server:
        status, said = conform(server.url)
    assert status == 2
    assert f"speaks {LEGACY}" in said


def test_conform_says_that_server_everything_is_of_the_handshake_era_on_stdio() -> None:
    status, said = conform("--", *everything())
    assert status == 2
    assert f"speaks {LEGACY}" in said


def test_conform_says_that_server_everything_is_of_the_handshake_era_on_http() -> None:
    with http_process(*everything("streamableHttp"), env={"PORT": "0"}) as server:
        status, said = conform(server.url)
    assert status == 2
    assert f"speaks {LEGACY}" in said


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_session_with_the_legacy_sdk_is_the_same_through_the_tap_on_stdio(mode: str, tmp_path: Path) -> None:
    client = (*TICKETS_CLIENT, "--mode", mode)
    capture = tmp_path / "session.ndjson"
    tapped = run(*client, "--", *MCPCHECK, "tap", "-o", str(capture), "--", *legacy_tickets(), within=60)
    bare = run(*client, "--", *legacy_tickets(), within=60)
    assert tapped.returncode == bare.returncode == 0, tapped.stderr
    assert tapped.stdout == bare.stdout
    assert any('"initialize"' in line for line in capture.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_session_with_the_legacy_sdk_is_the_same_through_the_tap_on_http(mode: str, tmp_path: Path) -> None:
    client = (*TICKETS_CLIENT, "--mode", mode)
    capture = tmp_path / "session.ndjson"
    with (
        http_process(*legacy_tickets(), "--http", "0") as server,
        http_process(*MCPCHECK, "tap", "-o", str(capture), server.url, ready=other_url(server.url)) as tap,
    ):
        tapped = run(*client, "--url", tap.url, within=60)
        bare = run(*client, "--url", server.url, within=60)
    assert tapped.returncode == bare.returncode == 0, tapped.stderr
    assert tapped.stdout == bare.stdout


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
