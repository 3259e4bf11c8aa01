"""Linting a long capture against reading the same file with the standard library's JSON reader, line by line.

    python tests/bench/bench_lint.py [MESSAGES] [ROUNDS]

A capture of 1,000,000 messages of 300 bytes is made first (calls of tools with progress and results, resources that are
read). The two then take turns, each in a process of its own. Prints the medians, their ratio, and the most memory.
"""

import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SIZE = 300
CLIENT = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
SERVER = {"io.modelcontextprotocol/serverInfo": {"name": "bench", "version": "1"}}
HEAD = {"mcpcheck": "capture/1", "started": "2026-07-28T00:00:00.000000Z", "transport": "stdio", "target": {}, "by": ""}
READ = "import json, sys\nfor line in open(sys.argv[1], 'rb'):\n    json.loads(line)\n"


def messages() -> Iterator[tuple[str, str]]:
    """An endless session of 2026-07-28: who sends, and the message, in which @ stands where it is to be filled up."""
    for id in itertools.count(1):
        token = f"t{id}"
        yield "c2s", request(id, "tools/call", {"name": "echo", "arguments": {"text": "@"}}, {"progressToken": token})
        progress = {"progressToken": token, "progress": 1, "total": 2, "message": "@"}
        yield "s2c", text({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress})
        yield "s2c", result(id, {"content": [{"type": "text", "text": "@"}]})
        yield "c2s", request(f"r{id}", "resources/read", {"uri": "notes:///@"}, {})
        contents = [{"uri": "notes:///1", "mimeType": "text/plain", "text": "@"}]
        yield "s2c", result(f"r{id}", {"ttlMs": 0, "cacheScope": "public", "contents": contents})


def request(id: int | str, method: str, params: dict[str, Any], meta: dict[str, Any]) -> str:
    return text({"jsonrpc": "2.0", "id": id, "method": method, "params": params | {"_meta": CLIENT | meta}})


def result(id: int | str, members: dict[str, Any]) -> str:
    return text({"jsonrpc": "2.0", "id": id, "result": {"resultType": "complete", **members, "_meta": SERVER}})


def text(message: dict[str, Any]) -> str:
    """A message as it is sent, of the wanted size."""
    sent = json.dumps(message, separators=(",", ":"))
    return sent.replace("@", "x" * (SIZE - len(sent) + 1))


def write(path: Path, count: int) -> None:
    """The capture, as the tap writes it."""
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps(HEAD, separators=(",", ":")) + "\n")
        for n, (sender, message) in enumerate(itertools.islice(messages(), count), 1):
            file.write(f'{{"n":{n},"t":{n / 1000:.6f},"dir":"{sender}","msg":{message}}}\n')


def run(*command: str) -> float:
    """Seconds that a command takes."""
    begun = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def memory(*command: str) -> float:
    """Megabytes that a command has at its most."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    assert status == 0, "the capture has to lint clean"
    return used.ru_maxrss / 1024


def main() -> None:
    count, rounds = (int(word) for word in (*sys.argv[1:], *("1000000", "3")[len(sys.argv) - 1 :]))
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "long.ndjson"
        write(capture, count)
        print(f"{count} messages, {capture.stat().st_size / 1e6:.0f} MB")
        lint = (sys.executable, "-m", "mcpcheck", "lint", str(capture))
        read = (sys.executable, "-c", READ, str(capture))
        taken: dict[str, list[float]] = {"json.loads": [], "lint": []}
        for _ in range(rounds):
            taken["json.loads"].append(run(*read))
            taken["lint"].append(run(*lint))
        medians = {name: statistics.median(seconds) for name, seconds in taken.items()}
        for name, seconds in medians.items():
            print(f"{name:10} {seconds:8.2f} s   {seconds / count * 1e6:6.1f} µs a message")
        print(f"lint takes {medians['lint'] / medians['json.loads']:.1f} times as long as json.loads")
        print(f"lint takes {memory(*lint):.0f} MB at its most")


if __name__ == "__main__":
    main()
