"""Keep rows of tenants besides memories: wallets, grants, plans, groups, switches and objects.

A tenant has its wallets, proofs that were used, grants that were revoked, its plan, and digests of
objects at the provider; a user has groups of memories with their members, and switches.

A member's row stays as long as the memory is stored, in whatever state: only live memories are
counted and listed, so a restored memory is in its groups again. The successor of a member joins its
groups (`changing.replaced_by`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import msgspec

from memtree.errors import BadRequest, Conflict, Forbidden, NotFound
from memtree.memories.memory_store import MemoryRef
from memtree.memories.scope import Scope
from memtree.memories.user_memories import (
    PLAN,
    GroupChange,
    MemoryGroup,
    SettingsChange,
    UserSettings,
)
from memtree.stores.memories.memory_reading import known, live
from memtree.stores.memories.scopes import ScopeRow, begin, begin_known
from memtree.stores.memories.table_rows import (
    LIVE,
    SCOPE,
    GroupMemberRow,
    GroupRow,
    plain,
    scope_values,
    storable,
)
from memtree.stores.schema import insert_into, upsert_into
from memtree.stores.sql import Ids, Sql, reader, storing

# A used proof is remembered for this much longer than it is valid, since clocks of servers differ.
PROOF_SECONDS = 600.0
_USE_PROOF = insert_into("wallet_proofs", "DO NOTHING")
_USER = "SELECT tenant FROM wallet_proofs WHERE digest = :digest"
_BIND = insert_into("wallets", "DO NOTHING")
_OWNER = "SELECT tenant FROM wallets WHERE address = :address"
_OWNERS = "SELECT address, tenant FROM wallets WHERE address IN :addresses[]"
_WALLETS = "SELECT address, bound FROM wallets WHERE tenant = :tenant ORDER BY bound, address"
_RELEASE = """
    DELETE FROM wallets WHERE address = :address AND tenant = :tenant RETURNING address"""
_REVOKE = insert_into("grant_revocations", "DO NOTHING RETURNING at")
_REVOKED = "SELECT digest FROM grant_revocations WHERE digest IN :digests[bytes]"
_PLAN = "SELECT plan FROM tenant_plans WHERE tenant = :tenant"
_PUT_PLAN = upsert_into("tenant_plans", "tenant", "plan")
# A revocation outlives its tenant: otherwise the next owner of the wallet would find the grant
# valid again.
_ERASE = (
    "DELETE FROM memory_schemas WHERE tenant = :tenant",
    "DELETE FROM wallets WHERE tenant = :tenant",
    "UPDATE grant_revocations SET tenant = '', grantor = '' WHERE tenant = :tenant",
)
# The later expiry wins, so that a delayed write shortens nothing.
_LATER = " WHERE excluded.expires > provider_objects.expires"
_PUT_OBJECT = upsert_into("provider_objects", "digest", "expires") + _LATER
_KNOWN_OBJECTS = (
    "SELECT digest FROM provider_objects WHERE expires > :now AND digest IN :digests[bytes]"
)


async def prove_wallet(
    sql: Sql, address: str, tenant: str, proof: bytes, until: float, now: float
) -> None:
    used = {"digest": proof, "tenant": tenant, "expires": until + PROOF_SECONDS}
    if await _put_owned(sql, _USE_PROOF, _USER, used) != tenant:
        raise Forbidden("The proof of the wallet was used by somebody else.")
    bound = {"address": plain(address), "tenant": tenant, "bound": now}
    if await _put_owned(sql, _BIND, _OWNER, bound) != tenant:
        raise Conflict("The wallet belongs to another tenant, which has to release it.")


async def _put_owned(sql: Sql, insert: str, select: str, values: Mapping[str, Any]) -> str:
    """Insert the row and return the tenant that owns it now. Retries, since the row may be deleted
    between the two statements."""
    while True:
        await sql.run(insert, values)
        rows = await sql.fetch(select + sql.lock, values)
        if rows:
            return str(rows[0][0])


async def wallet_tenants(sql: Sql, addresses: Collection[str]) -> dict[str, str]:
    wanted = sorted({plain(each) for each in addresses})
    return dict(await sql.fetch(_OWNERS, {"addresses": wanted})) if wanted else {}


async def wallets(sql: Sql, tenant: str) -> list[tuple[str, float]]:
    rows = await sql.fetch(_WALLETS, {"tenant": tenant})
    return [(address, bound) for address, bound in rows]


async def release_wallet(sql: Sql, address: str, tenant: str) -> bool:
    return bool(await sql.fetch(_RELEASE, {"address": plain(address), "tenant": tenant}))


async def revoke_grant(
    sql: Sql, digest: bytes, grantor: str, tenant: str, expires: float, now: float
) -> bool:
    row = {"digest": digest, "grantor": plain(grantor), "tenant": tenant, "at": now}
    return bool(await sql.fetch(_REVOKE, {**row, "expires": expires}))


async def revoked_grants(sql: Sql, digests: Collection[bytes]) -> set[bytes]:
    rows = await sql.many("h", _REVOKED, {"digests": Ids(digests)})
    return {digest for (digest,) in rows}


async def erase_tenant(sql: Sql, tenant: str) -> None:
    """Erase the tenant's rows outside of scopes. Its wallets can be claimed by anybody again."""
    for statement in _ERASE:
        await sql.run(statement, {"tenant": tenant})


