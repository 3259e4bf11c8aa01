"""Clients that misbehave, as processes: ``python hostile.py WAY SERVER-COMMAND...`` or with a URL in its place."""

import json
import signal
import subprocess
import sys
import time

PROBE = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": {}}}


def main() -> None:
    way, *command = sys.argv[1:]
    if way == "ends at once":
        sys.exit(3)
    if way == "never connects":
        time.sleep(600)
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin
    if way == "sends half a line and stops":
        server.stdin.write(b'{"jsonrpc":')
        server.stdin.flush()
        time.sleep(600)
    if way == "floods":
        while True:
            server.stdin.write(json.dumps(PROBE).encode() + b"\n")
    if way == "ignores SIGTERM":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        server.stdin.write(json.dumps(PROBE).encode() + b"\n")
        server.stdin.flush()
        while True:
            time.sleep(600)


if __name__ == "__main__":
    main()
