"""Where trees, plans and keys are kept: `open_store(url)` gives one object for all ports.

sqlite:///PATH       a file, relative to the working directory
sqlite:////PATH      the same, absolute
memory:              nothing is kept
"""

from __future__ import annotations

from pathlib import Path

from memtree.errors import BadRequest
from memtree.stores.memory import MemoryStore
from memtree.stores.sqlite import SqliteStore

__all__ = ["MemoryStore", "SqliteStore", "open_store"]

_SQLITE = "sqlite:///"


def open_store(url: str) -> SqliteStore | MemoryStore:
    """`BadRequest` for an address that is not supported; `StoreUnavailable` or `StoreCorrupt`
    where the file cannot be used."""
    if url == "memory:":
        return MemoryStore()
    path = url.removeprefix(_SQLITE)
    if not url.startswith(_SQLITE) or path in ("", "/", ":memory:"):
        raise BadRequest(
            # No more than the scheme: the address of a server may hold a password.
            f"The store address {url.partition(':')[0]}:... is not supported; use "
            "sqlite:///PATH (relative), sqlite:////PATH (absolute) or memory:",
            param="store",
        )
    return SqliteStore(Path(path).expanduser())
