"""A campaign: Hypothesis makes sessions, a server plays them, and what fails is shrunk and shown again.

The sessions come in rounds, one around each deviation in turn. A round ends with its number of sessions, or with a
failure that is new; then Hypothesis looks for the smallest session that shows the same, and that one is played once
more on a fresh connection: what does not come again there is a suspicion at most.
One server process serves all sessions until it dies.
"""

import random
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from itertools import count
from time import monotonic

import anyio.from_thread
from anyio.from_thread import BlockingPortal
from hypothesis import Phase, Verbosity, find, settings
from hypothesis.errors import HypothesisWarning, NoSuchExample
from hypothesis.strategies import SearchStrategy

from mcpcheck.catalogue.load import load
from mcpcheck.conform import Plan
from mcpcheck.engine import judgeable
from mcpcheck.errors import PeerUnavailable, bug
from mcpcheck.fuzz.player import ANSWERED, STATELESS, Failure, Outcomes, Player, prime
from mcpcheck.fuzz.registry import deviations
from mcpcheck.fuzz.strategies import LONGEST, Play, choices, key, sessions
from mcpcheck.lab import Lab, Target
from mcpcheck.peer import Peer
from mcpcheck.survey import LegacyOnly, survey
from mcpcheck.verdict import Outcome, Trouble, Verdict
from mcpcheck.wire.protocol import MODERN
from mcpcheck.wire.record import Record

Progress = Callable[[int, int, str], None]

FIRST, LAST = 2, 15
"""How many sessions are made around one deviation in the first turn, and at most in later ones."""
MOST = 20
"""After so many different failures the campaign ends."""
ALIKE = 3
"""How many deviations that break one requirement of any message are looked for before it is left alone."""
EFFORT = 150
"""What shrinking one failure may cost: a session counts 1, a new process RESTART, an answer waited for in vain WAIT."""
RESTART = 8
WAIT = 50


FRAMES = 10_000
"""A connection of so many frames is replaced: its recording is kept in memory."""


