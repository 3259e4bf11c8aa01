"""Conformance of a client: find out what it is, let it meet every scripted server, and gather the verdicts."""

import shlex
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from mcpcheck import __version__
from mcpcheck.catalogue.load import Catalogue, load
from mcpcheck.catalogue.requirement import Requirement
from mcpcheck.client_peer import Account, ClientPeer, DeclaringScript, Play, Survey
from mcpcheck.engine import judgeable
from mcpcheck.errors import PeerUnavailable, UsageError, bug
from mcpcheck.ledger import Ledger
from mcpcheck.scenarios.client.survey import survey
from mcpcheck.scenarios.registry import Scenario, Untestable, scenarios
from mcpcheck.transports.client_side import Encounter, Meeting, Stage
from mcpcheck.verdict import Outcome, Report, SessionInfo, Verdict
from mcpcheck.wire.protocol import REVISIONS

Progress = Callable[[int, int, str], None]
AT_A_TIME = 4
"""How many runs of the client go on side by side."""


@dataclass(frozen=True, slots=True)
class ClientPlan:
    """What a run tests: requirements of ``revisions`` only; ``options`` are for the reproducing command."""

    kind: str
    words: str = ""
    patience: float = 30.0
    revisions: tuple[str, ...] = REVISIONS
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    strict: bool = False
    save: Path | None = None
    options: str = ""

    def considered(self, catalogue: Catalogue) -> frozenset[str]:
        """The ids that such a run can judge: those of clients that some rule or scenario covers."""
        covered = set(judgeable()) | {id for found in scenarios("client") for id in found.exercises}
        able = frozenset(id for id in covered if self._concerns(catalogue[id]))
        chosen = catalogue.select(self.only) & able if self.only else able
        if not chosen:
            named = ", ".join((*self.only, *self.revisions))
            raise UsageError(f"nothing under {named} is checked on a client over {self.kind} in this version")
        return chosen - (catalogue.select(self.skip) if self.skip else frozenset())

    def _concerns(self, requirement: Requirement) -> bool:
        return (
            requirement.role in {"client", "both"}
            and not set(requirement.revisions).isdisjoint(self.revisions)
            and requirement.holds_on(self.kind)
        )

    def scenarios(self, considered: Collection[str]) -> list[Scenario]:
        """Those that exercise something wanted; where only a rule judges it, the traffic of all of them helps."""
        able = [found for found in scenarios("client") if self.kind in found.transports]
        exercised = {id for found in able for id in found.exercises}
        if not set(considered) <= exercised:
            return able
        return [found for found in able if set(found.exercises) & set(considered)]


