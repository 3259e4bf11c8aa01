"""A server behind an HTTP address. Each request travels on a connection of its own, byte for byte as asked for."""

import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from urllib.parse import urlsplit

import anyio
import h11
from anyio.abc import ByteStream, TaskGroup

from mcpcheck.errors import PeerUnavailable, UsageError
from mcpcheck.transports.base import Limits, Log, Transport
from mcpcheck.wire.record import Dir, Kind, RequestHead, ResponseHead
from mcpcheck.wire.sse import SseSplitter

_CHUNK = 65536
_HEAD_LIMIT = 256 * 1024


@dataclass(frozen=True, slots=True)
class Address:
    """Where an endpoint is."""

    host: str
    port: int
    path: str
    tls: bool

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.tls else 80) else f"{host}:{self.port}"

    @classmethod
    def of(cls, url: str) -> "Address":
        """Read a URL; a UsageError says what is wrong with it."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise UsageError(f"{url!r} is no address: {error}") from None
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise UsageError(f"{url!r} is no http:// or https:// address; a command goes behind `--`")
        tls = parts.scheme == "https"
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return cls(parts.hostname, port or (443 if tls else 80), path, tls)


@dataclass(slots=True)
class _Reader:
    """What one exchange has heard so far."""

    exchange: int
    log: Log
    limits: Limits
    body: bytearray = field(default_factory=bytearray)
    events: SseSplitter | None = None
    heard: int = 0
    begun: bool = False
    done: bool = False

    def take(self, event: object) -> None:
        if isinstance(event, h11.Response):
            headers = tuple((k.decode("latin-1"), v.decode("latin-1")) for k, v in event.headers.raw_items())
            head = ResponseHead(event.status_code, event.reason.decode("latin-1"), headers)
            self.log.note(Dir.S2C, Kind.HEAD, exchange=self.exchange, http=head)
            media = next((v for k, v in event.headers if k == b"content-type"), b"")
            if media.partition(b";")[0].strip().lower() == b"text/event-stream":
                self.events = SseSplitter()
        elif isinstance(event, h11.Data):
            self._data(bytes(event.data))
        elif isinstance(event, h11.EndOfMessage):
            self.flush()
            self.done = True
            self.log.note(Dir.S2C, Kind.EVENT, exchange=self.exchange, event="eof")

    def _data(self, data: bytes) -> None:
        self.heard += len(data)
        if self.events is None:
            self.body += data
        else:
            for raw in self.events.feed(data):
                self.log.note(Dir.S2C, Kind.SSE, raw, exchange=self.exchange)

    def flush(self) -> None:
        """Note what is left when the body ends or breaks off."""
        if self.events is not None:
            for raw in self.events.finish():
                self.log.note(Dir.S2C, Kind.SSE, raw, exchange=self.exchange)
        elif self.body:
            self.log.note(Dir.S2C, Kind.BODY, bytes(self.body), exchange=self.exchange)
            self.body.clear()

    def broke(self, reason: str, dir: Dir = Dir.S2C) -> None:
        if not self.done:
            self.flush()
            self.done = True
            self.log.note(dir, Kind.EVENT, exchange=self.exchange, event="abort", reason=reason)


class HttpTransport(Transport):
    """Speaks HTTP/1.1 to one address."""

    kind = "http"

    def __init__(self, url: str, log: Log, limits: Limits, *, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(log, limits)
        self.address = Address.of(url)
        self.endpoint = self.address.path.partition("?")[0]
        self._tls = tls
        self._tasks: TaskGroup | None = None
        self._scopes: dict[int, anyio.CancelScope] = {}
        self._exchanges = 0

    async def __aenter__(self) -> "HttpTransport":
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._tasks
        self._tasks.cancel_scope.cancel()
        await self._tasks.__aexit__(None, None, None)

    @property
    def alive(self) -> bool:
        return True

    async def send_http(self, head: RequestHead, body: bytes) -> int:
        assert self._tasks
        self._exchanges += 1
        exchange = self._exchanges
        stream = await self._connect()
        self.log.note(Dir.C2S, Kind.HEAD, exchange=exchange, http=head)
        if body:
            self.log.note(Dir.C2S, Kind.BODY, body, exchange=exchange)
        self._scopes[exchange] = anyio.CancelScope()
        self._tasks.start_soon(self._run, exchange, stream, head, body)
        return exchange

    async def leave(self, exchange: int) -> None:
        scope = self._scopes.get(exchange)
        if scope is None:
            return
        scope.cancel()
        await self.log.until(lambda: exchange not in self._scopes, self.limits.connect)

    async def _connect(self) -> ByteStream:
        where = self.address
        try:
            with anyio.fail_after(self.limits.connect):
                if where.tls:
                    context = self._tls or ssl.create_default_context()
                    return await anyio.connect_tcp(
                        where.host,
                        where.port,
                        ssl_context=context,
                        tls_hostname=where.host,
                        tls_standard_compatible=False,
                    )
                return await anyio.connect_tcp(where.host, where.port)
        except ssl.SSLError as error:
            raise PeerUnavailable(f"TLS to {where.authority} failed: {error.reason or error}") from None
        except TimeoutError:
            raise PeerUnavailable(
                f"{where.authority} does not accept connections within {self.limits.connect:g} s"
            ) from None
        except OSError as error:
            raise PeerUnavailable(f"cannot connect to {where.authority}: {_reason(error)}") from None

    async def _run(self, exchange: int, stream: ByteStream, head: RequestHead, body: bytes) -> None:
        reader = _Reader(exchange, self.log, self.limits)
        with self._scopes[exchange]:
            try:
                await stream.send(head_bytes(head) + body)
                await self._receive(stream, head, reader)
            except h11.RemoteProtocolError as error:
                reader.broke(f"not HTTP/1.1, or cut short: {error}")
            except (OSError, anyio.BrokenResourceError, anyio.EndOfStream) as error:
                reader.broke(f"the connection broke: {error or type(error).__name__}")
        with anyio.CancelScope(shield=True):
            self._scopes.pop(exchange, None)
            reader.broke("the client closed the connection", Dir.C2S)
            with suppress(Exception):
                await anyio.aclose_forcefully(stream)

    async def _receive(self, stream: ByteStream, head: RequestHead, reader: _Reader) -> None:
        parser = h11.Connection(h11.CLIENT, max_incomplete_event_size=_HEAD_LIMIT)
        # The parser only has to know the method; what was really sent may be no request that it would let through.
        method = head.method if head.method in {"GET", "HEAD", "DELETE", "OPTIONS", "PUT"} else "POST"
        parser.send(h11.Request(method=method, target="/", headers=[("Host", "x"), ("Connection", "close")]))
        parser.send(h11.EndOfMessage())
        while not reader.done:
            event = parser.next_event()
            if event is h11.NEED_DATA:
                try:
                    chunk = await stream.receive(_CHUNK)
                except anyio.EndOfStream:
                    chunk = b""
                if not chunk and not reader.begun:
                    reader.broke("the server closed the connection without an answer")
                    return
                reader.begun = True
                parser.receive_data(chunk)
                if reader.heard > self.limits.session_bytes:
                    reader.broke(f"the server sent more than is read of one answer: {reader.heard} bytes")
            elif isinstance(event, h11.ConnectionClosed):
                reader.broke("the connection was closed before an answer came")
            else:
                reader.take(event)


def _reason(error: OSError) -> str:
    """Why a connection was not made, and what to look at."""
    cause = error.__cause__ or error
    if isinstance(cause, socket.gaierror):
        return f"{cause.strerror}. Is the name spelled right?"
    if isinstance(cause, ConnectionRefusedError):
        return "nothing listens there. Is the server running?"
    return f"{getattr(cause, 'strerror', None) or cause or 'it failed'}. Is the server running?"


def head_bytes(head: RequestHead) -> bytes:
    """A request head as it goes out, spelled as given."""
    lines = [f"{head.method} {head.path} HTTP/1.1", *(f"{name}: {value}" for name, value in head.headers), "", ""]
    return "\r\n".join(lines).encode("latin-1", "replace")
