"""ClientPeer: what a scenario may do with a client under test: let it meet scripted servers, and judge what it sent.

A client acts by itself, so a script does not ask it: it meets a server that plays a part, and the account of the whole
run is judged. The rules judge all of it; the scenario adds what only it can know.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio

from mcpcheck.engine import Engine
from mcpcheck.errors import PeerUnavailable, bug
from mcpcheck.scenarios.registry import Untestable
from mcpcheck.transports.client_side import ENDPOINT, Encounter, Meeting, Script
from mcpcheck.verdict import Outcome, Verdict
from mcpcheck.wire.event import Answer, Event, HttpResponse, Message, Notification, Request
from mcpcheck.wire.protocol import CLIENT_CAPABILITIES, MODERN, PROTOCOL_VERSION
from mcpcheck.wire.record import Dir, Record


class DeclaringScript(Script, Protocol):
    """A script that says what it breaks on purpose."""

    deviates: frozenset[str]


Play = Callable[[DeclaringScript, float | None], Awaitable[Encounter]]
"""Runs the client once against a script, for at most so many seconds."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message of the client, and where it stands."""

    message: Message
    session: str

    @property
    def frame(self) -> int:
        return self.message.record.n

    @property
    def t(self) -> float:
        return self.message.record.t

    @property
    def method(self) -> str:
        """The method; empty for an answer, and for a request that cannot be answered."""
        message = self.message
        if isinstance(message, Request) and self.is_request:
            return message.method
        return message.method if isinstance(message, Notification) else ""

    @property
    def is_request(self) -> bool:
        """Whether it is a request that can be answered: alone, and with an id to answer to."""
        message = self.message
        return isinstance(message, Request) and not message.in_batch and type(message.id) in (str, int)

    @property
    def version(self) -> Any:
        """The version in its metadata; None where it has none."""
        return self.message.meta.get(PROTOCOL_VERSION)

    @property
    def is_modern(self) -> bool:
        return self.version is not None

    @property
    def in_words(self) -> str:
        return self.method or ("a request without a usable id" if isinstance(self.message, Request) else "a response")


@dataclass(slots=True)
class Account:
    """What came of one run: how it ended, and every message of the client in the order of arrival."""

    name: str
    encounter: Encounter
    said: list[Said] = field(default_factory=list)
    sessions: dict[str, Meeting] = field(default_factory=dict)
    answered: dict[tuple[str, int], list[int]] = field(default_factory=dict)
    """The frames of what the server said to a request, by the request's session and frame."""

    @property
    def requests(self) -> list[Said]:
        return [said for said in self.said if said.is_request]

    @property
    def methods(self) -> list[str]:
        """The methods of its requests, in order."""
        return [said.method for said in self.requests]

    @property
    def opening(self) -> Said | None:
        """The first request."""
        return self.requests[0] if self.requests else None

    def of(self, *methods: str) -> list[Said]:
        """Its messages of some methods."""
        return [said for said in self.said if said.method in methods]

    def after(self, said: Said) -> list[Said]:
        """What it said after a message."""
        place = next(i for i, each in enumerate(self.said) if each is said)
        return self.said[place + 1 :]

    @property
    def initialize(self) -> Said | None:
        """The first initialize."""
        return next(iter(self.of("initialize")), None)

    @property
    def fell_back(self) -> bool:
        """Whether it began with modern metadata and went over to initialize."""
        return self.opening is not None and self.opening.is_modern and self.initialize is not None

    @property
    def records(self) -> dict[str, dict[int, Record]]:
        """The records of each session by number."""
        return {name: {record.n: record for record in each.log.records} for name, each in self.sessions.items()}

    def in_words(self) -> str:
        """What it sent, and how it ended, in a phrase."""
        shown = ", ".join(said.in_words for said in self.said[:12]) or "nothing"
        return f"sent {shown}; {self.encounter.how_it_ended()}"


