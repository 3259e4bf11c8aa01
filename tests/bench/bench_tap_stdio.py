"""What the tap costs a session on stdio: round trips and pipelined messages, with and without it.

    python tests/bench/bench_tap_stdio.py [ROUNDS]

The variants run one after the other, in an order drawn anew for each round: ``direct`` without anything between client
and server, ``naive`` with the script that comes to mind (a thread for each direction, one line at a time), ``tap``.
Prints medians over the rounds, and what each adds to ``direct``. Whether the capture is complete is looked at, too.
"""

import contextlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

TRIPS, WARM = 2000, 200
PIPELINED = 50_000
LARGE = 50
SERVER = [sys.executable, "-I", "-S", __file__, "--server"]


def message(number: int, size: int) -> bytes:
    """A call of about this many bytes."""
    head = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"text":"' % number
    return head + b"x" * max(0, size - len(head) - 5) + b'"}}}\n'


def put(fd: int, data: bytes) -> None:
    """Write all of it."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def serve() -> None:
    """Answer each line with itself."""
    while data := os.read(0, 1 << 16):
        put(1, data)


def naive(log: str, command: list[str]) -> int:
    """The tap that one writes in five minutes."""
    file, lock = open(log, "ab"), threading.Lock()  # noqa: SIM115
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None
    assert child.stdout is not None

    def copy(source: object, sink: object, tag: str) -> None:
        for line in iter(source.readline, b""):  # type: ignore[attr-defined]
            sink.write(line)  # type: ignore[attr-defined]
            sink.flush()  # type: ignore[attr-defined]
            entry = {"t": time.time(), "dir": tag, "line": line.decode("utf-8", "replace")}
            with lock:
                file.write(json.dumps(entry).encode() + b"\n")
                file.flush()
        sink.close()  # type: ignore[attr-defined]

    up = threading.Thread(target=copy, args=(sys.stdin.buffer, child.stdin, "c2s"))
    up.start()
    copy(child.stdout, sys.stdout.buffer, "s2c")
    up.join()
    return child.wait()


def variants(log: str) -> dict[str, list[str]]:
    """The command of each variant."""
    mcpcheck = str(Path(sys.executable).with_name("mcpcheck"))
    return {
        "direct": SERVER,
        "naive": [sys.executable, __file__, "--naive", log, *SERVER],
        "tap": [mcpcheck, "tap", "-o", log, "--", *SERVER],
    }


@contextlib.contextmanager
def session(command: list[str]) -> Iterator[tuple[int, int]]:
    """The two ends of a running server."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdin.fileno(), process.stdout.fileno()
        finally:
            process.stdin.close()
            process.wait(60)


def take(fd: int, count: int) -> None:
    """Read so many bytes."""
    while count:
        data = os.read(fd, min(count, 1 << 18))
        if not data:
            raise EOFError(f"{count} bytes are missing")
        count -= len(data)


def trips(command: list[str]) -> dict[str, float]:
    """Microseconds of a round trip, one after the other."""
    took = []
    with session(command) as (there, back):
        for number in range(TRIPS + WARM):
            data = message(number, 160)
            start = time.perf_counter()
            put(there, data)
            take(back, len(data))
            took.append((time.perf_counter() - start) * 1e6)
    took = sorted(took[WARM:])
    return {"p50 us": took[len(took) // 2], "p99 us": took[len(took) * 99 // 100]}


def flood(command: list[str], count: int, size: int) -> float:
    """Messages a second, all sent without waiting for an answer."""
    with session(command) as (there, back):
        put(there, message(0, 160))
        take(back, len(message(0, 160)))
        blocks = [b"".join(message(at, size) for at in range(start, start + 100)) for start in range(1, count, 100)]
        sender = threading.Thread(target=put, args=(there, b"".join(blocks)))
        start = time.perf_counter()
        sender.start()
        take(back, sum(map(len, blocks)))
        took = time.perf_counter() - start
        sender.join()
    return len(blocks) * 100 / took


def measured(rounds: int, measure: Callable[[list[str]], dict[str, float]], lines: int) -> dict[str, dict[str, float]]:
    """The median of each figure for each variant."""
    found: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        for _ in range(rounds):
            commands = variants(log)
            for name in random.sample(list(commands), len(commands)):
                with contextlib.suppress(FileNotFoundError):
                    os.remove(log)
                for figure, value in measure(commands[name]).items():
                    found.setdefault(name, {}).setdefault(figure, []).append(value)
                if name == "tap":
                    with open(log, "rb") as file:
                        kept = sum(1 for line in file if b'"msg":' in line)
                    assert kept == lines, f"{kept} of {lines} messages are in the capture"
    return {name: {figure: statistics.median(v) for figure, v in figures.items()} for name, figures in found.items()}


def main(rounds: int) -> None:
    """Measure and print."""
    print(f"{rounds} rounds, medians; load {os.getloadavg()[0]:.1f}")
    times = measured(rounds, trips, 2 * (TRIPS + WARM))
    added = {name: figures["p50 us"] - times["direct"]["p50 us"] for name, figures in times.items()}
    for name in ("direct", "naive", "tap"):
        print(f"round trip of 160 bytes  {name:7} " + "  ".join(f"{k} {v:7.1f}" for k, v in times[name].items()))
    print(f"the tap adds {added['tap']:.1f} us, {added['tap'] / added['naive']:.2f} times what the naive one adds")
    for count, size in ((PIPELINED, 300), (LARGE * 2, 1 << 20)):
        # A short message goes first, alone; the rest follows in blocks of a hundred.
        sent = 1 + (count + 98) // 100 * 100
        rates = measured(rounds, lambda command: {"rate": flood(command, count, size)}, 2 * sent)  # noqa: B023
        ratio = rates["tap"]["rate"] / rates["naive"]["rate"]
        said = "  ".join(f"{name} {rates[name]['rate']:.0f}/s" for name in ("direct", "naive", "tap"))
        print(f"pipelined, {size} bytes: {said}; the tap has {ratio:.2f} times the rate of the naive one")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--server"]:
            serve()
        case ["--naive", log, *command]:
            sys.exit(naive(log, command))
        case rest:
            main(int(rest[0]) if rest else 7)
