"""The tables of a SQLite file: created by the process that opens it first."""

from __future__ import annotations

import sqlite3

from memtree.errors import StoreUnavailable
from memtree.stores.schema import PART, SQLITE, VERSION, check_version, statements

_SQLITE_ALONE = (
    "CREATE INDEX inner_nodes ON nodes (level) WHERE level > 0",  # for `stats`
    "CREATE INDEX turns_at_addresses ON turns (tenant, address)",
    "CREATE TABLE schema_version (part TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID",
)


def create_tables(db: sqlite3.Connection) -> None:
    """Create the tables of a new file, all or nothing; two processes may try it at once.

    Raises `StoreUnavailable` if the file has another schema, or belongs to another program.
    """
    if _has_tables(db):
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        if not _has_tables(db):  # another process may have created them meanwhile
            for statement in (*statements(SQLITE), *_SQLITE_ALONE):
                db.execute(statement)
            db.execute("INSERT INTO schema_version VALUES (?, ?)", (PART, VERSION))
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def _has_tables(db: sqlite3.Connection) -> bool:
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return False
    if "schema_version" not in tables:
        raise StoreUnavailable("it is the database of another program; name another file")
    row = db.execute("SELECT version FROM schema_version WHERE part = ?", (PART,)).fetchone()
    check_version(int(row[0]) if row else 0)
    return True
