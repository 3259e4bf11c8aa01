"""A client and a scripted server in one process: no socket, no clock. Time passes when nothing else happens."""

import json
from collections import deque
from collections.abc import Callable

from mcpcheck.conform_client import ClientPlan, ConformClient
from mcpcheck.reference.client import Client
from mcpcheck.reference.client_wire import Action, Leave, Restart, Send
from mcpcheck.transports.base import Log
from mcpcheck.transports.client_side import Encounter, Heard, Meeting, Reply, Script
from mcpcheck.wire.framing import LineSplitter
from mcpcheck.wire.record import Dir, Kind, ResponseHead
from mcpcheck.wire.sse import SseSplitter

Make = Callable[[str], Client]
LIMIT = 400


class Link:
    """One run of a client against a script."""

    def __init__(self, client: Client, kind: str, script: Script) -> None:
        self.client = client
        self.kind = kind
        self.script = script
        self.encounter = Encounter()
        self.todo: deque[Action] = deque()
        self.held: set[int] = set()
        self.lines = LineSplitter()
        self.seconds = 0.0

    def run(self) -> Encounter:
        """Carry out what either side wants, until neither wants anything."""
        self.start()
        self.todo.extend(self.client.start())
        for _ in range(LIMIT):
            while self.todo:
                self.carry_out(self.todo.popleft())
                if self.client.done and not self.todo:
                    break
            if self.client.done:
                break
            self.todo.extend(self.client.timed_out())
        self.end()
        return self.encounter

    @property
    def meeting(self) -> Meeting:
        return self.encounter.meetings[-1]

    @property
    def log(self) -> Log:
        return self.meeting.log

    def start(self) -> None:
        number = len(self.encounter.meetings) + 1
        self.encounter.meetings.append(Meeting(Log(), self.kind, number))
        if self.kind == "stdio":
            self.lines = LineSplitter()
            self.log.note(Dir.C2S, Kind.EVENT, event="open")
            self.write(self.script.opened(number))

    def end(self) -> None:
        if self.client.done:
            self.encounter.code = 1 if self.client.failed else 0
        self.encounter.output = "\n".join(self.client.outcome)
        if self.kind == "stdio" and self.meeting.gone is None:
            for step in self.client.farewell():
                self.part(step)
            self.meeting.left_behind = self.meeting.gone is None

    def part(self, step: str) -> None:
        """One step by which the client ends the server; a step takes a second."""
        meeting = self.meeting
        self.seconds += 1.0
        if meeting.gone is not None:
            return
        if step == "close input":
            meeting.input_ended = self.seconds
            self.log.note(Dir.C2S, Kind.EVENT, event="eof")
            gone = not self.script.stubborn
        elif step == "wait":
            return
        else:
            meeting.signals += [(self.seconds, 15)] if step == "terminate" else []
            gone = step == "kill" or not self.script.stubborn
        if gone:
            meeting.gone = self.seconds
            self.log.note(Dir.S2C, Kind.EVENT, event="exit", code=0)

    def carry_out(self, action: Action) -> None:
        match action:
            case Send(exchange=None):
                lines = list(self.lines.feed(action.data)) if self.meeting.gone is None else []
                for line in lines:
                    self.log.note(Dir.C2S, Kind.LINE, line.data, end=line.end)
                for line in lines:
                    if self.meeting.gone is None:
                        self.write(self.script.hear(Heard(line.data, self.meeting.connection)))
            case Send():
                self.post(action)
            case Leave():
                if action.exchange in self.held:
                    self.held.remove(action.exchange)
                    self.log.note(Dir.C2S, Kind.EVENT, exchange=action.exchange, event="abort")
            case Restart():
                self.start()

    # stdio

    def write(self, reply: Reply) -> None:
        if reply.stderr:
            self.todo.extend(self.client.noise(reply.stderr))
        if self.client.done:
            return
        for text in reply.messages:
            self.log.note(Dir.S2C, Kind.LINE, text)
        for text in reply.messages:
            self.todo.extend(self.client.receive(text))
        if reply.exit is not None:
            self.meeting.gone = 1.0
            self.log.note(Dir.S2C, Kind.EVENT, event="exit", code=reply.exit)
            self.todo.clear()
            self.todo.extend(self.client.lost())

    # HTTP

    def post(self, send: Send) -> None:
        exchange = send.exchange
        assert exchange is not None
        assert send.head is not None
        self.log.note(Dir.C2S, Kind.HEAD, exchange=exchange, http=send.head)
        if send.data:
            self.log.note(Dir.C2S, Kind.BODY, send.data, exchange=exchange)
        reply = self.script.hear(Heard(send.data, 1, send.head))
        if reply.hang:
            self.held.add(exchange)
            return
        head = ResponseHead(reply.status, "", tuple(reply.http_headers()))
        body = reply.http_body()
        self.log.note(Dir.S2C, Kind.HEAD, exchange=exchange, http=head)
        if reply.is_stream:
            events = SseSplitter()
            for raw in (*events.feed(body), *events.finish()):
                self.log.note(Dir.S2C, Kind.SSE, raw, exchange=exchange)
        elif body:
            self.log.note(Dir.S2C, Kind.BODY, body, exchange=exchange)
        self.log.note(Dir.S2C, Kind.EVENT, exchange=exchange, event="abort" if reply.cut else "eof")
        self.todo.extend(self.client.http_head(exchange, head))
        self.todo.extend(self.client.http_data(exchange, body))
        self.todo.extend(self.client.http_end(exchange))


async def conform_in_memory(make: Make, kind: str, **options: object) -> ConformClient:
    """Every scenario against a client of this process."""

    async def play(script: Script, patience: float | None) -> Encounter:
        return Link(make(kind), kind, script).run()

    run = ConformClient(play, ClientPlan(kind, "the client", **options))  # type: ignore[arg-type]
    await run.run()
    return run


def findings(run: ConformClient) -> str:
    """What a run found, for the message of a failed test."""
    found = [
        f"{v.outcome} {v.requirement} [{v.scenario}] expected {v.expected}, actual {v.actual}"
        for peer in run.peers
        for v in peer.verdicts
        if v.is_finding
    ]
    return "\n".join(
        [*dict.fromkeys(found), *(json.dumps([trouble.where, trouble.text]) for trouble in run.ledger.troubles)]
    )
