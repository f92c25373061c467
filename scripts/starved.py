"""Run a command on a machine that stands still again and again.

    python scripts/starved.py [--times N] [--seed N] COMMAND [ARGUMENT ...]

The command gets a process group of its own. Every few seconds the whole group is stopped for half a
second to four seconds and continued, as on a host that gives its cores to others. A test that
fails here, and not otherwise, depends on how fast the machine is. The exit status is that of the
first run that fails, else 0.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import time

RUNNING = 1.0, 5.0  # seconds between two stops
STOPPED = 0.5, 4.0  # seconds


def starve(command: list[str], drawing: random.Random) -> int:
    """Run the command once. Its group is continued and ended with this program."""
    process = subprocess.Popen(command, process_group=0)
    stops, stood = 0, 0.0
    try:
        while True:
            try:
                status = process.wait(drawing.uniform(*RUNNING))
                print(f"starved: status {status}, {stops} stops, {stood:.0f} s in all", flush=True)
                return status
            except subprocess.TimeoutExpired:
                pause = drawing.uniform(*STOPPED)
                os.killpg(process.pid, signal.SIGSTOP)
                time.sleep(pause)
                os.killpg(process.pid, signal.SIGCONT)
                stops, stood = stops + 1, stood + pause
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGCONT)
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Run a command that is stopped again and again.")
    parser.add_argument("--times", type=int, default=1, help="how often in a row")
    parser.add_argument("--seed", type=int, default=0, help="draws when it is stopped")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    if not options.command:
        parser.error("name a command")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    for number in range(options.times):
        status = starve(options.command, random.Random(options.seed + number))
        if status:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