async def put_objects(sql: Sql, digests: Collection[bytes], expires: float) -> None:
    """Store digests in their order, so that no two writers wait for each other in a circle."""
    rows = [{"digest": digest, "expires": expires} for digest in sorted(set(digests))]
    await sql.run_many(_PUT_OBJECT, rows)


async def known_objects(sql: Sql, digests: Collection[bytes], now: float) -> set[bytes]:
    values = {"now": now, "digests": Ids(digests)}
    return {digest for (digest,) in await sql.many("h", _KNOWN_OBJECTS, values)}


async def plan(sql: Sql, tenant: str) -> str:
    rows = await sql.fetch(_PLAN, {"tenant": tenant})
    return str(rows[0][0]) if rows else PLAN


async def set_plan(sql: Sql, tenant: str, plan: str) -> None:
    await sql.run(_PUT_PLAN, {"tenant": tenant, "plan": plain(plan)})


# A look-up for each member, whatever the planner knows: a scalar subquery is never joined.
_COUNT = f"""
    SELECT count(*) FROM memory_group_members AS members
    WHERE members.scope = :scope AND members.group_id = memory_groups.id AND (
        SELECT counted FROM memories WHERE memories.scope = :scope
        AND memories.number = members.number AND {LIVE}) = 1"""
_GROUPS = f"SELECT data, ({_COUNT}) FROM memory_groups WHERE scope = :scope"
_ALL = f"{_GROUPS} ORDER BY created, id"
_ONE = f"{_GROUPS} AND id = :id"
_HOW_MANY = "SELECT count(*) FROM memory_groups WHERE scope = :scope"
_TAKEN = "SELECT 1 FROM memory_groups WHERE scope = :scope AND id = :id"
_ADD = insert_into("memory_groups")
_CHANGE = """
    UPDATE memory_groups SET name = :name, updated = :updated, data = :data
    WHERE scope = :scope AND id = :id"""
_DELETE = "DELETE FROM memory_groups WHERE scope = :scope AND id = :id"
_DELETE_MEMBERS = "DELETE FROM memory_group_members WHERE scope = :scope AND group_id = :id"
_MEMBERS = """
    SELECT number FROM memory_group_members
    WHERE scope = :scope AND group_id = :id AND number IN :numbers[]"""
_JOIN = insert_into("memory_group_members")
_LEAVE = """
    DELETE FROM memory_group_members
    WHERE scope = :scope AND group_id = :id AND number IN :numbers[]"""
_NUMBERS = f"""
    SELECT number, id FROM memories WHERE scope = :scope AND id IN :ids[] AND +{LIVE}"""
_OF = """
    SELECT members.number, memory_groups.id
    FROM memory_group_members AS members JOIN memory_groups
        ON memory_groups.scope = :scope AND memory_groups.id = members.group_id
    WHERE members.scope = :scope AND members.number IN :numbers[]
    ORDER BY memory_groups.created, memory_groups.id"""

read_group = reader(
    "A stored group of memories does not decode ({}).", msgspec.msgpack.Decoder(MemoryGroup).decode
)
_SETTINGS = f"SELECT data FROM memory_settings WHERE scope = {SCOPE}"
_PUT_SETTINGS = upsert_into("memory_settings", "scope", "data")
read_settings = reader(
    "Stored settings of a user do not decode ({}).", msgspec.msgpack.Decoder(UserSettings).decode
)


async def add_group(sql: Sql, scope: Scope, group: MemoryGroup, most: int) -> MemoryGroup:
    at = await begin(sql, scope)
    if not storable(group.id):
        raise BadRequest("The id of a group must be plain text.", param="id")
    if await sql.fetch(_TAKEN, {"scope": at.number, "id": group.id}):
        raise Conflict("There is a group with this id.", param="id")
    ((count,),) = await sql.fetch(_HOW_MANY, {"scope": at.number})
    if count >= most:
        raise Conflict(f"There are {count} groups, and at most {most} are allowed: delete some.")
    group = replace(group, members=0)
    await sql.run(_ADD, _columns(at, group))
    return group


