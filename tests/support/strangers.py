"""Peers on the official TypeScript SDK: the scripts of fixtures/strangers, beside an install of what they import."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.foreign import INSTALL_TIMEOUT, installed
from tests.support.processes import ROOT

SCRIPTS = ROOT / "fixtures" / "strangers"


def stranger(script: str) -> tuple[str, ...]:
    """The command of a script; it is copied to where its packages are, as node looks for them beside it."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("the peers on the TypeScript SDK need node and npm")

    def install(folder: Path) -> None:
        for file in SCRIPTS.iterdir():
            shutil.copy(file, folder)
        subprocess.run(
            (npm, "install", "--no-audit", "--no-fund", "--ignore-scripts"),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=INSTALL_TIMEOUT,
            check=True,
        )

    stamp = "\n".join(file.read_text(encoding="utf-8") for file in sorted(SCRIPTS.iterdir()))
    return (node, str(installed("ts-sdk", stamp, install) / script))
