"""The official suite on the servers that mcpcheck tests: where both look at the same rule, they say the same.

The table of fixtures/official/differences.toml holds what they do not, each with the sentence that decides.
"""

import json
import sys
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from mcpcheck.catalogue.load import load
from tests.support.official import PACKAGE, Said, judge
from tests.support.processes import ROOT, TICKETS, http_process, run

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

SERVERS = {
    "reference": (sys.executable, "-m", "mcpcheck.reference"),
    "everything": (sys.executable, "-m", "fixtures.everything"),
    "tickets": TICKETS,
}
WITHOUT_FIXTURES = (
    "server-stateless",
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-",
    "caching",
    "http-header-",
)
"""The scenarios that ask for no fixture, which the ticket server lacks."""


def table() -> dict[str, dict[str, str]]:
    """The differences that are known, by server and check."""
    with (PACKAGE.parent / "differences.toml").open("rb") as file:
        rows = tomllib.load(file)["difference"]
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for row in rows:
        assert row.keys() == {"server", "check", "who", "decides", "page"}
        found[row["server"]][row["check"]] = row["who"]
    return found


def by_check() -> dict[str, list[str]]:
    """The ids of the requirements that each check of the suite looks at."""
    found: dict[str, list[str]] = defaultdict(list)
    for requirement in load().values():
        for check in requirement.official:
            found[check].append(requirement.id)
    return found


def differences(said: dict[str, set[str]], report: dict[str, Any]) -> dict[str, str]:
    """The checks on which one fails a server and the other passes it: who fails it.

    What mcpcheck could not test, it does not pass; a suspicion is no failure, and a warning of the suite is neither.
    """
    results = {result["id"]: result for result in report["results"]}
    found = {}
    for check, statuses in said.items():
        ours = [results[id] for id in by_check().get(check, []) if id in results]
        broken = [one["id"] for one in ours if any(not finding["suspect"] for finding in one["findings"])]
        if "FAILURE" in statuses and ours and all(one["status"] == "passed" for one in ours) and not broken:
            found[check] = "the suite"
        elif statuses == {"SUCCESS"} and broken:
            found[check] = "mcpcheck"
    return found


@pytest.mark.parametrize("name", SERVERS)
def test_both_suites_say_the_same_or_the_difference_is_explained(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    with http_process(*SERVERS[name], "--http", "0", cwd=ROOT) as server:
        said = judge(server.url, tmp_path)
        done = run(sys.executable, "-m", "mcpcheck", "conform", "--report", "json", server.url, within=120)
    report = json.loads(done.stdout)
    checks = said.of(WITHOUT_FIXTURES if name == "tickets" else ())
    assert differences(checks, report) == table().get(name, {})
    if name == "reference":
        passes_in_full(said)


def passes_in_full(said: Said) -> None:
    """All that the revision requires, and nothing is left out."""
    assert said.code == 0, said.told
    failed = {check for check, statuses in said.of().items() if "FAILURE" in statuses}
    assert failed == set()
    assert len(said.checks) >= 35
