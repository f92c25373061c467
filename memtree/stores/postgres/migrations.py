"""The PostgreSQL schema: a list of steps, and the number of steps that a database has seen.

A released step is never edited; append another one. Several parts of the program may share one
schema: each has its own list and its own row in `schema_version`.

Ids, encoded values and vectors are `bytea`: nothing in the database decodes them.
"""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import AsyncConnection, errors

from memtree.errors import StoreUnavailable
from memtree.stores.context.schema import requests_step
from memtree.stores.memories.tables import schema as memory_schema
from memtree.stores.memories.tables.filling import fill
from memtree.stores.postgres.locks import ALONE, lock_key
from memtree.stores.postgres.postgres_sql import PostgresSql

Step = Sequence[str]

# Nodes and vectors of 2 kB and more would be moved into a TOAST table, which costs a second
# look-up: with this target they stay in the row.
_INLINE = "WITH (toast_tuple_target = 8160)"

_TREE: Step = (
    "CREATE TABLE tenants (number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " name text NOT NULL UNIQUE)",
    "CREATE TABLE nodes (tenant integer NOT NULL, level integer NOT NULL, id bytea NOT NULL,"
    f" children bytea NOT NULL, data bytea NOT NULL, PRIMARY KEY (tenant, id)) {_INLINE}",
    "CREATE TABLE frontiers (tenant integer NOT NULL, key bytea NOT NULL, data bytea NOT NULL,"
    " PRIMARY KEY (tenant, key))",
    "CREATE TABLE addresses (tenant integer NOT NULL, address bytea NOT NULL,"
    " frontier bytea NOT NULL, expires double precision NOT NULL, previous bytea NOT NULL,"
    " PRIMARY KEY (tenant, address))",
    "CREATE INDEX expiring_addresses ON addresses (expires)",
    "CREATE TABLE vectors (tenant integer NOT NULL, recipe text NOT NULL, id bytea NOT NULL,"
    f" data bytea NOT NULL, PRIMARY KEY (tenant, recipe, id)) {_INLINE}",
    # Vectors do not compress, so the server should not try.
    "ALTER TABLE vectors ALTER COLUMN data SET STORAGE EXTERNAL",
    "CREATE TABLE summaries (tenant integer NOT NULL, version integer NOT NULL, id bytea NOT NULL,"
    " data bytea NOT NULL, PRIMARY KEY (tenant, id, version))",
)
_PLANS: Step = (
    "CREATE TABLE epochs (tenant integer NOT NULL, id bytea NOT NULL, data bytea NOT NULL,"
    " expires double precision NOT NULL, PRIMARY KEY (tenant, id))",
    "CREATE INDEX expiring_epochs ON epochs (expires)",
    "CREATE TABLE turns (tenant integer NOT NULL, key bytea NOT NULL, address bytea NOT NULL,"
    " epoch bytea NOT NULL, data bytea NOT NULL, PRIMARY KEY (tenant, address, key))",
    "CREATE INDEX turns_of_epochs ON turns (tenant, epoch)",
    # A row marks a deletion since which the tables were not vacuumed.
    "CREATE TABLE deletions (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY)",
)
_CLAIMS: Step = (
    "CREATE TABLE claims (tenant integer NOT NULL, id bytea NOT NULL, owner text NOT NULL,"
    " until double precision NOT NULL, PRIMARY KEY (tenant, id))",
    "CREATE INDEX ending_claims ON claims (until)",
    # Tallies name the tenant itself: they outlive its row in `tenants`.
    "CREATE TABLE tallies (tenant text NOT NULL, day integer NOT NULL, name text NOT NULL,"
    " amount bigint NOT NULL, PRIMARY KEY (tenant, day, name))",
)
_RECIPES: Step = (
    # `day`: the last day on which a sweep counted; `idle`: days since a process used it.
    "CREATE TABLE recipes (recipe text PRIMARY KEY, day integer NOT NULL, idle integer NOT NULL)",
)
_KEYS: Step = (
    "CREATE TABLE keys (id text PRIMARY KEY, label text NOT NULL, tenant text NOT NULL,"
    " created double precision NOT NULL)",
    "CREATE TABLE key_values (hash text PRIMARY KEY, key text NOT NULL)",
    "CREATE INDEX values_of_keys ON key_values (key)",
)
_ALIASES: Step = (
    # Bare credentials that authenticate as another tenant than the one they name.
    "CREATE TABLE tenant_aliases (name text PRIMARY KEY, tenant text NOT NULL)",
)
_CONVERSATIONS: Step = (
    # Addresses at which conversations end.
    "CREATE TABLE conversations (tenant integer NOT NULL, address bytea NOT NULL,"
    " used double precision NOT NULL, messages bigint NOT NULL, tokens bigint NOT NULL,"
    " first bigint NOT NULL, whole integer NOT NULL, PRIMARY KEY (tenant, address))",
    # The time of last use of existing rows is derived from the default expiry.
    "INSERT INTO conversations SELECT tenant, address,"
    " greatest(1, least(expires - 30 * 86400.0, extract(epoch FROM now())::double precision)),"
    " 0, 0, 0, 1 FROM addresses WHERE NOT EXISTS (SELECT 1 FROM addresses AS later"
    " WHERE later.tenant = addresses.tenant AND later.previous = addresses.address)",
    # Without the address, or the planner would use this index to look addresses up.
    "CREATE INDEX newest_conversations ON conversations (tenant, used)",
)
_TITLES: Step = (
    # `ordinal`: number among those with the same title; `own_title`: the title that a person typed.
    "ALTER TABLE conversations ADD COLUMN title text NOT NULL DEFAULT '',"
    " ADD COLUMN client text NOT NULL DEFAULT '', ADD COLUMN project text NOT NULL DEFAULT '',"
    " ADD COLUMN ordinal integer NOT NULL DEFAULT 0,"
    " ADD COLUMN own_title text NOT NULL DEFAULT ''",
    "CREATE INDEX titled_conversations ON conversations (tenant, title, ordinal)",
)
_PINS: Step = (
    # Places of a conversation that must stay whole, without their text.
    "ALTER TABLE conversations ADD COLUMN pins text NOT NULL DEFAULT ''",
)
TREE_STEPS: tuple[Step, ...] = (
    (*_TREE, *_PLANS, *_CLAIMS, *_RECIPES, *_KEYS),
    _ALIASES,
    _CONVERSATIONS,
    _TITLES,
    _PINS,
    requests_step(memory_schema.POSTGRES),
)
MEMORY_STEPS: tuple[Step, ...] = tuple(
    (*step, "ALTER TABLE memory_vectors ALTER COLUMN data SET STORAGE EXTERNAL")
    for step in memory_schema.steps(memory_schema.POSTGRES)
)
_TREE_TABLES = """
    tenants nodes frontiers addresses vectors summaries epochs turns deletions claims tallies
    recipes keys key_values tenant_aliases conversations requests
""".split()
TABLES = (*_TREE_TABLES, *memory_schema.TABLES)