class ClientPeer:
    """The client under test, for one scenario."""

    def __init__(self, play: Play, kind: str, name: str, *, patience: float, survey: "Survey | None" = None) -> None:
        self.kind = kind
        self.name = name
        self.patience = patience
        self.accounts: list[Account] = []
        self.verdicts: list[Verdict] = []
        self.own_faults: list[Verdict] = []
        self.crashes: list[str] = []
        self._play = play
        self._survey = survey
        self._named = 0

    @property
    def survey(self) -> "Survey":
        """What is known of the client from its first two runs."""
        assert self._survey is not None
        return self._survey

    # meeting

    async def meet(self, script: DeclaringScript, what: str = "", *, patience: float | None = None) -> Account:
        """Let the client run once against a script; ``what`` tells this run from the scenario's others."""
        self._named += 1
        name = f"{self.name}-{what.replace(' ', '-')}" if what else f"{self.name}-{self._named}"
        account = Account(name, await self._play(script, patience))
        heard: list[Said] = []
        for meeting in account.encounter.meetings:
            session = name if len(account.encounter.meetings) == 1 else f"{name}-process-{meeting.connection}"
            account.sessions[session] = meeting
            heard += [
                Said(event, session)
                for event in self._judge(meeting, session, script.deviates, account.answered)
                if isinstance(event, Message) and event.dir is Dir.C2S
            ]
        account.said = sorted(heard, key=lambda said: said.t)
        self.accounts.append(account)
        return account

    async def meet_all(
        self, scripts: Mapping[str, DeclaringScript], *, patience: float | None = None
    ) -> dict[str, Account]:
        """Several runs at a time, each with its script; the accounts by the scripts' names."""
        accounts: dict[str, Account] = {}
        failed: list[PeerUnavailable] = []

        async def one(what: str, script: DeclaringScript) -> None:
            try:
                accounts[what] = await self.meet(script, what, patience=patience)
            except PeerUnavailable as gone:
                failed.append(gone)

        async with anyio.create_task_group() as tasks:
            for what, script in scripts.items():
                tasks.start_soon(one, what, script)
        if failed:
            raise failed[0]
        return {what: accounts[what] for what in scripts}

    def _judge(
        self,
        meeting: Meeting,
        session: str,
        declared: frozenset[str],
        answered: dict[tuple[str, int], list[int]],
    ) -> list[Event]:
        """The events of a session, which of them answer which, and what the rules say of it."""
        endpoint = ENDPOINT if meeting.transport == "http" else None
        engine = Engine(meeting.transport, endpoint=endpoint, default=MODERN)
        events: list[Event] = []
        try:
            for record in meeting.log.records:
                for event, verdicts in engine.follow(record):
                    events.append(event)
                    call = engine.session.call or engine.session.near
                    if call and isinstance(event, Answer | HttpResponse) and event.dir is Dir.S2C:
                        answered.setdefault((session, call.request.record.n), []).append(record.n)
                    self._take(verdicts, session, meeting, declared)
            self._take(engine.finish(), session, meeting, declared)
        except Exception as error:  # a rule that fails must not cost the session
            self.crashes.append(bug(error))
        return events

    def _take(self, verdicts: Iterable[Verdict], session: str, meeting: Meeting, declared: frozenset[str]) -> None:
        for verdict in verdicts:
            named = self._verdict(
                verdict.requirement, verdict.outcome, verdict.frames, verdict.expected, verdict.actual, session
            )
            if verdict.blames == "client" and not _only_ours(verdict, meeting):
                self.verdicts.append(named)
            elif verdict.outcome is Outcome.BROKEN and not _declared(verdict.requirement, declared):
                self.own_faults.append(named)

    # judging

    def holds(self, id: str, account: Account, *said: Said) -> None:
        """The requirement was exercised in this run and held."""
        self._say(id, Outcome.HOLDS, account, said, "", "")

    def broken(self, id: str, account: Account, said: Iterable[Said], expected: str, actual: str = "") -> None:
        """The client broke the requirement, beyond doubt."""
        self._say(id, Outcome.BROKEN, account, tuple(said), expected, actual or account.in_words())

    def suspect(self, id: str, account: Account, said: Iterable[Said], expected: str, actual: str = "") -> None:
        """It looks wrong, but a conforming client may do it."""
        self._say(id, Outcome.SUSPECT, account, tuple(said), expected, actual or account.in_words())

    def untestable(self, id: str, why: str) -> None:
        """What it takes is not there; ``why`` names it."""
        self.verdicts.append(self._verdict(id, Outcome.UNTESTABLE, (), "", why, ""))

    def _say(
        self, id: str, outcome: Outcome, account: Account, said: tuple[Said, ...], expected: str, actual: str
    ) -> None:
        session = said[0].session if said else next(iter(account.sessions), account.name)
        frames = sorted({each.frame for each in said if each.session == session} | set(_causes(account, said)))
        self.verdicts.append(self._verdict(id, outcome, tuple(frames), expected, actual, session))

    def _verdict(
        self, id: str, outcome: Outcome, frames: tuple[int, ...], expected: str, actual: str, session: str
    ) -> Verdict:
        return Verdict(id, outcome, "client", frames, expected, actual, session, self.name)

    # needing

    def needs_modern(self) -> None:
        """Only for a client that opens with modern metadata."""
        if not self.survey.opens_modern:
            raise Untestable(self.survey.why_not_modern)

    def needs_dual_era(self) -> None:
        """Only for a client that speaks a legacy revision, too."""
        self.needs_modern()
        if not self.survey.dual_era:
            raise Untestable(MODERN_ONLY)

    def needs_legacy(self) -> None:
        """Only for a client that was seen to open a legacy session."""
        if not any(account.initialize for account in (self.survey.modern, *self.survey.legacy)):
            raise Untestable(MODERN_ONLY)

    def needs_calls(self) -> None:
        """Only for a client that calls a tool of a modern server by itself."""
        self.needs_modern()
        if not self.survey.modern.of("tools/call"):
            raise Untestable("the client called no tool of a modern server: give it a task that makes it call one")

    def needs_listed_calls(self) -> None:
        """Only for a client that calls what a server lists, and not tools of its own knowledge."""
        self.needs_calls()
        if LISTED not in [call.message.param("name") for call in self.survey.modern.of("tools/call")]:
            raise Untestable("the client calls tools by names of its own, whatever the server lists")


