"""A few mutants as real servers: the command line finds in them what it finds in memory, and no more."""

import json
import sys

import pytest

from tests.support.processes import ROOT, http_process, run
from tests.support.proof import file_name, mutants

SERVE = (sys.executable, str(ROOT / "fixtures" / "serve.py"))
CONFORM = (sys.executable, "-m", "mcpcheck", "conform", "--tools", "all", "--report", "json")
WITHIN = 60.0


def breaks(id: str) -> set[str]:
    return set(next(mutant.breaks for mutant in mutants() if mutant.name == file_name(id)))


def verdict(*target: str) -> tuple[int, set[str]]:
    """The exit status of a run, and the ids that it calls broken."""
    done = run(*CONFORM, *target, within=WITHIN)
    report = json.loads(done.stdout)
    assert report["troubles"] == [], done.stderr
    return done.returncode, {result["id"] for result in report["results"] if result["status"] == "broken"}


@pytest.mark.parametrize(
    "id", ["stdio.server.stdout-pure", "versioning.server.unsupported-version", "tools.list.not-per-connection"]
)
def test_a_mutant_on_stdio_fails_the_run_by_what_it_breaks(id: str) -> None:
    assert verdict("--", *SERVE, id) == (1, breaks(id))


@pytest.mark.parametrize("id", ["http.origin.validated", "http.headers.mismatch-status"])
def test_a_mutant_over_http_fails_the_run_by_what_it_breaks(id: str) -> None:
    with http_process(*SERVE, id, "--http", "0") as server:
        assert verdict(server.url) == (1, breaks(id))


def test_the_reference_as_a_process_passes() -> None:
    assert verdict("--", *SERVE, "reference") == (0, set())
