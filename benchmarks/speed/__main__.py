"""`python -m benchmarks.speed [NAME] [options]`; `--help` behind a name tells its options.

Without a name it runs those that a release is held to: a relayed request beside what peers are
installed, a warm turn beside the floor recipes, and a cold history.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

from benchmarks.__main__ import VARIABLE
from benchmarks.data import Data
from benchmarks.speed import beside_peers, cold, costly, load, record, relayed, steps, warm

COMMANDS = {
    "record": record,
    "warm": warm,
    "steps": steps,
    "relayed": relayed,
    "peers": beside_peers,
    "cold": cold,
    "load": load,
    "costly": costly,
}
# What is run without a name: the figures that a release is held to.
ALL = [
    ["peers", "--rounds", "3"],
    ["warm", "--sizes", "100k", "1m", "--dialect", "chat", "--mode", "stable"],
    ["cold", "--embedder", "none"],
]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    commands = parser.add_subparsers(dest="name")
    for name, module in COMMANDS.items():
        told = (module.__doc__ or "").split("\n\n")[0]
        module.parsed(commands.add_parser(name, help=told, description=module.__doc__))
    given = [sys.argv[1:]] if sys.argv[1:] else ALL
    every = [parser.parse_args(each) for each in given]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started ends, too
    root = os.environ.get(VARIABLE)
    data = Data(Path(root)) if root and Path(root).is_dir() else None
    return max(COMMANDS[options.name].run(options, data) for options in every)


if __name__ == "__main__":
    sys.exit(main())
