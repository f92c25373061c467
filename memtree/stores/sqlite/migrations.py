"""The SQLite schema: a list of steps, and the number of steps that a file has seen.

A released step is never edited; append another one. Several parts of the program may share one
file: each has its own list and its own row in `schema_version`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from memtree.errors import StoreUnavailable
from memtree.stores.context.schema import requests_step
from memtree.stores.memories.tables import schema
from memtree.stores.memories.tables.filling import fill
from memtree.stores.sql import finish
from memtree.stores.sqlite.sqlite_sql import SqliteSql

Step = Callable[[sqlite3.Connection], None]


def _tree(db: sqlite3.Connection) -> None:
    """Create the tables of trees. Blobs are in rowid tables, in the order of writing, with a
    separate index: without rowids the file of a million tokens is 9.0 MB instead of 4.6 and takes
    3.5 times as long to write.
    """
    db.execute("CREATE TABLE tenants (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)")
    db.execute(
        "CREATE TABLE nodes (tenant INTEGER NOT NULL, id BLOB NOT NULL, level INTEGER NOT NULL,"
        " children BLOB NOT NULL, data BLOB NOT NULL, UNIQUE (tenant, id))"
    )
    db.execute("CREATE INDEX inner_nodes ON nodes (level) WHERE level > 0")  # for `stats`
    db.execute(
        "CREATE TABLE frontiers (tenant INTEGER NOT NULL, key BLOB NOT NULL, data BLOB NOT NULL,"
        " UNIQUE (tenant, key))"
    )
    db.execute(
        "CREATE TABLE addresses (tenant INTEGER NOT NULL, address BLOB NOT NULL,"
        " frontier BLOB NOT NULL, expires REAL NOT NULL, PRIMARY KEY (tenant, address))"
        " WITHOUT ROWID"
    )
    db.execute(
        "CREATE TABLE vectors (tenant INTEGER NOT NULL, recipe TEXT NOT NULL, id BLOB NOT NULL,"
        " data BLOB NOT NULL, UNIQUE (tenant, recipe, id))"
    )


def _keys(db: sqlite3.Connection) -> None:
    db.execute(
        "CREATE TABLE keys (id TEXT PRIMARY KEY, label TEXT NOT NULL, tenant TEXT NOT NULL,"
        " created REAL NOT NULL) WITHOUT ROWID"
    )
    db.execute("CREATE TABLE key_values (hash TEXT PRIMARY KEY, key TEXT NOT NULL) WITHOUT ROWID")


def _plans(db: sqlite3.Connection) -> None:
    """Add epochs and turns, summary versions, and a table for forgetting."""
    db.execute("ALTER TABLE addresses ADD COLUMN previous BLOB NOT NULL DEFAULT x''")
    db.execute("CREATE INDEX expiring_addresses ON addresses (expires)")
    db.execute(
        "CREATE TABLE summaries (tenant INTEGER NOT NULL, id BLOB NOT NULL,"
        " version INTEGER NOT NULL, data BLOB NOT NULL, UNIQUE (tenant, id, version))"
    )
    db.execute(
        "CREATE TABLE epochs (tenant INTEGER NOT NULL, id BLOB NOT NULL, data BLOB NOT NULL,"
        " expires REAL NOT NULL, UNIQUE (tenant, id))"
    )
    db.execute("CREATE INDEX expiring_epochs ON epochs (expires)")
    db.execute(
        "CREATE TABLE turns (tenant INTEGER NOT NULL, key BLOB NOT NULL, address BLOB NOT NULL,"
        " epoch BLOB NOT NULL, data BLOB NOT NULL, UNIQUE (tenant, key, address))"
    )
    db.execute("CREATE INDEX turns_of_epochs ON turns (tenant, epoch)")
    # A row marks a deletion whose bytes may still be in the file (`retention.scrub`). Numbers are
    # never reused, so a scrub cannot strike out a deletion made after it began.
    db.execute("CREATE TABLE deletions (number INTEGER PRIMARY KEY AUTOINCREMENT)")


def _claims(db: sqlite3.Connection) -> None:
    """Add claims of nodes to summarise, and daily tallies. Tallies name the tenant itself: they
    outlive its row in `tenants`."""
    db.execute(
        "CREATE TABLE claims (tenant INTEGER NOT NULL, id BLOB NOT NULL, owner TEXT NOT NULL,"
        " until REAL NOT NULL, PRIMARY KEY (tenant, id)) WITHOUT ROWID"
    )
    db.execute(
        "CREATE TABLE tallies (tenant TEXT NOT NULL, day INTEGER NOT NULL, name TEXT NOT NULL,"
        " amount INTEGER NOT NULL, PRIMARY KEY (tenant, day, name)) WITHOUT ROWID"
    )


def _recipes(db: sqlite3.Connection) -> None:
    """Add recipes. `day`: the last day on which a sweep counted; `idle`: days since a process used
    it."""
    db.execute(
        "CREATE TABLE recipes (recipe TEXT PRIMARY KEY, day INTEGER NOT NULL,"
        " idle INTEGER NOT NULL) WITHOUT ROWID"
    )


def _aliases(db: sqlite3.Connection) -> None:
    """Add bare credentials that authenticate as another tenant than the one they name."""
    db.execute(
        "CREATE TABLE tenant_aliases (name TEXT PRIMARY KEY, tenant TEXT NOT NULL) WITHOUT ROWID"
    )


def _conversations(db: sqlite3.Connection) -> None:
    """Add ends of conversations. The time of last use of existing ones is derived from the default
    expiry."""
    db.execute(
        "CREATE TABLE conversations (tenant INTEGER NOT NULL, address BLOB NOT NULL,"
        " used REAL NOT NULL, messages INTEGER NOT NULL, tokens INTEGER NOT NULL,"
        " first INTEGER NOT NULL, whole INTEGER NOT NULL, PRIMARY KEY (tenant, address))"
        " WITHOUT ROWID"
    )
    db.execute(
        "INSERT INTO conversations SELECT tenant, address,"
        " max(1.0, min(expires - 30 * 86400.0, CAST(strftime('%s', 'now') AS REAL))), 0, 0, 0, 1"
        " FROM addresses WHERE (tenant, address) NOT IN (SELECT tenant, previous FROM addresses)"
    )
    db.execute("CREATE INDEX newest_conversations ON conversations (tenant, used, address)")
    db.execute("CREATE INDEX turns_at_addresses ON turns (tenant, address)")


def _titles(db: sqlite3.Connection) -> None:
    """Add titles. `ordinal`: number among conversations with the same title; `own_title`: the title
    that a person typed."""
    for name in ("title", "client", "project", "own_title"):
        db.execute(f"ALTER TABLE conversations ADD COLUMN {name} TEXT NOT NULL DEFAULT ''")
    db.execute("ALTER TABLE conversations ADD COLUMN ordinal INTEGER NOT NULL DEFAULT 0")
    db.execute("CREATE INDEX titled_conversations ON conversations (tenant, title, ordinal)")


def _pins(db: sqlite3.Connection) -> None:
    """Add the places of a conversation that must stay whole, without their text."""
    db.execute("ALTER TABLE conversations ADD COLUMN pins TEXT NOT NULL DEFAULT ''")


def _statements(statements: Sequence[str]) -> Step:
    def step(db: sqlite3.Connection) -> None:
        for statement in statements:
            if statement == schema.FILL:
                finish(fill(SqliteSql(db)))
            else:
                db.execute(statement)

    return step


TREE_STEPS: tuple[Step, ...] = (
    *(_tree, _keys, _plans, _claims, _recipes, _aliases),
    *(_conversations, _titles, _pins, _statements(requests_step(schema.SQLITE))),
)
MEMORY_STEPS = tuple(_statements(step) for step in schema.steps(schema.SQLITE))


# Another port that keeps tables in the same file names its steps here.
PARTS: dict[str, Sequence[Step]] = {"tree": TREE_STEPS, "memories": MEMORY_STEPS}


def migrate_all(db: sqlite3.Connection) -> None:
    for part, steps in PARTS.items():
        migrate(db, part, steps)


def migrate(db: sqlite3.Connection, part: str, steps: Sequence[Step]) -> None:
    """Bring a part of the file up to date, all or nothing; two processes may try it at once.

    Raises `StoreUnavailable` if the schema is newer than this version, or belongs to another
    program.
    """
    if _version(db, part, len(steps)) == len(steps):
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        version = _version(db, part, len(steps))
        for step in steps[version:]:
            step(db)
        _record(db, part, len(steps))
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def _record(db: sqlite3.Connection, part: str, version: int) -> None:
    db.execute(
        "CREATE TABLE IF NOT EXISTS schema_version"
        " (part TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID"
    )
    db.execute("INSERT OR REPLACE INTO schema_version VALUES (?, ?)", (part, version))


def _version(db: sqlite3.Connection, part: str, known: int) -> int:
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return 0
    if "schema_version" not in tables:
        raise StoreUnavailable("it is the database of another program; name another file")
    row = db.execute("SELECT version FROM schema_version WHERE part = ?", (part,)).fetchone()
    version = int(row[0]) if row else 0
    if version > known:
        raise StoreUnavailable(
            f"its schema ({part}) is version {version}, this program knows up to {known}: "
            "a newer MemTree wrote it; update this one or name another file"
        )
    return version
