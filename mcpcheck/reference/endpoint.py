"""The shell of the HTTP binding: sockets and HTTP/1.1 around ``HttpServer``."""

import contextlib
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import anyio  # noqa: TID251
import h11
from anyio.abc import SocketAttribute, SocketStream  # noqa: TID251

from mcpcheck.reference.http import HttpServer
from mcpcheck.reference.streams import HttpReply, Stream
from mcpcheck.wire.record import RequestHead

TICK = 0.05
"""How many seconds one step of slow work takes."""
BODY_LIMIT = 16 * 1024 * 1024
HEAD_LIMIT = 256 * 1024
GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)
"""What it looks like when the client has left."""


@dataclass(slots=True)
class Endpoint:
    """The listener, and what its connections have in common."""

    server: HttpServer
    changed: anyio.Event = field(default_factory=anyio.Event)

    async def run(self, host: str, port: int, listening: Callable[[str], None]) -> None:
        """Listen until a signal comes, then end what is open in good order."""
        listener = await anyio.create_tcp_listener(local_host=host, local_port=port, reuse_port=False)
        bound = listener.extra(SocketAttribute.local_port)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(listener.serve, self.connection))
            tasks.start_soon(self.tick)
            with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
                listening(f"http://{host}:{bound}{self.server.path}")
                async for _ in signals:
                    break
            self.server.shutdown()
            self.wake()
            await anyio.sleep(TICK)
            tasks.cancel_scope.cancel()

    def wake(self) -> None:
        """Streams may have something to write: let them look."""
        self.changed.set()
        self.changed = anyio.Event()

    async def tick(self) -> None:
        """Let slow work go on."""
        while True:
            if not self.server.busy:
                await self.changed.wait()
            else:
                await anyio.sleep(TICK)
                self.server.step()
                self.wake()

    async def connection(self, socket: SocketStream) -> None:
        """Serve one connection to its end."""
        async with socket:
            with contextlib.suppress(*GONE):
                await Connection(self, socket).serve()


class Connection:
    """One HTTP/1.1 connection: one request after another."""

    def __init__(self, endpoint: Endpoint, socket: SocketStream) -> None:
        self.endpoint = endpoint
        self.socket = socket
        self.http = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_LIMIT)

    async def serve(self) -> None:
        """Answer requests until the client leaves or breaks the rules of HTTP."""
        while True:
            try:
                request = await self.request()
            except h11.RemoteProtocolError as error:
                await self.refuse(error.error_status_hint)
                return
            if request is None:
                return
            reply = self.reply(*request)
            self.endpoint.wake()
            await self.answer(reply)
            if self.http.our_state is not h11.DONE or self.http.their_state is not h11.DONE:
                return
            self.http.start_next_cycle()

    def reply(self, head: RequestHead, body: bytes) -> HttpReply:
        """What the server answers; a fault of its own is one, and never the end of the process."""
        try:
            return self.endpoint.server.handle(head, body)
        except Exception:
            traceback.print_exc(file=sys.stderr)
            return HttpReply(500)

    async def request(self) -> tuple[RequestHead, bytes] | None:
        """The next request with its body; None where the client has left."""
        head: RequestHead | None = None
        body = bytearray()
        while True:
            event = self.http.next_event()
            if event is h11.NEED_DATA:
                await self.more()
            elif isinstance(event, h11.Request):
                head = _head(event)
            elif isinstance(event, h11.Data):
                body += event.data
                if len(body) > BODY_LIMIT:
                    raise h11.RemoteProtocolError("The body is too long", 413)
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                return head, bytes(body)
            else:
                return None

    async def more(self) -> None:
        """Read from the client what there is."""
        if self.http.they_are_waiting_for_100_continue:
            await self.send(h11.InformationalResponse(status_code=100, headers=[]))
        try:
            data = await self.socket.receive()
        except anyio.EndOfStream:
            data = b""
        self.http.receive_data(data)

    async def answer(self, reply: HttpReply) -> None:
        """Write an answer; a stream is written for as long as it is open."""
        headers = [(name.encode(), value.encode()) for name, value in reply.headers]
        if reply.stream is None:
            headers.append((b"Content-Length", str(len(reply.body)).encode()))
            await self.send(h11.Response(status_code=reply.status, headers=headers))
            await self.send(h11.Data(data=reply.body))
            await self.send(h11.EndOfMessage())
            return
        try:
            await self.send(h11.Response(status_code=reply.status, headers=headers))
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self.watch, tasks.cancel_scope)
                await self.stream(reply.stream)
                tasks.cancel_scope.cancel()
        finally:
            self.endpoint.server.disconnected(reply.stream)
            self.endpoint.wake()

    async def stream(self, stream: Stream) -> None:
        """Write events as they come."""
        with contextlib.suppress(*GONE):
            while stream.left or not stream.ended:
                changed = self.endpoint.changed
                for event in stream.take():
                    await self.send(h11.Data(data=event))
                if not stream.left and not stream.ended:
                    await changed.wait()
            await self.send(h11.EndOfMessage())

    async def watch(self, scope: anyio.CancelScope) -> None:
        """Wait for the client to leave; what it sends meanwhile is its next request."""
        while True:
            try:
                data = await self.socket.receive()
            except GONE:
                scope.cancel()
                return
            self.http.receive_data(data)

    async def refuse(self, status: int) -> None:
        """Answer what is not HTTP."""
        if self.http.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            headers = [(b"Content-Length", b"0"), (b"Connection", b"close")]
            await self.send(h11.Response(status_code=status, headers=headers))
            await self.send(h11.EndOfMessage())

    async def send(self, event: h11.Event) -> None:
        """Write one event of HTTP."""
        data = self.http.send(event)
        if data:
            await self.socket.send(data)


def _head(request: h11.Request) -> RequestHead:
    headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw_items())
    return RequestHead(request.method.decode("latin-1"), request.target.decode("latin-1"), headers)
