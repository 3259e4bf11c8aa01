"""mcpcheck conform: test a server against the specification."""

import json
import logging
import shlex
import ssl
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from mcpcheck import __version__
from mcpcheck.cli import output
from mcpcheck.cli.progress import quiet_option, showing
from mcpcheck.config import Config, find, load
from mcpcheck.errors import UsageError
from mcpcheck.verdict import Report
from mcpcheck.wire.protocol import MODERN

DEMO = [sys.executable, "-m", "mcpcheck.reference"]
USUAL = 5.0
OTHER_USER = (("Authorization", "Bearer mcpcheck-demo-other-user"),)
MODERN_ONLY = (
    "http.compat",
    "http.version.missing-rejected",
    "versioning.matrix.legacy-modern-http",
    "versioning.matrix.legacy-modern-stdio",
    "versioning.server.initialize-names-versions",
)
"""What only a server without older revisions shows."""


@click.command(
    "conform",
    epilog="""\b
Examples:
  mcpcheck conform --demo
  mcpcheck conform -- python my_server.py
  mcpcheck conform http://127.0.0.1:8000/mcp --tools all --report json:report.json
  mcpcheck conform --only discover --only http.headers http://127.0.0.1:8000/mcp""",
)
@click.argument("target", nargs=-1, type=click.UNPROCESSED, metavar="(URL | -- COMMAND...)")
@click.option("--demo", is_flag=True, help="Test the built-in reference server, on stdio and on HTTP.")
@click.option("--spec", "revision", default=MODERN, show_default=True, metavar="REV", help="The revision to test.")
@click.option(
    "--tools",
    metavar="POLICY",
    help="Which tools may be called: none, read-only, all, or names with commas between.  [default: read-only]",
)
@click.option("--arguments", "given", multiple=True, metavar="TOOL=JSON", help="Valid arguments for a tool.")
@click.option("--only", multiple=True, metavar="ID", help="Test only this requirement, or all under this prefix.")
@click.option("--skip", multiple=True, metavar="ID", help="Leave this requirement, or all under this prefix, out.")
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Settings; without this those of mcpcheck.toml or pyproject.toml here.",
)
@click.option("--strict", is_flag=True, help="A broken SHOULD fails, too.")
@click.option("--baseline", type=click.Path(path_type=Path), help="A file of known failures.")
@click.option("--save", type=click.Path(path_type=Path), metavar="DIR", help="Keep every session as a capture in DIR.")
@click.option("--header", "headers", multiple=True, metavar="K:V", help="HTTP: send this header with every request.")
@click.option(
    "--other-header",
    "other_headers",
    multiple=True,
    metavar="K:V",
    help="HTTP: a header of a second user, to test that users are kept apart.",
)
@click.option("--insecure", is_flag=True, help="HTTPS: do not check the server's certificate.")
@click.option(
    "--timeout", type=click.FloatRange(min=0.05), default=USUAL, show_default=True, help="Seconds for an answer."
)
@click.option("--list", "only_list", is_flag=True, help="Print what would run, and stop.")
@quiet_option
@output.report_option
def command(
    target: tuple[str, ...], demo: bool, only_list: bool, reports: tuple[output.Sink, ...], **options: Any
) -> None:
    """Test a server of any language against the specification.

    The target is the URL of a Streamable HTTP server, or a command behind -- that starts a server on stdio. Tools are
    called only if they say readOnlyHint, unless --tools allows more.
    """
    checked_revision(options["revision"])
    options["settings"] = settings = load(options["config"]) if options["config"] else find(Path())
    if demo and target:
        raise UsageError("--demo brings its own server: leave the target out, or leave --demo out")
    if only_list:
        listing(target, demo, options)
        return
    baseline = baseline_of(options["baseline"] or settings.baseline)
    report = run_demo(options) if demo else run_one(target, options)
    output.finish(baseline(report), reports)


def checked_revision(revision: str) -> None:
    """Servers are tested in the current revision."""
    if revision != MODERN:
        raise UsageError(
            f"conform tests servers of {MODERN}; a session of {revision} is judged by "
            "`mcpcheck tap` and `mcpcheck lint`"
        )


def baseline_of(path: Path | None) -> Callable[[Report], Report]:
    """What marks the failures that a baseline names as known; the file is read before the run, not after it."""
    if path is None:
        return lambda report: report
    from mcpcheck import baseline

    known = baseline.load(path)
    return lambda report: baseline.apply(report, known)


def plan_of(options: dict[str, Any]) -> Any:
    """The options as a Plan."""
    from mcpcheck.conform import Plan
    from mcpcheck.roles import ToolPolicy
    from mcpcheck.transports.base import Limits

    settings: Config = options["settings"]
    timeout = options["timeout"]
    limits = replace(Limits(), answer=timeout, start=4 * timeout)
    repeated = [f"--config {shlex.quote(str(options['config']))}"] if options["config"] else []
    repeated += [f"--tools {shlex.quote(options['tools'])}"] if options["tools"] else []
    repeated += [f"--arguments {shlex.quote(given)}" for given in options["given"]]
    repeated += [f"--timeout {timeout:g}"] if timeout != USUAL else []
    repeated += ["--insecure"] if options["insecure"] else []
    headers = tuple(header_of(text) for text in options["headers"])
    others = tuple(header_of(text) for text in options["other_headers"])
    repeated += [f"--header {shlex.quote(f'{name}: ...')}" for name, _ in headers]  # the value may be a secret
    repeated += [f"--other-header {shlex.quote(f'{name}: ...')}" for name, _ in others]
    return Plan(
        only=tuple(options["only"]),
        skip=tuple(options["skip"]),
        policy=ToolPolicy.of(options["tools"] or settings.tools or "read-only"),
        limits=limits,
        headers=headers,
        other_headers=others,
        arguments={**settings.arguments, **dict(arguments_of(text) for text in options["given"])},
        fixtures=settings.fixtures,
        strict=options["strict"],
        save=options["save"],
        options=" ".join(repeated),
    )


