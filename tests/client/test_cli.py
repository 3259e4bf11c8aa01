"""The command line of conform-client: where the server is put, what would run, and what a user gets wrong."""

from collections.abc import Callable

import pytest
from click.testing import Result

from mcpcheck.transports.client_side import place

Run = Callable[..., Result]


@pytest.mark.parametrize(
    ("words", "kind", "where", "placed"),
    [
        (["client", "{url}"], "http", ["http://x/mcp"], ["client", "http://x/mcp"]),
        (["client", "--to={url}", "-v"], "http", ["http://x/mcp"], ["client", "--to=http://x/mcp", "-v"]),
        (["client"], "http", ["http://x/mcp"], ["client", "http://x/mcp"]),
        (["client", "{server}"], "stdio", ["py", "a b"], ["client", "py 'a b'"]),
        (["client", "--"], "stdio", ["py", "a b"], ["client", "--", "py", "a b"]),
    ],
)
def test_the_servers_place_is_put_for_its_mark_or_at_the_end(
    words: list[str], kind: str, where: list[str], placed: list[str]
) -> None:
    assert place(words, kind, where) == placed


def test_a_run_needs_a_client(run: Run) -> None:
    result = run("conform-client")
    assert result.exit_code == 2
    assert "name a client" in result.stderr


def test_an_unknown_revision_is_named_with_the_known_ones(run: Run) -> None:
    result = run("conform-client", "--spec", "2020-01-01", "--", "client")
    assert result.exit_code == 2
    assert "2025-11-25" in result.stderr


def test_a_selection_that_matches_nothing_names_the_nearest(run: Run) -> None:
    result = run("conform-client", "--only", "stdio.fallbakc", "--", "client")
    assert result.exit_code == 2
    assert "stdio.fallback" in result.stderr


def test_the_list_shows_each_scenario_with_its_story(run: Run) -> None:
    result = run("conform-client", "--list", "--only", "stdio.fallback")
    assert result.exit_code == 0
    assert "fallback.is_left_without_an_answer  A legacy server says nothing at all before initialize" in result.stdout
    assert "    stdio.fallback.timeout" in result.stdout
    assert result.stdout.splitlines()[-1].endswith("requirements")


def test_the_url_mark_chooses_http(run: Run) -> None:
    assert "http.headers.mcp-name-base64" in run("conform-client", "--list", "--", "client", "{url}").stdout
    assert "http.headers.mcp-name-base64" not in run("conform-client", "--list", "--", "client", "{server}").stdout
