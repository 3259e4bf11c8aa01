"""Runs of mcpcheck conform against a server in this process: no process, no socket, no waiting."""

from collections.abc import Sequence

import anyio

from mcpcheck.conform import Conform, Plan, joined
from mcpcheck.lab import Target
from mcpcheck.reference.http import HttpServer
from mcpcheck.reference.server import Server
from mcpcheck.roles import ToolPolicy
from mcpcheck.transports.base import Limits, Log, Transport
from mcpcheck.transports.memory import MemoryHttp, MemoryStdio
from mcpcheck.verdict import Report
from mcpcheck.wire.protocol import REVISIONS


def on_stdio(server: type[Server] = Server, revisions: Sequence[str] = REVISIONS) -> Target:
    """Each connection is a server of its own, as each process is."""

    def opened(log: Log, limits: Limits) -> Transport:
        return MemoryStdio(lambda: server(revisions), log, limits)

    return Target("stdio", server.__name__, opened, "--demo")


class Streaming(HttpServer):
    """The reference, with every answer as an event stream."""

    prefers_streams = True


def on_http(server: type[Server] | type[HttpServer] = Server, revisions: Sequence[str] = REVISIONS) -> Target:
    """One server behind every connection."""
    endpoint = server(revisions=revisions) if issubclass(server, HttpServer) else HttpServer(server, revisions)

    def opened(log: Log, limits: Limits) -> Transport:
        return MemoryHttp(endpoint, log, limits)

    return Target("http", server.__name__, opened, "--demo", "/mcp")


def conform_in_memory(
    target: Target, *, only: Sequence[str] = (), tools: str = "all", tour: Sequence[str] = ()
) -> Report:
    """The report of a whole run, or of those scenarios alone whose names begin with an entry of ``tour``."""
    plan = Plan(
        only=tuple(only),
        policy=ToolPolicy.of(tools),
        limits=Limits(answer=1, start=1),
        other_headers=(("Authorization", "Bearer another user"),),
    )
    run = Conform(target, plan)
    if tour:
        run.scenarios = [scenario for scenario in run.scenarios if scenario.name.startswith(tuple(tour))]
    anyio.run(run.run)
    return joined([run], run="test", started="2026-07-28T00:00:00Z", tool="mcpcheck")


def broken(report: Report) -> set[str]:
    """The ids of what the report calls broken, and a failure where mcpcheck itself had trouble."""
    assert not report.troubles, report.troubles
    return {finding.requirement.id for finding in report.findings if not finding.suspect}
