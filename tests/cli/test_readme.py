"""What the documents tell a newcomer to type exists."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import Result

from mcpcheck.cli import COMMANDS, group

ROOT = Path(__file__).parent.parent.parent
LINE = re.compile(r"^(?:\$ |.*&& \.venv/bin/)?(mcpcheck [a-z][^|>\n]*)", re.MULTILINE)
FENCE = re.compile(r"^```(?:sh|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
TYPED = [
    command.strip()
    for name in ("README.md", "CONTRIBUTING.md")
    for block in FENCE.findall((ROOT / name).read_text(encoding="utf-8"))
    for command in LINE.findall(block)
    if " 0.1.0 " not in command  # the head of a report
]


def test_every_command_is_shown() -> None:
    assert {command.split()[1] for command in TYPED} == set(COMMANDS)


@pytest.mark.parametrize("typed", sorted(set(TYPED)))
def test_a_command_in_the_documents_exists_with_its_options(typed: str) -> None:
    words = shlex.split(typed)
    context = click.Context(group)
    command = group.get_command(context, words[1])
    assert command
    known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    own = words[2 : words.index("--")] if "--" in words else words[2:]
    assert {word.partition("=")[0] for word in own if word.startswith("-")} <= known


def test_the_two_commands_of_the_start_are_one_line_each() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.count("pip install . && .venv/bin/mcpcheck conform --demo") == 1
    tests = r"^python3 -m venv \.venv && .*pip install '\.\[test\]' && .*pytest -n auto$"
    assert len(re.findall(tests, readme, re.M)) == 1


@pytest.mark.parametrize(
    "typed", ["mcpcheck explain base.request.id-not-null", "mcpcheck spec --area discover --level SHOULD"]
)
def test_the_readme_shows_what_is_really_printed(
    typed: str, run: Callable[..., Result], request: pytest.FixtureRequest
) -> None:
    path = ROOT / "README.md"
    readme = path.read_text(encoding="utf-8")
    shown = re.search(rf"(?<=^\$ {re.escape(typed)}\n).*?(?=^```)", readme, re.MULTILINE | re.DOTALL)
    assert shown
    printed = run(*typed.split()[1:]).stdout
    if request.config.getoption("--update-goldens"):
        path.write_text(readme[: shown.start()] + printed + readme[shown.end() :], encoding="utf-8")
    else:
        assert shown.group() == printed
