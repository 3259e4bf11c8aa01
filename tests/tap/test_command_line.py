"""The command line of the tap: what it is told to do, before a session begins."""

from collections.abc import Callable

import pytest
from click.testing import Result

Run = Callable[..., Result]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "Missing argument 'URL | -- COMMAND...'"),
        (["--"], "Missing argument 'URL | -- COMMAND...'"),
        (["--outptu", "x", "--", "true"], "Did you mean '--output'?"),
        (["-o"], "requires an argument"),
        (["--listen", "127.0.0.1:0", "--", "true"], "--listen belongs to a URL"),
        (["http://127.0.0.1:1/mcp", "more"], "after a URL there is nothing more to say: more"),
        (["--listen", "nowhere", "http://127.0.0.1:1/mcp"], "is no HOST:PORT"),
    ],
)
def test_a_mistake_is_named_and_nothing_is_started(run: Run, arguments: list[str], says: str) -> None:
    done = run("tap", *arguments)
    assert done.exit_code == 2
    assert says in done.stderr
    assert done.stdout == ""


def test_its_help_shows_what_to_copy(run: Run) -> None:
    done = run("tap", "--help")
    assert done.exit_code == 0
    assert "mcpcheck tap -o session.ndjson -- python my_server.py" in done.stdout
    assert "mcpcheck tap -o session.ndjson http://127.0.0.1:8000/mcp" in done.stdout
