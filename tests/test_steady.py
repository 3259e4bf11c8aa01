"""No false alarm: a conforming server that is slow, bursty, out of order, chatty or huge gets the same verdicts always.

Twenty whole runs in all, over real pipes and sockets, some of them with other work on the machine.
"""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.processes import ROOT, end, http_process, run

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

CONFORM = (sys.executable, "-m", "mcpcheck", "conform", "--tools", "all", "--report", "json")
OTHER = ("--other-header", "Authorization: Bearer another-user")
BUSY = "import time; end = time.monotonic() + 60\nwhile time.monotonic() < end: sum(range(10_000))"


@contextlib.contextmanager
def stress(workers: int) -> Iterator[None]:
    """Keep the machine busy beside what is inside, for a minute at most."""
    with contextlib.ExitStack() as stack:
        for _ in range(workers):
            worker = subprocess.Popen((sys.executable, "-c", BUSY), start_new_session=True)
            stack.callback(end, worker)
        yield


def verdicts(*target: str) -> dict[str, str]:
    """The verdict on each requirement, of a run without any finding."""
    done = run(*CONFORM, *target, within=120)
    assert done.stdout, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    found = [(result["id"], finding) for result in report["results"] for finding in result["findings"]]
    assert found == []
    assert report["troubles"] == []
    return {result["id"]: result["status"] for result in report["results"]}


@pytest.mark.parametrize("manner", ["slow", "bursts", "shuffled", "chatty", "huge"])
def test_on_stdio_the_verdicts_are_the_same_each_time(manner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    server = (sys.executable, "-m", "fixtures.unruly", manner, "--seed")
    first = verdicts("--", *server, "1")
    with stress(2 if manner == "shuffled" else 0):
        assert verdicts("--", *server, "2") == first


@pytest.mark.parametrize("manner", ["slow", "bursts", "chatty", "huge", "slow under load"])
def test_over_http_the_verdicts_are_the_same_each_time(manner: str) -> None:
    words = (sys.executable, "-m", "fixtures.unruly", manner.split()[0], "--seed", str(len(manner)), "--http", "0")
    with http_process(*words, cwd=ROOT) as server:
        first = verdicts(*OTHER, server.url)
        with stress(2 if "load" in manner else 0):
            assert verdicts(*OTHER, server.url) == first
