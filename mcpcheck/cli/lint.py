"""mcpcheck lint: judge recorded sessions."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from mcpcheck.cli import output
from mcpcheck.errors import UsageError
from mcpcheck.wire.protocol import REVISIONS

PATTERNS = ("*.ndjson", "*.ndjson.gz", "*.har")


@click.command(
    "lint",
    epilog="""\b
Examples:
  mcpcheck lint session.ndjson
  mcpcheck lint captures/ --role server --report json:report.json
  mcpcheck lint browser.har
  cat a.ndjson b.ndjson | mcpcheck lint -
  echo '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' | mcpcheck lint -""",
)
@click.argument("captures", nargs=-1, required=True, metavar="CAPTURE...")
@click.option("--only", multiple=True, metavar="ID", help="Judge only this requirement, or all under this prefix.")
@click.option("--skip", multiple=True, metavar="ID", help="Leave this requirement, or all under this prefix, out.")
@click.option("--strict", is_flag=True, help="A broken SHOULD fails, too.")
@click.option(
    "--role",
    type=click.Choice(["client", "server", "both"]),
    default="both",
    show_default=True,
    help="Judge what this side sent.",
)
@click.option("--revision", type=click.Choice(REVISIONS), help="The revision of messages that do not tell theirs.")
@output.report_option
def command(
    captures: tuple[str, ...],
    only: tuple[str, ...],
    skip: tuple[str, ...],
    strict: bool,
    role: str,
    revision: str | None,
    reports: tuple[output.Sink, ...],
) -> None:
    """Judge recorded sessions against the specification.

    A CAPTURE is a file that mcpcheck tap has written, a folder of them, or - for standard input. Both sides are judged,
    and only by what was sent: what the recording cannot show is listed as not exercised.

    Recordings of other tools are taken, too: a HAR, as browsers and proxies export it, and JSON-RPC messages one a line
    or in one JSON array, with or without who sent them. The report says what had to be guessed, and no guess is held
    against anyone. Files may be compressed with gzip.
    """
    from mcpcheck.lint import lint

    files = list(expand(captures))
    with output.reading() as progress:
        report = lint(files, only=only, skip=skip, strict=strict, role=role, revision=revision, progress=progress)
    output.finish(report, reports)


def expand(captures: Sequence[str]) -> Iterator[Path]:
    """The files that the arguments name, folders searched for what is named like a recording."""
    if captures.count("-") > 1:
        raise UsageError("standard input can be read once: write - once")
    for name in captures:
        path = Path(name)
        if name == "-" or not path.is_dir():
            yield path
            continue
        found = sorted(file for pattern in PATTERNS for file in path.rglob(pattern))
        if not found:
            raise UsageError(f"there is no capture ({', '.join(PATTERNS)}) in {name}")
        yield from found
