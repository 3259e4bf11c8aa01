"""What it costs to start through the tap: ``mcpcheck tap -o /dev/null -- true`` beside a Python that imports click.

    python tests/bench/bench_tap_start.py [ROUNDS]

The two run one after the other, in an order drawn anew for each round. Prints the medians and their ratio; the target
is at most 1.6. Run it on a machine that has nothing else to do.
"""

import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

TARGET = 1.6
COMMANDS = {
    "click": [sys.executable, "-c", "import click"],
    "tap": [str(Path(sys.executable).with_name("mcpcheck")), "tap", "-o", os.devnull, "--", "true"],
}


def milliseconds(command: list[str]) -> float:
    """How long one run takes."""
    start = time.perf_counter()
    subprocess.run(command, stdin=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - start) * 1e3


def main(rounds: int) -> int:
    """Run, print, and fail where the target is missed."""
    took: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(rounds + 1):
        for name in random.sample(list(COMMANDS), len(COMMANDS)):
            took[name].append(milliseconds(COMMANDS[name]))
    medians = {name: statistics.median(times[1:]) for name, times in took.items()}  # the first round warms up
    for name, median in medians.items():
        print(f"{name:6} {median:7.1f} ms  (fastest {min(took[name]):.1f})  {' '.join(COMMANDS[name])}")
    ratio = medians["tap"] / medians["click"]
    print(f"ratio  {ratio:7.2f}     target at most {TARGET}")
    return int(ratio > TARGET)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 40))
