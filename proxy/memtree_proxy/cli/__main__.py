"""The programs `memtree` and `memtree-proxy`; the first is also `python -m memtree_proxy.cli`."""

from __future__ import annotations

import os
import signal
import sys

INTERRUPTED = 130  # exit status of shells after Ctrl-C


# Importing takes a second, and a traceback from it tells nothing to a user who pressed Ctrl-C. A
# signal that is ignored (a job in the background) stays ignored.
_interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler
if _interruptible:
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))

from memtree_proxy.cli.main import main, serving  # noqa: E402


def run() -> int:
    return main(imported=_take_interrupts)


def run_proxy() -> int:
    """Run the program `memtree-proxy`. It serves if no command is typed, so that `uvx
    memtree-proxy`, which runs the program named like the distribution, needs no argument."""
    return main(serving(sys.argv[1:]), imported=_take_interrupts)


def _take_interrupts() -> None:
    if _interruptible:
        signal.signal(signal.SIGINT, signal.default_int_handler)


if __name__ == "__main__":
    sys.exit(run())
