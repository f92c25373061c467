"""Stores of trees, plans, memories and keys: `open_store(url)` gives one object for all ports.

sqlite:///PATH       a file, relative to the working directory
sqlite:////PATH      the same, absolute
postgresql://...     a schema of a database, which many processes may share (extra `postgres`)
memory:              nothing is kept
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from memtree.data_folder import NO_STORE, expanded
from memtree.errors import BadRequest, importing
from memtree.stores.context.sql_store import SqlStore
from memtree.stores.memories.sql_memories import SqlMemories
from memtree.stores.sqlite.sqlite_database import RamStore, SqliteStore

if TYPE_CHECKING:
    from memtree.stores.postgres import PostgresStore

__all__ = [
    "Memories",
    "Opened",
    "RamStore",
    "SqliteStore",
    "has_store",
    "open_memories",
    "open_store",
    "require_store",
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
    if not url:
        raise BadRequest(NO_STORE, param="store")
    path = store_file(url)
    if path is None:
        raise BadRequest(
            # Name the scheme only: the address of a server may hold a password.
            f"store: the address {url.partition(':')[0]}:... is not supported; use "
            "sqlite:///PATH (relative), sqlite:////PATH (absolute), postgresql://... or memory:",
            param="store",
        )
    return SqliteStore(path)


async def has_store(url: str) -> bool:
    """Return True if there is a store at `url`, which `open_store` would make otherwise. Makes
    nothing. Raises `StoreUnavailable` if its server cannot be reached."""
    if not url.startswith(_POSTGRES):
        path = store_file(url)
        return path is None or not _is_missing(path)
    with importing("a store in PostgreSQL", "postgres", "store"):
        from memtree.stores.postgres import has_tables  # noqa: PLC0415  the optional extra
    return await has_tables(url, shown_store(url))


async def require_store(url: str, param: str = "store") -> None:
    """Raise `BadRequest` unless there is a store at `url`. Raises as `has_store`, too."""
    if not await has_store(url):
        place = store_file(url) or shown_store(url)
        raise BadRequest(f"There is no store at {place}: nothing was kept there yet.", param=param)


def _is_missing(path: Path) -> bool:
    try:
        return not path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:  # opening it says why
        return False


def open_memories(store: SqlStore) -> Memories:
    """Open the memories of an open store: they share its connections and its clock, and close with
    it."""
    return store.memories()


def store_file(url: str) -> Path | None:
    """Return the file of a SQLite address; None for any other."""
    path = url.removeprefix(_SQLITE)
    if not url.startswith(_SQLITE) or path in ("", "/", ":memory:"):
        return None
    return expanded(path, "store")


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
