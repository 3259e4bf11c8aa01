"""What the subcommands that report share: the --report option, where reports go, colour, and the exit code."""

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from mcpcheck.errors import UsageError
from mcpcheck.verdict import Report

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Sink:
    """A report's format and the file it goes to; None is standard output."""

    format: str
    file: Path | None = None


def report_option(function: F) -> F:
    """Adds ``--report FORMAT[:FILE]``, which arrives as ``reports: tuple[Sink, ...]``."""
    from mcpcheck.report import format_names

    *others, last = format_names()
    names = f"{', '.join(others)} or {last}"
    option = click.option(
        "--report",
        "reports",
        multiple=True,
        metavar="FORMAT[:FILE]",
        callback=lambda ctx, param, values: parse(values),
        help=f"Write the report as {names}, to FILE or to standard output; may be given several times.",
    )
    return option(function)


def parse(values: Sequence[str]) -> tuple[Sink, ...]:
    """The sinks that the options name. Text goes to standard output unless another format is sent there."""
    from mcpcheck.report import checked

    sinks = []
    for value in values:
        format, colon, file = value.partition(":")
        if colon and not file:
            raise UsageError(f"--report {value} names no file after the colon; write {format}:FILE")
        if file not in {"", "-"} and not Path(file).parent.is_dir():  # said before the work, not after it
            raise UsageError(f"--report {value}: there is no folder {Path(file).parent}")
        sinks.append(Sink(checked(format), Path(file) if file not in {"", "-"} else None))
    shown = [sink for sink in sinks if sink.file is None]
    if len(shown) > 1:
        raise UsageError(f"two reports cannot both go to standard output; write --report {shown[1].format}:FILE")
    return (*sinks, *([] if shown else [Sink("text")]))


def finish(report: Report, sinks: Sequence[Sink]) -> NoReturn:
    """Write the report to each sink and end the command with its exit code."""
    write(report, sinks)
    click.get_current_context().exit(report.exit_code)


def write(report: Report, sinks: Sequence[Sink]) -> None:
    """Write the report to each sink: files first, so that what is read last is what was asked for on the terminal."""
    from mcpcheck.report import render

    for sink in sorted(sinks, key=lambda sink: sink.file is None):
        if sink.file is None:
            show(render(report, sink.format, width=width(), colour=colour()), styled=colour())
            continue
        try:
            sink.file.write_text(render(report, sink.format), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"the {sink.format} report cannot be written: {error}") from None


def show(text: str, *, styled: bool = False) -> None:
    """Text to standard output, whatever its encoding can hold."""
    encoding = sys.stdout.encoding or "utf-8"
    click.echo(text.encode(encoding, "backslashreplace").decode(encoding), nl=False, color=styled)


def colour() -> bool:
    """Whether standard output is shown in colour: on a terminal, unless NO_COLOR or TERM=dumb says otherwise."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def width() -> int:
    """How wide standard output is: the terminal's columns up to 120, and 80 in a pipe."""
    return min(shutil.get_terminal_size().columns, 120) if sys.stdout.isatty() else 80


PATIENCE = 1.0
"""Seconds that pass before it is said how far a reading is."""

Reading = Callable[[str, int, float | None], None]


@contextmanager
def reading() -> Iterator[Reading]:
    """Says on standard error how far a file has been read, where that takes long and there is a terminal."""
    if not sys.stderr.isatty():
        yield lambda name, records, share: None
        return
    due = time.monotonic() + PATIENCE
    shown = False

    def show_reading(name: str, records: int, share: float | None) -> None:
        nonlocal due, shown
        now = time.monotonic()
        if now < due:
            return
        due, shown = now + 0.1, True
        part = "" if share is None else f", {share:.0%} of the file"
        _over_line(f"{name[-60:]}: {records:,} records{part}")

    try:
        yield show_reading
    finally:
        if shown:
            _over_line("")


def _over_line(text: str) -> None:
    """Write over the line of a terminal that says how far something is; nothing erases it."""
    printable = text.encode(sys.stderr.encoding or "utf-8", "backslashreplace").decode(sys.stderr.encoding or "utf-8")
    print(f"\r\x1b[K{printable}", end="", file=sys.stderr, flush=True)
