"""How far a run is, on standard error: a bar on a terminal, a line now and then elsewhere, nothing with --quiet."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
Progress = Callable[[int, int, str], None]
"""Takes how much is done, of how much, and a phrase on what is at hand."""

EVERY = 2.0
"""Seconds between two lines where there is no terminal, at the least; and a tenth of the work."""
PHRASE = 70
BAR, BESIDE = 20, 16


def quiet_option(function: F) -> F:
    """Adds ``--quiet``, which arrives as ``quiet: bool``."""
    told = "Say nothing on standard error of how far it is."
    return click.option("-q", "--quiet", is_flag=True, help=told)(function)


@contextmanager
def showing(quiet: bool = False, *, clock: Callable[[], float] = time.monotonic) -> Iterator[Progress]:
    """Show how far a run is for as long as it takes; what stood on a terminal is taken away at the end."""
    if quiet:
        yield lambda done, total, phrase: None
    elif sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        with _bar() as progress:
            yield progress
    else:
        yield _lines(clock)


def _lines(clock: Callable[[], float]) -> Progress:
    """A line where at least a tenth more is done and some seconds have passed: a short run says nothing."""
    due, last = clock() + EVERY, 0

    def show(done: int, total: int, phrase: str) -> None:
        nonlocal due, last
        last = last if last <= done else 0  # another run has begun
        now = clock()
        if now < due or done >= total or 10 * (done - last) < total:
            return
        due, last = now + EVERY, done
        print(f"mcpcheck: {done} of {total}: {_told(phrase)}", file=sys.stderr, flush=True)

    return show


@contextmanager
def _bar() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (
        SpinnerColumn(),
        MofNCompleteColumn(),
        BarColumn(bar_width=BAR),
        TextColumn("{task.description}", markup=False),
    )
    console = Console(stderr=True, no_color=bool(os.environ.get("NO_COLOR")), markup=False, emoji=False)
    with Bar(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as bar:
        task = bar.add_task("", total=None)

        def show(done: int, total: int, phrase: str) -> None:
            told = _told(phrase)[: max(console.width - BAR - BESIDE, 0)]
            bar.update(task, completed=done, total=total, description=told)

        yield show


def _told(phrase: str) -> str:
    plain = "".join(character if character.isprintable() else "?" for character in phrase[:PHRASE])
    encoding = sys.stderr.encoding or "utf-8"
    return plain.encode(encoding, "backslashreplace").decode(encoding)
