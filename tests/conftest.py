"""What all tests share: a fixed width, no colour, and goldens that can be written anew."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="write the goldens anew; then read the diff")


@pytest.fixture(autouse=True)
def _plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """No colour and 80 columns, wherever the tests run."""
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "PY_COLORS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, Path], None]:
    """Compares text with a file that is kept; with ``--update-goldens`` writes the file instead."""
    update: bool = request.config.getoption("--update-goldens")

    def compare(text: str, path: Path) -> None:
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path.name} is missing: run pytest with --update-goldens"
        assert text == path.read_text(encoding="utf-8")

    return compare


class _Command(click.Command):
    """The whole command line as click's runner wants it: our own entry point, with its errors and exit codes."""

    def main(self, args: Any = None, **rest: Any) -> Any:  # type: ignore[override]
        import sys

        from mcpcheck.cli import main

        before, sys.argv = sys.argv, ["mcpcheck", *args]
        try:
            return main()
        finally:
            sys.argv = before


@pytest.fixture
def run() -> Callable[..., Result]:
    """Runs ``mcpcheck`` with these arguments in this process: ``.exit_code``, ``.stdout`` and ``.stderr``."""
    runner = CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1", "FORCE_COLOR": None})
    return lambda *args, **rest: runner.invoke(_Command("mcpcheck"), [str(arg) for arg in args], **rest)
