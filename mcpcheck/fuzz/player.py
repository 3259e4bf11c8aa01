"""Plays one generated session on a connection, and holds the invariants after each stimulus.

What the rules see on the wire counts, with our own departures taken into account; beside it stands what only the
sender can know: what was owed, and whether the server lives and still answers a fence.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from typing import Any

from mcpcheck.catalogue.load import load
from mcpcheck.errors import PeerUnavailable
from mcpcheck.fuzz.registry import Owes
from mcpcheck.fuzz.strategies import Play, Stimulus
from mcpcheck.peer import Peer
from mcpcheck.reply import Reply
from mcpcheck.session import ids
from mcpcheck.survey import open_modern
from mcpcheck.verdict import Outcome, Verdict
from mcpcheck.wire import mcp_http
from mcpcheck.wire.event import Answer, Exited
from mcpcheck.wire.record import Dir, Kind

ANSWERED = "base.response.one-per-request"
STATELESS = "base.stateless.no-prior-context"
NOT_ANSWERED = "base.notification.no-response"
MATCHING = frozenset({ANSWERED, "base.result.id-match", "base.error.id-match", "base.error.id-unreadable"})
BY_ITSELF = ("base.message.", "stdio.", "base.error.shape", "base.error.code", "base.response.result-xor-error")
"""What can be judged of a message without knowing what it answers."""
ONE_ERA = "http.compat."
"""What holds for servers of one era only."""
_OTHER_LAYER = frozenset({401, 403, 429, 503})
_EXIT = 1.0
"""Seconds for the exit of a process whose output has ended."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What did not hold, with the name of the stimulus in its verdict's ``scenario``.

    ``owed``: it is about what that stimulus was owed, and not about something that any message may show.
    ``fatal``: the server is dead or no longer answers.
    """

    verdict: Verdict
    owed: bool = False
    fatal: bool = False

    @property
    def key(self) -> tuple[str, str]:
        return self.verdict.requirement, self.verdict.scenario


@dataclass(slots=True)
class Outcomes:
    """What came of a session. ``over``: the connection is of no use any more; ``slow``: what took too long."""

    failures: list[Failure] = field(default_factory=list)
    suspicions: list[Verdict] = field(default_factory=list)
    held: Counter[str] = field(default_factory=Counter)
    over: bool = False
    slow: str = ""

    @property
    def fatal(self) -> bool:
        return any(failure.fatal for failure in self.failures)


@dataclass(slots=True)
class _Sent:
    stimulus: Stimulus
    reply: Reply
    first: int  # the number of its first frame
    named: list[Any]  # the ids that it names
    session: int  # the number of its session on this connection

    def named_by(self, answer: Answer) -> bool:
        """Whether an answer has one of its ids."""
        return answer.has_id and ids.key(answer.id) in {ids.key(id) for id in self.named}


async def prime(peer: Peer) -> Reply:
    """The first exchange of a connection: it opens the modern era, and shows that the server lives."""
    reply = await peer.try_ask("server/discover", within=peer.lab.limits.start)
    if reply.answer is None:
        told = peer.transport.told()
        raise PeerUnavailable(f"the server did not answer server/discover: {reply.told()}{_tail(told)}")
    if peer.kind == "stdio" and reply.result is not None:
        await open_modern(peer)
    return reply


class Player:
    """Plays sessions on one connection. ``serves``: the server answers a fence with a result."""

    def __init__(self, peer: Peer, serves: bool) -> None:
        self.peer = peer
        self.serves = serves
        self.sent: list[_Sent] = []  # in the session that is played
        self.out = Outcomes()
        self._sessions = 0
        self._counted: Counter[str] = Counter()  # how often this connection had held to what, before
        self._past: list[_Sent] = []  # on this connection, before it
        self._answers: dict[int, Answer] = {}  # in the session that is played, by their frames
        self._old: dict[int, Answer] = {}
        self._unsound: dict[ids.Key, _Sent] = {}  # by the ids that they name; no other stimulus has one of these

    async def play(self, session: Play) -> Outcomes:
        """Send each stimulus, then two fences."""
        late = self._begin()
        try:
            for stimulus in session:
                self.sent.append(await self._send(stimulus))
                if self.out.slow:
                    return self.out
            await self._fences()
            await self._ends()
        except PeerUnavailable as gone:
            if not self.sent:
                raise
            self._fatal(f"and the next connection failed: {gone}", [])
        self._take_answers()
        self._owed_to_all()
        self._settle()
        self.out.suspicions += late
        return self.out

    def close(self) -> Outcomes:
        """What only the end of the connection shows."""
        self.out = Outcomes()
        self._take_answers()
        self._settle()
        return self.out

    def _begin(self) -> list[Verdict]:
        """Forget the last session; what came after it is suspect, as it is not clear any more what it belongs to."""
        late = self.close()
        self.peer.events.clear()
        self._old |= self._answers
        self._answers.clear()
        self._past += self.sent
        self._sessions += 1
        self.sent = []
        self.out = Outcomes()
        doubtful = [replace(failure.verdict, outcome=Outcome.SUSPECT) for failure in late.failures]
        return late.suspicions + doubtful

    def _take_answers(self) -> None:
        self._answers |= {event.record.n: event for event in self.peer.events if isinstance(event, Answer)}

    # sending

    async def _send(self, stimulus: Stimulus) -> _Sent:
        peer = self.peer
        valid = stimulus.valid(peer)
        draft = stimulus.draft(valid)
        first = peer.frame + 1
        named = [message["id"] for message in (valid, draft.message) if "id" in message]
        breaks = _areas() if stimulus.deviation else stimulus.breaks
        with peer.deviating(*breaks):
            if peer.kind == "http":
                mirrored = mcp_http.request_headers(valid, peer.tool_schemas)
                bent = mcp_http.request_headers(draft.message, peer.tool_schemas)
                headers = {name: value for name, value in mirrored.items() if name not in bent} | draft.headers
                reply = await peer.send(draft.text, draft.message, headers=headers, more_headers=draft.more_headers)
            else:
                for line in draft.text.split(b"\n"):
                    reply = await peer.send(line, draft.message, end=draft.end)
        sent = _Sent(stimulus, reply, first, named, self._sessions)
        if not stimulus.sound:
            self._unsound |= {ids.key(id): sent for id in named}
        if peer.kind == "http" or (stimulus.owes.waits and reply.call is not None):
            await peer.hear(reply)
            await self._silence(sent)
        return sent

    async def _silence(self, sent: _Sent) -> None:
        """What it means that nothing came within the time for an answer."""
        peer, reply = self.peer, sent.reply
        answered = bool(reply.answer) if peer.kind == "stdio" else reply.status is not None or bool(reply.ended)
        if answered or not peer.transport.alive:
            return
        if peer.kind == "http":
            await peer.leave(reply)
        if not sent.stimulus.template.quick:
            self.out.slow, self.out.over = sent.stimulus.template.name, True

    # fences

    async def _fences(self) -> None:
        """Two of them: what a server that does one thing at a time says too late or too often has come by then."""
        for _ in range(2):
            reply, answer = await self._fence()
            if answer is None and reply.status not in _OTHER_LAYER:
                await self._unanswered(reply)
                return
        if self.serves and answer is not None and answer.has_error:
            said = f"{reply.told()}; before that it was answered with a result"
            self._fail(STATELESS, reply.frames, "server/discover is served as before", said, fatal=True)

    async def _ends(self) -> None:
        """HTTP: an answer may come before the end of its exchange, and something may come between the two."""
        peer = self.peer
        if peer.kind != "http":
            return

        def over() -> bool:
            records = [event.record for event in peer.events]
            begun = {record.exchange for record in records if record.kind is Kind.HEAD and record.dir is Dir.C2S}
            return begun <= {record.exchange for record in records if record.event in {"eof", "abort"}}

        await peer.until(over, min(peer.answer_within, _EXIT))

    async def _fence(self) -> tuple[Reply, Answer | None]:
        """A request that has to be answered, and the answer with its own id, whatever the rules take for its answer."""
        peer = self.peer
        message = peer.request("server/discover")
        reply = await peer.send(peer.encode(message), message)

        def found() -> Answer | None:
            late = (e for e in reversed(peer.events) if e.record.n > reply.frame and isinstance(e, Answer))
            return next((e for e in late if e.has_id and ids.key(e.id) == ids.key(message["id"])), None)

        if peer.kind == "http":
            await peer.hear(reply)
        else:
            await peer.until(lambda: found() is not None or not peer.transport.alive)
            await peer.hear(reply, 0)
            reply.waited = peer.answer_within
        return reply, found() or (reply.answer if peer.kind == "http" else None)

    async def _unanswered(self, reply: Reply) -> None:
        peer = self.peer
        if not peer.transport.alive:
            await peer.until(lambda: any(isinstance(event, Exited) for event in peer.events), _EXIT)
        exits = [event for event in peer.events if isinstance(event, Exited)]
        ended = f"{reply.told()}"
        if exits:
            detail = exits[-1].record.detail
            code, number = detail.get("code"), detail.get("signal")
            ended = f"the process exited with {code}" if number is None else f"the process died of signal {number}"
        clean = bool(exits) and exits[-1].record.detail.get("code") == 0
        frames = [*reply.frames, *(event.record.n for event in exits)]
        self._fatal(ended, frames, doubtful=clean and not self.sent[-1].stimulus.sound)

    def _fatal(self, ended: str, frames: list[int], *, doubtful: bool = False) -> None:
        told = ended + _tail(self.peer.transport.told())
        frames = sorted({self.sent[-1].reply.frame, *frames})
        expected = "the server lives, and answers what comes next"
        self._fail(ANSWERED, tuple(frames), expected, told, fatal=True, doubtful=doubtful)

    # judging

    def _owed_to_all(self) -> None:
        for number, sent in enumerate(self.sent):
            until = self.sent[number + 1].first if number + 1 < len(self.sent) else self.peer.frame + 1
            self._owed(sent, list(self._answers_to(sent, until)))

    def _answers_to(self, sent: _Sent, until: int) -> Iterator[Answer]:
        """The answers to a stimulus: by its call, else by its id, else those without an id until the next one."""
        if sent.reply.call is not None and sent.stimulus.sound:
            yield from sent.reply.call.answers
            return
        for n, answer in self._answers.items():
            if n > sent.reply.frame and (sent.named_by(answer) or (answer.id is None and n < until)):
                yield answer

    def _owed(self, sent: _Sent, answers: list[Answer]) -> None:
        """Hold what came against what was owed."""
        stimulus, reply = sent.stimulus, sent.reply
        owes, bent = stimulus.owes, stimulus.deviation
        results = [answer for answer in answers if answer.has_result]
        frames = tuple(sorted({reply.frame, *(answer.record.n for answer in answers)}))
        named = [answer for answer in answers if sent.named_by(answer)]
        if len(named) > 1 and reply.call is None and len(named) > len({repr(answer.id) for answer in named}):
            self._fail(ANSWERED, frames, "at most one answer", f"{len(named)} answers", sent, owed=True)
        wrong = (owes in {Owes.ERROR, Owes.ERROR_OR_NOTHING} and results) or (
            owes is Owes.RESULT and answers and not results
        )
        if bent and wrong and bent.under:
            came = answers[0].error if owes is Owes.RESULT else "a result"
            said = f"{bent.doc} It was answered with {came}"
            self._fail(bent.under, frames, str(owes), said, sent, owed=True, doubtful=not bent.sure)
        if not owes.waits or answers or self.out.fatal or not stimulus.template.quick or not self.peer.transport.alive:
            return
        if reply.call is not None and (reply.status is None or reply.status == 0):
            self._fail(ANSWERED, frames, str(owes), reply.told(), sent, owed=True)

    def _fail(
        self,
        id: str,
        frames: tuple[int, ...],
        expected: str,
        actual: str,
        sent: _Sent | None = None,
        *,
        owed: bool = False,
        fatal: bool = False,
        doubtful: bool = False,
    ) -> None:
        who = (sent or self.sent[-1]).stimulus.name
        outcome = Outcome.SUSPECT if doubtful else Outcome.BROKEN
        verdict = Verdict(id, outcome, "server", frames, expected, actual, self.peer.name, who)
        self.out.over = self.out.over or fatal
        if doubtful:
            self.out.suspicions.append(verdict)
        else:
            self.out.failures.append(Failure(verdict, owed or fatal, fatal))

    def _settle(self) -> None:
        """Take what the rules said of the server."""
        for verdict in self.peer.verdicts:
            if verdict.outcome is Outcome.HOLDS:
                self.out.held[verdict.requirement] += 1
                continue
            weighed = self._weighed(verdict)
            if weighed is None:
                continue
            if weighed.outcome is Outcome.BROKEN:
                self.out.failures.append(Failure(weighed))
            else:
                self.out.suspicions.append(weighed)
        self.peer.verdicts.clear()
        counted = self.peer.held()
        self.out.held += counted - self._counted
        self._counted = counted

    def _weighed(self, verdict: Verdict) -> Verdict | None:
        """A verdict of the rules, in the light of what was bent; None where our own departure excuses the server."""
        sent = self._sent_at(verdict)
        if sent is None:
            return verdict
        verdict = replace(verdict, scenario=sent.stimulus.name)
        if not self._certain(verdict) or (self._is_nameless(verdict) and self._unsound_before(sent)):
            return None
        if sent.stimulus.deviation is None:
            return verdict
        if not self._said_by_server(verdict):
            return None
        if verdict.requirement.startswith(ONE_ERA) and self.peer.lab.inventory.legacy:
            return None
        return self._excused(verdict, sent)

    def _excused(self, verdict: Verdict, sent: _Sent) -> Verdict | None:
        stimulus = sent.stimulus
        if verdict.requirement == NOT_ANSWERED and stimulus.owes is not Owes.NOTHING and self._is_nameless(verdict):
            return None
        if stimulus.sound:
            return verdict
        answers = self._answers_in(verdict)
        if verdict.requirement in MATCHING:
            known = all(sent.named_by(answer) or answer.id is None for answer in answers)
            return None if known else replace(verdict, outcome=Outcome.SUSPECT)
        return None if verdict.outcome is Outcome.SUSPECT else verdict

    def _is_nameless(self, verdict: Verdict) -> bool:
        """Whether it is about which message an error without an id answers."""
        answers = self._answers_in(verdict)
        about = verdict.requirement in MATCHING or verdict.requirement == NOT_ANSWERED
        return about and bool(answers) and all(answer.has_error and answer.id is None for answer in answers)

    def _unsound_before(self, sent: _Sent) -> bool:
        """stdio: whether an error without an id may be meant for an earlier message of the same session."""
        alike = (one for one in chain(self._past, self.sent) if one.session == sent.session and one.first < sent.first)
        return self.peer.kind == "stdio" and any(not one.stimulus.sound for one in alike)

    def _said_by_server(self, verdict: Verdict) -> bool:
        """Whether something that the server sent is in it; silence is judged by what was owed."""
        records = self.peer.transport.log.records
        return any(records[n - 1].dir is Dir.S2C for n in verdict.frames if 0 < n <= len(records))

    def _certain(self, verdict: Verdict) -> bool:
        """Whether the rules can tell what an answer belongs to.

        They cannot once a lenient server has answered text that is no message to them: they take that answer for one
        to the fence, and the fence's for one too many. What an answer is by itself can still be judged.
        """
        if verdict.requirement.startswith(BY_ITSELF) or self.peer.kind == "http":
            return True
        unread = [sent for sent in self.sent if sent.reply.call is None and not sent.stimulus.sound]
        lenient = [n for n, answer in self._answers.items() if any(sent.named_by(answer) for sent in unread)]
        return not lenient or max(verdict.frames, default=0) < min(lenient)

    def _sent_at(self, verdict: Verdict) -> _Sent | None:
        """The stimulus that a verdict is about: whose answer or frame it names, else the last one before it."""
        for answer in self._answers_in(verdict):
            if answer.has_id and ids.key(answer.id) in self._unsound:
                return self._unsound[ids.key(answer.id)]
        for sent in self.sent:
            if sent.reply.frame in verdict.frames or sent.first in verdict.frames:
                return sent
        last = max(verdict.frames, default=0)
        before = (sent for sent in chain(reversed(self.sent), reversed(self._past)) if sent.first <= last)
        return next(before, None)

    def _answers_in(self, verdict: Verdict) -> list[Answer]:
        return [found for n in verdict.frames if (found := self._answers.get(n) or self._old.get(n))]


@cache
def _areas() -> tuple[str, ...]:
    """Every area: a bent message may break any requirement on purpose; what each does break is held by the tests."""
    return tuple({id.partition(".")[0] for id in load()})


def _tail(told: str) -> str:
    """The last thing on standard error, in a phrase."""
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    return f"; on standard error it wrote {lines[-1][:160]!r}" if lines else ""
