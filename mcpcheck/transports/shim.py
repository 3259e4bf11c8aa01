"""The server's side of a client under test on stdio: relays its standard streams to the tester over loopback.

``python shim.py HOST:PORT:TOKEN``. It is started by the client, perhaps in another folder and with another environment
than mcpcheck's own, and it has to be there at once: the standard library only, and nothing of the package.

Over the socket go frames: one letter, four bytes of length, the payload. From here: ``h`` the token and the process
id, ``i`` input, ``e`` its end, ``s`` the number of a signal. To here: ``o`` output, ``r`` standard error, ``k`` stay
whatever happens (end of input, SIGTERM), ``x`` exit with this code. A socket that closes ends the process.
"""

import os
import select
import signal
import socket
import struct
import sys

HEAD = struct.Struct(">cI")
CHUNK = 65536


class Shim:
    """One process that the client takes for its server."""

    def __init__(self, address: str) -> None:
        host, port, token = address.rsplit(":", 2)
        self.wire = socket.create_connection((host, int(port)), timeout=10)
        self.wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.wire.settimeout(None)
        self.buffer = bytearray()
        self.out = {1: bytearray(), 2: bytearray()}
        self.reading = True
        self.stubborn = False
        self.leaving: int | None = None
        self.signals: list[int] = []
        self.wake, wake = os.pipe()
        os.set_blocking(self.wake, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda number, frame: self.signals.append(number))
        for fd in self.out:
            os.set_blocking(fd, False)
        self.tell(b"h", f"{token} {os.getpid()}".encode())

    def tell(self, kind: bytes, payload: bytes = b"") -> None:
        """Send a frame to the tester."""
        self.wire.sendall(HEAD.pack(kind, len(payload)) + payload)

    def run(self) -> int:
        """Relay until the tester says to exit or is gone."""
        while True:
            if self.leaving is not None and not any(self.out.values()):
                return self.leaving
            sources = [self.wire.fileno(), self.wake, *([0] if self.reading else [])]
            full = [fd for fd, data in self.out.items() if data]
            ready, writable, _ = select.select(sources, full, [])
            if 0 in ready:
                self.take_input()
            if self.wake in ready:
                self.take_signals()
            for fd in writable:
                self.write(fd)
            if self.wire.fileno() in ready and not self.take_frames():
                return 0

    def take_input(self) -> None:
        """Pass on what the client wrote, or that it closed the stream."""
        try:
            data = os.read(0, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.reading = bool(data)
        self.tell(b"i" if data else b"e", data)

    def take_signals(self) -> None:
        """Pass on which signals came; a process that is not stubborn dies of them."""
        os.read(self.wake, 4096)
        while self.signals:
            number = self.signals.pop(0)
            self.tell(b"s", bytes([number]))
            if not self.stubborn:
                signal.signal(number, signal.SIG_DFL)
                os.kill(os.getpid(), number)

    def take_frames(self) -> bool:
        """Do what the tester says; False when it is gone."""
        try:
            data = self.wire.recv(CHUNK)
        except OSError:
            data = b""
        self.buffer += data
        while len(self.buffer) >= HEAD.size:
            kind, length = HEAD.unpack_from(self.buffer)
            if len(self.buffer) < HEAD.size + length:
                break
            payload = bytes(self.buffer[HEAD.size : HEAD.size + length])
            del self.buffer[: HEAD.size + length]
            self.obey(kind, payload)
        return bool(data)

    def obey(self, kind: bytes, payload: bytes) -> None:
        """One frame of the tester."""
        if kind == b"o":
            self.out[1] += payload
        elif kind == b"r":
            self.out[2] += payload
        elif kind == b"k":
            self.stubborn = True
        elif kind == b"x":
            self.leaving = payload[0]
            self.stubborn = False

    def write(self, fd: int) -> None:
        """As much of the output as the client takes now."""
        try:
            written = os.write(fd, self.out[fd])
        except BlockingIOError:
            return
        except OSError:
            written = len(self.out[fd])
        del self.out[fd][:written]


def main() -> None:
    """Run as the process that the client starts."""
    try:
        code = Shim(sys.argv[1]).run()
    except (OSError, IndexError, ValueError) as error:
        print(f"mcpcheck shim: {error}", file=sys.stderr)
        code = 1
    os._exit(code)


if __name__ == "__main__":
    main()
