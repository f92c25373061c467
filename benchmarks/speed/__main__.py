"""`python -m benchmarks.speed NAME [options]`; `--help` behind a name tells its options."""

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


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    commands = parser.add_subparsers(dest="name", required=True)
    for name, module in COMMANDS.items():
        told = (module.__doc__ or "").split("\n\n")[0]
        module.parsed(commands.add_parser(name, help=told, description=module.__doc__))
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started ends, too
    root = os.environ.get(VARIABLE)
    data = Data(Path(root)) if root and Path(root).is_dir() else None
    return COMMANDS[options.name].run(options, data)


if __name__ == "__main__":
    sys.exit(main())
