"""The judge: records in, verdicts out. Synchronous, without a socket, a clock or dice."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from mcpcheck.catalogue.load import Catalogue, load
from mcpcheck.catalogue.requirement import Requirement
from mcpcheck.rules.registry import Judgement, Verdicts, rules
from mcpcheck.session.session import Session
from mcpcheck.verdict import Outcome, Verdict
from mcpcheck.wire.decode import Decoder
from mcpcheck.wire.event import Event
from mcpcheck.wire.record import Record

See = Callable[[Any, Session], Verdicts]


class Engine:
    """Judges one session. Feed it the records in order, then finish.

    ``endpoint`` is the path of the MCP endpoint on HTTP; ``default`` the revision of messages that do not tell theirs;
    ``only`` limits the rules to these ids.
    """

    def __init__(
        self,
        transport: str,
        *,
        endpoint: str | None = None,
        default: str | None = None,
        only: Collection[str] | None = None,
        catalogue: Catalogue | None = None,
    ) -> None:
        self.session = Session(transport, default)
        self.decoder = Decoder(endpoint)
        catalogue = catalogue or load()
        self._by_type: dict[type[Event], list[tuple[Requirement, See]]] = {}
        self._all: list[tuple[Requirement, tuple[type[Event], ...], See]] = []
        self._ends: list[tuple[Requirement, Callable[[Session], Verdicts]]] = []
        for rule in rules().values():
            requirement = catalogue[rule.id]
            if (only is not None and rule.id not in only) or not requirement.holds_on(transport):
                continue
            see, end = rule.make()
            self._all.append((requirement, rule.sees, see))
            if end:
                self._ends.append((requirement, end))

    def feed(self, record: Record) -> list[Verdict]:
        """The verdicts that this record brings."""
        return [verdict for _, verdicts in self.follow(record) for verdict in verdicts]

    def follow(self, record: Record) -> Iterator[tuple[Event, list[Verdict]]]:
        """Each event of a record with its verdicts; the session stands as it is just after the event."""
        for event in self.decoder.decode(record):
            self.session.see(event)
            yield event, list(self._judge(event))

    def finish(self) -> list[Verdict]:
        """The verdicts that only the end of the session allows."""
        return [
            self._verdict(requirement, judgement)
            for requirement, end in self._ends
            for judgement in end(self.session) or ()
        ]

    def _judge(self, event: Event) -> Iterator[Verdict]:
        revision = self.session.revision
        for requirement, see in self._watching(type(event)):
            if revision in requirement.revisions:
                for judgement in see(event, self.session) or ():
                    yield self._verdict(requirement, judgement)

    def _watching(self, kind: type[Event]) -> list[tuple[Requirement, See]]:
        if kind not in self._by_type:
            self._by_type[kind] = [(req, see) for req, sees, see in self._all if issubclass(kind, sees)]
        return self._by_type[kind]

    def _verdict(self, requirement: Requirement, judgement: Judgement) -> Verdict:
        event = judgement.event
        sender = event.dir.sender if event else "server"
        blames = requirement.role if requirement.role in {"client", "server"} else sender
        frames = sorted({*judgement.also, *([event.record.n] if event else [])})
        return Verdict(requirement.id, judgement.outcome, blames, tuple(frames), judgement.expected, judgement.actual)


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
