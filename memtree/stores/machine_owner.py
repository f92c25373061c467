"""Give what requests without a credential have kept to the tenant `local`, once for each store.

Such requests were the tenant `anonymous`, while the terminal, `memtree mcp` and `memtree wrap` were
`local`, so one person's memories lay under two names. The move runs in the transaction that records
it. Rows of `local` are never changed but for counters: what both have stays where it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from memtree.stores.context.store_copy import OWNED
from memtree.stores.context.tenants import begin, known_tenant
from memtree.stores.memories.scopes import lock_tenant
from memtree.stores.schema import COLUMNS
from memtree.stores.sql import Sql
from memtree.tenant_names import ANONYMOUS, LOCAL

PART = "owner"  # name of the row of `schema_version` that records the move
_RECORD = "INSERT INTO schema_version (part, version) VALUES (:part, 1)"
# An operator gave it to an access key, or to another credential, which goes on with it.
_GIVEN = """
    SELECT 1 FROM keys WHERE tenant = :of
    UNION SELECT 1 FROM tenant_aliases WHERE :of IN (name, tenant)"""
# Tables that name the tenant, and the columns that tell a tenant's rows apart.
_NAMED: Mapping[str, Sequence[str]] = {
    "memory_scopes": ("kind", "owner", "subject"),
    "memory_schemas": ("kind",),
    "tenant_plans": (),
    "wallets": ("address",),
    "wallet_proofs": ("digest",),
    "grant_revocations": ("digest",),
}
# Tables whose data holds the number too, and their keys.
_ENCODED = {
    "memories": ("scope", "number"),
    "memory_history": ("scope", "number", "version"),
    "memory_tombstones": ("scope", "number"),
}
_LEFT = "SELECT coalesce(sum(counted), 0) FROM memory_scopes WHERE tenant = :of"
_CONVERSATIONS = "SELECT count(*) FROM conversations WHERE tenant = :of"
_ADD_TALLIES = """
    INSERT INTO tallies (tenant, day, name, amount)
    SELECT :to, day, name, amount FROM tallies WHERE tenant = :of
    ON CONFLICT (tenant, day, name) DO UPDATE SET amount = tallies.amount + excluded.amount"""
_COUNT = "UPDATE memory_tenants SET last = :last, counted = :counted WHERE tenant = :tenant"


async def move(sql: Sql) -> str:
    """Move the rows. Returns the sentence that tells it, empty if there were none."""
    names = {"of": ANONYMOUS, "to": LOCAL}
    for tenant in (ANONYMOUS, LOCAL):  # other processes may write meanwhile
        await begin(sql, tenant, alone=True)
    await sql.run(_RECORD, {"part": PART})
    if await sql.fetch(_GIVEN, names):
        return ""
    moved, left = await _move_memories(sql)
    await sql.run(_ADD_TALLIES, names)
    await sql.run("DELETE FROM tallies WHERE tenant = :of", names)
    conversations = await _move_trees(sql)
    notice = ""
    if moved or conversations:
        notice = (
            f"What requests without a credential had saved under the name {ANONYMOUS} belongs to "
            f"this machine's user, {LOCAL}, now: memories {moved:,}, conversations "
            f"{conversations:,}. "
        )
    if left:
        notice += (
            f"Memories that stay in {ANONYMOUS}, because {LOCAL} has some of the same user, agent "
            f"or chat: {left:,}. To add them: memtree memories export --tenant {ANONYMOUS} -o FILE,"
            " then memtree memories import FILE"
        )
    return notice.strip()


async def _move_memories(sql: Sql) -> tuple[int, int]:
    """Move the scopes that `local` lacks. Returns how many live memories were moved, and how many
    stay."""
    names = {"of": ANONYMOUS, "to": LOCAL}
    has_any = await sql.fetch("SELECT 1 FROM memory_tenants WHERE tenant = :of", names)
    theirs, counted = await lock_tenant(sql, ANONYMOUS) if has_any else (0, 0)
    last, own = await lock_tenant(sql, LOCAL) if has_any else (0, 0)
    await _renumber(sql, last)
    for table in _NAMED:
        await sql.run(f"UPDATE {table} SET tenant = :to WHERE {_lacking(table)}", names)
    left = int((await sql.fetch(_LEFT, names))[0][0])
    if has_any:
        own += counted - left
        await sql.run(_COUNT, {"tenant": LOCAL, "last": last + theirs, "counted": own})
        await sql.run(_COUNT, {"tenant": ANONYMOUS, "last": theirs, "counted": left})
    return counted - left, left


async def _renumber(sql: Sql, more: int) -> None:
    """Raise the numbers of the memories that will move: numbers differ within a tenant. They are
    negative in between, since both databases check each row by itself."""
    scopes = f"SELECT number FROM memory_scopes WHERE {_lacking('memory_scopes')}"
    values = {"of": ANONYMOUS, "to": LOCAL, "more": more}
    for table, keys in _ENCODED.items() if more else ():
        query = f"SELECT data, {', '.join(keys)} FROM {table} WHERE scope IN ({scopes})"
        rows = [
            {"data": _renumbered(data, more), **dict(zip(keys, key, strict=True))}
            for data, *key in await sql.fetch(query, values)
        ]
        same = " AND ".join(f"{key} = :{key}" for key in keys)
        await sql.run_many(f"UPDATE {table} SET data = :data WHERE {same}", rows)
    for table, columns in COLUMNS.items() if more else ():
        for name in {"number", "other"}.intersection(columns) if "scope" in columns else ():
            where = f"{name} {{}} 0 AND scope IN ({scopes})"
            raised = f"UPDATE {table} SET {name} = -({name} + :more) WHERE {where.format('>')}"
            await sql.run(raised, values)
            await sql.run(f"UPDATE {table} SET {name} = -{name} WHERE {where.format('<')}", values)
    await sql.run(f"DELETE FROM memory_segments WHERE scope IN ({scopes})", values)


def _renumbered(data: bytes, more: int) -> bytes:
    known = msgspec.msgpack.decode(data)
    return msgspec.msgpack.encode({**known, "number": known["number"] + more})


async def _move_trees(sql: Sql) -> int:
    """Move conversations with their trees, and the log. Equal ids have equal content, so a row that
    `local` has already is deleted. Returns the number of conversations.

    A conversation that goes on is posted under addresses of the new name. It is indexed again, but
    finds its nodes, vectors and summaries by their content."""
    of = await known_tenant(sql, ANONYMOUS)
    if of is None:
        return 0
    to = await known_tenant(sql, LOCAL)
    if to is None:  # nothing needs to be written anew
        await sql.run("UPDATE tenants SET name = :to WHERE number = :of", {"to": LOCAL, "of": of})
        return int((await sql.fetch(_CONVERSATIONS, {"of": of}))[0][0])
    conversations = 0
    for table in OWNED:
        numbers = {"of": of, "to": to}
        moving = f"UPDATE {table.name} SET tenant = :to WHERE {_lacking(table.name, table.keys)}"
        count = await sql.count(moving, numbers)
        await sql.run(f"DELETE FROM {table.name} WHERE tenant = :of", numbers)
        conversations += count if table.name == "conversations" else 0
    await sql.run("DELETE FROM tenants WHERE number = :of", {"of": of})
    return conversations


def _lacking(table: str, keys: Sequence[str] | None = None) -> str:
    """Return the condition on rows of `:of` for which `:to` has no row with the same keys (default:
    those of `_NAMED`)."""
    named = _NAMED[table] if keys is None else keys
    same = "".join(f" AND own.{key} = {table}.{key}" for key in named)
    return (
        f"{table}.tenant = :of AND NOT EXISTS"
        f" (SELECT 1 FROM {table} AS own WHERE own.tenant = :to{same})"
    )
