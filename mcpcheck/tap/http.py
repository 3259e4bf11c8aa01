"""The tap over HTTP: a reverse proxy on this machine, which passes bytes on as they come and notes them afterwards.

Each connection of a client has one of its own to the target. Requests are read as far as it takes to know where each
begins, since its Host has to name the target; answers are passed on unread.
"""

import asyncio
import contextlib
import json
import os
import signal
import ssl
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from mcpcheck.errors import UsageError
from mcpcheck.tap.begin import head as first_line
from mcpcheck.tap.begin import place
from mcpcheck.tap.http_transcript import HttpTranscript, Missed, Noted
from mcpcheck.tap.recorder import Recorder
from mcpcheck.wire.http import Broken, Data, End, Head, RequestReader
from mcpcheck.wire.record import RequestHead, header

RECORDER_PATIENCE = 2.0
CONNECT = 10.0
"""Seconds that the target has to take a connection."""

SWITCH = 0.0002
"""Seconds after which the recorder's thread lets the session's go on: it is never far from its next turn."""

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Target:
    """Where requests go: a URL of which scheme, host and port count."""

    def __init__(self, url: str) -> None:
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise UsageError(f"{url!r} is no address: {error}") from None
        if not parts.hostname:
            raise UsageError(f"{url!r} names no host; write http://HOST:PORT/PATH")
        self.url = url
        self.host = parts.hostname
        self.tls = parts.scheme == "https"
        self.port = port or (443 if self.tls else 80)
        name = f"[{self.host}]" if ":" in self.host else self.host
        self.authority = name if port is None else f"{name}:{port}"
        self.path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def run(url: str, out: str | None, listen: str | None) -> None:
    """Tap the server behind a URL until a signal ends it."""
    target = Target(url)
    host, port = listen_address(listen)
    started = time.time()
    path = place(out, started, target.host)
    first = first_line(started, "http", {"url": url})
    sys.setswitchinterval(SWITCH)
    recorder = Recorder(lambda: (path, HttpTranscript(first)))
    notes = recorder.source("http", Missed)
    recorder.start()
    try:
        asyncio.run(serve(target, host, port, lambda item: notes.note(item, len(item.data)), path))
    finally:
        recorder.close(RECORDER_PATIENCE)
        if warning := recorder.warning():
            say(warning)


def listen_address(text: str | None) -> tuple[str, int]:
    """HOST:PORT; by default 127.0.0.1 and a port that is free."""
    if text is None:
        return "127.0.0.1", 0
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"--listen {text!r} is no HOST:PORT; write --listen 127.0.0.1:8001")
    return host.strip("[]") or "127.0.0.1", int(port)


async def serve(target: Target, host: str, port: int, note: Callable[[Noted], None], path: str) -> None:
    """Listen, say where, and go on until SIGTERM, SIGINT or SIGHUP."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, ended.set)
    gate = Gate(host)
    tap = Tap(target, gate, note)
    try:
        server = await loop.create_server(tap.client, host, port)
    except OSError as error:
        raise UsageError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    name = f"[{host}]" if ":" in host else host
    here = f"http://{name}:{server.sockets[0].getsockname()[1]}{target.path}"
    say(f"{here} -> {target.url}, recording to {path}")
    await ended.wait()
    server.close()
    tap.close()
    await asyncio.sleep(0)  # let the transports close


class Gate:
    """Who may speak to the tap: not a web page of another origin, nor under a name that was rebound to this machine."""

    def __init__(self, host: str) -> None:
        self._names = _LOOPBACK | {host}
        self._any = host in {"0.0.0.0", "::"}

    def refusal(self, head: RequestHead) -> str | None:
        """Why a request is not let in; None where it is."""
        name = header(head, "host") or ""
        if not self._any and _host_of(f"//{name}") not in self._names:
            return f"the Host {name!r} is not this tap"
        origin = header(head, "origin")
        if origin is not None and _host_of(origin) not in self._names:
            return f"the Origin {origin!r} is foreign"
        return None


def _host_of(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


class Tap:
    """All connections of one tap."""

    def __init__(self, target: Target, gate: Gate, note: Callable[[Noted], None]) -> None:
        self.target = target
        self.gate = gate
        self.note = note
        self.context = ssl.create_default_context() if target.tls else None
        self.connections = 0
        self.exchanges = 0
        self._clients: set[Client] = set()

    def client(self) -> "Client":
        """A new connection of a client."""
        self.connections += 1
        made = Client(self, self.connections)
        self._clients.add(made)
        return made

    def forget(self, client: "Client") -> None:
        self._clients.discard(client)

    def close(self) -> None:
        for client in list(self._clients):
            client.close()

    async def connect(self, make: Callable[[], "Upstream"]) -> None:
        """Open a connection to the target; raises OSError or TimeoutError."""
        loop = asyncio.get_running_loop()
        target = self.target
        name = target.host if target.tls else None
        opening = loop.create_connection(make, target.host, target.port, ssl=self.context, server_hostname=name)
        async with asyncio.timeout(CONNECT):
            await opening


class Side(asyncio.Protocol):
    """One of the two connections. ``other`` is the one that its bytes go to."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.other: Side | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def pause_writing(self) -> None:
        """This side is slow to take: the other is not read until it has caught up."""
        if self.other and self.other.transport:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other and self.other.transport:
            self.other.transport.resume_reading()

    def write(self, data: bytes) -> None:
        if self.transport and not self.transport.is_closing():
            self.transport.write(data)

    def shut(self) -> None:
        """Close, once what was written has gone out."""
        if self.transport:
            self.transport.close()


