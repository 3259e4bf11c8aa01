"""mcpcheck conform-client: test a client or host against the specification."""

import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from mcpcheck import __version__
from mcpcheck.cli import output
from mcpcheck.cli.conform import baseline_of
from mcpcheck.cli.progress import quiet_option, showing
from mcpcheck.errors import UsageError
from mcpcheck.verdict import Report
from mcpcheck.wire.protocol import REVISIONS


@click.command(
    "conform-client",
    epilog="""\b
Examples:
  mcpcheck conform-client -- my-client --once {server}
  mcpcheck conform-client -- my-client --url {url}
  mcpcheck conform-client --transport http -- node client.js""",
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="-- COMMAND...")
@click.option(
    "--transport",
    type=click.Choice(["stdio", "http"]),
    help="How the client reaches the server. Default: http where COMMAND has {url}, else stdio.",
)
@click.option("--spec", "revisions", multiple=True, metavar="REV", help="Judge by this revision only; repeatable.")
@click.option("--only", multiple=True, metavar="ID", help="Test only this requirement, or all under this prefix.")
@click.option("--skip", multiple=True, metavar="ID", help="Leave this requirement, or all under this prefix, out.")
@click.option("--strict", is_flag=True, help="A broken SHOULD fails, too.")
@click.option("--baseline", type=click.Path(path_type=Path), help="A file of known failures.")
@click.option("--save", type=click.Path(path_type=Path), metavar="DIR", help="Keep every session as a capture in DIR.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.05),
    default=30.0,
    show_default=True,
    help="Seconds for one run of the client; twice as many where the server is silent.",
)
@click.option("--list", "only_list", is_flag=True, help="Print what would run, and stop.")
@quiet_option
@output.report_option
def command(words: tuple[str, ...], only_list: bool, reports: tuple[output.Sink, ...], **options: Any) -> None:
    """Test a client of any language against the specification.

    COMMAND is started once for each scripted server. Where the server is, the client is told in COMMAND: {url} becomes
    the URL of a Streamable HTTP server, {server} the command of a stdio server as one quoted word; where neither is
    there, the URL or the words of the command are appended. Both also stand in the environment, as
    MCPCHECK_SERVER_URL and MCPCHECK_SERVER_COMMAND. Have the client list the tools and call the first one.
    """
    unknown = [revision for revision in options["revisions"] if revision not in REVISIONS]
    if unknown:
        raise UsageError(f"--spec {unknown[0]} is no revision; there are {', '.join(REVISIONS)}")
    if not words and not only_list:
        raise UsageError("name a client: its command behind `--`; `mcpcheck conform-client --help` shows how")
    plan = plan_of(words, options)
    if only_list:
        listing(plan)
    else:
        baseline = baseline_of(options["baseline"])
        output.finish(baseline(run(words, plan, options["quiet"])), reports)


def plan_of(words: tuple[str, ...], options: dict[str, Any]) -> Any:
    """The options as a plan."""
    from mcpcheck.conform_client import ClientPlan, in_words

    kind = options["transport"] or ("http" if any("{url}" in word for word in words) else "stdio")
    repeated = [f"--transport {options['transport']}"] if options["transport"] else []
    repeated += [f"--timeout {options['timeout']:g}"] if options["timeout"] != 30.0 else []
    return ClientPlan(
        kind,
        in_words(words),
        patience=options["timeout"],
        revisions=tuple(options["revisions"]) or REVISIONS,
        only=tuple(options["only"]),
        skip=tuple(options["skip"]),
        strict=options["strict"],
        save=options["save"],
        options=" ".join(repeated),
    )


def run(words: tuple[str, ...], plan: Any, quiet: bool = False) -> Report:
    """Every scenario against one client, and the report."""
    import anyio

    from mcpcheck.conform_client import ConformClient, as_command

    begun = time.monotonic()
    started = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    with showing(quiet) as progress:
        conform = ConformClient(as_command(words, plan.kind, plan.patience).play, plan, progress)
        anyio.run(conform.run)
    return conform.report(
        run=uuid.uuid4().hex[:12],
        started=started,
        tool=f"mcpcheck {__version__}",
        seconds=round(time.monotonic() - begun, 2),
    )


def listing(plan: Any) -> None:
    """What would run: each scenario with its story and its requirements, then the requirements that rules judge."""
    from mcpcheck.catalogue.load import load

    considered = plan.considered(load())
    chosen = plan.scenarios(considered)
    exercised = {id for found in chosen for id in found.exercises}
    for found in chosen:
        click.echo(f"{found.name}  {' '.join(found.doc.split())}")
        for id in found.exercises:
            if id in considered:
                click.echo(f"    {id}")
    for id in sorted(considered - exercised):
        click.echo(f"{id}  (judged on all traffic)")
    click.echo(f"{len(chosen)} scenarios, {len(considered)} requirements")
