"""Check a PostgreSQL server: its version, schema, connections.

Needs the extra `postgres`, so it is imported only if the store is in PostgreSQL.
"""

from __future__ import annotations

from typing import Any

import psycopg

from memtree.stores import shown_store
from memtree.stores.postgres.dsn import Dsn, read_dsn
from memtree.stores.postgres.migrations import TREE_STEPS
from memtree_proxy.checkups.finding import Finding

OLDEST = 150_000  # in the form of `server_version_num`: docs/postgresql.md
CROWDED = 0.8  # share of the server's allowed connections

_SERVER = """
    SELECT current_setting('server_version_num')::int, current_setting('server_version'),
        current_setting('max_connections')::int, (SELECT count(*) FROM pg_stat_activity)"""
_STEPS = "SELECT version FROM {}.schema_version WHERE part = 'tree'"


async def database(url: str) -> Finding:
    """Check the server and the schema. Raises `BadRequest` for an invalid address, which opening
    the store would have reported before."""
    dsn = read_dsn(url, shown_store(url))
    try:
        number, version, most, taken, steps = await _asked(dsn)
    except psycopg.Error as error:
        # The type alone: the message of an error may quote the address.
        return Finding("database", "problem", f"{dsn.shown}: {type(error).__name__}")
    text = (
        f"PostgreSQL {version}, schema {dsn.schema} at step {steps} of {len(TREE_STEPS)}, "
        f"{taken} of {most} connections"
    )
    if number < OLDEST:
        return Finding("database", "problem", f"{text}: version 15 or later is needed")
    if taken + dsn.connections > CROWDED * most:
        more = f"this process opens up to {dsn.connections} more"
        return Finding("database", "warning", f"{text}; {more}: raise max_connections")
    return Finding("database", "ok", text)


async def _asked(dsn: Dsn) -> tuple[Any, ...]:
    seconds = max(1, round(dsn.seconds))
    async with await psycopg.AsyncConnection.connect(
        dsn.conninfo, connect_timeout=seconds, autocommit=True
    ) as db:
        server = await (await db.execute(_SERVER)).fetchone()
        schema = psycopg.sql.Identifier(dsn.schema)
        cursor = await db.execute(psycopg.sql.SQL(_STEPS).format(schema))
        row = await cursor.fetchone()
        return (*(server or ()), row[0] if row else 0)
