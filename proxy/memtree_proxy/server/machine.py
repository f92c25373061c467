"""Ask the operating system for the limit of open files (each stream takes two connections), and for
the program that listens on a port. On Linux `/proc` lists the sockets of all users, but shows their
owners only to the same user and to root.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

if sys.platform != "win32":
    import resource

MANY_FILES = 65_536
FEW_FILES = 2_048  # a thousand streams
PROC = Path("/proc")
LISTENING = "0A"  # a socket's state in /proc/net/tcp
MAX_PROCESSES = 20_000  # limit; with more processes the search is skipped


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


def port_owner(port: int, proc: Path = PROC) -> str | None:
    """Return name and id of a process that listens on `port`, such as "node (process 4711)"; None
    if that is unknown."""
    sockets = {f"socket:[{inode}]" for inode in _listening_inodes(port, proc)}
    if not sockets:
        return None
    numbered = (folder for folder in proc.iterdir() if folder.name.isdigit())
    for _, folder in zip(range(MAX_PROCESSES), numbered, strict=False):
        with suppress(OSError):  # it has ended, or belongs to another user
            if any(str(file.readlink()) in sockets for file in (folder / "fd").iterdir()):
                name = (folder / "comm").read_text(errors="replace").strip()
                shown = "".join(sign if sign.isprintable() else "?" for sign in name)
                return f"{shown} (process {folder.name})"
    return None


def _listening_inodes(port: int, proc: Path) -> set[str]:
    """Return the inodes of sockets that listen on `port`. The format is that of proc_net_tcp in the
    kernel's documentation."""
    inodes = set()
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in (proc / "net" / table).read_text().splitlines()[1:]:
                _, local, _, state, *rest = line.split()
                if state == LISTENING and int(local.rpartition(":")[2], 16) == port:
                    inodes.add(rest[5])
    return inodes
