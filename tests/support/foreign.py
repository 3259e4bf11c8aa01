"""Peers that are installed on demand: the 1.x line of the official SDK and the reference server from npm.

Each is installed once, in the user's cache folder, and used again by later runs. `MCPCHECK_TEST_CACHE` names another
folder. Where an install is not possible, the test that needs it is skipped with the reason.
"""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import platformdirs
import pytest

from tests.support.processes import ROOT

EVERYTHING = "@modelcontextprotocol/server-everything@2026.8.31"
OTHERS = ("@modelcontextprotocol/server-filesystem@2026.8.31", "@modelcontextprotocol/server-memory@2026.8.31")
INSTALL_TIMEOUT = 240.0


def cache() -> Path:
    """The folder that the installs live in."""
    named = os.environ.get("MCPCHECK_TEST_CACHE")
    return Path(named) if named else Path(platformdirs.user_cache_path("mcpcheck-tests"))


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder for this process alone, against the other workers of a parallel run."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def installed(name: str, stamp: str, install: Callable[[Path], None]) -> Path:
    """The folder of an install, made now where the stamp is not that of an earlier one."""
    folder = cache() / name
    with locked(folder):
        mark = folder / ".installed"
        if mark.is_file() and mark.read_text() == stamp:
            return folder
        try:
            install(folder)
        except (OSError, subprocess.SubprocessError) as problem:
            stderr = getattr(problem, "stderr", None)
            pytest.skip(f"{name} cannot be installed: {problem}" + (f"\n{stderr[-500:]}" if stderr else ""))
        mark.write_text(stamp)
        return folder


def _call(*command: str, cwd: Path) -> None:
    subprocess.run(
        command,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=INSTALL_TIMEOUT,
        check=True,
    )


def legacy_tickets() -> tuple[str, ...]:
    """The command of the ticket server on the last 1.x SDK, installed where it is not there yet."""
    return (_environment("sdk-v1", "sdk_v1"), str(ROOT / "fixtures" / "legacy_tickets.py"))


def fastmcp_notes() -> tuple[str, ...]:
    """The command of the server on fastmcp, installed where it is not there yet."""
    return (_environment("fastmcp", "fastmcp"), str(ROOT / "fixtures" / "fastmcp" / "notes.py"))


def _environment(name: str, fixture: str) -> str:
    """The Python of an environment that holds a fixture's requirements and nothing of ours."""
    requirements = ROOT / "fixtures" / fixture / "requirements.txt"

    def install(folder: Path) -> None:
        _call(sys.executable, "-m", "venv", "--clear", "venv", cwd=folder)
        _call("venv/bin/python", "-m", "pip", "install", "-q", "-r", str(requirements), cwd=folder)

    stamp = f"{sys.version}\n{requirements.read_text()}"
    folder = installed(f"{name}-py{sys.version_info.major}.{sys.version_info.minor}", stamp, install)
    return str(folder / "venv" / "bin" / "python")


def everything(transport: str = "stdio") -> tuple[str, ...]:
    """The command of server-everything (`stdio` or `streamableHttp`), installed where it is not there yet.

    With `PORT=0` in its environment the HTTP form takes a free port of the loopback address and names it on standard
    error as our own fixtures do.
    """
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("server-everything needs node and npm")

    def install(folder: Path) -> None:
        _call(npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", EVERYTHING, cwd=folder)

    folder = installed("server-everything", EVERYTHING, install)
    script = folder / "node_modules" / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"
    return (node, "--require", str(ROOT / "fixtures" / "loopback.cjs"), str(script), transport)


def from_npm(name: str, *words: str) -> tuple[str, ...]:
    """The command of server-filesystem or server-memory, installed where they are not there yet."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip(f"{name} needs node and npm")

    def install(folder: Path) -> None:
        _call(
            npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts", *OTHERS, cwd=folder
        )

    folder = installed("servers", " ".join(OTHERS), install)
    return (node, str(folder / "node_modules" / "@modelcontextprotocol" / name / "dist" / "index.js"), *words)