@dataclass(slots=True)
class ConformClient:
    """One run of all scenarios against one client."""

    play: Play
    plan: ClientPlan
    progress: Progress = lambda done, total, name: None
    peers: list[ClientPeer] = field(default_factory=list)
    considered: frozenset[str] = field(init=False)
    ledger: Ledger = field(init=False)
    survey: Survey | None = None

    def __post_init__(self) -> None:
        self.considered = self.plan.considered(load())
        self.ledger = Ledger(self.considered, reproduce=self._reproduce)

    def _reproduce(self, verdict: Verdict) -> str:
        options = f"{self.plan.options} " if self.plan.options else ""
        return f"mcpcheck conform-client {options}--only {verdict.requirement} -- {self.plan.words}"

    async def run(self) -> Ledger:
        """Survey the client, run the scenarios side by side, and gather."""
        limiter = anyio.CapacityLimiter(AT_A_TIME)

        async def play(script: DeclaringScript, patience: float | None) -> Encounter:
            async with limiter:
                return await self.play(script, patience)

        self.survey = await self._survey(play)
        chosen = self.plan.scenarios(self.considered)
        done = 0

        async def one(found: Scenario) -> None:
            nonlocal done
            await self._play(found, play)
            done += 1
            self.progress(done, len(chosen), found.name)

        async with anyio.create_task_group() as tasks:
            for found in chosen:
                tasks.start_soon(one, found)
        self._gather()
        return self.ledger

    async def _survey(self, play: Play) -> Survey:
        peer = ClientPeer(play, self.plan.kind, "survey", patience=self.plan.patience)
        self.peers.append(peer)
        found = await survey(peer)
        if not any(account.sessions for account in peer.accounts):
            ended = found.modern.encounter
            told = f"\nIt printed:\n{ended.output.strip()}" if ended.output.strip() else ""
            wanted = "sent no request to the URL" if self.plan.kind == "http" else "did not start the server's command"
            raise PeerUnavailable(f"the client {wanted} that it was given; {ended.how_it_ended()}.{told}")
        return found

    async def _play(self, found: Scenario, play: Play) -> None:
        """Run one scenario, and say for each id what came of it."""
        peer = ClientPeer(play, self.plan.kind, found.name, patience=self.plan.patience, survey=self.survey)
        self.peers.append(peer)
        missing = ""
        try:
            await found.run(peer)
        except Untestable as lacking:
            missing = str(lacking)
        except PeerUnavailable as gone:
            missing = str(gone)
            self.ledger.trouble(found.name, missing)
        except Exception as error:
            missing = f"mcpcheck failed: {error!r}"
            self.ledger.trouble(found.name, f"this is a bug in mcpcheck, please report it: {bug(error)}")
        judged = {verdict.requirement for verdict in peer.verdicts}
        for id in found.exercises:
            if missing and id not in judged:
                peer.untestable(id, missing)

    def _gather(self) -> None:
        """All that scenarios and rules said goes into the ledger; a fault of our own side is an error."""
        for peer in self.peers:
            records = {session: kept for account in peer.accounts for session, kept in account.records.items()}
            if self.survey:
                for account in (self.survey.modern, *self.survey.legacy):
                    records |= account.records
            for verdict in peer.verdicts:
                if verdict.requirement in self.considered:
                    self.ledger.add(verdict, records.get(verdict.session))
            for crash in peer.crashes:
                self.ledger.trouble(peer.name, f"this is a bug in mcpcheck, please report it: {crash}")
            for fault in peer.own_faults:
                told = f"mcpcheck itself broke {fault.requirement}: {fault.actual} (frames {fault.frames})"
                self.ledger.trouble(peer.name, told)

    def accounts(self) -> list[Account]:
        """Every run of the client, in order."""
        return [account for peer in self.peers for account in peer.accounts]

    def broken(self) -> set[str]:
        """The ids that the client broke."""
        return {
            verdict.requirement
            for peer in self.peers
            for verdict in peer.verdicts
            if verdict.outcome is Outcome.BROKEN and verdict.requirement in self.considered
        }

    def report(self, **head: str | float) -> Report:
        """The report of the run; ``head`` are run id, clock and version."""
        sessions = tuple(
            SessionInfo(session, self.plan.kind, len(meeting.log.records), self._saved(session, meeting))
            for account in self.accounts()
            for session, meeting in account.sessions.items()
        )
        return self.ledger.report(
            title="conform-client", target=self.plan.words, sessions=sessions, strict=self.plan.strict, **head
        )

    def _saved(self, session: str, meeting: Meeting) -> str:
        """The file in which a session was kept, if it was."""
        if self.plan.save is None:
            return ""
        from mcpcheck.capture import Header, write_capture

        path = self.plan.save / f"{session}.ndjson"
        path.parent.mkdir(parents=True, exist_ok=True)
        header = Header(meeting.log.started, meeting.transport, {"client": self.plan.words}, f"mcpcheck {__version__}")
        write_capture(path, header, meeting.log.records)
        return str(path)


def as_command(words: Collection[str], kind: str, patience: float) -> Stage:
    """A client that is started as a process."""
    return Stage(tuple(words), kind, patience)


def in_words(words: Collection[str]) -> str:
    """The client's command as it is typed; the marks for the server's place stay readable."""
    return " ".join(word if word in {"{url}", "{server}"} else shlex.quote(word) for word in words)