class _Enough(BaseException):
    """The time is up, or the server is gone. No Exception: Hypothesis would take that for a failure."""

    def __init__(self, text: str, *, gone: bool = False) -> None:
        super().__init__(text)
        self.gone = gone


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user asks of a campaign."""

    seed: int
    examples: int = 200
    seconds: float | None = None
    plan: Plan = field(default_factory=Plan)


@dataclass(slots=True)
class Found:
    """A failure with the records of a session that shows it. ``confirmed``: on a fresh connection, by itself."""

    verdict: Verdict
    play: Play
    name: str
    records: list[Record]
    started: str
    confirmed: bool


@dataclass(slots=True)
class _Hunt:
    """The search for the smallest session that shows one failure."""

    requirement: str
    left: int
    known: dict[str, Failure | None] = field(default_factory=dict)


_Seen = tuple[Play, Failure, list[Record], str]
"""A session as it first failed, with the recording until then and its beginning."""


class Campaign:
    """One campaign against one server."""

    def __init__(self, target: Target, wanted: Settings, progress: Progress = lambda done, total, name: None) -> None:
        plan = wanted.plan
        limits = replace(plan.limits, session_bytes=256 * 2**20, session_units=4 * FRAMES)
        self.lab = Lab(target, limits, plan.policy, plan.headers, arguments=plan.arguments)
        self.wanted = wanted
        self.found: list[Found] = []
        self.suspicions: dict[tuple[str, str], tuple[Verdict, dict[int, Record]]] = {}
        self.held: Counter[str] = Counter()
        self.troubles: list[Trouble] = []
        self.played = 0
        self.connections = 0
        self.units: dict[str, int] = {}  # of each connection, by its name
        self.kinds: set[str] = set()
        self.ended = ""
        self._progress = progress
        self._hunt: _Hunt | None = None
        self._first: _Seen | None = None
        self._done: set[tuple[str, str]] = set()
        self._owed = {bent.under for bent in deviations(target.kind)} | {ANSWERED}
        self._ignored: set[str] = set()
        self._known: set[str] = set()
        self._deadly: set[str] = set()
        self._slow: set[str] = set()
        self._until = 0.0
        self._portal: BlockingPortal
        self._line: _Line

    @property
    def considered(self) -> frozenset[str]:
        """The ids that a campaign can judge."""
        transport = self.lab.target.kind
        ids = set(judgeable()) | {id for id in self._owed if id} | {STATELESS}
        catalogue = load()
        return frozenset(
            id
            for id in ids
            if catalogue[id].role in {"server", "both"}
            and MODERN in catalogue[id].revisions
            and catalogue[id].holds_on(transport)
        )

    def run(self) -> None:
        """Survey the server, then play until the sessions, the time or the failures are enough."""
        with anyio.from_thread.start_blocking_portal() as self._portal:
            try:
                self._portal.call(survey, self.lab)
            except LegacyOnly as found:
                told = f"the server speaks {found}, but not {MODERN}: there is nothing that could be generated for it"
                self.troubles.append(Trouble("survey", told))
                return
            finally:
                self.lab.finished.clear()
            self._line = _Line(self)
            try:
                self._rounds()
            except _Enough as enough:
                self.ended = str(enough)
                if self._first is not None:
                    self._keep_first(self._first, enough.gone)
            finally:
                self._line.close()
                self._progress(self.wanted.examples, self.wanted.examples, "")

    def _rounds(self) -> None:
        """Rounds around each deviation in turn, in an order that the seed decides, and again with longer ones.

        The first session of a round is the simplest, and so known after the first turn.
        """
        self._until = monotonic() + (self.wanted.seconds if self.wanted.seconds is not None else 10**9)
        among = choices(self.lab)
        size = min(FIRST, max(1, self.wanted.examples // len(among)))
        for turn in count():
            before = self.played
            dice = random.Random(f"{self.wanted.seed} {turn}")
            for lead in dice.sample(among, len(among)):
                left = self.wanted.examples - self.played
                if left <= 0:
                    return
                if len(self.found) >= MOST:
                    raise _Enough(f"it ended early, after {MOST} different failures")
                self._round(sessions(lead, among), min(size, left) + (turn > 0), dice)
            if self.played == before:
                raise _Enough("it ended early, as there is nothing new to be made")
            size = min(2 * size + 1, LAST)

    def _round(self, made: SearchStrategy[Play], size: int, dice: random.Random) -> None:
        """Play until a number of sessions is reached or a failure is new; then look for its smallest session."""
        self._hunt = self._first = None
        how = settings(
            max_examples=size,
            database=None,
            deadline=None,
            derandomize=False,
            print_blob=False,
            verbosity=Verbosity.quiet,
            phases=(Phase.generate, Phase.shrink),
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", HypothesisWarning)
                smallest = find(made, self._fails, settings=how, random=dice)
        except NoSuchExample:
            return
        self._show(smallest)
        self._first = None

    # the condition that Hypothesis asks for

    def _fails(self, session: Play) -> bool:
        return self._look(session) if self._hunt is None else self._shrinks(session, self._hunt)

    def _look(self, session: Play) -> bool:
        if monotonic() > self._until:
            raise _Enough("it ended early, as the time was up")
        if key(session) in self._known or self.played >= self.wanted.examples:
            return False
        self._known.add(key(session))
        self.played += 1
        self._progress(self.played, self.wanted.examples, f"sessions, {len(self.found)} failures")
        if any(stimulus.name in self._deadly or stimulus.template.name in self._slow for stimulus in session):
            return False
        self.kinds |= {stimulus.name for stimulus in session}
        out = self._play(session)
        new = next((failure for failure in out.failures if self._is_new(failure)), None)
        if new is None:
            return False
        peer = self._line.last
        self._first = session, new, list(peer.transport.log.records), peer.transport.log.started
        self._hunt = _Hunt(new.verdict.requirement, EFFORT, {key(session): new})
        return True

    def _shrinks(self, session: Play, hunt: _Hunt) -> bool:
        name = key(session)
        if name not in hunt.known:
            if hunt.left <= 0 or monotonic() > self._until:
                return False
            hunt.known[name] = self._same(session, hunt)
        return hunt.known[name] is not None

    def _thinned(self, session: Play, hunt: _Hunt) -> Play:
        """A session without what it can do without: Hypothesis keeps the deviation that the round is about."""
        hunt.left = max(hunt.left, 2 * LONGEST * (1 + RESTART + WAIT))
        for number in reversed(range(len(session))):
            shorter = session[:number] + session[number + 1 :]
            if shorter and self._shrinks(shorter, hunt):
                session = shorter
        for number, stimulus in enumerate(session):
            straight = replace(stimulus, deviation=None, value=None)
            straighter = (*session[:number], straight, *session[number + 1 :])
            if stimulus.deviation is not None and self._shrinks(straighter, hunt):
                session = straighter
        return session

    def _same(self, session: Play, hunt: _Hunt) -> Failure | None:
        """The failure that is hunted, where this session shows it, too."""
        started, begun = self.connections, monotonic()
        out = self._play(session)
        waited = monotonic() - begun > self.lab.limits.answer
        hunt.left -= 1 + RESTART * (self.connections - started) + WAIT * waited
        same = (f for f in out.failures if f.verdict.requirement == hunt.requirement and self._is_new(f))
        return next(same, None)

    def _is_new(self, failure: Failure) -> bool:
        return failure.verdict.requirement not in self._ignored and failure.key not in self._done

    def _play(self, session: Play) -> Outcomes:
        try:
            peer = self._line.peer()
            out: Outcomes = self._portal.call(self._line.player.play, session)
        except PeerUnavailable as gone:
            raise _Enough(f"it ended early, as the server is gone: {gone}", gone=True) from None
        except Exception as error:
            told = f"this is a bug in mcpcheck, please report it with the seed {self.wanted.seed}: {bug(error)}"
            self.troubles.append(Trouble("campaign", told))
            raise _Enough("it ended early, as mcpcheck failed") from error
        self._take(out, peer)
        if out.over or not peer.transport.alive:
            self._line.close()
        return out

    def _take(self, out: Outcomes, peer: Peer, *, closing: bool = False) -> None:
        """Keep what held and what is suspect."""
        self.held += out.held
        records = peer.transport.log.records
        for verdict in (*out.suspicions, *(failure.verdict for failure in out.failures if closing)):
            evidence = {n: records[n - 1] for n in verdict.frames if 0 < n <= len(records)}
            who = verdict.scenario if verdict.requirement in self._owed else ""
            self.suspicions.setdefault((verdict.requirement, who), (verdict, evidence))
        if out.slow:
            self._slow.add(out.slow)

    # what was found

    def _show(self, smallest: Play) -> None:
        """Play the smallest session, or else the first one, on a fresh connection, and keep what it shows."""
        assert self._first
        assert self._hunt
        session, first, *_ = self._first
        smallest = self._thinned(smallest, self._hunt)
        failure = self._hunt.known.get(key(smallest)) or first
        self._done.add(failure.key)
        for candidate in {key(each): each for each in (smallest, session)}.values():
            again = self._again(candidate, failure)
            if again is not None:
                self._keep(again)
                return
        self._keep_first(self._first, gone=False)

    def _again(self, session: Play, failure: Failure) -> Found | None:
        """A failure, played on a fresh connection: there the same may show as another requirement that is broken."""
        self._line.close()
        out = self._play(session)
        peer = self._line.last
        by_id = [f for f in out.failures if f.verdict.requirement == failure.verdict.requirement]
        same = by_id or [f for f in out.failures if f.verdict.scenario == failure.verdict.scenario]
        self._line.close()  # its end belongs to the capture
        if not same:
            return None
        self._remember(same[0])
        log = peer.transport.log
        return Found(same[0].verdict, session, "", list(log.records), log.started, True)

    def _keep_first(self, seen: _Seen, gone: bool) -> None:
        """Keep a failure that was seen once: a suspicion, unless the server has been gone since."""
        session, first, records, started = seen
        verdict = first.verdict
        if not (gone and first.fatal):
            told = f"{verdict.actual}; it did not come again when the session was played by itself"
            verdict = replace(verdict, outcome=Outcome.SUSPECT, actual=told)
        self._keep(Found(verdict, session, "", records, started, False))

    def _keep(self, found: Found) -> None:
        known = found.verdict.requirement, found.verdict.scenario
        if any((one.verdict.requirement, one.verdict.scenario) == known for one in self.found):
            return
        self._done.add(known)
        found.name = f"failure-{len(self.found) + 1}"
        found.verdict = replace(found.verdict, session=found.name)
        self.found.append(found)
        self._progress(self.played, self.wanted.examples, f"sessions, {len(self.found)} failures")

    def _remember(self, failure: Failure) -> None:
        """What need not be looked for any more: what kills the server, and what each message shows."""
        requirement, who = failure.key
        if failure.fatal:
            self._deadly.add(who)
        elif not failure.owed:
            alike = 1 + sum(found.verdict.requirement == requirement for found in self.found)
            if who.startswith("valid ") or alike >= ALIKE:
                self._ignored.add(requirement)

    def reproduce(self) -> str:
        """The command that does all of it again."""
        words = [f"mcpcheck fuzz --seed {self.wanted.seed} --examples {self.wanted.examples}"]
        if self.wanted.seconds is not None:
            words.append(f"--time {self.wanted.seconds:g}")
        options = [self.wanted.plan.options] if self.wanted.plan.options else []
        return " ".join([*words, *options, self.lab.target.words])


class _Line:
    """The connection that is in use: opened when it is needed, and closed when it is of no use any more."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self._exit: ExitStack | None = None
        self._peer: Peer | None = None
        self.last: Peer
        self.player: Player

    def peer(self) -> Peer:
        """A connection that lives."""
        if self._peer is not None and (not self._peer.transport.alive or self._peer.frame > FRAMES):
            self.close()
        if self._peer is None:
            self._open()
        assert self._peer is not None
        return self._peer

    def _open(self) -> None:
        campaign = self._campaign
        portal = campaign._portal
        campaign.connections += 1
        opened: AbstractContextManager[Peer] = portal.wrap_async_context_manager(
            campaign.lab.connect(f"campaign-{campaign.connections}")
        )
        self._exit = ExitStack()
        self.last = self._peer = self._exit.enter_context(opened)
        self.player = Player(self._peer, serves=False)
        try:
            primed = portal.call(prime, self._peer)
        except BaseException:
            self.close()
            raise
        self.player.serves = primed.result is not None

    def close(self) -> None:
        """End the connection; what only its end shows of a server that lived to see it is kept."""
        if self._exit is None or self._peer is None:
            return
        leaving, peer = self._exit, self._peer
        lived = peer.transport.alive
        self._exit = self._peer = None
        leaving.close()
        campaign = self._campaign
        campaign.lab.finished.clear()
        campaign.units[peer.name] = len(peer.transport.log.records)
        for fault in peer.own_faults:
            told = f"mcpcheck itself broke {fault.requirement}: {fault.actual} (frames {fault.frames})"
            campaign.troubles.append(Trouble(peer.name, told))
        campaign.troubles += [
            Trouble(peer.name, f"this is a bug in mcpcheck, please report it: {crash}") for crash in peer.crashes
        ]
        if lived:
            campaign._take(self.player.close(), peer, closing=True)
