"""Choose scenarios, run them against a server, judge, and report."""

import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from mcpcheck import __version__
from mcpcheck.errors import PeerUnavailable, bug
from mcpcheck.lab import Lab, Target
from mcpcheck.ledger import Ledger
from mcpcheck.older import Older, look
from mcpcheck.peer import Peer
from mcpcheck.reply import Reply
from mcpcheck.report.curl import curl
from mcpcheck.report.frames import safe_address, safe_command
from mcpcheck.roles import Fixture, ToolPolicy
from mcpcheck.scenarios.registry import Abandoned, Scenario, Untestable, scenarios
from mcpcheck.scope import covered, in_scope, why_not
from mcpcheck.survey import LegacyOnly, open_modern, surveyed
from mcpcheck.transports.base import Limits
from mcpcheck.verdict import Outcome, Report, SessionInfo, Trouble, Verdict

Progress = Callable[[int, int, str], None]
SILENCES = 3
"""After so many scenarios in a row that the server left without any answer, the rest is not tried."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a user wants tested, and how."""

    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    policy: ToolPolicy = field(default_factory=ToolPolicy)
    limits: Limits = field(default_factory=Limits)
    headers: tuple[tuple[str, str], ...] = ()
    other_headers: tuple[tuple[str, str], ...] = ()
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    fixtures: Mapping[str, Fixture] = field(default_factory=dict)
    strict: bool = False
    save: Path | None = None
    options: str = ""  # the options that a reproducing command has to repeat

    def considered(self, transport: str) -> frozenset[str]:
        """The ids that such a run speaks of; UsageError where nothing that the plan selects can be tested."""
        return in_scope(self.only, self.skip, transport)


def chosen_scenarios(plan: Plan, considered: Collection[str], transport: str) -> list[Scenario]:
    """The scenarios that exercise something wanted; where only rules judge it, every scenario's traffic helps."""
    able = [found for found in scenarios("server") if transport in found.transports]
    if not plan.only:
        return able
    exercised = {id for found in able for id in found.exercises}
    if not set(considered) & covered() <= exercised:
        return able
    return [found for found in able if set(found.exercises) & set(considered)]


