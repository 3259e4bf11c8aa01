"""What mcpcheck says of servers on the official SDK: just what stands in the baseline, each with its reason."""

import json
import sys
from typing import Any

import pytest

from tests.support.processes import ASKING, ROOT, TICKETS, http_process, run

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

BASELINE = "fixtures/baselines/sdk-2.3.0.toml"
EVERYTHING = (sys.executable, "-m", "fixtures.everything")
FAMILIES = {
    "discover.result.shape",
    "versioning.server.unsupported-shape",
    "base.meta.capability-missing-error",
    "tools.error.execution-in-result",
    "mrtr.server.retry-independent",
    "mrtr.state.reject-tampered",
    "versioning.matrix.legacy-dual",
    "tools.list.deterministic-order",
}
"""One requirement of each family that a server of this revision is tested for."""


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def conform(*target: str, baseline: str = BASELINE) -> dict[str, Any]:
    """The report of a whole run with a baseline."""
    options = ("--tools", "all", "--baseline", baseline, "--report", "json")
    done = run(sys.executable, "-m", "mcpcheck", "conform", *options, *target, within=180)
    assert done.stdout, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == report["exit"]
    return report


def is_written_down(report: dict[str, Any]) -> None:
    """Nothing new, nothing that has gone, and mcpcheck could do its work."""
    found = [finding for result in report["results"] for finding in result["findings"]]
    assert [finding for finding in found if not finding.get("known")] == []
    assert found
    assert (report["exit"], report["stale"], report["troubles"]) == (0, [], [])


def run_families(report: dict[str, Any]) -> set[str]:
    """Those of the families that were exercised and held."""
    return FAMILIES & {result["id"] for result in report["results"] if result["status"] == "passed"}


def test_what_the_ticket_server_breaks_on_stdio_is_written_down() -> None:
    is_written_down(conform("--", *TICKETS))


def test_what_the_ticket_server_breaks_over_http_is_written_down() -> None:
    with http_process(*TICKETS, "--http", "0", cwd=ROOT) as server:
        is_written_down(conform(server.url))


def test_all_families_are_tested_on_a_server_that_asks_on_stdio() -> None:
    report = conform("--", *ASKING)
    is_written_down(report)
    assert run_families(report) == FAMILIES


def test_all_families_are_tested_on_a_server_that_asks_over_http() -> None:
    with http_process(*ASKING, "--http", "0", cwd=ROOT) as server:
        report = conform(server.url)
    is_written_down(report)
    assert run_families(report) == FAMILIES


def test_what_a_server_with_all_official_fixtures_breaks_is_written_down() -> None:
    baseline = "fixtures/baselines/everything-2.3.0.toml"
    is_written_down(conform("--", *EVERYTHING, baseline=baseline))
    with http_process(*EVERYTHING, "--http", "0", cwd=ROOT) as server:
        is_written_down(conform(server.url, baseline=baseline))
