"""Check a PostgreSQL server: its version and connections.

Needs the extra `postgres`, so it is imported only if the store is in PostgreSQL.
"""

from __future__ import annotations

from typing import Any

import psycopg

from memtree.stores import shown_store
from memtree.stores.postgres.dsn import Dsn, read_dsn
from memtree_proxy.server.surroundings import Finding

OLDEST = 150_000  # in the form of `server_version_num`: docs/deployment.md
CROWDED = 0.8  # share of the server's allowed connections

_SERVER = """
    SELECT current_setting('server_version_num')::int, current_setting('server_version'),
        current_setting('max_connections')::int, (SELECT count(*) FROM pg_stat_activity)"""


async def database(url: str) -> Finding:
    """Check the server. Raises `BadRequest` for an invalid address, which opening
    the store would have reported before."""
    dsn = read_dsn(url, shown_store(url))
    try:
        number, version, most, taken = await _asked(dsn)
    except psycopg.Error as error:
        # The type alone: the message of an error may quote the address.
        return Finding("database", "problem", f"{dsn.shown}: {type(error).__name__}")
    text = f"PostgreSQL {version}, schema {dsn.schema}, {taken} of {most} connections"
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
        return await (await db.execute(_SERVER)).fetchone() or ()