class Conform:
    """One run against one target."""

    def __init__(
        self, target: Target, plan: Plan, progress: Progress = lambda done, total, name: None, label: str = ""
    ) -> None:
        self.label = label  # tells the sessions of this run from those of another in the same report
        self.lab = Lab(
            target,
            plan.limits,
            plan.policy.with_names(fixture.name for role, fixture in plan.fixtures.items() if role.startswith("tool.")),
            plan.headers,
            plan.other_headers,
            plan.arguments,
            plan.fixtures,
            insists=True,
        )
        self.plan = plan
        self.considered = plan.considered(target.kind)
        self.scenarios = chosen_scenarios(plan, self.considered, target.kind)
        self.troubles: list[Trouble] = []
        self.lost: list[Verdict] = []  # on what was not tried
        self.older: Older | None = None  # what is known of a server of the handshake era alone
        self.silent = 0
        self.done = 0
        self.findings: set[str] = set()  # the ids of what did not hold so far
        self._progress = progress
        self._shared: Peer | None = None
        self._shared_exit: AsyncExitStack | None = None

    def reproduce(self, verdict: Verdict) -> str:
        options = f"{self.plan.options} " if self.plan.options else ""
        return f"mcpcheck conform {options}--only {verdict.requirement} {self.words}"

    @property
    def words(self) -> str:
        """The target as it stands on a command line, without secrets."""
        words = self.lab.target.words
        if words.startswith("-- "):
            return safe_command(words)
        return shlex.join(safe_address(word) for word in shlex.split(words))

    @property
    def target(self) -> str:
        """The target as a report calls it, without secrets."""
        target = self.lab.target
        if target.words == f"-- {target.name}":
            return safe_command(target.name)
        return safe_address(target.name)

    @property
    def base(self) -> str:
        """The address of the server up to the path, where it is one that stays."""
        scheme, _, rest = self.target.partition("://")
        host = rest.partition("/")[0].partition("?")[0].rpartition("@")[2]
        return f"{scheme}://{host}" if scheme in {"http", "https"} else ""

    async def run(self) -> None:
        """Survey the server and run every chosen scenario."""
        roles = any(found.needs or found.any_of for found in self.scenarios)
        try:
            async with surveyed(self.lab, roles=roles) as opening:
                if self.lab.target.kind == "stdio" and not self.lab.inventory.slow:
                    self._shared = opening  # it ends with the survey
                self._check_names()
                await self._run_all()
        except LegacyOnly as found:
            self.older = await look(self.lab, str(found))
            self.considered = frozenset()
            self._trouble("survey", self.older.text)
        except Abandoned as ended:
            self._nothing(f"the server stopped answering: {ended}")
        except Untestable as lacking:
            self._nothing(str(lacking))

    def _nothing(self, why: str) -> None:
        """The survey did not come to its end, and so nothing was tried: the report speaks of what was seen alone."""
        self._trouble("survey", why)
        seen = {id for peer in self.lab.finished for id in (*peer.held(), *(v.requirement for v in peer.verdicts))}
        self.considered &= seen

    def _check_names(self) -> None:
        """A tool that the user allows by name and the server does not list is a mistake of one of them."""
        listed = [str(tool.get("name")) for tool in self.lab.inventory.tools]
        for name in sorted(self.plan.policy.names - set(listed)) if listed else ():
            near = get_close_matches(name, [*listed, "none", "read-only", "all"], n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else f"it lists {', '.join(listed[:5])}"
            self._trouble("--tools", f"the server lists no tool {name!r}; {hint}")

    async def _run_all(self) -> None:
        shared = sorted((found for found in self.scenarios if self._shares(found)), key=lambda found: found.ends)
        alone = [found for found in self.scenarios if not self._shares(found)]
        async with anyio.create_task_group() as tasks:
            limiter = anyio.CapacityLimiter(2 if self.lab.target.kind == "stdio" else 4)
            tasks.start_soon(self._run_shared, shared)
            for found in alone:
                tasks.start_soon(self._run_alone, found, limiter)

    def _shares(self, found: Scenario) -> bool:
        return self.lab.target.kind == "stdio" and not found.fresh

    async def _run_alone(self, found: Scenario, limiter: anyio.CapacityLimiter) -> None:
        async with limiter:
            if self._gave_up(found) or not self.ready(found):
                self._count(found)
                return
            try:
                async with self.lab.connect(found.name, found.name) as peer:
                    await self.play(found, peer)
            except PeerUnavailable as gone:
                self._lost(found, str(gone))
            self._count(found)

    async def _run_shared(self, found: Sequence[Scenario]) -> None:
        """One connection for all that do not need their own; a peer that dies gets a successor."""
        try:
            for each in found:
                if self._gave_up(each) or not self.ready(each):
                    self._count(each)
                    continue
                try:
                    peer = await self._shared_peer()
                    peer.scenario = each.name
                    if not await self.play(each, peer):
                        await self._close_shared()
                except PeerUnavailable as gone:
                    self._lost(each, str(gone))
                self._count(each)
        finally:
            await self._close_shared()

    async def _shared_peer(self) -> Peer:
        if self._shared is None:
            self._shared_exit = AsyncExitStack()
            number = sum(peer.name.startswith("shared") for peer in self.lab.finished) + 1
            self._shared = await self._shared_exit.enter_async_context(self.lab.connect(f"shared-{number}"))
            await open_modern(self._shared)
        return self._shared

    async def _close_shared(self) -> None:
        leaving, self._shared_exit, self._shared = self._shared_exit, None, None
        if leaving is not None:
            await leaving.aclose()

    async def play(self, found: Scenario, peer: Peer) -> bool:
        """Run one scenario to its end, whatever that is, and say for each id what came of it.

        False where the connection is not fit for another one.
        """
        self._tell(found.name)
        voice = replace(peer.voice)
        before = len(peer.verdicts)
        missing, fit = "", True
        try:
            with anyio.fail_after(self.plan.limits.start + 20 * self.plan.limits.answer):
                await found.run(peer)
                if peer.voice.era == "modern" and not (found.ends and self._shares(found)):
                    fence = await peer.fence()
                    fit = not self._shares(found) or judge_goes_on(peer, fence, before)
            self.silent = 0
        except Untestable as lacking:
            missing, self.silent = str(lacking), 0
        except Abandoned as ended:
            missing = f"the server stopped answering: {ended}"
            self.silent += 1
            fit = False
        except TimeoutError:
            missing, fit = "the scenario ran out of time", False
        except PeerUnavailable:
            raise
        except Exception as error:
            missing, fit = f"mcpcheck failed: {error!r}", False
            self._trouble(found.name, f"this is a bug in mcpcheck, please report it: {bug(error)}")
        finally:
            peer.voice = voice
        judged = {verdict.requirement for verdict in peer.verdicts[before:]}
        self.findings |= {verdict.requirement for verdict in peer.verdicts[before:] if verdict.is_finding}
        for id in found.exercises if missing else ():
            if id not in judged:
                peer.untestable(id, missing)
        return fit and peer.transport.alive

    def _gave_up(self, found: Scenario) -> bool:
        if self.silent < SILENCES:
            return False
        self._lost(found, f"not tried: the server left {SILENCES} scenarios in a row without an answer")
        return True

    def ready(self, found: Scenario) -> bool:
        """Whether a scenario has what it takes; what is missing is noted."""
        try:
            self.lab.ready(found)
        except Untestable as lacking:
            self.lost += [_untestable(id, str(lacking)) for id in found.exercises if id in self.considered]
            return False
        return True

    def _lost(self, found: Scenario, why: str) -> None:
        self.silent += 1
        self._trouble("server", why)
        self.lost += [_untestable(id, why) for id in found.exercises if id in self.considered]

    def _trouble(self, where: str, text: str) -> None:
        """Note something that mcpcheck could not do."""
        self.troubles.append(Trouble(where, text))

    def _count(self, found: Scenario) -> None:
        self.done += 1
        self._tell(found.name)

    def _tell(self, name: str) -> None:
        """Say how far the run is."""
        number = len(self.findings & self.considered)
        so_far = f"{number} finding{'s' if number > 1 else ''} so far" if number else "no finding so far"
        self._progress(self.done, len(self.scenarios), f"{so_far}, {name}")

    def gather(self, ledger: Ledger) -> None:
        """All that the peers and the rules said goes into a ledger; a fault of ours is an error, not the peer's."""
        if self.base:
            sends = partial(curl, base=self.base, insecure="--insecure" in self.plan.options)
            ledger.curl = lambda verdict, records: sends(verdict.frames, records)
        for id in self.considered:
            ledger.note(id, why_not(id, self.lab.target.kind))
        for trouble in self.troubles:
            ledger.trouble(trouble.where, trouble.text)
        for verdict in self.lost:
            ledger.add(verdict)
        for peer in [] if self.older else self.lab.finished:  # an old server's word to new requests is no fault
            name = self.session_name(peer)
            records = {record.n: record for record in peer.transport.log.records}
            for verdict in peer.verdicts:
                if verdict.requirement in self.considered:
                    ledger.add(replace(verdict, session=name) if verdict.is_finding else verdict, records)
            for id, times in peer.held().items():
                if id in self.considered:
                    ledger.hold(id, times)
            for crash in peer.crashes:
                ledger.trouble(name, f"this is a bug in mcpcheck, please report it: {crash}")
            for fault in peer.own_faults:
                told = f"mcpcheck itself broke {fault.requirement}: {fault.actual} (frames {fault.frames})"
                ledger.trouble(fault.scenario or name, told)

    def session_name(self, peer: Peer) -> str:
        """How a report calls a session; also the name of its capture, without ending."""
        return f"{self.label}{peer.kind}-{peer.name}"

    def sessions(self) -> list[SessionInfo]:
        """The sessions that were held, saved where that was asked for."""
        found = []
        for peer in self.lab.finished:
            name = self.session_name(peer)
            file = ""
            if self.plan.save is not None:
                file = str(save(self.plan.save / f"{name}.ndjson", peer, self.lab.target))
            units = len(peer.transport.log.records)
            found.append(SessionInfo(name, peer.kind, units, file, () if self.older else (self.lab.revision,)))
        return found


def judge_goes_on(peer: Peer, fence: Reply, before: int) -> bool:
    """Whether a shared connection still serves server/discover; one that does not is left to nobody else.

    ``before``: so many verdicts had been given before the scenario, which may have found a better reason.
    """
    if fence.result is not None or not peer.lab.inventory.discovered:
        return True
    if not any(verdict.outcome is Outcome.BROKEN for verdict in peer.verdicts[before:]):
        expected = "server/discover is served as before, whatever was sent in between"
        peer.suspect("base.stateless.no-prior-context", fence, expected)
    return False


def save(path: Path, peer: Peer, target: Target) -> Path:
    """Keep a session as a capture."""
    from mcpcheck.capture import Header, write_capture

    named = {"url": target.name} if target.kind == "http" else {"command": target.name}
    header = Header(peer.transport.log.started, peer.kind, named, f"mcpcheck {__version__}")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_capture(path, header, peer.transport.log.records)
    return path


def joined(runs: Sequence[Conform], **head: Any) -> Report:
    """One report of one run or of several against the same server; ``head`` are run id, clock and version."""
    considered = frozenset().union(*(each.considered for each in runs))
    ledger = Ledger(considered, reproduce=runs[0].reproduce)
    for each in runs:
        each.gather(ledger)
    sessions = tuple(info for each in runs for info in each.sessions())
    older = runs[0].older
    transports = " and ".join(dict.fromkeys(each.lab.target.kind for each in runs))
    return ledger.report(
        title="conform",
        target=runs[0].target,
        sessions=sessions,
        strict=runs[0].plan.strict,
        extra={"transport": transports, **(older.head if older else {"revision": runs[0].lab.revision})},
        next_steps=next_steps(runs),
        **head,
    )


def next_steps(runs: Sequence[Conform]) -> tuple[str, ...]:
    """What a user can do now."""
    first = runs[0]
    if first.older is not None:
        return first.older.next_steps(first.words)
    if not first.considered:
        return ()
    steps = []
    forbidden = [tool for tool in first.lab.inventory.tools if not first.lab.policy.allows(tool)]
    if forbidden and first.plan.policy.mode != "none":
        names = ",".join(str(tool.get("name")) for tool in forbidden[:3])
        said = (
            "1 tool was not called; if it does"
            if len(forbidden) == 1
            else f"{len(forbidden)} tools were not called; if they do"
        )
        steps.append(f"{said} no harm, add --tools all, or --tools {names}")
    steps.append("add --report verdicts to see every requirement on a line, with its verdict and why")
    if first.plan.save is None:
        steps.append("add --save DIR to keep every session, then read one with `mcpcheck lint`")
    return tuple(steps)


def _untestable(id: str, why: str) -> Verdict:
    return Verdict(id, Outcome.UNTESTABLE, "server", actual=why)