class Upstream(Side):
    """The connection to the target. Its bytes go to the client first, and are noted second."""

    def __init__(self, client: "Client") -> None:
        super().__init__()
        self.other = self.client = client

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.client.reached(self)

    def data_received(self, data: bytes) -> None:
        self.client.write(data)
        self.client.noted("answer", data=data)

    def connection_lost(self, error: Exception | None) -> None:
        self.client.server_left(error)


class Client(Side):
    """The connection of a client."""

    def __init__(self, tap: Tap, number: int) -> None:
        super().__init__()
        self._tap = tap
        self._number = number
        self._reader: RequestReader | None = RequestReader()
        self._exchange = 0
        self._upstream: Upstream | None = None
        self._waiting: list[bytes] = []  # what is to go to the target once it is reached
        self._connecting: asyncio.Task[None] | None = None
        self._over = False

    def noted(self, what: str, **more: Any) -> None:
        self._tap.note(Noted(self._number, what, **more))

    def data_received(self, data: bytes) -> None:
        if self._over:
            return
        if self._reader is None:  # something else than HTTP since an Upgrade
            self._forward(data)
            return
        for part in self._reader.feed(data):
            match part:
                case Head(head=head, raw=raw):
                    assert isinstance(head, RequestHead)
                    self._begin(head, raw)
                case Data(data=body, raw=raw):
                    self._forward(raw)
                    self.noted("body", exchange=self._exchange, data=body)
                case End(raw=raw):
                    self._forward(raw)
                    self.noted("end", exchange=self._exchange)
                case Broken(reason=reason):
                    self._refuse(400, f"this is no request: {reason}")
            if self.over:
                return

    @property
    def over(self) -> bool:
        """Whether nothing more is passed on."""
        return self._over

    def _begin(self, head: RequestHead, raw: bytes) -> None:
        why = self._tap.gate.refusal(head)
        if why is not None:
            self._refuse(403, why)
            return
        self._tap.exchanges += 1
        self._exchange = self._tap.exchanges
        self._forward(with_host(raw, self._tap.target.authority))
        self.noted("request", exchange=self._exchange, head=head)
        if header(head, "upgrade") is not None:
            self._reader = None

    def _forward(self, data: bytes) -> None:
        if not data:
            return
        if self._upstream is not None:
            self._upstream.write(data)
            return
        self._waiting.append(data)
        if self._connecting is None:
            assert self.transport
            self._connecting = asyncio.get_running_loop().create_task(self._connect())
        elif sum(map(len, self._waiting)) > 1 << 20 and self.transport:
            self.transport.pause_reading()

    async def _connect(self) -> None:
        try:
            await self._tap.connect(partial(Upstream, self))
        except (OSError, TimeoutError) as error:
            reason = getattr(error, "strerror", None) or str(error) or "it takes no connection"
            if not self._over:
                self.noted("down", reason=f"no connection to the target: {reason}")
                self._refuse(502, f"cannot connect to {self._tap.target.url}: {reason}")

    def reached(self, upstream: Upstream) -> None:
        """The target has taken the connection."""
        if self._over:
            upstream.shut()
            return
        self.other = self._upstream = upstream
        for data in self._waiting:
            upstream.write(data)
        self._waiting.clear()
        if self.transport:
            self.transport.resume_reading()

    def server_left(self, error: Exception | None) -> None:
        """The target has closed: so does this side, once all has been passed on."""
        if self._over:
            return
        self._over = True
        self.noted("gone", reason=f"the connection to the server broke: {error}" if error else "")
        self.shut()

    def connection_lost(self, error: Exception | None) -> None:
        """The client has left: the target is told at once."""
        self._tap.forget(self)
        if not self._over:
            self._over = True
            self.noted("left", reason="the client closed the connection")
        if self._upstream is not None and self._upstream.transport:
            self._upstream.transport.abort() if error else self._upstream.shut()
        elif self._connecting is not None:
            self._connecting.cancel()

    def close(self) -> None:
        """The tap ends."""
        if self._upstream is not None:
            self._upstream.shut()
        self.shut()

    def _refuse(self, status: int, why: str) -> None:
        """Answer in the target's place, and close."""
        self._over = True
        reasons = {400: "Bad Request", 403: "Forbidden", 502: "Bad Gateway"}
        body = json.dumps({"error": f"mcpcheck tap: {why}"}).encode()
        head = (
            f"HTTP/1.1 {status} {reasons[status]}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        self.write(head.encode() + body)
        if self._upstream is not None:
            self._upstream.shut()
        self.shut()


def with_host(raw: bytes, authority: str) -> bytes:
    """A request's head with the target's name in Host; all else as it was sent."""
    lines = raw.split(b"\r\n")
    for at, line in enumerate(lines):
        name, colon, _ = line.partition(b":")
        if colon and at and name.strip().lower() == b"host":
            lines[at] = name + b": " + authority.encode("latin-1", "replace")
    return b"\r\n".join(lines)


def say(text: str) -> None:
    """One line on standard error."""
    with contextlib.suppress(OSError):
        os.write(sys.stderr.fileno(), f"mcpcheck tap: {text}\n".encode("utf-8", "replace"))
