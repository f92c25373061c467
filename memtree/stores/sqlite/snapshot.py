"""One state of a SQLite file, for copies and for its check."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from memtree.stores.context.tenants import TENANT
from memtree.stores.dump import Row, Table


class SqliteSnapshot:
    """One state of the file: `db` is in a transaction from here on."""

    def __init__(self, db: sqlite3.Connection) -> None:
        db.execute("BEGIN")
        self._db = db

    def tenants(self) -> list[str]:
        names = self._db.execute("SELECT name FROM tenants ORDER BY name").fetchall()
        return [name for (name,) in names]

    def rows(self, table: Table, tenant: str) -> Iterator[Row]:
        return self._db.execute(
            f"SELECT {', '.join(table.columns)} FROM {table.name}"
            f"{f' WHERE {TENANT}' if table.owned else ''} ORDER BY {', '.join(table.sorted_by)}",
            {"tenant": tenant},
        )

    def damage(self) -> list[str]:
        """Run SQLite's own check."""
        lines = [line for (line,) in self._db.execute("PRAGMA integrity_check")]
        return [f"sqlite: {line}" for line in lines if line != "ok"]
