"""One schema of a PostgreSQL server, shared by the ports.

The process that opens it first creates its tables."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, TypeVar

import psycopg
from psycopg import AsyncConnection, errors

from memtree.errors import StoreUnavailable
from memtree.stores import machine_owner
from memtree.stores.context.sql_store import SqlStore
from memtree.stores.postgres.dsn import Dsn, read_dsn
from memtree.stores.postgres.pool import SETTINGS, UNLIMITED, Pool, fault, unreachable
from memtree.stores.postgres.postgres_sql import ALONE, Connection, PostgresSql, lock_key
from memtree.stores.schema import PART, POSTGRES, TABLES, VERSION, check_version, statements
from memtree.stores.sql import Row, Table, Work

log = logging.getLogger("memtree.stores")

_POSTGRES_ALONE = (
    "CREATE INDEX ending_claims ON claims (until)",
    "CREATE INDEX values_of_keys ON key_values (key)",
    # Vectors do not compress, so the server should not try.
    "ALTER TABLE vectors ALTER COLUMN data SET STORAGE EXTERNAL",
    "ALTER TABLE memory_vectors ALTER COLUMN data SET STORAGE EXTERNAL",
    "CREATE TABLE schema_version (part text PRIMARY KEY, version integer NOT NULL)",
)
FETCHED = 1000  # rows of one round trip
T = TypeVar("T")
TRIES = 4  # attempts for a transaction that PostgreSQL asks to repeat
REPEATED = (errors.DeadlockDetected, errors.SerializationFailure)
SMALL_BYTES = 64 << 20  # tables up to this size are vacuumed in less than a second
_BYTES = """
    SELECT sum(pg_total_relation_size(name::regclass))::bigint
    FROM unnest(%(tables)s::text[]) AS name"""
_ONE_STATE = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_LATER_COLUMN = """
    ALTER TABLE requests ADD COLUMN IF NOT EXISTS conversation bytea NOT NULL DEFAULT ''"""
_DURABLE = "SET LOCAL synchronous_commit TO on"
# A cached plan made while a table was empty reads all of it, until the server's autovacuum has
# gathered statistics.
_FRESH_PLANS = "SET LOCAL plan_cache_mode TO force_custom_plan"


async def create_tables(db: AsyncConnection, schema: str) -> None:
    """Create the tables of a new schema, all or nothing; several processes may try it at once.

    Raises `StoreUnavailable` if the schema is that of another version, or belongs to another
    program.
    """
    if machine_owner.PART in await _parts(db, schema):
        return
    notice = ""
    async with db.transaction():
        await db.execute(ALONE, (lock_key("memtree schema", schema),))
        cursor = await db.execute("SELECT to_regnamespace(%s)", (f'"{schema}"',))
        if await cursor.fetchone() == (None,):  # `IF NOT EXISTS` needs the right to create one
            await db.execute(f'CREATE SCHEMA "{schema}"')
        parts = await _parts(db, schema)  # another process may have created them meanwhile
        if not parts:
            await _create(db, schema)
        else:
            await db.execute(_LATER_COLUMN)
        if machine_owner.PART not in parts:
            notice = await machine_owner.move(PostgresSql(db))
    if notice:
        log.warning("store.owner %s", notice)


async def _create(db: AsyncConnection, schema: str) -> None:
    try:
        for statement in (*statements(POSTGRES), *_POSTGRES_ALONE):
            await db.execute(statement)
    except errors.DuplicateTable as error:
        raise StoreUnavailable(
            f"The schema {schema} holds tables of another program; name another one in the "
            "store address (?schema=NAME)."
        ) from error
    await db.execute("INSERT INTO schema_version VALUES (%s, %s)", (PART, VERSION))


async def _parts(db: AsyncConnection, schema: str) -> set[str]:
    """Return what the schema records in `schema_version`; empty for a new one."""
    cursor = await db.execute("SELECT to_regclass(%s)", (f'"{schema}".schema_version',))
    if await cursor.fetchone() == (None,):
        return set()
    cursor = await db.execute("SELECT part, version FROM schema_version")
    parts: dict[str, int] = dict(await cursor.fetchall())
    try:
        check_version(int(parts.get(PART, 0)))
    except StoreUnavailable as error:
        raise StoreUnavailable(
            f"The store in the schema {schema} cannot be used: {error.message}."
        ) from error
    return set(parts)


class PostgresSnapshot:
    def __init__(self, db: psycopg.Connection) -> None:
        self._db = db

    def tenants(self) -> list[str]:
        return [name for (name,) in self._db.execute("SELECT name FROM tenants ORDER BY name")]

    def rows(self, table: Table, tenant: str) -> Iterator[Row]:
        mine = " WHERE tenant = (SELECT number FROM tenants WHERE name = %s)" if table.owned else ""
        query = (
            f"SELECT {', '.join(table.columns)} FROM {table.name}{mine} ORDER BY {table.sorted_by}"
        )
        with self._db.cursor(name=f"rows_of_{table.name}") as cursor:
            cursor.itersize = FETCHED
            yield from cursor.execute(query, (tenant,) if table.owned else None, binary=True)

    def damage(self) -> list[str]:
        return []


@contextmanager
def one_state(dsn: Dsn) -> Iterator[PostgresSnapshot]:
    """Open a separate connection in the calling thread, on one state of the schema. Raises the
    errors of the store."""
    seconds = max(2, round(dsn.seconds))
    try:
        db = psycopg.connect(dsn.conninfo, autocommit=True, connect_timeout=seconds)
    except psycopg.Error as error:
        raise unreachable(error, dsn.shown) from error
    with db:
        try:
            db.execute(SETTINGS.format(schema=dsn.schema))
            db.execute(UNLIMITED)
            db.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            db.read_only = True
            with db.transaction():
                yield PostgresSnapshot(db)
        except psycopg.Error as error:
            raise fault(error, dsn.shown) from error


async def has_tables(url: str, shown: str) -> bool:
    """Return True if the schema has our tables. Makes nothing. Raises the errors of the store."""
    dsn, answers = read_dsn(url, shown), list[bool]()

    async def look(db: AsyncConnection) -> None:
        answers.append(bool(await _parts(db, dsn.schema)))

    pool = Pool(dsn, look)
    try:
        await pool.reach()
    finally:
        await pool.close()
    return answers[0]


class PostgresDatabase(Pool):
    """`Database` over one schema of PostgreSQL."""

    def __init__(self, dsn: Dsn) -> None:
        super().__init__(dsn, lambda db: create_tables(db, dsn.schema))

    async def read(self, work: Work[T], *, patient: bool = False) -> T:
        """Run `work` with each statement as a transaction of its own, which saves the round trips
        of BEGIN and COMMIT."""
        return await self.run(lambda db: work(PostgresSql(db)), patient=patient)

    async def read_state(self, work: Work[T]) -> T:
        return await self.hurry(work, _ONE_STATE, _FRESH_PLANS)

    async def write(self, work: Work[T], *, durable: bool = False, undo: bool = False) -> T:
        begin = (_DURABLE, _FRESH_PLANS) if durable else ()
        return await self.hurry(work, *begin, circuit=self.writes, patient=durable, undo=undo)

    async def hurry(self, work: Work[T], *begin: str, undo: bool = False, **limits: Any) -> T:
        """Run `work` in a transaction with few round trips: statements are pipelined, and waited
        for only when rows are fetched. It is repeated if PostgreSQL asks for that. `limits`: as
        `run` has them."""

        async def whole(db: Connection) -> T:
            async with db.pipeline(), db.transaction(force_rollback=undo):
                for statement in begin:
                    await db.execute(statement)
                return await work(PostgresSql(db))

        async def repeated(db: Connection) -> T:
            for _ in range(TRIES - 1):
                with suppress(*REPEATED):
                    return await whole(db)
            return await whole(db)

        return await self.run(repeated, **limits)

    async def scrub(self, *, at_once: bool) -> None:
        """Free the space of deleted rows; in a large store only if no client waits for it.

        After the commit nobody can read the deleted rows. Their bytes are another matter: VACUUM
        gives their space to new rows and cuts empty ends off the files, but does not overwrite, and
        the server's log (WAL) and its backups have copies of their own. See
        docs/decisions/archive.md#0011.
        """
        if not await self.run(unscrubbed) or (at_once and await self.bytes() > SMALL_BYTES):
            return
        async with self.apart() as db:
            newest = await (await db.execute("SELECT max(number) FROM deletions")).fetchone()
            if newest and newest[0] is not None:
                await db.execute(f"VACUUM (SKIP_LOCKED) {', '.join(TABLES)}")
                await db.execute("DELETE FROM deletions WHERE number <= %s", newest)

    async def bytes(self) -> int:
        """Return the size of all tables."""
        cursor = await self.run(lambda db: db.execute(_BYTES, {"tables": list(TABLES)}))
        row = await cursor.fetchone()
        return int(row[0]) if row else 0

    def snapshot(self) -> AbstractContextManager[PostgresSnapshot]:
        return one_state(self.dsn)


async def unscrubbed(db: Connection) -> bool:
    """Return True if rows of a deletion may still take up space."""
    return await (await db.execute("SELECT 1 FROM deletions LIMIT 1")).fetchone() is not None


class PostgresStore(SqlStore):
    """A store in one schema of a PostgreSQL database."""

    database: PostgresDatabase

    def __init__(
        self, url: str, shown: str = "postgresql", *, now: Callable[[], float] = time.time
    ) -> None:
        super().__init__(PostgresDatabase(read_dsn(url, shown)), now)
