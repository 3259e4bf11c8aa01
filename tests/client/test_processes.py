"""Clients as real processes: the reference and some mutants on both transports, and clients that misbehave."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

ROOT = Path(__file__).resolve().parents[2]
CLIENT = str(ROOT / "fixtures" / "client.py")
SDK_CLIENT = str(ROOT / "fixtures" / "sdk_client.py")
HOSTILE = str(ROOT / "tests" / "client" / "hostile.py")
TAIL = {"stdio": "--", "http": "--url"}


def conform(
    kind: str, *words: str, timeout: str = "8", baseline: Path | None = None
) -> tuple[int, dict[str, Any], str]:
    """Run conform-client in a process of its own: exit code, report, and what it said beside it."""
    options = ["--transport", kind, "--timeout", timeout, "--report", "json"]
    options += ["--baseline", str(baseline)] if baseline else []
    done = subprocess.run(
        [sys.executable, "-m", "mcpcheck", "conform-client", *options, "--", sys.executable, *words],
        capture_output=True,
        text=True,
        timeout=55,
        stdin=subprocess.DEVNULL,
        cwd=ROOT,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr


def broken(report: dict[str, Any]) -> set[str]:
    return {result["id"] for result in report["results"] if result["status"] == "broken"}


def processes_with(word: str) -> list[int]:
    return [process.pid for process in psutil.process_iter(["cmdline"]) if word in (process.info["cmdline"] or [])]


@pytest.mark.parametrize("kind", ["stdio", "http"])
def test_reference_client_as_a_process_breaks_nothing(kind: str) -> None:
    code, report, said = conform(kind, CLIENT, "--patience", "1", TAIL[kind])
    assert broken(report) == set()
    assert code == 0, said


@pytest.mark.parametrize(
    ("mutant", "kind", "breaks"),
    [
        ("stdio_fallback_no_single_code", "stdio", {"stdio.fallback.any-error", "stdio.fallback.no-single-code"}),
        ("stdio_shutdown_client_kill", "stdio", {"stdio.shutdown.client-kill"}),
        ("stdio_shutdown_client_order", "stdio", {"stdio.shutdown.client-order"}),
        ("versioning_era_modern_error", "http", {"versioning.era.modern-error"}),
        ("http_response_client_supports_both", "http", {"http.response.client-supports-both"}),
    ],
)
def test_mutant_as_a_process_is_caught_by_what_it_breaks(mutant: str, kind: str, breaks: set[str]) -> None:
    _, report, said = conform(kind, CLIENT, "--mutant", mutant, "--patience", "1", TAIL[kind])
    assert broken(report) == breaks, said
    assert processes_with(mutant) == []


@pytest.mark.parametrize(
    ("way", "says"),
    [("ends at once", "the client exited with 3"), ("never connects", "it was still running")],
)
def test_a_client_that_never_comes_is_one_clear_sentence(way: str, says: str) -> None:
    code, _, said = conform("stdio", HOSTILE, way, timeout="2")
    assert code == 2
    assert "did not start the server's command" in said
    assert says in said
    assert processes_with(way) == []


@pytest.mark.parametrize("way", ["sends half a line and stops", "floods", "ignores SIGTERM"])
def test_a_client_that_misbehaves_ends_in_a_report_and_leaves_no_process(way: str) -> None:
    code, report, said = conform("stdio", HOSTILE, way, timeout="2")
    assert report, said
    assert code in (0, 1), report["troubles"]
    assert processes_with(way) == []


def test_a_command_that_does_not_exist_is_one_clear_sentence() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mcpcheck", "conform-client", "--", "no-such-client-anywhere"],
        capture_output=True,
        text=True,
        timeout=30,
        cwd=ROOT,
    )
    assert done.returncode == 2
    assert "cannot start 'no-such-client-anywhere'" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "breaks"),
    [
        (
            "stdio",
            {
                "base.pattern.client-no-responses",
                "base.result.type-unknown-invalid",
                "stdio.restart.client",
            },
        ),
        (
            "http",
            {
                "base.pattern.client-no-responses",
                "base.result.type-unknown-invalid",
                "http.compat.inspect-400-body",
            },
        ),
    ],
)
def test_the_official_client_breaks_what_was_seen_by_hand(kind: str, breaks: set[str]) -> None:
    # The server has to be silent for longer than the ten seconds that this client waits for the probe's answer.
    known = ROOT / "fixtures" / "baselines" / "sdk_client.toml"
    code, report, said = conform(kind, SDK_CLIENT, "--patience", "3", TAIL[kind], timeout="15", baseline=known)
    assert broken(report) == breaks, said
    assert code == 0, report["stale"]
