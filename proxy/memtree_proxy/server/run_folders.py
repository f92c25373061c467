"""Temporary folders of `memtree wrap`: `wraps/RUN` in the data folder, readable by its owner only.

They contain the settings that an agent gets in place of its user's: the address with the token of
the run, and for some agents a copy of their settings, keys included. The process of the run holds a
lock on its folder, which ends with the process; unlocked folders are removed.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

FOLDER = "wraps"
_NEW = ".new"  # suffix of a folder that is not locked yet
_NEW_SECONDS = 60.0
LOOK_SECONDS = 0.05


@contextmanager
def run_folder(data: Path, run: str) -> Iterator[Path]:
    """Keep a folder for a run. Raises `OSError` if it cannot be created."""
    place = data / FOLDER
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    new, folder = place / f"{run}{_NEW}", place / run
    new.mkdir(mode=0o700)
    with _opened(new) as descriptor:
        _lock(descriptor)
        new.rename(folder)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def locked(data: Path) -> AsyncIterator[None]:
    """Keep other processes of this user from finding or starting a server for runs meanwhile.
    Raises `OSError` if the folder cannot be written."""
    place = data / FOLDER
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _opened(place) as descriptor:
        while True:
            try:
                _lock(descriptor)
                break
            except BlockingIOError:
                await asyncio.sleep(LOOK_SECONDS)
        sweep(data)
        yield


def sweep(data: Path | None) -> None:
    """Remove the folders of runs whose process has ended."""
    if data is None or sys.platform == "win32":
        return
    for folder in (data / FOLDER).glob("*"):
        with suppress(OSError):
            fresh = time.time() - folder.stat().st_mtime < _NEW_SECONDS
            if folder.name.endswith(_NEW) and fresh:
                continue
            with _opened(folder) as descriptor:
                _lock(descriptor)
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    """Lock the folder. Raises `BlockingIOError` while another process holds the lock."""
    if sys.platform != "win32":
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