async def groups(sql: Sql, scope: Scope, now: float) -> list[MemoryGroup]:
    rows = await sql.fetch(_ALL, {"scope": await known(sql, scope), "now": now})
    return [replace(read_group(data), members=count) for data, count in rows]


async def group(sql: Sql, scope: Scope, id_: str, now: float) -> MemoryGroup:
    return await _group(sql, await known(sql, scope), id_, now)


async def _group(sql: Sql, scope: int, id_: str, now: float) -> MemoryGroup:
    values = {"scope": scope, "id": id_, "now": now}
    rows = await sql.fetch(_ONE, values) if storable(id_) else []
    if not rows:
        raise _no_group()
    return replace(read_group(rows[0][0]), members=rows[0][1])


async def change_group(
    sql: Sql, scope: Scope, id_: str, change: GroupChange, at: float, now: float
) -> MemoryGroup:
    scope_row, old = await _begin_group(sql, scope, id_, now)
    after = replace(
        old,
        title=old.title if change.title is None else change.title,
        description=old.description if change.description is None else change.description,
        category=old.category if change.category is None else change.category or None,
        updated=at,
    )
    await sql.run(_CHANGE, _columns(scope_row, after))
    return after


async def delete_group(sql: Sql, scope: Scope, id_: str) -> bool:
    at = await begin_known(sql, scope)
    values = {"scope": at.number if at else 0, "id": id_}
    if at is None or not storable(id_) or not await sql.fetch(_TAKEN, values):
        return False
    await sql.run(_DELETE, values)
    await sql.run(_DELETE_MEMBERS, values)
    return True


async def _begin_group(
    sql: Sql, scope: Scope, id_: str, now: float
) -> tuple[ScopeRow, MemoryGroup]:
    """Lock the scope, and return it with the group. Raises `NotFound` if there is none."""
    at = await begin_known(sql, scope)
    if at is None:
        raise _no_group()
    return at, await _group(sql, at.number, id_, now)


async def add_members(
    sql: Sql, scope: Scope, id_: str, refs: Sequence[MemoryRef], *, now: float
) -> int:
    at, _ = await _begin_group(sql, scope, id_, now)
    numbers = [row.number for row in await live(sql, at.number, refs, now)]
    values: dict[str, Any] = {"scope": at.number, "id": id_}
    there = {number for (number,) in await sql.fetch(_MEMBERS, {**values, "numbers": numbers})}
    new = [GroupMemberRow(at.number, id_, number, now) for number in numbers if number not in there]
    await sql.run_many(_JOIN, [row._asdict() for row in new])
    return len(new)


async def remove_members(
    sql: Sql, scope: Scope, id_: str, refs: Sequence[MemoryRef], *, now: float
) -> int:
    at, _ = await _begin_group(sql, scope, id_, now)
    numbers = [row.number for row in await live(sql, at.number, refs, now)]
    values = {"scope": at.number, "id": id_, "numbers": numbers}
    there = await sql.fetch(_MEMBERS, values)
    if there:
        await sql.run(_LEAVE, values)
    return len(there)


async def groups_of(
    sql: Sql, scope: Scope, ids: Collection[str], now: float
) -> Mapping[str, list[str]]:
    number = await known(sql, scope)
    storable_ids = [each for each in ids if storable(each)]
    values = {"scope": number, "ids": storable_ids, "now": now}
    ids_of: dict[int, str] = dict(await sql.fetch(_NUMBERS, values) if storable_ids else ())
    members = {"scope": number, "numbers": list(ids_of)}
    by_id: dict[str, list[str]] = {}
    for member, group_id in await sql.fetch(_OF, members) if ids_of else ():
        by_id.setdefault(ids_of[member], []).append(group_id)
    return {each: by_id[each] for each in dict.fromkeys(storable_ids) if each in by_id}


def _columns(scope: ScopeRow, group: MemoryGroup) -> dict[str, Any]:
    with storing("group"):
        data = msgspec.msgpack.encode(replace(group, members=0))
    times = (group.created, group.updated)
    return GroupRow(scope.number, group.id, plain(group.title), *times, data)._asdict()


def _no_group() -> NotFound:
    return NotFound("No group of memories has this group_id.", param="group_id")


async def settings(sql: Sql, scope: Scope) -> UserSettings:
    rows = await sql.fetch(_SETTINGS, scope_values(scope))
    return read_settings(rows[0][0]) if rows else UserSettings()


async def change_settings(sql: Sql, scope: Scope, change: SettingsChange) -> UserSettings:
    at = await begin(sql, scope)
    given = {name: value for name, value in asdict(change).items() if value is not None}
    after = replace(await settings(sql, scope), **given)
    await sql.run(_PUT_SETTINGS, {"scope": at.number, "data": msgspec.msgpack.encode(after)})
    return after