def header_of(text: str) -> tuple[str, str]:
    """One --header K:V."""
    name, colon, value = text.partition(":")
    if not colon or not name.strip() or any(character in text for character in "\r\n"):
        raise UsageError(f"--header {text!r} is no header; write --header 'Name: value'")
    return name.strip(), value.strip()


def arguments_of(text: str) -> tuple[str, dict[str, Any]]:
    """One --arguments TOOL=JSON."""
    name, sign, value = text.partition("=")
    usage = 'write --arguments \'search={"query": "login"}\''
    if not sign or not name.strip():
        raise UsageError(f"--arguments {text!r} is not TOOL=JSON; {usage}")
    try:
        arguments = json.loads(value)
    except ValueError as error:
        raise UsageError(f"--arguments for {name}: {value!r} is no JSON ({error}); {usage}") from None
    if not isinstance(arguments, dict):
        raise UsageError(f"--arguments for {name}: {value!r} is no object; {usage}")
    return name, arguments


def target_of(words: Sequence[str], options: dict[str, Any]) -> Any:
    """What the words name: a URL, or a command."""
    from mcpcheck import lab

    if not words:
        raise UsageError("name a server: a URL, or a command behind `--`; `mcpcheck conform --demo` shows it at work")
    if words[0].startswith(("http://", "https://")):
        if len(words) > 1:
            raise UsageError(f"there is more than a URL: {shlex.join(words[1:])}; options stand before the URL")
        return lab.url(words[0], tls=unchecked() if options["insecure"] else None)
    if "://" in words[0]:
        raise UsageError(f"{words[0]!r} is no http:// or https:// address")
    if options["headers"] or options.get("other_headers"):
        raise UsageError("--header is for a server over HTTP; what one on stdio needs stands in its environment")
    return lab.command(words)


def unchecked() -> ssl.SSLContext:
    """TLS without a look at the certificate."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def run_one(words: Sequence[str], options: dict[str, Any]) -> Report:
    """One target, one report."""
    from mcpcheck.conform import Conform

    with showing(options["quiet"]) as progress:
        plan = plan_of(options)
        return run([Conform(target_of(words, options), plan, progress)])


def run_demo(options: dict[str, Any]) -> Report:
    """The reference server on both transports, dual-era and modern-only, in one report."""
    from mcpcheck.conform import Conform
    from mcpcheck.listening import listening

    plan = replace(plan_of(options), other_headers=OTHER_USER)
    alone = [*DEMO, "--spec", MODERN]
    wanted = [("http", DEMO, plan, ""), ("stdio", DEMO, plan, "")]
    if not plan.only:
        less = replace(plan, only=MODERN_ONLY)
        wanted += [("http", alone, less, "modern-"), ("stdio", alone, less, "modern-")]
    kinds = speaking(plan, ["http", "stdio"])
    with ExitStack() as stack:
        progress = stack.enter_context(showing(options["quiet"]))
        runs = []
        for kind, words, chosen, label in wanted:
            if kind in kinds:
                where = stack.enter_context(listening([*words, "--http", "0"])) if kind == "http" else words
                runs.append(Conform(demo_target(where), chosen, progress, label))
        return run(runs)


def speaking(plan: Any, kinds: Iterable[str]) -> set[str]:
    """The transports on which a plan has something to test; UsageError where it has nothing on any."""
    able, refusals = set(), []
    for kind in dict.fromkeys(kinds):
        try:
            plan.considered(kind)
            able.add(kind)
        except UsageError as error:
            refusals.append(error)
    if not able:
        raise refusals[0]
    return able


def demo_target(where: str | Sequence[str]) -> Any:
    """The built-in server, by URL or by command."""
    from mcpcheck import lab

    made = lab.url(where) if isinstance(where, str) else lab.command(where)
    return replace(made, name="the built-in reference server", words="--demo")


def run(runs: Sequence[Any]) -> Report:
    """Run each, then make one report of all."""
    import anyio

    from mcpcheck.conform import joined

    logging.getLogger("asyncio").setLevel(logging.ERROR)  # a server that dies is a finding, and no warning
    begun = time.monotonic()
    started = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    for each in runs:
        anyio.run(each.run)
    return joined(
        runs,
        run=uuid.uuid4().hex[:12],
        started=started,
        tool=f"mcpcheck {__version__}",
        seconds=round(time.monotonic() - begun, 2),
    )


def listing(words: Sequence[str], demo: bool, options: dict[str, Any]) -> None:
    """What would run: each scenario with its story and its requirements, then the requirements that rules judge."""
    from mcpcheck.conform import chosen_scenarios
    from mcpcheck.scope import covered, why_not

    kinds = ["stdio", "http"] if demo or not words else [target_of(words, options).kind]
    plan = plan_of(options)
    kinds = [kind for kind in kinds if kind in speaking(plan, kinds)]
    considered = frozenset().union(*(plan.considered(kind) for kind in kinds))
    found = {each.name: each for kind in kinds for each in chosen_scenarios(plan, considered, kind)}
    exercised: set[str] = set()
    for name, each in sorted(found.items()):
        click.echo(f"{name}  {' '.join(each.doc.split())}")
        for id in each.exercises:
            if id in considered:
                exercised.add(id)
                click.echo(f"    {id}")
    for id in sorted(considered - exercised):
        click.echo(f"{id}  ({'judged on all traffic' if id in covered() else why_not(id, kinds[0])})")
    click.echo(f"{len(found)} scenarios, {len(considered)} requirements")
