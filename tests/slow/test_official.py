"""The official suite on the servers that mcpcheck tests: where both look at the same rule, they say the same.

fixtures/official/differences.toml holds what they do not, each with the sentence that decides, and the checks of the
suite to which no sentence of the specification belongs.
"""

import json
import re
import sys
import tomllib
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from mcpcheck.catalogue.load import load
from mcpcheck.roles import roles
from tests.support.official import PACKAGE, Said, judge, required, suite
from tests.support.processes import ROOT, TICKETS, http_process, run

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

SERVERS = {
    "reference": (sys.executable, "-m", "mcpcheck.reference"),
    "everything": (sys.executable, "-m", "fixtures.everything"),
    "tickets": TICKETS,
}
WITHOUT_FIXTURES = (
    "server-stateless",
    "server-sse-",
    "tools-list",
    "resources-list",
    "sep-2164-",
    "prompts-list",
    "dns-",
    "caching",
    "http-header-",
    "input-required-result-unsupported-methods",
)
"""The scenarios that ask for no fixture, which the ticket server lacks."""
FIXTURE = re.compile(
    r"[`'\"](test_[a-z0-9_]+|json_schema_2020_12_tool)[`'\"]|(test://[a-z]+(?:-[a-z]+)*(?:/\{id\}/data)?)"
)
NOT_OFFERED = {"test_tool_with_task", "test://nonexistent-resource-for-conformance-testing"}
"""A fixture of the tasks extension, and a resource whose point is that there is none."""
FOR_CLIENTS = ("test_client_", "test_complete", "test_custom_headers", "test_headers", "test_mrtr_", "test_prompt")
"""How the names begin of what the suite itself serves, to clients."""
WITHIN = {"test://embedded-resource", "test://example-resource", "test://mixed-content-resource", "test://template"}
"""What stands inside of other fixtures."""


def table(kind: str) -> list[dict[str, Any]]:
    """The rows of one kind in the table of differences."""
    with (PACKAGE.parent / "differences.toml").open("rb") as file:
        rows: list[dict[str, Any]] = tomllib.load(file)[kind]
    return rows


def by_check() -> dict[str, list[str]]:
    """The ids of the requirements that each check of the suite looks at."""
    found: dict[str, list[str]] = defaultdict(list)
    for requirement in load().values():
        for check in requirement.official:
            found[check].append(requirement.id)
    return found


def said_by_suite(statuses: set[str]) -> str:
    """What the suite says by a check: "fails", "warns" or "passes"; nothing where it could not or need not look."""
    words = {"FAILURE": "fails", "WARNING": "warns", "SUCCESS": "passes"}
    return next((word for status, word in words.items() if status in statuses), "")


def said_by_mcpcheck(results: list[dict[str, Any]]) -> str:
    """The same of the requirements that a check looks at; a suspicion and a broken SHOULD are warnings."""
    severities = {finding["severity"] for result in results for finding in result["findings"]}
    if severities:
        return "fails" if "fail" in severities else "warns"
    return "passes" if any(result["status"] == "passed" for result in results) else ""


def differences(checks: dict[str, set[str]], report: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """The checks on which the two differ, and what each says; what one of them says nothing of is none."""
    results = {result["id"]: result for result in report["results"]}
    found = {}
    for check, statuses in checks.items():
        ours = said_by_mcpcheck([results[id] for id in by_check().get(check, []) if id in results])
        theirs = said_by_suite(statuses)
        if ours and theirs and ours != theirs:
            found[check] = (theirs, ours)
    return found


def both(name: str, out: Path) -> tuple[Said, dict[str, Any]]:
    """What both say of a server, each of a process of its own, at the same time."""
    serve = (*SERVERS[name], "--http", "0")
    with (
        http_process(*serve, cwd=ROOT) as one,
        http_process(*serve, cwd=ROOT) as other,
        ThreadPoolExecutor() as pool,
    ):
        said = pool.submit(judge, one.url, out)
        done = run(sys.executable, "-m", "mcpcheck", "conform", "--report", "json", other.url, within=120)
        assert done.stdout, done.stderr
        return said.result(), json.loads(done.stdout)


@pytest.mark.parametrize("name", SERVERS)
def test_both_suites_say_the_same_or_the_difference_is_explained(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    suite()
    said, report = both(name, tmp_path)
    checks = said.of(WITHOUT_FIXTURES if name == "tickets" else ())
    known = {row["check"]: (row["suite"], row["mcpcheck"]) for row in table("difference") if row["server"] == name}
    assert differences(checks, report) == known
    assert checks.keys() - by_check().keys() <= {row["check"] for row in table("beyond")}
    if name == "reference":
        passes_in_full(said)


def passes_in_full(said: Said) -> None:
    """All that the revision requires, and what it does not score yet; nothing is left out, nothing draws a warning."""
    assert said.code == 0, said.told
    complaints = {id: found for id, found in said.of().items() if not found <= {"SUCCESS", "INFO"}}
    assert complaints == {}
    assert len(required()) > 30
    assert required() - said.checks.keys() == set()


def test_every_row_of_the_table_names_a_check_of_the_suite_and_what_decides() -> None:
    text = Path(suite()[1]).read_text(encoding="utf-8")
    for row in table("difference"):
        assert row.keys() == {"server", "check", "ours", "suite", "mcpcheck", "decides", "page"}
        assert row["ours"] == by_check()[row["check"]]
        assert any(f"{load()[id].page}#{load()[id].anchor}" == row["page"] for id in row["ours"])
    for row in table("beyond"):
        assert row.keys() == {"check", "why"}
        assert f"`{row['check']}`" in text
        assert row["check"] not in by_check()


def test_every_fixture_that_the_suite_asks_a_server_for_belongs_to_a_role() -> None:
    text = Path(suite()[1]).read_text(encoding="utf-8")
    named = {tool or uri for tool, uri in FIXTURE.findall(text)}
    known = {name for role in roles().values() for name in role.names}
    assert len(named & known) > 30
    left = named - known - NOT_OFFERED - WITHIN
    assert {name for name in left if not name.startswith(FOR_CLIENTS)} == set()
