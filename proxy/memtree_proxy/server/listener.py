"""Bind the sockets that a server listens on, and ask the system for open files and a port's owner.

Sockets are bound before anything else of the server begins. A port in use is then reported at once:
before the store is opened, and before a banner says that the server is running.

The operating system is asked for the limit of open files (each stream takes two connections), and
for the program that listens on a port. On Linux `/proc` lists the sockets of all users, but shows
their owners only to the same user and to root.
"""

from __future__ import annotations

import errno
import os
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from memtree.errors import BadRequest
from memtree.setting_values import MAX_PORT

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


BACKLOG = 2048  # connections that wait to be accepted, as uvicorn's default
# `localhost` may name an IPv6 address where IPv6 is off.
_NOT_HERE = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)


@contextmanager
def bound(host: str, port: int) -> Iterator[list[socket.socket]]:
    """Yield a socket for each address of `host`; they are closed at the end. None of them listens
    yet. Raises `BadRequest` that says why it is impossible to listen there, and what to do.
    """
    if not 0 <= port <= MAX_PORT:
        raise BadRequest(f"port must be at most {MAX_PORT}, not {port}", param="port")
    with ExitStack() as stack:
        sockets: list[socket.socket] = []
        missing: OSError | None = None
        for family, kind, protocol, address in _addresses(host, port):
            try:
                # With its protocol, since only then does asyncio turn Nagle's algorithm off.
                server = stack.enter_context(socket.socket(family, kind, protocol))
                _bind(server, address)
            except OSError as error:
                if error.errno not in _NOT_HERE:
                    raise refusal(host, port, error) from error
                missing = error
            else:
                sockets.append(server)
        if missing is not None and not sockets:
            raise refusal(host, port, missing) from missing
        yield sockets


def listen(sockets: Sequence[socket.socket], host: str) -> int:
    """Start listening, and return the port. Raises `BadRequest`: two programs may bind the same
    port as long as neither of them listens."""
    port = int(sockets[0].getsockname()[1])
    for server in sockets:
        try:
            server.listen(BACKLOG)
        except OSError as error:
            raise refusal(host, port, error) from error
    return port


def accept_backlog(sockets: Sequence[socket.socket]) -> list[socket.socket]:
    """Accept the connections that are waiting now; `sockets` do not block. Connections that cannot
    be accepted are left out: they are gone, or too many files are open."""
    accepted: list[socket.socket] = []
    for server in sockets:
        for _ in range(BACKLOG):
            try:
                connection, _ = server.accept()
            except BlockingIOError:
                break
            except OSError:
                continue
            connection.setblocking(False)
            accepted.append(connection)
    return accepted


def refusal(host: str, port: int, error: OSError) -> BadRequest:
    match error.errno:
        case errno.EADDRINUSE:
            owner = port_owner(port) or "another program"
            why = f"the port is in use by {owner}. Stop it, or choose another --port"
        case errno.EACCES | errno.EPERM:
            why = "this user may not. Choose a --port above 1023"
        case errno.EADDRNOTAVAIL:
            why = "this machine has no such address. Choose another --host"
        case _:
            why = error.strerror or type(error).__name__
    return BadRequest(f"cannot listen on {shown_address(host, port)}: {why}.", param="port")


def shown_address(host: str, port: int) -> str:
    """Return host and port as in a URL."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _addresses(host: str, port: int) -> list[tuple[int, int, int, Any]]:
    try:
        infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError) as error:
        message = f"cannot listen on {shown_address(host, port)}: the name {host!r} leads nowhere."
        raise BadRequest(message, param="host") from error
    return [(family, kind, protocol, address) for family, kind, protocol, _, address in infos]


def _bind(server: socket.socket, address: Any) -> None:
    if os.name == "posix":  # on other systems this would let two programs share a port
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if server.family == socket.AF_INET6:
        server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    server.setblocking(False)
    server.bind(address)
