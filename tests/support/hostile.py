"""Servers on stdio that misbehave, each in one way: ``python hostile.py WAY``."""

import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from mcpcheck.reference.server import Server


def write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def lines() -> Any:
    return iter(sys.stdin.buffer.readline, b"")


def serve(answer: Callable[[Server, bytes], list[bytes]]) -> None:
    """The reference server, each answer of which goes through ``answer``."""
    server = Server()
    for line in lines():
        for out in answer(server, line.rstrip(b"\n")):
            write(out)


def good(server: Server, line: bytes) -> list[bytes]:
    return [out + b"\n" for out in server.receive(line)]


def never_answers() -> None:
    for _ in lines():
        pass


def half_a_line() -> None:
    for _ in lines():
        write(b'{"jsonrpc":"2.0","id":')


def floods() -> None:
    chunk = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n' * 500
    while True:
        write(chunk)


def floods_one_line() -> None:
    while True:
        write(b"x" * 65536)


def endless_pages() -> None:
    def answer(server: Server, line: bytes) -> list[bytes]:
        message = json.loads(line)
        if message.get("method") != "tools/list":
            return good(server, line)
        result = {"resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "public", "nextCursor": "more"}
        return [json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": result}).encode() + b"\n"]

    serve(
        lambda server, line: (
            answer(server, line) if line.startswith(b"{") and b"tools/list" in line else good(server, line)
        )
    )


def exits_at_once() -> None:
    print("no configuration found", file=sys.stderr)
    sys.exit(3)


def banner() -> None:
    write(b"Welcome to my server!\n")
    serve(good)


def answers_twice() -> None:
    serve(lambda server, line: [out for out in good(server, line) for _ in range(2)])


def closes_stdout() -> None:
    server = Server()
    for number, line in enumerate(lines()):
        if number == 3:
            os.close(1)
        if number < 3:
            for out in good(server, line):
                write(out)


def dies_after_three() -> None:
    server = Server()
    for number, line in enumerate(lines()):
        if number == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        for out in good(server, line):
            write(out)


def ignores_sigterm() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    serve(good)
    while True:
        signal.pause()


def grandchild_holds_the_pipe() -> None:
    if os.fork() == 0:
        signal.pause()
        os._exit(0)
    serve(good)


WAYS = {name.replace("_", "-"): way for name, way in list(globals().items()) if callable(way) and name[0] != "_"}

if __name__ == "__main__":
    WAYS[sys.argv[1]]()
