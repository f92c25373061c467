"""Ends a process with its parent, however that one ends: killed, crashed or by itself.

The kernel does it where it can (Linux): it needs nothing of this process, which may be in the
middle of C code that holds the GIL. Elsewhere a thread looks who the parent is.

The kernel means the *thread* that forked. So whoever starts a process that calls this does it in
a thread that lives as long as the process is wanted.

Imports nothing of ours, so that a child calls it before the 0.3 seconds that its imports take.
"""

from __future__ import annotations

import os
import signal
import threading
import time

try:
    import ctypes
except ImportError:  # an interpreter built without libffi
    ctypes = None  # type: ignore[assignment]

PR_SET_PDEATHSIG = 1
LOOK_SECONDS = 0.5  # between two looks where the kernel does not tell


def end_with(parent: int) -> None:
    """Call it first in a new process. `parent`: process id of the one that forked it.

    Does not return where the parent is gone already.
    """
    if not _killed_by_kernel():
        threading.Thread(target=_look, args=(parent,), daemon=True, name="parent-death").start()
    if os.getppid() != parent:  # it ended before the kernel knew that we want to be told
        os.kill(os.getpid(), signal.SIGKILL)


def _killed_by_kernel() -> bool:
    """Ask for SIGKILL at the parent's end; whether the kernel does that."""
    try:
        return bool(ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) == 0)
    except (AttributeError, OSError):  # no ctypes; no `prctl` in this C library
        return False


def _look(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)
