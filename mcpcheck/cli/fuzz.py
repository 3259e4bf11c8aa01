"""mcpcheck fuzz: attack a server with generated messages."""

import logging
import secrets
import shlex
import time
import uuid
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from mcpcheck import __version__
from mcpcheck.cli import output
from mcpcheck.cli.conform import header_of, target_of
from mcpcheck.cli.progress import quiet_option, showing


@click.command(
    "fuzz",
    epilog="""\b
Examples:
  mcpcheck fuzz -- python my_server.py
  mcpcheck fuzz --examples 2000 --tools all http://127.0.0.1:8000/mcp
  mcpcheck fuzz --seed 7 -- python my_server.py""",
)
@click.argument("target", nargs=-1, type=click.UNPROCESSED, metavar="(URL | -- COMMAND...)")
@click.option(
    "--seed", type=click.IntRange(min=0), metavar="N", help="Make the sessions of this seed; by default a new one."
)
@click.option(
    "--examples", type=click.IntRange(min=1), default=200, show_default=True, metavar="N", help="How many sessions."
)
@click.option("--time", "seconds", type=click.FloatRange(min=0.1), metavar="S", help="Stop after so many seconds.")
@click.option(
    "--tools",
    default="read-only",
    show_default=True,
    metavar="POLICY",
    help="Which tools may be called: none, read-only, all, or names with commas between.",
)
@click.option("--header", "headers", multiple=True, metavar="K:V", help="HTTP: send this header with every request.")
@click.option("--insecure", is_flag=True, help="HTTPS: do not check the server's certificate.")
@click.option(
    "--timeout", type=click.FloatRange(min=0.05), default=5.0, show_default=True, help="Seconds for an answer."
)
@click.option(
    "--save", type=click.Path(path_type=Path), metavar="DIR", help="Keep the sessions that fail as captures in DIR."
)
@quiet_option
@output.report_option
def command(target: tuple[str, ...], reports: tuple[output.Sink, ...], **options: Any) -> None:
    """Attack a server with generated messages and hold its invariants.

    Short sessions are made of valid messages, most of them with one small departure each. Whatever is sent, each
    request is answered once and by its id, a notification never, all that comes is valid, and the server lives.
    A failure is shrunk to the smallest session that shows it and kept as a capture; --seed brings the same again.
    """
    output.finish(run(target, options), reports)


def run(words: tuple[str, ...], options: dict[str, Any]) -> Any:
    """One campaign, one report."""
    from mcpcheck.fuzz.campaign import Campaign, Settings
    from mcpcheck.fuzz.outcome import report_of

    begun = time.monotonic()
    started = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    seed = secrets.randbelow(2**32) if options["seed"] is None else options["seed"]
    settings = Settings(seed, options["examples"], options["seconds"], plan_of(options))
    _keep_out_of_the_way()
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # a server that dies is a finding, and no warning
    with showing(options["quiet"]) as progress:
        campaign = Campaign(target_of(words, options), settings, progress)
        campaign.run()
    seconds = round(time.monotonic() - begun, 2)
    return report_of(
        campaign, run=uuid.uuid4().hex[:12], started=started, tool=f"mcpcheck {__version__}", seconds=seconds
    )


def plan_of(options: dict[str, Any]) -> Any:
    """The options as a Plan."""
    from mcpcheck.conform import Plan
    from mcpcheck.roles import ToolPolicy
    from mcpcheck.transports.base import Limits

    timeout = options["timeout"]
    repeated = [f"--tools {shlex.quote(options['tools'])}"] if options["tools"] != "read-only" else []
    repeated += [f"--timeout {timeout:g}"] if timeout != 5.0 else []
    return Plan(
        policy=ToolPolicy.of(options["tools"]),
        limits=replace(Limits(), answer=timeout, start=max(4 * timeout, 5.0)),
        headers=tuple(header_of(text) for text in options["headers"]),
        save=options["save"],
        options=" ".join(repeated),
    )


def _keep_out_of_the_way() -> None:
    """Hypothesis keeps what it knows of code in the user's folder for such things, not in the current one."""
    from hypothesis.configuration import set_hypothesis_home_dir
    from platformdirs import user_cache_dir

    set_hypothesis_home_dir(Path(user_cache_dir("mcpcheck", appauthor=False)) / "hypothesis")
