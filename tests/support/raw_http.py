"""A TCP server whose every connection a test scripts, and what a test needs to speak raw HTTP to a tap."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from urllib.parse import urlsplit

Script = Callable[[socket.socket], None]
PATIENCE = 15.0


class RawServer:
    """Listens on loopback; each connection runs the script in a thread. ``left`` is set when a client has gone."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/mcp"
        self._peers: list[socket.socket] = []
        self.left = threading.Event()
        self.heads: list[bytes] = []

    def __enter__(self) -> "RawServer":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()
        for peer in self._peers:
            with suppress(OSError):
                peer.shutdown(socket.SHUT_RDWR)
            peer.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                peer, _ = self._listener.accept()
                peer.settimeout(PATIENCE)
                self._peers.append(peer)
                threading.Thread(target=self._run, args=(peer,), daemon=True).start()

    def _run(self, peer: socket.socket) -> None:
        with suppress(OSError), peer:
            self._script(peer)

    def take(self, peer: socket.socket) -> bytes:
        """Read one request whose body has a Content-Length; its bytes."""
        head, rest = read_head(peer)
        self.heads.append(head)
        return head + read_body(peer, head, rest)

    def wait_for_leave(self, peer: socket.socket) -> None:
        """Wait until the client closes, and say so."""
        with suppress(ConnectionError):
            while peer.recv(65536):
                pass
        self.left.set()


def read_head(peer: socket.socket) -> tuple[bytes, bytes]:
    """A head, and what came behind it."""
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = peer.recv(65536)
        if not chunk:
            raise ConnectionError(f"closed after {data!r}")
        data += chunk
    head, _, rest = data.partition(b"\r\n\r\n")
    return head + b"\r\n\r\n", rest


def read_body(peer: socket.socket, head: bytes, rest: bytes) -> bytes:
    """A body whose length the head says, of which ``rest`` is there."""
    length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
    parts, have = [rest], len(rest)
    while have < length:
        chunk = peer.recv(1 << 20)
        if not chunk:
            raise ConnectionError("closed in the middle of a body")
        parts.append(chunk)
        have += len(chunk)
    return b"".join(parts)


def connect(url: str) -> socket.socket:
    """A connection to where a URL points."""
    parts = urlsplit(url)
    assert parts.hostname
    assert parts.port
    return socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE)


def post(body: bytes = b"{}", *fields: str, path: str = "/mcp", host: str = "127.0.0.1", method: str = "POST") -> bytes:
    """A request as bytes."""
    head = [f"{method} {path} HTTP/1.1", f"Host: {host}", f"Content-Length: {len(body)}", *fields, "", ""]
    return "\r\n".join(head).encode() + body


def answer(body: bytes = b"{}", *fields: str, status: str = "200 OK") -> bytes:
    """An answer as bytes."""
    return "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *fields, "", ""]).encode() + body


def read_all(peer: socket.socket) -> bytes:
    """Everything until the other side closes."""
    parts = []
    with suppress(ConnectionError):
        while chunk := peer.recv(1 << 20):
            parts.append(chunk)
    return b"".join(parts)
