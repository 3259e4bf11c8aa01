"""How a capture begins: its first line, and its place."""

import os
from pathlib import Path
from typing import Any

import pytest

from mcpcheck import __version__
from mcpcheck.capture.format import read_header
from mcpcheck.tap.begin import head, place

SECRET = "hunter2-9abcdef"


def test_the_first_line_says_when_what_and_by_whom() -> None:
    header = read_header(head(1796072640.123456, "stdio", {"command": ["python", "sérver.py"]}))
    assert header.started == "2026-11-30T21:04:00.123456Z"
    assert header.transport == "stdio"
    assert header.target == {"command": ["python", "sérver.py"]}
    assert header.by == f"mcpcheck {__version__}"


def test_a_start_just_before_a_second_is_not_a_second_early() -> None:
    assert read_header(head(1796072639.9999999, "stdio", {})).started == "2026-11-30T21:04:00.000000Z"


@pytest.mark.parametrize(
    "target",
    [
        {"command": ["server", "--token", SECRET]},
        {"command": ["server", f"--api-key={SECRET}"]},
        {"command": ["env", f"PASSWORD={SECRET}", "server"]},
        {"command": ["env", f"GITHUB_TOKEN={SECRET}", "server"]},
        {"command": ["server", "--client_secret", SECRET]},
        {"url": f"https://ann:{SECRET}@host.example/mcp"},
        {"url": f"https://host.example/mcp?key={SECRET}"},
        {"url": f"https://host.example/mcp?access_token={SECRET}&a=b"},
    ],
)
def test_a_secret_of_the_target_is_not_in_it(target: dict[str, Any]) -> None:
    line = head(0.0, "stdio", target)
    assert SECRET.encode() not in line
    assert read_header(line).target.keys() == target.keys()


def test_a_file_is_taken_as_named_and_a_folder_gets_a_new_file(tmp_path: Path) -> None:
    assert place(str(tmp_path / "s.ndjson"), 0.0, "server") == str(tmp_path / "s.ndjson")
    assert place(str(tmp_path), 0.0, "/bin/server") == str(tmp_path / f"19700101-000000-server-{os.getpid()}.ndjson")


def test_without_a_place_it_is_the_users_state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert Path(place(None, 0.0, "server")).parent == tmp_path / "mcpcheck" / "captures"
