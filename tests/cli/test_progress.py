"""How far a run is: a bar on a terminal, lines elsewhere, nothing where quiet was asked for; never on stdout."""

import io
import sys
from itertools import count

import pytest

from mcpcheck.cli.progress import EVERY, showing


class Terminal(io.StringIO):
    """Standard error as a terminal."""

    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch, kind: str = "xterm") -> Terminal:
    """Takes the place of standard error; to be called by the test, since pytest puts its own there before."""
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setenv("TERM", kind)
    return shown


def test_without_a_terminal_there_is_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    times = count(step=EVERY / 3)
    with showing(clock=lambda: next(times)) as progress:
        for done in range(1, 101):
            progress(done, 100, f"no finding so far, story.{done}")
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert 5 <= len(lines) <= 10
    assert lines[0] == "mcpcheck: 10 of 100: no finding so far, story.10"


def test_a_short_run_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with showing(clock=lambda: 0.0) as progress:
        for done in range(1, 101):
            progress(done, 100, "x")
    assert capsys.readouterr() == ("", "")


def test_a_second_run_begins_anew(capsys: pytest.CaptureFixture[str]) -> None:
    times = count(step=EVERY)
    with showing(clock=lambda: next(times)) as progress:
        progress(90, 100, "one")
        progress(5, 20, "two")
    assert capsys.readouterr().err.splitlines() == ["mcpcheck: 90 of 100: one", "mcpcheck: 5 of 20: two"]


def test_a_terminal_shows_a_bar_with_what_is_at_hand(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = terminal(monkeypatch)
    with showing() as progress:
        progress(3, 12, "1 finding so far, [bold]story\x1b[2J")
    assert "3/12" in shown.getvalue()
    assert "1 finding so far, [bold]story?[2" in shown.getvalue()
    assert capsys.readouterr().out == ""


def test_quiet_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = terminal(monkeypatch)
    with showing(quiet=True) as progress:
        progress(3, 12, "x")
    assert shown.getvalue() == ""


def test_a_terminal_that_cannot_be_written_over_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = terminal(monkeypatch, "dumb")
    times = count(step=EVERY)
    with showing(clock=lambda: next(times)) as progress:
        progress(5, 10, "x")
    assert shown.getvalue() == "mcpcheck: 5 of 10: x\n"
