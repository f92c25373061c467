"""The tables of a PostgreSQL schema: created by the process that opens it first."""

from __future__ import annotations

from psycopg import AsyncConnection, errors

from memtree.errors import StoreUnavailable
from memtree.stores.postgres.locks import ALONE, lock_key
from memtree.stores.schema import PART, POSTGRES, VERSION, check_version, statements

_POSTGRES_ALONE = (
    "CREATE INDEX ending_claims ON claims (until)",
    "CREATE INDEX values_of_keys ON key_values (key)",
    # Vectors do not compress, so the server should not try.
    "ALTER TABLE vectors ALTER COLUMN data SET STORAGE EXTERNAL",
    "ALTER TABLE memory_vectors ALTER COLUMN data SET STORAGE EXTERNAL",
    "CREATE TABLE schema_version (part text PRIMARY KEY, version integer NOT NULL)",
)


async def create_tables(db: AsyncConnection, schema: str) -> None:
    """Create the tables of a new schema, all or nothing; several processes may try it at once.

    Raises `StoreUnavailable` if the schema is that of another version, or belongs to another
    program.
    """
    if await _has_tables(db, schema):
        return
    async with db.transaction():
        await db.execute(ALONE, (lock_key("memtree schema", schema),))
        cursor = await db.execute("SELECT to_regnamespace(%s)", (f'"{schema}"',))
        if await cursor.fetchone() == (None,):  # `IF NOT EXISTS` needs the right to create one
            await db.execute(f'CREATE SCHEMA "{schema}"')
        if await _has_tables(db, schema):  # another process may have created them meanwhile
            return
        try:
            for statement in (*statements(POSTGRES), *_POSTGRES_ALONE):
                await db.execute(statement)
        except errors.DuplicateTable as error:
            raise StoreUnavailable(
                f"The schema {schema} holds tables of another program; name another one in the "
                "store address (?schema=NAME)."
            ) from error
        await db.execute("INSERT INTO schema_version VALUES (%s, %s)", (PART, VERSION))


async def _has_tables(db: AsyncConnection, schema: str) -> bool:
    cursor = await db.execute("SELECT to_regclass(%s)", (f'"{schema}".schema_version',))
    if await cursor.fetchone() == (None,):
        return False
    rows = await db.execute("SELECT version FROM schema_version WHERE part = %s", (PART,))
    row = await rows.fetchone()
    try:
        check_version(int(row[0]) if row else 0)
    except StoreUnavailable as error:
        raise StoreUnavailable(
            f"The store in the schema {schema} cannot be used: {error.message}."
        ) from error
    return True
