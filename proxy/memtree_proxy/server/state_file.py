"""Keep the state file of a running server: `servers/PID.json` in the data folder.

By it programs of the same user find the server and authenticate as that user; it is readable by its
owner only. It is removed at the end. The next server that starts removes the file of a killed one,
and no program mistakes it for a server meanwhile: readers require a proof that the server knows the
secret.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from memtree import __version__
from memtree.config import Settings
from memtree_proxy.server.listener import shown_address

FOLDER = "servers"
ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}
LONGEST_FILE = 10_000  # bytes

log = logging.getLogger("memtree.server")


class ServerState(msgspec.Struct, frozen=True, kw_only=True):
    """A running server, as described in its file."""

    pid: int
    host: str
    port: int
    version: str
    secret: str
    for_wraps: bool = False  # started by `memtree wrap`

    @property
    def url(self) -> str:
        """Return the URL by which this machine reaches the server."""
        host = ANY_ADDRESS.get(self.host, self.host)
        return f"http://{shown_address(host, self.port)}"

    def __repr__(self) -> str:
        return f"ServerState(pid={self.pid}, url={self.url!r})"


@contextmanager
def state_file(
    settings: Settings, port: int, secret: str, *, for_wraps: bool = False
) -> Iterator[None]:
    """Keep the file of this process while it serves. The server continues even if it cannot be
    written."""
    state = ServerState(
        pid=os.getpid(),
        host=settings.host,
        port=port,
        version=__version__,
        secret=secret,
        for_wraps=for_wraps,
    )
    path = _written(settings.data_folder, state)
    try:
        yield
    finally:
        # In containers many processes have the id 1, and they may share the folder.
        if path is not None and _read(path) == state:
            with suppress(OSError):
                path.unlink()


def known_servers(folder: Path | None) -> list[ServerState]:
    """Return the servers that have a file, the latest start first. They may have ended
    meanwhile."""
    states = [(path, _read(path)) for path in _files(folder)]
    latest = sorted(states, key=lambda pair: _started(pair[0]), reverse=True)
    return [state for _, state in latest if state is not None]


def _written(folder: Path | None, state: ServerState) -> Path | None:
    if folder is None:
        return None
    for stale in _files(folder):
        known = _read(stale)
        if known is not None and not _runs(known.pid):
            with suppress(OSError):
                stale.unlink()
    place = folder / FOLDER
    path, new = place / f"{state.pid}.json", place / f"{state.pid}.new"
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        new.unlink(missing_ok=True)
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(state))
        new.replace(path)
    except OSError as error:
        log.warning("state_file.not_written: `memtree ui` cannot find this server: %s", error)
        return None
    return path


def _runs(pid: int) -> bool:
    if sys.platform == "win32":  # a signal, even number 0, would end the process there
        return True
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError) as error:
        return not isinstance(error, ProcessLookupError)
    return True


def _files(folder: Path | None) -> list[Path]:
    return list((folder / FOLDER).glob("*.json")) if folder else []


def _read(path: Path) -> ServerState | None:
    try:
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(LONGEST_FILE), type=ServerState)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _started(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
