"""``mcpcheck fuzz`` as it is used."""

import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result
from hypothesis.configuration import set_hypothesis_home_dir

from tests.support.processes import ROOT

Run = Callable[..., Result]
REFERENCE = ("--", sys.executable, "-m", "mcpcheck.reference")


def faulty(name: str) -> tuple[str, ...]:
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from tests.fuzz import servers; "
    return "--", sys.executable, "-c", program + f"servers.serve_stdio(servers.{name})"


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Everything that a run may keep goes to a folder of its own, and nothing into the current one."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    for name in ("STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    yield tmp_path
    set_hypothesis_home_dir(None)
    assert not list(here.iterdir())


def test_a_good_server_is_exit_0_and_the_report_names_the_seed(run: Run) -> None:
    done = run("fuzz", "--seed", 5, "--examples", 12, *REFERENCE)
    assert done.exit_code == 0, done.stdout
    assert "seed       5" in done.stdout
    assert "12 sessions" in done.stdout
    assert not done.stderr


def test_a_faulty_server_is_exit_1_with_a_capture_and_a_command_that_shows_it_again(run: Run, folders: Path) -> None:
    arguments = ("--seed", 3, "--examples", 110, "--report", "json", *faulty("TakesAnyVersion"))
    done = run("fuzz", *arguments)
    assert done.exit_code == 1, done.stdout
    report = json.loads(done.stdout)
    findings = [finding for result in report["results"] for finding in result.get("findings", [])]
    finding = next(one for one in findings if one["scenario"] == "params.unknown_version")
    assert finding["reproduce"].startswith("mcpcheck fuzz --seed 3 --examples 110 -- ")
    files = [session["file"] for session in report["sessions"] if session.get("file")]
    assert [Path(file).parent for file in files] == [folders / "STATE" / "mcpcheck" / "captures"]
    words = shlex.split(finding["reproduce"])
    again = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, timeout=50, check=False)
    assert again.returncode == 1
    assert "params.unknown_version" in again.stdout


def test_a_seed_is_chosen_and_said_where_none_is_given(run: Run) -> None:
    first, second = (run("fuzz", "--examples", 1, "--report", "json", *REFERENCE) for _ in range(2))
    seeds = [json.loads(done.stdout)["extra"]["seed"] for done in (first, second)]
    assert len(set(seeds)) == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "name a server"),
        (("--", "mcpcheck-no-such-command"), "cannot start"),
        (("http://127.0.0.1:9/mcp",), "cannot connect"),
        (("--header", "nonsense", "http://127.0.0.1:9/mcp"), "is no header"),
        (("--", sys.executable, "-c", "print('hello')"), "did not answer server/discover"),
    ],
)
def test_what_cannot_be_attacked_is_exit_2_with_the_reason(run: Run, arguments: tuple[str, ...], told: str) -> None:
    done = run("fuzz", *arguments)
    assert done.exit_code == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
