"""Stores of trees, plans, memories and keys: `open_store(url)` gives one object for all ports.

sqlite:///PATH       a file, relative to the working directory
sqlite:////PATH      the same, absolute
postgresql://...     a schema of a database, which many processes may share (extra `postgres`)
memory:              nothing is kept
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from memtree.errors import BadRequest, importing
from memtree.stores.context.store import SqlStore
from memtree.stores.memories.store import SqlMemories
from memtree.stores.sqlite.database import RamStore, SqliteStore

if TYPE_CHECKING:
    from memtree.stores.postgres import PostgresStore

__all__ = [
    "Memories",
    "Opened",
    "RamStore",
    "SqliteStore",
    "open_memories",
    "open_store",
    "shown_store",
    "store_file",
]

_SQLITE = "sqlite:///"
_POSTGRES = ("postgresql://", "postgres://")

Memories: TypeAlias = SqlMemories  # all ports of a store that memories need
Opened: TypeAlias = "SqliteStore | RamStore | PostgresStore"


def open_store(url: str) -> Opened:
    """Open the store at `url`. Raises `BadRequest` for an address that is not supported, and
    `StoreUnavailable` or `StoreCorrupt` if the file cannot be used. A database server may start
    later: see `PostgresStore`."""
    if url == "memory:":
        return RamStore()
    if url.startswith(_POSTGRES):
        with importing("a store in PostgreSQL", "postgres", "store"):
            from memtree.stores.postgres import PostgresStore  # noqa: PLC0415  the optional extra
        return PostgresStore(url, shown_store(url))
    path = store_file(url)
    if path is None:
        raise BadRequest(
            # Name the scheme only: the address of a server may hold a password.
            f"store: the address {url.partition(':')[0]}:... is not supported; use "
            "sqlite:///PATH (relative), sqlite:////PATH (absolute), postgresql://... or memory:",
            param="store",
        )
    return SqliteStore(path)


def open_memories(store: SqlStore) -> Memories:
    """Open the memories of an open store: they share its connections and its clock, and close with
    it."""
    return store.memories()


def store_file(url: str) -> Path | None:
    """Return the file of a SQLite address; None for any other."""
    path = url.removeprefix(_SQLITE)
    if not url.startswith(_SQLITE) or path in ("", "/", ":memory:"):
        return None
    return Path(path).expanduser()


def shown_store(url: str) -> str:
    """Return the address as messages may show it: without user, password and options."""
    scheme, mark, rest = url.partition("://")
    if url.startswith(_SQLITE):
        return url
    place, _, options = rest.partition("?")
    # the `@` belongs to a password with a `?`, or to an option
    if "@" in options and "@" not in place:
        return f"{scheme}{mark}..."
    return f"{scheme}{mark}{place.rpartition('@')[2]}"
