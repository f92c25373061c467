"""`SqlMemories`: the ports of memories, each method bound to the coroutine that implements it.

    add = writes(MemoryStore.add, adding.add)

The port defines the signature, the defaults and the docstring. The coroutine gets every parameter
by name, and the time of the store's clock if it has a parameter `now`. Searches and pages run
several statements on one state, and a saved memory survives a crash.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial, wraps
from inspect import signature
from typing import Any, Concatenate, ParamSpec, TypeVar

from memtree.agents.agent_memory import AgentMemories, AgentSearchStore
from memtree.agents.grant import WalletStore
from memtree.agents.memory_schema import MemorySchema, SchemaStore, UniqueKey
from memtree.clock import DAY
from memtree.errors import StoreUnavailable
from memtree.memories.memory_store import MemoryMaintenance, MemoryStore
from memtree.memories.scope import Scope
from memtree.memories.user_memories import ExtractedMessages, MemoryGroups, Plans, UserSettingsStore
from memtree.ports.context_store import ProviderObjects
from memtree.stores.memories import (
    adding,
    agent_rows,
    changing,
    conversation_marks,
    memory_reading,
    records,
    removal,
    scopes,
    search_data,
    stored_schemas,
    tenant_rows,
)
from memtree.stores.sql import Sql, SqlPart, Work, keeping
from memtree.stores.sql import reading as reading_one

T = TypeVar("T")
P = ParamSpec("P")
Port = Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]
Method = Callable[Concatenate[SqlPart, P], Coroutine[Any, Any, T]]
TRIES = 20  # attempts, while others store the first memories of a kind in new scopes


def reads(port: Port[P, T], work: Callable[..., Coroutine[Any, Any, T]]) -> Method[P, T]:
    """Bind a method that reads one state of the store."""
    call = _call(port, work)

    @wraps(port)
    async def method(self: SqlPart, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.database.read_state(call(self, args, kwargs))

    return method


def writes(port: Port[P, T], work: Callable[..., Coroutine[Any, Any, T]]) -> Method[P, T]:
    """Bind a method that writes. An erasure (`purge`) is followed by clearing the files."""
    call = _call(port, work)

    @wraps(port)
    async def method(self: SqlPart, /, *args: P.args, **kwargs: P.kwargs) -> T:
        done = await self.database.write(call(self, args, kwargs), durable=True)
        if kwargs.get("purge"):
            await self.database.scrub(at_once=True)
        return done

    return method


def _call(
    port: Callable[..., Any], work: Callable[..., Coroutine[Any, Any, T]]
) -> Callable[[SqlPart, tuple[Any, ...], dict[str, Any]], Work[T]]:
    """Return a function that binds the arguments of a call, without `self`, to the coroutine."""
    parameters = list(signature(port).parameters.values())[1:]
    names = [each.name for each in parameters]
    defaults = {each.name: each.default for each in parameters if each.default is not each.empty}
    timed = "now" in signature(work).parameters

    def call(part: SqlPart, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Work[T]:
        given = {**defaults, **dict(zip(names, args, strict=False)), **kwargs}
        if timed:
            given["now"] = part.now()

        def run(sql: Sql) -> Coroutine[Any, Any, T]:
            return work(sql, **given)

        return run

    return call


class SqlMemories(SqlPart):
    # -- memories ----------------------------------------------------------------------------

    add = writes(MemoryStore.add, adding.add)
    add_many = writes(MemoryStore.add_many, adding.add_many)
    get = reads(MemoryStore.get, memory_reading.get)
    page = reads(MemoryStore.page, memory_reading.page)
    change = writes(MemoryStore.change, changing.change)
    supersede = writes(MemoryStore.supersede, changing.supersede)
    merge = writes(MemoryStore.merge, changing.merge)
    keep_both = writes(MemoryStore.keep_both, memory_reading.settle)
    mark_duplicate = writes(MemoryStore.mark_duplicate, changing.mark_duplicate)
    delete = writes(MemoryStore.delete, removal.delete)
    delete_matching = writes(MemoryStore.delete_matching, removal.delete_matching)
    deletable = reads(MemoryStore.deletable, removal.deletable)
    undelete = writes(MemoryStore.undelete, removal.undelete)
    versions = reads(MemoryStore.versions, memory_reading.versions)
    history = reads(MemoryStore.history, memory_reading.history)
    tombstones = reads(MemoryStore.tombstones, memory_reading.tombstones)
    replace_thread = writes(MemoryStore.replace_thread, removal.replace_thread)
    restore = writes(MemoryStore.restore, records.restore)
    records = reads(MemoryStore.records, records.records)
    state = reads(MemoryStore.state, scopes.state)
    changes = reads(MemoryStore.changes, memory_reading.changes)
    search_rows = reads(MemoryStore.search_rows, search_data.search_rows)
    matching = reads(MemoryStore.matching, search_data.matching)
    without_vectors = reads(MemoryStore.without_vectors, search_data.without_vectors)
    count_without_vectors = reads(
        MemoryStore.count_without_vectors, search_data.count_without_vectors
    )
    segment = reads(MemoryStore.segment, search_data.segment)
    put_segment = writes(MemoryStore.put_segment, search_data.put_segment)
    shown = reads(MemoryStore.shown, conversation_marks.shown)
    put_shown = writes(MemoryStore.put_shown, conversation_marks.put_shown)
    put_updates = writes(MemoryStore.put_updates, memory_reading.put)
    _twins = reads(MemoryStore.twins, memory_reading.twins)
    put_vectors = writes(MemoryStore.put_vectors, search_data.put_vectors)

    async def twins(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, list[str]]:
        return await self._twins(scope, ids) if ids else {}

    # -- users -------------------------------------------------------------------------------

    add_group = writes(MemoryGroups.add_group, tenant_rows.add_group)
    groups = reads(MemoryGroups.groups, tenant_rows.groups)
    group = reads(MemoryGroups.group, tenant_rows.group)
    change_group = writes(MemoryGroups.change_group, tenant_rows.change_group)
    delete_group = writes(MemoryGroups.delete_group, tenant_rows.delete_group)
    add_members = writes(MemoryGroups.add_members, tenant_rows.add_members)
    remove_members = writes(MemoryGroups.remove_members, tenant_rows.remove_members)
    groups_of = reads(MemoryGroups.groups_of, tenant_rows.groups_of)
    settings = reads(UserSettingsStore.settings, tenant_rows.settings)
    change_settings = writes(UserSettingsStore.change_settings, tenant_rows.change_settings)
    plan = reads(Plans.plan, tenant_rows.plan)
    set_plan = writes(Plans.set_plan, tenant_rows.set_plan)
    extracted = reads(ExtractedMessages.extracted, conversation_marks.extracted)
    add_extracted = writes(ExtractedMessages.add_extracted, conversation_marks.add_extracted)
    forget_once = writes(ExtractedMessages.forget_once, conversation_marks.forget_once)
    put_snapshot = writes(ExtractedMessages.put_snapshot, conversation_marks.put_snapshot)

    # -- agents ------------------------------------------------------------------------------

    write = writes(AgentMemories.write, agent_rows.write)
    unique_holders = reads(AgentMemories.unique_holders, stored_schemas.unique_holders)
    locate = reads(AgentMemories.locate, agent_rows.locate)
    agent_page = reads(AgentMemories.agent_page, agent_rows.agent_page)
    change_all = writes(AgentMemories.change_all, changing.change_all)
    delete_all = writes(AgentMemories.delete_all, removal.delete_all)
    delete_matching_all = writes(AgentMemories.delete_matching_all, removal.delete_matching_all)
    scope_totals = reads(AgentSearchStore.scope_totals, agent_rows.scope_totals)
    scope_versions = reads(AgentSearchStore.scope_versions, agent_rows.scope_versions)
    placed_rows = reads(AgentSearchStore.placed_rows, agent_rows.placed_rows)
    placed_changes = reads(AgentSearchStore.placed_changes, agent_rows.placed_changes)
    matching_in = reads(AgentSearchStore.matching_in, agent_rows.matching_in)
    placed_memories = reads(AgentSearchStore.placed_memories, agent_rows.placed_memories)
    schemas = reads(SchemaStore.schemas, stored_schemas.schemas)
    prove_wallet = writes(WalletStore.prove_wallet, tenant_rows.prove_wallet)
    wallet_tenants = reads(WalletStore.wallet_tenants, tenant_rows.wallet_tenants)
    wallets = reads(WalletStore.wallets, tenant_rows.wallets)
    release_wallet = writes(WalletStore.release_wallet, tenant_rows.release_wallet)
    revoke_grant = writes(WalletStore.revoke_grant, tenant_rows.revoke_grant)
    revoked_grants = reads(WalletStore.revoked_grants, tenant_rows.revoked_grants)
    put_objects = writes(ProviderObjects.put_objects, tenant_rows.put_objects)
    known_objects = reads(ProviderObjects.known_objects, tenant_rows.known_objects)

    async def put_schema(
        self,
        tenant: str,
        schema: MemorySchema,
        unique_key: UniqueKey,
        *,
        most: int,
        once: bool = False,
        expected: MemorySchema | None = None,
    ) -> bool:
        put = partial(stored_schemas.put_schema, once=once, expected=expected)
        return await self._with_scopes(
            lambda sql: put(sql, tenant, schema, unique_key, most=most, now=self.now())
        )

    async def delete_schema(self, tenant: str, kind: str) -> bool:
        return await self._with_scopes(lambda sql: stored_schemas.delete_schema(sql, tenant, kind))

    async def _with_scopes(self, work: Work[bool]) -> bool:
        for _ in range(TRIES):
            try:
                return await self.database.write(work, durable=True)
            except stored_schemas.ScopesChanged:
                await asyncio.sleep(0)
        raise StoreUnavailable("Many memories of this kind are being stored: try again.")

    # -- maintenance -------------------------------------------------------------------------

    any_memories = reads(MemoryMaintenance.any_memories, search_data.any_memories)
    scopes_without_vectors = reads(
        MemoryMaintenance.scopes_without_vectors, search_data.scopes_without_vectors
    )
    memory_scopes = reads(MemoryMaintenance.memory_scopes, memory_reading.memory_scopes)

    _ended_scopes = reading_one(removal.ended_scopes)
    _erase_ended = keeping(removal.erase_ended)
    _any_ended = reading_one(removal.any_ended)
    _drop_ended = keeping(removal.drop_ended)
    _scopes_of_unused = reading_one(removal.scopes_of_unused)
    _drop_unused = keeping(removal.drop_unused)
    _scopes_of = reading_one(removal.scopes_of)
    _erase_scope = keeping(removal.erase_scope)
    _erase_tenant = keeping(tenant_rows.erase_tenant)

    async def sweep_memories(self, now: float, deleted_days: int) -> int:
        """Erase memories deleted `deleted_days` ago or expired, in transactions of a thousand rows,
        so that other writers get their turn in between."""
        before = now - deleted_days * DAY
        erased = 0
        for scope in await self._ended_scopes(before):
            while gone := await self._erase_ended(scope, before, now):
                erased += gone
        if await self._any_ended(now):
            await self._drop_ended(now)
        for scope in await self._scopes_of_unused():
            await self._drop_unused(scope)
        await self.database.scrub(at_once=False)
        return erased

    async def erase_memories(self, tenant: str) -> int:
        erased = 0
        for scope in await self._scopes_of(tenant):
            erased += await self._erase_scope(scope, self.now())
        await self._erase_tenant(tenant)
        await self.database.scrub(at_once=True)
        return erased
