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
from threading import Lock
from typing import Any

import pytest

from mcpcheck.catalogue.load import load
from mcpcheck.roles import roles
from tests.support.foreign import fastmcp_notes
from tests.support.official import PACKAGE, Said, judge, required, suite
from tests.support.processes import ROOT, TICKETS, http_process, run
from tests.support.strangers import stranger

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

OURS = {
    "reference": (sys.executable, "-m", "mcpcheck.reference"),
    "everything": (sys.executable, "-m", "fixtures.everything"),
    "tickets": TICKETS,
}
WITH_FIXTURES = {"reference", "everything"}
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
"""The scenarios that ask for no fixture, which other servers lack."""
FIXTURE = re.compile(
    r"[`'\"](test_[a-z0-9_]+|json_schema_2020_12_tool)[`'\"]|(test://[a-z]+(?:-[a-z]+)*(?:/\{id\}/data)?)"
)
NOT_OFFERED = {"test_tool_with_task", "test://nonexistent-resource-for-conformance-testing"}
"""A fixture of the tasks extension, and a resource whose point is that there is none."""
FOR_CLIENTS = ("test_client_", "test_complete", "test_custom_headers", "test_headers", "test_mrtr_", "test_prompt")
"""How the names begin of what the suite itself serves, to clients."""
WITHIN = {"test://embedded-resource", "test://example-resource", "test://mixed-content-resource", "test://template"}
"""What stands inside of other fixtures."""


Verdicts = tuple[Said, dict[str, Any]]


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


def both(command: tuple[str, ...], out: Path, turn: Lock) -> Verdicts:
    """What both say of a server: first the suite, which mostly waits, then mcpcheck, which works, in its turn."""
    with http_process(*command, "--http", "0", cwd=ROOT) as server:
        said = judge(server.url, out)
        with turn:
            done = run(sys.executable, "-m", "mcpcheck", "conform", "--report", "json", server.url, within=120)
    assert done.stdout, done.stderr
    return said, json.loads(done.stdout)


def agree(servers: dict[str, tuple[str, ...]], folder: Path) -> dict[str, Verdicts]:
    """Hold what both say of some servers against the table; the servers are judged at the same time."""
    suite()
    turn = Lock()
    with ThreadPoolExecutor(len(servers)) as pool:
        begun = {name: pool.submit(both, command, folder / name, turn) for name, command in servers.items()}
        found = {name: each.result() for name, each in begun.items()}
    checks = {name: said.of(() if name in WITH_FIXTURES else WITHOUT_FIXTURES) for name, (said, _) in found.items()}
    seen = {name: differences(checks[name], report) for name, (_, report) in found.items()}
    known: dict[str, dict[str, tuple[str, str]]] = {name: {} for name in servers}
    for row in table("difference"):
        if row["server"] in servers:
            known[row["server"]][row["check"]] = (row["suite"], row["mcpcheck"])
    assert seen == known
    unnamed = {check for each in checks.values() for check in each} - by_check().keys()
    assert unnamed <= {row["check"] for row in table("beyond")}
    return found


def test_both_say_the_same_of_our_servers_or_the_difference_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    found = agree(OURS, tmp_path)
    passes_in_full(found["reference"][0])


def test_both_say_the_same_of_strangers_or_the_difference_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    agree({"documents": stranger("documents.mjs"), "notes": fastmcp_notes()}, tmp_path)


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
