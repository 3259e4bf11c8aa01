"""Where captures go by default."""

import os
from pathlib import Path

import platformdirs
import pytest

from mcpcheck.capture.place import default_path, name_of


@pytest.mark.parametrize("state", [None, "", "/somewhere/else", "relative"])
@pytest.mark.parametrize("home", [None, "/home/ann", "relative"])
def test_it_is_the_folder_that_platformdirs_names(
    monkeypatch: pytest.MonkeyPatch, state: str | None, home: str | None
) -> None:
    for name, value in (("XDG_STATE_HOME", state), ("HOME", home)):
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    folder = platformdirs.user_state_dir("mcpcheck", appauthor=False)
    assert default_path("a.ndjson") == os.path.join(folder, "captures", "a.ndjson")


def test_building_a_path_makes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    assert Path(default_path("a.ndjson")).is_relative_to(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("/usr/bin/python3", "s-python3-7.ndjson"),
        ("http://127.0.0.1:8000/mcp/", "s-mcp-7.ndjson"),
        ("../..", "s-session-7.ndjson"),
        ("a b\nc", "s-a-b-c-7.ndjson"),
    ],
)
def test_a_name_says_when_and_of_what(label: str, name: str) -> None:
    assert name_of("s", label, 7) == name
