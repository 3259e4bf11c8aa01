"""What mcpcheck says of peers on the official TypeScript SDK: what stands in the baselines, each with its reason."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from mcpcheck.lint import lint
from tests.support.processes import ROOT, http_process, run
from tests.support.strangers import stranger

pytestmark = [pytest.mark.slow, pytest.mark.timeout(420)]

MCPCHECK = (sys.executable, "-m", "mcpcheck")
BASELINES = ROOT / "fixtures" / "baselines"
BY_ANSWERS = {
    "base.error.missing-capability-shape",
    "base.meta.capability-not-relied",
    "base.stateless.capabilities-per-request",
    "completion.complete.result-shape",
    "elicit.server.handles-decline",
    "logging.message.only-on-request",
    "mrtr.server.ignore-extra",
    "mrtr.server.retry-independent",
    "mrtr.state.reject-tampered",
    "progress.notification.increases",
    "sampling.request.shape",
    "subscribe.ack.shape",
    "tools.error.execution-in-result",
    "versioning.matrix.legacy-dual",
}
"""What can be tested only with tools that have to be found by what they answer."""


def written_down(*words: str, baseline: str) -> dict[str, Any]:
    """The report of a run whose findings all stand in the baseline, none of whose entries has gone."""
    done = run(*MCPCHECK, words[0], "--baseline", str(BASELINES / baseline), "--report", "json", *words[1:], within=360)
    assert done.stdout, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    found = [finding for result in report["results"] for finding in result["findings"]]
    assert [finding for finding in found if not finding.get("known")] == []
    assert found
    assert (done.returncode, report["stale"], report["troubles"]) == (0, [], [])
    return report


def held(report: dict[str, Any]) -> set[str]:
    return {result["id"] for result in report["results"] if result["status"] == "passed"}


def test_what_the_document_server_breaks_on_stdio_is_written_down() -> None:
    report = written_down("conform", "--tools", "all", "--", *stranger("documents.mjs"), baseline="ts-sdk-2.toml")
    assert held(report) >= BY_ANSWERS


def test_what_the_document_server_breaks_over_http_is_written_down() -> None:
    with http_process(*stranger("documents.mjs"), "--http", "0") as server:
        report = written_down("conform", "--tools", "all", server.url, baseline="ts-sdk-2.toml")
    assert held(report) >= BY_ANSWERS


def test_what_the_client_breaks_on_stdio_is_written_down() -> None:
    silent = ("--timeout", "8", "--skip", "stdio.fallback.timeout")  # it waits a minute
    client = (*stranger("client.mjs"), "--")
    written_down("conform-client", "--transport", "stdio", *silent, "--", *client, baseline="ts-sdk-2-client.toml")


def test_what_the_client_breaks_over_http_is_written_down() -> None:
    client = (*stranger("client.mjs"), "--url", "{url}")
    written_down("conform-client", "--", *client, baseline="ts-sdk-2-client.toml")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_session_of_both_on_stdio_is_clean_and_the_same_through_the_tap(mode: str, tmp_path: Path) -> None:
    client, server = (*stranger("client.mjs"), "--mode", mode, "--all", "--"), stranger("documents.mjs")
    capture = tmp_path / "session.ndjson"
    tapped = run(*client, *MCPCHECK, "tap", "-o", str(capture), "--", *server, within=60)
    bare = run(*client, *server, within=60)
    assert tapped.returncode == bare.returncode == 0, tapped.stderr
    assert tapped.stdout == bare.stdout
    assert lint([capture]).findings == []


def test_sessions_of_both_over_http_are_clean_through_the_tap(tmp_path: Path) -> None:
    client, capture = stranger("client.mjs"), tmp_path / "session.ndjson"
    other = re.compile(rb"(http://127\.0\.0\.1:\d+/mcp) ->")
    with (
        http_process(*stranger("documents.mjs"), "--http", "0") as server,
        http_process(*MCPCHECK, "tap", "-o", str(capture), server.url, ready=other) as tap,
    ):
        for mode in ("auto", "legacy"):
            done = run(*client, "--mode", mode, "--all", "--url", tap.url, within=60)
            assert done.returncode == 0, done.stderr
    assert lint([capture]).findings == []
