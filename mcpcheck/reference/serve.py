"""The reference server as a process: lines on stdin and stdout, or HTTP on a port."""

import os
import secrets
import select
import sys
import time  # noqa: TID251
from collections.abc import Callable, Sequence
from functools import partial

from mcpcheck.reference.http import LOOPBACK, HttpServer
from mcpcheck.reference.server import Server
from mcpcheck.wire.framing import LineSplitter
from mcpcheck.wire.protocol import REVISIONS

TICK = 0.05
"""How many seconds one step of slow work takes."""

# stdio


def serve_stdio(server_class: type[Server] = Server, revisions: Sequence[str] = REVISIONS) -> None:
    """Serve one connection on stdin and stdout until stdin ends."""
    server = server_class(revisions, now=time.time)
    lines = LineSplitter()
    try:
        _write(server.opened())
        while chunk := _read(server):
            for line in lines.feed(chunk):
                _write(server.receive(line.data))
        for line in lines.finish():
            _write(server.receive(line.data))
        _write(server.closed())
        while server.lingers():
            time.sleep(TICK)
    except BrokenPipeError:
        os._exit(0)


def _read(server: Server) -> bytes:
    """The next bytes of stdin; slow work goes on while none are there."""
    while server.busy and not select.select([0], [], [], TICK)[0]:
        _write(server.step())
    return os.read(0, 65536)


def _write(messages: list[bytes]) -> None:
    data = memoryview(b"".join(message + b"\n" for message in messages))
    while data:
        data = data[os.write(1, data) :]


# HTTP


def serve_http(
    server_class: type[Server] | type[HttpServer] = Server,
    port: int = 0,
    *,
    host: str = "127.0.0.1",
    revisions: Sequence[str] = REVISIONS,
    listening: Callable[[str], None] | None = None,
) -> None:
    """Serve an endpoint over HTTP until a signal comes; ``listening`` is told its URL."""
    import anyio  # noqa: TID251

    from mcpcheck.reference.endpoint import Endpoint

    hosts = LOOPBACK if host in LOOPBACK else None
    new_id = partial(secrets.token_urlsafe, 24)
    if issubclass(server_class, HttpServer):
        server = server_class(None, revisions, hosts=hosts, now=time.time, new_id=new_id)
    else:
        server = HttpServer(server_class, revisions, hosts=hosts, now=time.time, new_id=new_id)
    anyio.run(Endpoint(server).run, host, port, listening or _say_listening)


def _say_listening(url: str) -> None:
    print(f"listening on {url}", file=sys.stderr, flush=True)
