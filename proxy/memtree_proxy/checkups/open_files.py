"""Limit of open files of this process: each stream takes two connections."""

from __future__ import annotations

import sys
from contextlib import suppress

if sys.platform != "win32":
    import resource

MANY_FILES = 65_536
FEW_FILES = 2_048  # a thousand streams


def most_files() -> int | None:
    """Return the number of open files that a server may have after raising its limit; None: no
    limit."""
    if sys.platform == "win32":
        return None
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if hard == resource.RLIM_INFINITY else min(MANY_FILES, hard)


def allow_many_files() -> None:
    """Raise the soft limit, 1,024 on many systems, towards the hard one."""
    if sys.platform == "win32":  # has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and (hard == resource.RLIM_INFINITY or soft < hard):
        wanted = MANY_FILES if hard == resource.RLIM_INFINITY else min(MANY_FILES, hard)
        with suppress(OSError, ValueError):  # some systems allow less than they report
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
