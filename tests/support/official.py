"""The official conformance suite, installed once with the Node that it needs, and what it says of a server."""

import json
import shutil
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.foreign import INSTALL_TIMEOUT, installed
from tests.support.processes import ROOT

PACKAGE = ROOT / "fixtures" / "official" / "package.json"
REVISION = "2026-07-28"
EXTENSIONS = ("tasks-", "sep-2640-")
"""Scenarios of extensions, which the revision itself does not require."""


@dataclass(frozen=True, slots=True)
class Said:
    """What the suite said of a server: its exit code, its last lines, and the statuses of each check, by scenario."""

    code: int
    told: str
    checks: dict[str, dict[str, set[str]]]

    def of(self, scenarios: tuple[str, ...] = ()) -> dict[str, set[str]]:
        """The statuses of each check, of all scenarios or of those whose names begin so."""
        found: dict[str, set[str]] = defaultdict(set)
        for scenario, checks in self.checks.items():
            if not scenarios or scenario.startswith(scenarios):
                for id, statuses in checks.items():
                    found[id] |= statuses
        return dict(found)


def suite() -> tuple[str, str]:
    """The command of the suite."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("the official suite needs npm")

    def install(folder: Path) -> None:
        shutil.copy(PACKAGE, folder)
        subprocess.run(
            (npm, "install", "--no-audit", "--no-fund"),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=INSTALL_TIMEOUT,
            check=True,
        )

    modules = installed("official", PACKAGE.read_text(encoding="utf-8"), install) / "node_modules"
    node = modules / "node" / "bin" / "node"
    if not node.is_file():
        pytest.skip("the package node brought no Node for this machine")
    return str(node), str(modules / "@modelcontextprotocol" / "conformance" / "dist" / "index.js")


def required() -> set[str]:
    """The scenarios against servers that conformance to the revision takes."""
    lists = (Path(suite()[1]).parents[1] / "requirements" / f"{REVISION}.yaml").read_text(encoding="utf-8")
    own = lists[lists.index("\nserver:\n") :].partition("\n\n")[0]
    return {line.removeprefix("  - ") for line in own.splitlines() if line.startswith("  - ")}


def judge(url: str, out: Path) -> Said:
    """Run the scenarios that the revision requires against a server; ``out`` is a folder for the results."""
    command = (*suite(), "server", "--url", url, "--requirements", REVISION, "-o", str(out))
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200, check=False)
    checks: dict[str, dict[str, set[str]]] = {}
    for file in out.glob("*/checks.json"):
        scenario = file.parent.name.removeprefix("server-")[: -len("-2026-07-28T12-00-00-000Z")]
        if not scenario.startswith(EXTENSIONS):
            found = checks.setdefault(scenario, defaultdict(set))
            for check in json.loads(file.read_text(encoding="utf-8")):
                lacking = (check.get("details") or {}).get("untestable") is True
                found[check["id"]].add("UNTESTABLE" if lacking else check["status"])
    assert checks, done.stdout[-2000:] + done.stderr[-2000:]
    return Said(done.returncode, done.stdout[-3000:], checks)
