"""What a whole run costs: ``mcpcheck conform`` beside the official conformance suite, over HTTP on the same servers.

    python -m tests.bench.bench_conform [ROUNDS]

The two run one after the other, in an order drawn anew for each round, on the ticket server and on the everything
server of ``fixtures/``; the ticket server on stdio comes beside them. Prints the medians and their ratio: mcpcheck is
never the slower one, and takes at most 4 s over HTTP and 10 s on stdio on two cores. Run it on a machine that has
nothing else to do.
"""

import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.support.official import REVISION, suite
from tests.support.processes import ROOT, TICKETS, http_process

OVER_HTTP, ON_STDIO = 4.0, 10.0
SERVERS = {"tickets": TICKETS, "everything": (sys.executable, "-m", "fixtures.everything")}
MCPCHECK = (str(Path(sys.executable).with_name("mcpcheck")), "conform")


def seconds(command: tuple[str, ...]) -> float:
    """How long one run takes, whatever it finds."""
    start = time.perf_counter()
    subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return time.perf_counter() - start


def compare(url: str, rounds: int) -> dict[str, float]:
    """The medians of both on one server."""
    took: dict[str, list[float]] = {"mcpcheck": [], "official": []}
    with tempfile.TemporaryDirectory() as out:
        commands = {
            "mcpcheck": (*MCPCHECK, url),
            "official": (*suite(), "server", "--url", url, "--requirements", REVISION, "-o", out),
        }
        for _ in range(rounds):
            for name in random.sample(list(commands), len(commands)):
                took[name].append(seconds(commands[name]))
    return {name: statistics.median(times) for name, times in took.items()}


def main(rounds: int) -> int:
    """Run, print, and fail where a target is missed."""
    missed = False
    for name, command in SERVERS.items():
        with http_process(*command, "--http", "0", cwd=ROOT) as server:
            medians = compare(server.url, rounds)
        ratio = medians["mcpcheck"] / medians["official"]
        missed = missed or ratio > 1 or (name == "tickets" and medians["mcpcheck"] > OVER_HTTP)
        print(
            f"{name:10} mcpcheck {medians['mcpcheck']:5.2f} s, official {medians['official']:5.2f} s, ratio {ratio:.2f}"
        )
    stdio = statistics.median(seconds((*MCPCHECK, "--", *TICKETS)) for _ in range(rounds))
    print(f"{'tickets':10} mcpcheck {stdio:5.2f} s on stdio, target at most {ON_STDIO:g}")
    return int(missed or stdio > ON_STDIO)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3))
