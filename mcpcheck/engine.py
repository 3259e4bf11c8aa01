"""The judge: records in, verdicts out. Synchronous, without a socket, a clock or dice."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Set
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from mcpcheck.catalogue.load import Catalogue, load
from mcpcheck.catalogue.requirement import Requirement
from mcpcheck.rules import plain
from mcpcheck.rules.registry import Judgement, Rule, Verdicts, rules
from mcpcheck.session.session import Session
from mcpcheck.verdict import Outcome, Verdict
from mcpcheck.wire.decode import Decoder
from mcpcheck.wire.event import Event, Message, Payload
from mcpcheck.wire.protocol import REVISIONS
from mcpcheck.wire.record import Dir, Record

See = Callable[[Any, Session], Verdicts]
_SIDES = frozenset({"client", "server"})
_HOLDS = Outcome.HOLDS
Key = tuple[type[Event], str | None, str | None, str, Dir]


@dataclass(slots=True, eq=False)
class Watch:
    """One rule at work in one session, and how often the client and the server held to its requirement."""

    requirement: Requirement
    rule: Rule
    see: See
    end: Callable[[Session], Verdicts] | None
    awake: bool = True
    held: dict[Dir, int] = field(default_factory=lambda: {Dir.C2S: 0, Dir.S2C: 0})


class Engine:
    """Judges one session. Feed it the records in order, then finish.

    ``transport`` is "stdio" or "http"; HTTP+SSE of 2024-11-05 shows itself. ``endpoint`` is the path of the MCP
    endpoint on HTTP; ``default`` the revision of messages that do not tell theirs; ``only`` limits the rules to these
    ids; ``one_client`` says that one client instance alone speaks to the server. ``counting``: what holds is counted
    in ``held``, and only findings come as verdicts.

    Before the revision of a message is known, what holds in every revision is judged.
    """

    def __init__(
        self,
        transport: str,
        *,
        endpoint: str | None = None,
        default: str | None = None,
        only: Collection[str] | None = None,
        one_client: bool | None = None,
        counting: bool = False,
        catalogue: Catalogue | None = None,
    ) -> None:
        self.session = Session(transport, default, one_client=one_client)
        self.decoder = Decoder(endpoint)
        self._counting = counting
        self._watches: list[Watch] = []
        self._groups: dict[Key, _Group] = {}
        self._methods: set[str] = set()
        self._known = catalogue is None  # what speaks of what is then the same for every engine
        catalogue = catalogue or load()
        for rule in rules().values():
            requirement = catalogue[rule.id]
            if (only is None or rule.id in only) and _may_hold_on(requirement, transport):
                self._watches.append(Watch(requirement, rule, *rule.make(), awake=not rule.wakes))
                self._methods |= rule.on or set()

    def feed(self, record: Record) -> list[Verdict]:
        """The verdicts that this record brings."""
        found: list[Verdict] = []
        for event in self.decoder.decode(record):
            found += self._take(event)
        return found

    def follow(self, record: Record) -> Iterator[tuple[Event, list[Verdict]]]:
        """Each event of a record with its verdicts; the session stands as it is just after the event.

        A verdict on an earlier event that only this one made clear comes with this one.
        """
        for event in self.decoder.decode(record):
            yield event, self._take(event)

    def finish(self) -> list[Verdict]:
        """The verdicts that only the end of the session allows."""
        found = self._judge_late(self.session.finish())
        for watch in self._watches:
            if watch.end and watch.requirement.holds_on(self.session.transport):
                found += [_verdict(watch.requirement, judgement) for judgement in watch.end(self.session) or ()]
        return found

    def held(self) -> Iterator[tuple[str, str, int]]:
        """What was counted: a requirement, who held to it, and how often."""
        for group in self._groups.values():
            group.settle()
        for watch in self._watches:
            role = watch.requirement.role
            for sender, times in watch.held.items():
                if times:
                    yield watch.requirement.id, role if role in _SIDES else sender.sender, times

    def _take(self, event: Event) -> list[Verdict]:
        session = self.session
        session.see(event)
        found = [] if session.kept_back else self._judge(event)
        if session.pending:
            found += self._judge_late(session.settle())
        return found

    def _judge_late(self, events: Iterable[Event]) -> list[Verdict]:
        found: list[Verdict] = []
        for event in events:
            with self.session.speaking_of(event):
                found += self._judge(event)
        return found

    def _judge(self, event: Event) -> list[Verdict]:
        found: list[Verdict] = []
        session, counting, sender = self.session, self._counting, event.dir
        unknown = session.revision is None
        for watch in self._watching(event):
            for judgement in watch.see(event, session) or ():
                if unknown and watch.rule.early:
                    continue  # it only remembers
                if counting and judgement.outcome is _HOLDS:
                    by = sender if judgement.event is event or not judgement.event else judgement.event.record.dir
                    watch.held[by] += 1
                else:
                    found.append(_verdict(watch.requirement, judgement))
        return found

    def _watching(self, event: Event) -> list[Watch]:
        """The rules that speak of this kind of event, of its sender and method, in the revision that governs it."""
        session, kind = self.session, type(event)
        method = session.method_of(event)
        key = kind, method if method in self._methods else None, session.revision, session.transport, event.dir
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Group(self._speaking(key), self._watches, event.dir)
        if not isinstance(event, Payload):
            return group.watches
        if event.text.names is None:
            self._wake(None)
            return group.watches
        look = plain.look(event, session) if self._counting and isinstance(event, Message) else 0
        choice = group.near(event.text.names, look)
        if choice.wakes:
            self._wake(choice.wakes)
        return choice.asked

    def _speaking(self, key: Key) -> list[Watch]:
        if not self._known:
            return [watch for watch in self._watches if _speaks(watch.requirement, watch.rule, key)]
        ids = _ids_speaking(key)
        return [watch for watch in self._watches if watch.rule.id in ids]

    def _wake(self, names: Set[str] | None) -> None:
        """Let rules that wait for one of these names, or for anything, be asked from now on."""
        for watch in self._watches:
            watch.awake = watch.awake or names is None or not names.isdisjoint(watch.rule.wakes)
        for group in self._groups.values():
            group.forget()


@dataclass(slots=True, eq=False)
class _Choice:
    """The rules to ask of some messages, those that are known to hold, and of how many messages they do.

    ``wakes``: the names for which rules have waited that are asleep still.
    """

    asked: list[Watch]
    held: list[Watch]
    wakes: frozenset[str]
    times: int = 0


class _Group:
    """The rules for one kind of message. Those that are about members which a message lacks are not asked of it."""

    def __init__(self, watches: list[Watch], sleepers: Iterable[Watch], sender: Dir) -> None:
        self.watches = watches
        self._sender = sender
        self._sleepers = [watch for watch in sleepers if not watch.awake]
        self._names = frozenset(name for watch in watches for name in watch.rule.near)
        self._names |= {name for watch in self._sleepers for name in watch.rule.wakes}
        self._choices: dict[tuple[frozenset[str], int], _Choice] = {}

    def near(self, names: Set[str], look: int) -> _Choice:
        """The rules that may have something to say of a message in which these names stand, and which looks like that.

        What a plain message holds to without being asked is counted.
        """
        key = self._names & names, look
        choice = self._choices.get(key)
        if choice is None:
            choice = self._choices[key] = self._choose(*key)
        choice.times += 1
        return choice

    def _choose(self, there: frozenset[str], look: int) -> _Choice:
        waiting = [watch for watch in self._sleepers if not watch.awake and not there.isdisjoint(watch.rule.wakes)]
        near = [
            watch
            for watch in self.watches
            if (watch.awake or watch in waiting) and (not watch.rule.near or not there.isdisjoint(watch.rule.near))
        ]
        held, settled = plain.held(look), plain.settled(look)
        return _Choice(
            [watch for watch in near if watch.rule.id not in settled],
            [watch for watch in near if watch.rule.id in held],
            there & {name for watch in waiting for name in watch.rule.wakes},
        )

    def settle(self) -> None:
        """Credit the rules with what was counted for them."""
        for choice in self._choices.values():
            for watch in choice.held:
                watch.held[self._sender] += choice.times
            choice.times = 0

    def forget(self) -> None:
        """Choose anew from now on: rules have woken up."""
        self.settle()
        self._choices.clear()


@lru_cache(maxsize=1024)
def _ids_speaking(key: Key) -> frozenset[str]:
    """The rules that speak of such events, by the project's own catalogue."""
    return frozenset(rule.id for rule in rules().values() if _speaks(load()[rule.id], rule, key))