LISTED = "mcpcheck_echo"
"""The tool that every modern server here lists."""
MODERN_ONLY = "the client never fell back to any legacy version: it seems to be modern-only"


@dataclass(slots=True)
class Survey:
    """What the first runs showed: one with a modern server, one or two with a legacy one."""

    modern: Account
    legacy: list[Account]

    @property
    def opens_modern(self) -> bool:
        """Whether the first request to a modern server has modern metadata."""
        return self.modern.opening is not None and self.modern.opening.is_modern

    @property
    def why_not_modern(self) -> str:
        opening = self.modern.opening
        if opening is None:
            return f"the client sent a modern server no request that can be answered: it {self.modern.in_words()}"
        return f"the client opens with {opening.method} and without modern metadata"

    @property
    def dual_era(self) -> bool:
        """Whether it is known to speak both eras."""
        return self.opens_modern and any(account.fell_back for account in self.legacy)

    @property
    def legacy_only(self) -> bool:
        return not self.opens_modern and self.modern.initialize is not None

    @property
    def ends_itself(self) -> bool:
        """Whether a run with a modern server comes to its end without help."""
        return self.modern.encounter.ended_itself

    @property
    def capabilities(self) -> dict[str, Any]:
        """What the client declares when it calls a tool."""
        calls = self.modern.of("tools/call")
        declared = calls[0].message.meta.get(CLIENT_CAPABILITIES) if calls else None
        return declared if isinstance(declared, dict) else {}


def _causes(account: Account, said: tuple[Said, ...]) -> Iterable[int]:
    """The frames of the answers that led to what is shown: those to all but the last message, or to the only one."""
    for each in said[:-1] or said:
        if each.session == said[0].session:
            yield from account.answered.get((each.session, each.frame), ())


def _only_ours(verdict: Verdict, meeting: Meeting) -> bool:
    """Whether a verdict on a client's duty rests on messages of the scripted server alone: then it is none."""
    records = meeting.log.records
    return bool(verdict.frames) and all(records[frame - 1].dir is Dir.S2C for frame in verdict.frames)


def _declared(id: str, declared: frozenset[str]) -> bool:
    return any(id == prefix or id.startswith(prefix + ".") for prefix in declared)
