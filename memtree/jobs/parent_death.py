"""End a process together with its parent, however that ends: killed, crashed or by itself.

On Linux the kernel does it: it needs nothing of this process, which may be running C code that
holds the GIL. Elsewhere a thread polls for the parent's id. The kernel refers to the *thread* that
forked, so a process that calls this must be started from a thread that lives as long as the process
is wanted.

Imports nothing of ours, so that a child can call it before the 0.3 seconds that its imports take.
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
LOOK_SECONDS = 0.5  # between two polls where the kernel does not do it


def end_with(parent: int) -> None:
    """End this process with its parent; call it first in a new process. `parent`: id of the process
    that forked it. Does not return if the parent is gone already.
    """
    if not _killed_by_kernel():
        threading.Thread(target=_look, args=(parent,), daemon=True, name="parent-death").start()
    if os.getppid() != parent:  # it ended before the kernel was asked
        os.kill(os.getpid(), signal.SIGKILL)


def _killed_by_kernel() -> bool:
    """Ask the kernel for SIGKILL at the parent's end; returns True if it agrees."""
    try:
        return bool(ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) == 0)
    except (AttributeError, OSError):  # no ctypes; no `prctl` in this C library
        return False


def _look(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)
