"""Safe by default: no tool is called that does not say that it only reads, with valid arguments or not."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes import ROOT, http_process, run

pytestmark = pytest.mark.timeout(120)

POLICIES = {
    (): {"look"},
    ("--tools", "none"): set(),
    ("--tools", "send"): {"send"},
    ("--tools", "all"): {"look", "remove", "send"},
}


def server(calls: Path) -> tuple[str, ...]:
    return (sys.executable, "-m", "fixtures.counting", str(calls))


def called(calls: Path, *words: str) -> set[str]:
    """The tools that a run called; those that it asked for, with arguments that fit or not, are no more than these."""
    calls.write_text("", encoding="utf-8")
    saved = calls.parent / f"saved-{len(list(calls.parent.iterdir()))}"
    done = run(sys.executable, "-m", "mcpcheck", "conform", "--save", str(saved), *words, within=100)
    assert done.returncode == 0, done.stdout
    found = set(calls.read_text(encoding="utf-8").split())
    asked = {name for file in saved.iterdir() for name in asked_for(file)}
    assert asked & {"look", "remove", "send"} == found
    return found


def asked_for(capture: Path) -> Iterator[str]:
    """The tools that the calls of a session name."""
    for line in capture.read_text(encoding="utf-8").splitlines():
        message = json.loads(line).get("msg")
        if isinstance(message, dict) and message.get("method") == "tools/call":
            yield str((message.get("params") or {}).get("name"))


def test_on_stdio_only_tools_that_say_that_they_read_are_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    calls = tmp_path / "calls"
    assert called(calls, "--", *server(calls)) == {"look"}


@pytest.mark.slow
def test_over_http_every_policy_calls_what_it_says_and_nothing_else(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    with http_process(*server(calls), "--http", "0", cwd=ROOT) as process:
        for options, allowed in POLICIES.items():
            assert called(calls, *options, process.url) == allowed, options
