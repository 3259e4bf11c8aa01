"""Peer: what a script may say to a server, ask of it, wait for, and judge.

A peer is one connection. Everything that passes is recorded and judged by the rules as it comes; the script adds what
only it can know. What the server does wrong is a value: only a server that no longer answers ends a script.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcpcheck.engine import Engine
from mcpcheck.errors import bug
from mcpcheck.inputs import responses_to
from mcpcheck.overload import AGAIN, pause, put_off
from mcpcheck.reply import Reply
from mcpcheck.scenarios.registry import Abandoned, Unreadable, Untestable
from mcpcheck.session.session import Call
from mcpcheck.transports.base import Transport
from mcpcheck.verdict import Outcome, Verdict
from mcpcheck.wire import mcp_http
from mcpcheck.wire.event import Aborted, Answer, Event, Exited, HttpResponse, Message, Notification, Request
from mcpcheck.wire.protocol import CLIENT_CAPABILITIES, CLIENT_INFO, MODERN, PROTOCOL_VERSION
from mcpcheck.wire.record import Dir, Record, RequestHead

if TYPE_CHECKING:
    from mcpcheck.lab import Lab
    from mcpcheck.roles import Fixture

ALL_CAPABILITIES: dict[str, Any] = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"context": {}, "tools": {}},
    "roots": {},
}
OWN_NAME = {"name": "mcpcheck", "version": "0.1.0"}

MAY_TAKE_LONG = frozenset({"tools/call", "prompts/get", "resources/read", "completion/complete"})
"""Requests whose answer may come after any deadline of ours."""

UNSURE = MAY_TAKE_LONG | {"subscriptions/listen", "initialize"}
"""Requests for whose answer nobody waits longer than planned: there may be none, or not soon."""


TOO_MANY_REQUESTS = 429


class _Default:
    """Stands for "as a well-formed request has it"."""


DEFAULT = _Default()


@dataclass(slots=True)
class Voice:
    """How this peer presents itself; a script changes it request by request."""

    version: str = MODERN
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    headers: tuple[tuple[str, str], ...] = ()  # the user's own, on every HTTP request
    era: str = "modern"  # or "legacy": no _meta, and on HTTP the headers of that era
    session_id: str | None = None


class Peer:
    """One connection to a server, for one script or for several in a row."""

    lab: "Lab"

    def __init__(self, transport: Transport, engine: Engine, *, name: str, answer_within: float) -> None:
        self.transport = transport
        self.engine = engine
        self.name = name
        self.answer_within = answer_within
        self.voice = Voice()
        self.scenario = ""
        self.verdicts: list[Verdict] = []
        self.events: list[Event] = []
        self.own_faults: list[Verdict] = []
        self.crashes: list[str] = []
        self.tool_schemas: dict[str, Any] = {}
        self._calls: dict[int, Call] = {}  # by the frame of the request
        self._declared: frozenset[str] = frozenset()
        self._deviating: dict[int, frozenset[str]] = {}
        self._scenes: list[tuple[int, str]] = []  # from which frame on which scenario was played
        self._sent: dict[int, tuple[RequestHead, bytes, frozenset[str]]] = {}  # by exchange, for another attempt
        self._next_id = 0
        self._busy = False  # with work that takes its time, and perhaps with nothing else
        self._heard = False  # a message: the process behind standard streams has started
        self._exit: Exited | None = None
        transport.log.observe = self._observe

    # hearing

    def _observe(self, record: Record) -> None:
        if not self._scenes or self._scenes[-1][1] != self.scenario:
            self._scenes.append((record.n, self.scenario))
        if record.dir is Dir.C2S and self._declared:
            self._deviating[record.n] = self._declared
        try:
            for event, verdicts in self.engine.follow(record):
                self._hear(event)
                for verdict in verdicts:
                    self._take(verdict)
        except Exception as error:  # a rule that fails must not cost the session
            self.crashes.append(bug(error))

    def _hear(self, event: Event) -> None:
        self.events.append(event)
        self._heard = self._heard or (isinstance(event, Message) and event.dir is Dir.S2C)
        if isinstance(event, Request) and event.dir is Dir.C2S and self.engine.session.call:
            self._calls[event.record.n] = self.engine.session.call
        if isinstance(event, Exited):
            self._exit = event

    def finish(self) -> None:
        """Take in what only the end of the connection lets the rules say."""
        for verdict in self.engine.finish():
            last = max(verdict.frames, default=self.frame)
            played = [name for start, name in self._scenes if start <= last]
            self.scenario = played[-1] if played else self.scenario
            self._take(verdict)

    def _take(self, verdict: Verdict) -> None:
        named = Verdict(
            verdict.requirement,
            verdict.outcome,
            verdict.blames,
            verdict.frames,
            verdict.expected,
            verdict.actual,
            self.name,
            self.scenario,
        )
        if verdict.blames == "server":
            self.verdicts.append(named)
        elif verdict.outcome is Outcome.BROKEN and not self._was_declared(verdict):
            self.own_faults.append(named)

    def held(self) -> Counter[str]:
        """How often the rules saw the server hold to a requirement, by id; what holds is only counted."""
        counted: Counter[str] = Counter()
        for id, by, times in self.engine.held():
            if by == "server":
                counted[id] += times
        return counted

    def _was_declared(self, verdict: Verdict) -> bool:
        declared = frozenset().union(*(self._deviating.get(frame, frozenset()) for frame in verdict.frames))
        return any(verdict.requirement == id or verdict.requirement.startswith(id + ".") for id in declared)

    @property
    def patience(self) -> float:
        """How long an answer may take; a process that has said nothing yet may still be starting."""
        return self.answer_within if self._heard or self.kind != "stdio" else self.lab.limits.start

    @property
    def kind(self) -> str:
        """The transport: "stdio" or "http"."""
        return self.transport.kind

    @property
    def frame(self) -> int:
        """The number of the newest record."""
        return len(self.transport.log.records)

    def heard_since(self, frame: int) -> list[Event]:
        """What the server sent after a frame."""
        return [event for event in self.events if event.record.n > frame and event.dir is Dir.S2C]

    # saying

    @contextmanager
    def deviating(self, *ids: str) -> Iterator[None]:
        """What is sent inside breaks these requirements (or all under these prefixes) on purpose."""
        before, self._declared = self._declared, self._declared | frozenset(ids)
        try:
            yield
        finally:
            self._declared = before

    def new_id(self) -> int:
        """An id that this connection has not used."""
        self._next_id += 1
        return self._next_id

    def meta(self, **changes: Any) -> dict[str, Any]:
        """The _meta of a well-formed request; ``version``, ``capabilities``, ``client_info``, ``extra`` change it."""
        voice = self.voice
        meta: dict[str, Any] = {
            PROTOCOL_VERSION: changes.get("version", voice.version),
            CLIENT_INFO: changes.get("client_info", OWN_NAME),
            CLIENT_CAPABILITIES: changes.get("capabilities", dict(voice.capabilities)),
        }
        extra: dict[str, Any] = changes.get("extra", {})
        return meta | extra

    def request(
        self, method: str, params: Any = None, *, id: Any = DEFAULT, meta: Any = DEFAULT, **changes: Any
    ) -> dict[str, Any]:
        """A request as an object. ``meta=None`` leaves _meta out; the ``changes`` are those of ``meta()``."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": self.new_id() if id is DEFAULT else id, "method": method}
        body = dict(params or {})
        if self.voice.era == "modern" and meta is not None:
            body = {"_meta": self.meta(**changes) if meta is DEFAULT else meta, **body}
        if body or self.voice.era == "modern":
            message["params"] = body
        return message

    async def ask(self, method: str, params: Any = None, **how: Any) -> Reply:
        """Send a request that has to be answered, and wait. No readable answer ends the script.

        It is a verdict, too, unless the work may just take longer (base.response.one-per-request).
        """
        reply = await self.try_ask(method, params, **how)
        if reply.answer is None and reply.status is None:
            self._raise_unreadable(reply)
            if reply.ended or not (method in MAY_TAKE_LONG or self._busy):
                self.broken("base.response.one-per-request", reply, "an answer", reply.told())
            self._busy = True
            raise Abandoned(f"{method}: {reply.told()}")
        self._busy = False
        if reply.answer is None and 200 <= (reply.status or 0) < 300:
            self._raise_unreadable(reply)
        return reply

    def _raise_unreadable(self, reply: Reply) -> None:
        """What came in place of an answer and cannot be read is judged by the rules; a script has nothing to add."""
        if self.engine.session.unreadable_from(Dir.S2C) > reply.frame:
            raise Unreadable("the answer of the server cannot be read as a message")

    async def try_ask(
        self,
        method: str,
        params: Any = None,
        *,
        headers: Mapping[str, str | None] | None = None,
        within: float | None = None,
        **how: Any,
    ) -> Reply:
        """Send a request and wait for what comes; judge nothing."""
        return await self.say(self.request(method, params, **how), headers=headers, within=within)

    async def say(
        self, message: Any, *, headers: Mapping[str, str | None] | None = None, within: float | None = None
    ) -> Reply:
        """Send any JSON value as a message, with the HTTP headers that fit it (``headers`` replace; None removes)."""
        reply = await self.send(self.encode(message), message, headers=headers)
        return await self.hear(reply, within)

    @staticmethod
    def encode(message: Any) -> bytes:
        """A JSON value as the bytes of one message."""
        return json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass")

    async def send(
        self,
        data: bytes,
        message: Any = None,
        *,
        headers: Mapping[str, str | None] | None = None,
        more_headers: Mapping[str, str] | None = None,
        end: bytes = b"\n",
        http_method: str = "POST",
    ) -> Reply:
        """Send bytes and do not wait. ``message`` is what the HTTP headers are made from.

        ``headers`` replace a header or, where None, remove it; ``more_headers`` are added, spelled as given.
        """
        if self.kind == "stdio":
            record = await self.transport.send_line(data, end)
            return Reply(record.n, self._calls.get(record.n))
        fields = (*self._headers(message, data, headers or {}), *(more_headers or {}).items())
        reply = Reply(self.frame)
        await self._send_http(reply, RequestHead(http_method, self._path(), fields), data)
        return reply

    async def _send_http(self, reply: Reply, head: RequestHead, data: bytes) -> None:
        """Send a request over HTTP; the reply is about this one from now on."""
        exchange = reply.exchange = await self.transport.send_http(head, data)
        # what came on other exchanges meanwhile, or at once on this one, stands before and behind it
        sent = (r.n for r in reversed(self.transport.log.records) if r.exchange == exchange and r.dir is Dir.C2S)
        reply.frame = next(sent)
        reply.call = self._calls.get(reply.frame)
        self._sent[reply.exchange] = (head, data, self._declared)

    def _path(self) -> str:
        address = getattr(self.transport, "address", None)
        return address.path if address else (self.transport.endpoint or "/")

    def _headers(self, message: Any, data: bytes, changes: Mapping[str, str | None]) -> tuple[tuple[str, str], ...]:
        address = getattr(self.transport, "address", None)
        headers = {"Host": address.authority if address else "localhost"}
        if self.voice.era == "modern":
            headers |= mcp_http.request_headers(message, self.tool_schemas)
        else:
            headers |= mcp_http.legacy_headers(self.voice.version, self.voice.session_id, message)
        if data:
            headers["Content-Length"] = str(len(data))
        headers["Connection"] = "close"
        lowered = {name.lower(): name for name in headers}
        for name, value in (*self.voice.headers, *changes.items()):
            known = lowered.setdefault(name.lower(), name)
            if value is None:
                headers.pop(known, None)
            else:
                headers[known] = value
        return tuple(headers.items())

    async def hear(self, reply: Reply, within: float | None = None) -> Reply:
        """Wait until a message of ours is answered, its exchange is over, or nothing more can come.

        What a server over HTTP puts off because of its load is sent again, where the lab insists.
        """
        await self._hear_once(reply, within)
        if put_off(reply) and self.lab.insists:
            await self._insist(reply, within)
        return reply

    async def _insist(self, reply: Reply, within: float | None) -> None:
        """Send a message again that was put off; Untestable where the server is not to be asked any more."""
        for _ in range(AGAIN):
            wait = pause(reply)
            if not put_off(reply) or self.lab.exhausted or wait > self.answer_within or reply.exchange is None:
                break
            await self.transport.until(lambda: False, wait)
            head, data, declared = self._sent[reply.exchange]
            with self.deviating(*declared):
                await self._send_http(reply, head, data)
            await self._hear_once(reply, within)
        if reply.status == TOO_MANY_REQUESTS:
            self.lab.exhausted = True
            raise Untestable("the server does not want to be asked so often: HTTP status 429")

    async def _hear_once(self, reply: Reply, within: float | None) -> None:
        reply.waited = self.patience if within is None else within
        over = await self.transport.until(lambda: self._over(reply), reply.waited)
        if not over and within is None:
            await self._wait_on(reply)
        if not self.transport.alive:  # the way it ended is known a moment later
            await self.transport.until(lambda: self._exit is not None, 1.0)
        self._collect(reply)

    async def _wait_on(self, reply: Reply) -> None:
        """Give a slow server as long as a start may take, until one answer has not come even then."""
        more = self.lab.limits.start - reply.waited
        if self.lab.hung or more <= 0 or reply.call is None or reply.call.request.method in UNSURE:
            return
        self.lab.hung = not await self.transport.until(lambda: self._over(reply), more)
        reply.waited += more

    def _over(self, reply: Reply) -> bool:
        if reply.exchange is not None:
            ended = any(
                event.record.exchange == reply.exchange and event.record.event in {"eof", "abort"}
                for event in reversed(self.events)
            )
            return ended or bool(reply.call and reply.call.answers)
        return bool(reply.call and reply.call.answers) or not self.transport.alive

    def _collect(self, reply: Reply) -> None:
        if reply.exchange is not None:
            reply.events = [event for event in self.heard_since(0) if event.record.exchange == reply.exchange]
            heads = [event for event in reply.events if isinstance(event, HttpResponse)]
            reply.status = heads[0].head.status if heads else None
            broke = next((event for event in reply.events if isinstance(event, Aborted)), None)
            reply.ended = str(broke.record.detail.get("reason", "")) if broke else ""
            return
        token = (reply.call.request.meta.get("progressToken") if reply.call else None) or object()
        reply.events = [
            event
            for event in self.heard_since(reply.frame)
            if not isinstance(event, Message) or self._belongs(event, reply, token)
        ]
        if reply.answer is None and self._exit:
            detail = self._exit.record.detail
            code, number = detail.get("code"), detail.get("signal")
            reply.ended = (
                f"the process exited with {code}" if number is None else f"the process died of signal {number}"
            )
        elif reply.answer is None and not self.transport.alive:
            cut = [event for event in self.events if isinstance(event, Aborted) and event.dir is Dir.S2C]
            reason = cut[-1].record.detail.get("reason") if cut else None
            reply.ended = str(reason or "the server closed its standard output")

    @staticmethod
    def _belongs(event: Message, reply: Reply, token: object) -> bool:
        if isinstance(event, Notification):
            return event.param("progressToken") == token or event.method != "notifications/progress"
        return isinstance(event, Answer) and bool(reply.call and event in reply.call.answers)

    async def ask_through(self, fixture: "Fixture", rounds: int = 10) -> Reply:
        """Use a fixture and answer every input_required on the way, up to a bound (mrtr.result.any-supported)."""
        params = fixture.params
        reply = await self.ask(fixture.method, params)
        for _ in range(rounds):
            if not reply.needs_input:
                break
            asked = reply.result or {}
            more: dict[str, Any] = {"inputResponses": responses_to(asked.get("inputRequests"))}
            if "requestState" in asked:
                more["requestState"] = asked["requestState"]
            reply = await self.ask(fixture.method, {**params, **more})
        return reply

    async def hear_head(self, reply: Reply) -> Reply:
        """HTTP: wait for the head of an answer alone, as its body may have no end."""
        reply.waited = self.answer_within
        here = reply.exchange

        def answered() -> bool:
            return any(e.record.exchange == here and e.dir is Dir.S2C for e in self.heard_since(reply.frame)) or any(
                e.record.exchange == here and isinstance(e, Aborted) for e in self.events
            )

        await self.transport.until(answered, reply.waited)
        self._collect(reply)
        return reply

    async def leave(self, reply: Reply) -> None:
        """HTTP: close the connection of an exchange, whole or not."""
        if reply.exchange is not None:
            await self.transport.leave(reply.exchange)

    async def fence(self) -> Reply:
        """A request that any conforming server answers: what was sent before it has been read by then."""
        if self.voice.era == "legacy":
            return await self.ask("ping")
        return await self.ask("server/discover")

    async def until(self, holds: Callable[[], bool], within: float | None = None) -> bool:
        """Wait until something holds; False when the time is up first."""
        return await self.transport.until(holds, self.patience if within is None else within)

    # judging

    def holds(self, id: str, *replies: Reply) -> None:
        """A requirement was exercised and held."""
        self._judge(id, Outcome.HOLDS, replies, "", "")

    def broken(self, id: str, reply: Reply | Collection[Reply], expected: str, actual: str | None = None) -> None:
        """A requirement was broken, beyond doubt."""
        self._judge(id, Outcome.BROKEN, reply, expected, actual)

    def suspect(self, id: str, reply: Reply | Collection[Reply], expected: str, actual: str | None = None) -> None:
        """It looks wrong, but the text leaves room: at most a warning."""
        self._judge(id, Outcome.SUSPECT, reply, expected, actual)

    def check(
        self, id: str, ok: object, reply: Reply | Collection[Reply], expected: str, actual: str | None = None
    ) -> bool:
        """Holds or broken, by a condition; returns it."""
        self._judge(id, Outcome.HOLDS if ok else Outcome.BROKEN, reply, expected, actual)
        return bool(ok)

    def untestable(self, id: str, missing: str) -> None:
        """The peer or the policy lacks what the check takes; ``missing`` names it."""
        self._judge(id, Outcome.UNTESTABLE, (), "", missing)

    def _judge(
        self, id: str, outcome: Outcome, reply: Reply | Collection[Reply], expected: str, actual: str | None
    ) -> None:
        replies = [reply] if isinstance(reply, Reply) else list(reply)
        told = actual if actual is not None else (replies[-1].told() if replies else "")
        frames = tuple(sorted({frame for one in replies for frame in one.frames}))
        self.verdicts.append(Verdict(id, outcome, "server", frames, expected, told, self.name, self.scenario))
