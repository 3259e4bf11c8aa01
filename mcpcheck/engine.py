"""The judge: records in, verdicts out. Synchronous, without a socket, a clock or dice."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from mcpcheck.catalogue.load import Catalogue, load
from mcpcheck.catalogue.requirement import Requirement
from mcpcheck.rules.registry import Judgement, Rule, Verdicts, rules
from mcpcheck.session.session import Session
from mcpcheck.verdict import Outcome, Verdict
from mcpcheck.wire.decode import Decoder
from mcpcheck.wire.event import Event, Message
from mcpcheck.wire.protocol import REVISIONS
from mcpcheck.wire.record import Record

See = Callable[[Any, Session], Verdicts]


class Engine:
    """Judges one session. Feed it the records in order, then finish.

    ``transport`` is "stdio" or "http"; HTTP+SSE of 2024-11-05 shows itself. ``endpoint`` is the path of the MCP
    endpoint on HTTP; ``default`` the revision of messages that do not tell theirs; ``only`` limits the rules to these
    ids; ``one_client`` says that one client instance alone speaks to the server.

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
        catalogue: Catalogue | None = None,
    ) -> None:
        self.session = Session(transport, default, one_client=one_client)
        self.decoder = Decoder(endpoint)
        catalogue = catalogue or load()
        self._by_kind: dict[tuple[type[Event], str | None, str | None, str], list[tuple[Requirement, See]]] = {}
        self._all: list[tuple[Requirement, Rule, See]] = []
        self._methods: set[str] = set()
        self._ends: list[tuple[Requirement, Callable[[Session], Verdicts]]] = []
        for rule in rules().values():
            requirement = catalogue[rule.id]
            if (only is not None and rule.id not in only) or not _may_hold_on(requirement, transport):
                continue
            see, end = rule.make()
            self._all.append((requirement, rule, see))
            self._methods |= rule.on or set()
            if end:
                self._ends.append((requirement, end))

    def feed(self, record: Record) -> list[Verdict]:
        """The verdicts that this record brings."""
        return [verdict for _, verdicts in self.follow(record) for verdict in verdicts]

    def follow(self, record: Record) -> Iterator[tuple[Event, list[Verdict]]]:
        """Each event of a record with its verdicts; the session stands as it is just after the event.

        A verdict on an earlier event that only this one made clear comes with this one.
        """
        for event in self.decoder.decode(record):
            self.session.see(event)
            verdicts = [] if self.session.kept_back else list(self._judge(event))
            verdicts += self._judge_late(self.session.settle())
            yield event, verdicts

    def finish(self) -> list[Verdict]:
        """The verdicts that only the end of the session allows."""
        verdicts = self._judge_late(self.session.finish())
        for requirement, end in self._ends:
            if requirement.holds_on(self.session.transport):
                verdicts += [self._verdict(requirement, judgement) for judgement in end(self.session) or ()]
        return verdicts

    def _judge_late(self, events: Iterable[Event]) -> list[Verdict]:
        verdicts: list[Verdict] = []
        for event in events:
            with self.session.speaking_of(event):
                verdicts += self._judge(event)
        return verdicts

    def _judge(self, event: Event) -> Iterator[Verdict]:
        for requirement, see in self._watching(event):
            for judgement in see(event, self.session) or ():
                yield self._verdict(requirement, judgement)

    def _watching(self, event: Event) -> list[tuple[Requirement, See]]:
        """The rules that speak of this kind of event, of its method, in the revision that governs it."""
        method = self.session.method_of(event)
        session = self.session
        key = type(event), method if method in self._methods else None, session.revision, session.transport
        if key not in self._by_kind:
            self._by_kind[key] = [
                (requirement, see)
                for requirement, rule, see in self._all
                if issubclass(key[0], rule.sees)
                and _governs(requirement, key[2])
                and _concerns(rule, key[0], key[1])
                and requirement.holds_on(key[3])
            ]
        return self._by_kind[key]

    def _verdict(self, requirement: Requirement, judgement: Judgement) -> Verdict:
        event = judgement.event
        sender = event.dir.sender if event else "server"
        blames = judgement.blames or (requirement.role if requirement.role in {"client", "server"} else sender)
        own = (event.record.n,) if event else ()
        frames = tuple(sorted({*judgement.also, *own})) if judgement.also else own
        return Verdict(requirement.id, judgement.outcome, blames, frames, judgement.expected, judgement.actual)


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