def _speaks(requirement: Requirement, rule: Rule, key: Key) -> bool:
    kind, method, revision, transport, sender = key
    return (
        issubclass(kind, rule.sees)
        and rule.sender in {None, sender}
        and (_governs(requirement, revision) or (rule.early and revision is None))
        and _concerns(rule, kind, method)
        and requirement.holds_on(transport)
    )


def _verdict(requirement: Requirement, judgement: Judgement) -> Verdict:
    event = judgement.event
    own = (event.record.n,) if event else ()
    frames = tuple(sorted({*judgement.also, *own})) if judgement.also else own
    blames = _blamed(requirement, judgement)
    return Verdict(requirement.id, judgement.outcome, blames, frames, judgement.expected, judgement.actual)


def _blamed(requirement: Requirement, judgement: Judgement) -> str:
    if judgement.blames:
        return judgement.blames
    if requirement.role in _SIDES:
        return requirement.role
    return judgement.event.record.dir.sender if judgement.event else "server"


def _may_hold_on(requirement: Requirement, transport: str) -> bool:
    """Whether a requirement holds on a transport, or on the other one that a recording of HTTP may turn out to be."""
    return requirement.holds_on(transport) or (transport == "http" and requirement.holds_on("sse"))


def _governs(requirement: Requirement, revision: str | None) -> bool:
    """Whether a requirement holds in a revision; while none is known, those that hold in every one do."""
    return set(REVISIONS) <= set(requirement.revisions) if revision is None else revision in requirement.revisions


def _concerns(rule: Rule, kind: type[Event], method: str | None) -> bool:
    """Whether a rule is about a method; what is no message has none."""
    return rule.on is None or method in rule.on or not issubclass(kind, Message)


def judge(records: Iterable[Record], transport: str, **options: Any) -> list[Verdict]:
    """Every verdict on a whole session."""
    engine = Engine(transport, **options)
    verdicts = [verdict for record in records for verdict in engine.feed(record)]
    return verdicts + engine.finish()


def tally(verdicts: Iterable[Verdict]) -> dict[str, dict[Outcome, int]]:
    """How often each requirement came out how."""
    counts: dict[str, dict[Outcome, int]] = defaultdict(lambda: defaultdict(int))
    for verdict in verdicts:
        counts[verdict.requirement][verdict.outcome] += 1
    return counts


def judgeable() -> frozenset[str]:
    """The ids that some rule judges."""
    return frozenset(rules())
