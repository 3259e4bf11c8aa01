"""What all tests share: a fixed width, no colour, and goldens that can be written anew."""

from collections.abc import Callable
from pathlib import Path

import pytest


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
