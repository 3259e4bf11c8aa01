"""A session is the same with the tap between its ends and without it, in both eras and over both transports."""

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from mcpcheck.lint import lint
from mcpcheck.listening import listening
from tests.support.processes import ROOT, TICKETS, http_process, run

TAP = (sys.executable, "-m", "mcpcheck", "tap", "-o")
CLIENTS = {name: (sys.executable, str(ROOT / "fixtures" / f"{name}_client.py")) for name in ("tickets", "asking")}
SERVERS = {"tickets": TICKETS, "asking": (sys.executable, "-m", "fixtures.asking")}
REVISIONS = {"auto": "2026-07-28", "legacy": "2025-11-25"}

sessions = pytest.mark.parametrize(
    ("name", "mode"), [("tickets", "auto"), ("tickets", "legacy"), ("asking", "auto"), ("asking", "legacy")]
)


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="module")
def urls() -> Iterator[dict[str, str]]:
    """The URL of each server."""
    with (
        http_process(*SERVERS["tickets"], "--http", "0", cwd=ROOT) as tickets,
        http_process(*SERVERS["asking"], "--http", "0", cwd=ROOT) as asking,
    ):
        yield {"tickets": tickets.url, "asking": asking.url}


@cache
def alone(*command: str) -> "subprocess.CompletedProcess[str]":
    """A session without the tap."""
    return run(*command, within=60)


def recorded(capture: Path) -> list[dict[str, object]]:
    """The lines of a capture after its first, which are all there."""
    first, *lines = capture.read_bytes().splitlines(keepends=True)
    assert json.loads(first)["mcpcheck"] == "capture/1"
    assert all(line.endswith(b"\n") for line in lines)
    return [json.loads(line) for line in lines]


def judged(capture: Path, mode: str) -> None:
    """Lint reads it as a session of that revision in which nobody breaks a MUST."""
    report = lint([capture])
    assert report.exit_code == 0, report.failures
    assert report.sessions[0].revisions == (REVISIONS[mode],)


@sessions
def test_a_session_on_stdio_is_the_same_through_the_tap(name: str, mode: str, tmp_path: Path) -> None:
    capture = tmp_path / "session.ndjson"
    client = (*CLIENTS[name], "--mode", mode, "--")
    bare = alone(*client, *SERVERS[name])
    tapped = run(*client, *TAP, str(capture), "--", *SERVERS[name], within=60)
    assert (bare.returncode, bare.stderr) == (0, "")
    assert tapped.stdout == bare.stdout
    assert (tapped.returncode, tapped.stderr) == (0, "")
    assert recorded(capture)[-1]["event"] == "exit"
    judged(capture, mode)


@sessions
def test_a_session_over_http_is_the_same_through_the_tap(
    name: str, mode: str, urls: dict[str, str], tmp_path: Path
) -> None:
    capture = tmp_path / "session.ndjson"
    client = (*CLIENTS[name], "--mode", mode, "--url")
    bare = alone(*client, urls[name])
    with listening([*TAP, str(capture), urls[name]]) as url:
        tapped = run(*client, url, within=60)
    assert (bare.returncode, bare.stderr) == (0, "")
    assert tapped.stdout == bare.stdout
    assert (tapped.returncode, tapped.stderr) == (0, "")
    assert any("http" in line for line in recorded(capture))
    judged(capture, mode)


def test_a_client_whose_server_fails_exits_as_it_would_without_the_tap(tmp_path: Path) -> None:
    client = (*CLIENTS["tickets"], "--")
    failing = (sys.executable, "-c", "import sys; sys.exit('no configuration found')")
    bare = alone(*client, *failing)
    tapped = run(*client, *TAP, str(tmp_path / "session.ndjson"), "--", *failing, within=60)
    assert bare.returncode == tapped.returncode != 0
    assert tapped.stdout == bare.stdout == ""
    assert "no configuration found" in tapped.stderr
    ends = [line for line in recorded(tmp_path / "session.ndjson") if line.get("event") == "exit"]
    assert [line["code"] for line in ends] == [1]
