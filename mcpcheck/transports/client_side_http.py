"""The scripted server on HTTP: a small listener on loopback that answers each exchange as its script says."""

from types import TracebackType

import anyio
import h11
from anyio.abc import SocketAttribute, SocketStream, TaskGroup

from mcpcheck.transports.client_side import ENDPOINT, Heard, Meeting, Reception, Reply
from mcpcheck.wire.record import Dir, Kind, RequestHead, ResponseHead
from mcpcheck.wire.sse import SseSplitter

_CHUNK = 65536
_BODY_LIMIT = 16 * 2**20
_SETTLE = 0.5


class HttpListener:
    """Listens on a port of its own; an asynchronous context manager. All exchanges of a run are one meeting."""

    def __init__(self, reception: Reception) -> None:
        self._reception = reception
        self._tasks: TaskGroup | None = None
        self._meeting: Meeting | None = None
        self._exchanges = 0
        self.open = 0
        self.url = ""

    async def __aenter__(self) -> "HttpListener":
        self._listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
        port = self._listener.extra(SocketAttribute.local_port)
        self.url = f"http://127.0.0.1:{port}{ENDPOINT}"
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        self._tasks.start_soon(self._listener.serve, self._serve)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._tasks
        self._tasks.cancel_scope.cancel()
        await self._tasks.__aexit__(None, None, None)
        await self._listener.aclose()

    async def settle(self) -> None:
        """The client is gone: take in what it sent last."""
        await self._reception.until(lambda: not self.open, _SETTLE)

    @property
    def meeting(self) -> Meeting:
        """The session, which begins with the first request."""
        if self._meeting is None:
            self._meeting = self._reception.meeting("http")
        return self._meeting

    def number(self) -> int:
        """The number of the next exchange."""
        self._exchanges += 1
        return self._exchanges

    async def _serve(self, stream: SocketStream) -> None:
        self.open += 1
        try:
            async with stream:
                await _Connection(self, self._reception, stream).run()
        except (OSError, anyio.BrokenResourceError, anyio.EndOfStream, h11.LocalProtocolError):
            return
        finally:
            self.open -= 1
            self._reception.stir()


class _Left(Exception):
    """The client closed the connection."""


class _Connection:
    """One TCP connection and the exchanges on it, one after the other."""

    def __init__(self, listener: HttpListener, reception: Reception, stream: SocketStream) -> None:
        self._listener = listener
        self._reception = reception
        self._stream = stream
        self._h11 = h11.Connection(h11.SERVER, max_incomplete_event_size=2**20)

    async def run(self) -> None:
        """Serve until either side closes."""
        while True:
            try:
                event = await self._next()
            except (_Left, h11.RemoteProtocolError):
                return
            if not isinstance(event, h11.Request):
                return
            await self._exchange(event)
            if self._h11.our_state is not h11.DONE or self._h11.their_state is not h11.DONE:
                return
            self._h11.start_next_cycle()

    async def _next(self) -> object:
        while True:
            if self._h11.they_are_waiting_for_100_continue:
                await self._send(h11.InformationalResponse(status_code=100, headers=[]))
            event = self._h11.next_event()
            if event is not h11.NEED_DATA:
                return event
            try:
                data = await self._stream.receive(_CHUNK)
            except (anyio.EndOfStream, anyio.BrokenResourceError, OSError):
                data = b""
            if not data and self._h11.their_state is not h11.SEND_BODY:
                raise _Left
            self._h11.receive_data(data)

    async def _send(self, event: h11.Event) -> None:
        data = self._h11.send(event)
        if data:
            await self._stream.send(data)

    async def _exchange(self, request: h11.Request) -> None:
        number, meeting = self._listener.number(), self._listener.meeting
        log = meeting.log
        headers = tuple((key.decode("latin-1"), value.decode("latin-1")) for key, value in request.headers.raw_items())
        head = RequestHead(request.method.decode("latin-1"), request.target.decode("latin-1"), headers)
        log.note(Dir.C2S, Kind.HEAD, exchange=number, http=head)
        self._reception.stir()
        body = bytearray()
        try:
            while isinstance(event := await self._next(), h11.Data) and len(body) < _BODY_LIMIT:
                body += event.data
        except (_Left, h11.RemoteProtocolError):
            log.note(Dir.C2S, Kind.EVENT, exchange=number, event="abort", reason="the request broke off")
            return
        if body:
            log.note(Dir.C2S, Kind.BODY, bytes(body), exchange=number)
        self._reception.stir()
        await self._answer(number, self._reply(head, bytes(body)))
        self._reception.stir()

    def _reply(self, head: RequestHead, body: bytes) -> Reply:
        if head.path.partition("?")[0] != ENDPOINT:
            return Reply(status=404)
        return self._reception.hear(Heard(body, 1, head))

    async def _answer(self, number: int, reply: Reply) -> None:
        log = self._listener.meeting.log
        if reply.hang and not reply.messages:
            await self._hold(number)
            return
        body = reply.http_body()
        headers = [*reply.http_headers(), *([] if reply.is_stream else [("Content-Length", str(len(body)))])]
        head = h11.Response(
            status_code=reply.status,
            headers=[(key.encode("latin-1"), value.encode("latin-1")) for key, value in headers],
            reason=b"",
        )
        # Noted before it is written: the client may act on it before this task goes on.
        log.note(Dir.S2C, Kind.HEAD, exchange=number, http=ResponseHead(reply.status, "", tuple(headers)))
        self._note_body(number, reply, body)
        if not reply.cut:
            log.note(Dir.S2C, Kind.EVENT, exchange=number, event="eof")
        try:
            await self._send(head)
            if body:
                await self._send(h11.Data(data=body))
            if reply.cut:
                log.note(Dir.S2C, Kind.EVENT, exchange=number, event="abort", reason="the script broke it off")
                await anyio.aclose_forcefully(self._stream)
                return
            await self._send(h11.EndOfMessage())
        except (OSError, anyio.BrokenResourceError):
            log.note(Dir.C2S, Kind.EVENT, exchange=number, event="abort", reason="the client closed the connection")
            raise

    def _note_body(self, number: int, reply: Reply, body: bytes) -> None:
        log = self._listener.meeting.log
        if reply.is_stream:
            events = SseSplitter()
            for raw in (*events.feed(body), *events.finish()):
                log.note(Dir.S2C, Kind.SSE, raw, exchange=number)
        elif body:
            log.note(Dir.S2C, Kind.BODY, body, exchange=number)

    async def _hold(self, number: int) -> None:
        """Say nothing until the client leaves."""
        meeting = self._listener.meeting
        meeting.waiting += 1
        try:
            while await self._stream.receive(_CHUNK):
                pass
        except (anyio.EndOfStream, anyio.BrokenResourceError, OSError):
            meeting.log.note(
                Dir.C2S, Kind.EVENT, exchange=number, event="abort", reason="the client closed the connection"
            )
        finally:
            meeting.waiting -= 1
            self._reception.stir()
        raise anyio.EndOfStream
