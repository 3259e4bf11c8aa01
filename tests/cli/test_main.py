"""The command line as a whole: help, version and mistakes."""

from collections.abc import Callable
from importlib.util import find_spec

import pytest
from click.testing import Result

from mcpcheck import __version__
from mcpcheck.cli import COMMANDS

Run = Callable[..., Result]
PRESENT = [name for name in COMMANDS if find_spec(f"mcpcheck.cli.{name.replace('-', '_')}")]


def test_help_names_every_command_and_one_to_copy(run: Run) -> None:
    text = run("--help").stdout
    assert all(name in text for name in COMMANDS)
    assert "mcpcheck conform --demo" in text


@pytest.mark.parametrize("name", PRESENT)
def test_a_commands_help_says_what_it_is_for(run: Run, name: str) -> None:
    done = run(name, "--help")
    assert done.exit_code == 0
    usage = done.stdout.splitlines()[0]
    assert usage.startswith("Usage: ")
    assert f" {name} " in usage


def test_the_version_is_the_packages(run: Run) -> None:
    assert run("--version").stdout.strip().endswith(__version__)


def test_a_mistyped_command_gets_the_nearest(run: Run) -> None:
    done = run("confrom")
    assert done.exit_code == 2
    assert "'conform'" in done.stderr


def test_an_unknown_option_is_exit_2_and_no_traceback(run: Run) -> None:
    done = run("spec", "--colour")
    assert done.exit_code == 2
    assert "Traceback" not in done.stderr
