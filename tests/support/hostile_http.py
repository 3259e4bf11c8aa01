"""HTTP servers that misbehave, each in one way: ``python hostile_http.py WAY``, with the address on standard error."""

import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

Way = Callable[[socket.socket, bytes], None]


def answer(status: str, body: bytes = b"", *headers: str) -> bytes:
    head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers, "", ""]
    return "\r\n".join(head).encode() + body


def not_found(peer: socket.socket, request: bytes) -> None:
    peer.sendall(answer("404 Not Found", b"nothing here", "Content-Type: text/plain"))


def error_page(peer: socket.socket, request: bytes) -> None:
    peer.sendall(answer("500 Internal Server Error", b"<html><h1>Oops</h1></html>", "Content-Type: text/html"))


def redirect(peer: socket.socket, request: bytes) -> None:
    peer.sendall(answer("307 Temporary Redirect", b"", "Location: http://127.0.0.1:9/mcp"))


def web_page(peer: socket.socket, request: bytes) -> None:
    peer.sendall(answer("200 OK", b"<html>Hello</html>", "Content-Type: text/html"))


def silence(peer: socket.socket, request: bytes) -> None:
    peer.recv(1)


def endless_stream(peer: socket.socket, request: bytes) -> None:
    peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
    while True:
        peer.sendall(b": still here\n\n" * 100)


def body_breaks_off(peer: socket.socket, request: bytes) -> None:
    peer.sendall(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"jsonrpc":"2.0",')


def garbage(peer: socket.socket, request: bytes) -> None:
    peer.sendall(b"\x00\x01\x02 this is no HTTP\r\n\r\n")


def hangs_up(peer: socket.socket, request: bytes) -> None:
    pass


def serve(way: Way) -> None:
    """Take connections for ever, each in a thread; what the client breaks is no matter."""
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}/mcp", file=sys.stderr, flush=True)

    def handle(peer: socket.socket) -> None:
        with peer, suppress(OSError):
            way(peer, peer.recv(65536))

    while True:
        threading.Thread(target=handle, args=(listener.accept()[0],), daemon=True).start()


WAYS: dict[str, Way] = {
    way.__name__.replace("_", "-"): way
    for way in (
        *(not_found, error_page, redirect, web_page, silence),
        *(endless_stream, body_breaks_off, garbage, hangs_up),
    )
}

if __name__ == "__main__":
    serve(WAYS[sys.argv[1]])