# Another port that keeps tables in the same schema names its steps here.
PARTS: dict[str, Sequence[Step]] = {"tree": TREE_STEPS, "memories": MEMORY_STEPS}


async def migrate_all(db: AsyncConnection, schema: str) -> None:
    for part, steps in PARTS.items():
        await migrate(db, schema, part, steps)


async def migrate(db: AsyncConnection, schema: str, part: str, steps: Sequence[Step]) -> None:
    """Bring a part of the schema up to date, all or nothing; several processes may try at once.

    Raises `StoreUnavailable` if the schema is newer than this version, or belongs to another
    program.
    """
    if await _version(db, schema, part, len(steps)) == len(steps):
        return
    async with db.transaction():
        await db.execute(ALONE, (lock_key("memtree schema", schema),))
        cursor = await db.execute("SELECT to_regnamespace(%s)", (f'"{schema}"',))
        if await cursor.fetchone() == (None,):  # `IF NOT EXISTS` needs the right to create one
            await db.execute(f'CREATE SCHEMA "{schema}"')
        version = await _version(db, schema, part, len(steps))
        try:
            for statement in (each for step in steps[version:] for each in step):
                if statement == memory_schema.FILL:
                    await fill(PostgresSql(db))
                else:
                    await db.execute(statement)
        except errors.DuplicateTable as error:
            raise StoreUnavailable(
                f"The schema {schema} holds tables of another program; name another one in the "
                "store address (?schema=NAME)."
            ) from error
        await _record(db, part, len(steps))


async def _record(db: AsyncConnection, part: str, version: int) -> None:
    await db.execute(
        "CREATE TABLE IF NOT EXISTS schema_version"
        " (part text PRIMARY KEY, version integer NOT NULL)"
    )
    await db.execute(
        "INSERT INTO schema_version VALUES (%s, %s)"
        " ON CONFLICT (part) DO UPDATE SET version = excluded.version",
        (part, version),
    )


async def _version(db: AsyncConnection, schema: str, part: str, known: int) -> int:
    cursor = await db.execute("SELECT to_regclass(%s)", (f'"{schema}".schema_version',))
    if await cursor.fetchone() == (None,):
        return 0
    rows = await db.execute("SELECT version FROM schema_version WHERE part = %s", (part,))
    row = await rows.fetchone()
    version = int(row[0]) if row else 0
    if version > known:
        raise StoreUnavailable(
            f"The schema {schema} ({part}) is version {version}, this program knows up to {known}: "
            "a newer MemTree wrote it; update this one or name another database."
        )
    return version
