"""`SqlMemories`: the ports of memories, each method bound to the coroutine that implements it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial

from memtree.days import DAY
from memtree.errors import StoreUnavailable
from memtree.memories.agents.agent_memory import AgentMemories, AgentSearchStore
from memtree.memories.agents.schemas.memory_schema import MemorySchema, SchemaStore, UniqueKey
from memtree.memories.grants.grant import WalletStore
from memtree.memories.memory import PossibleUpdate
from memtree.memories.ports import MemoryMaintenance, MemoryStore
from memtree.memories.scope import Scope
from memtree.memories.user_memories import (
    ExtractedMessages,
    MemoryGroups,
    Plans,
    UserSettingsStore,
)
from memtree.ports.store import ProviderObjects
from memtree.stores.memories import changing, conflicts, provider_objects, reading, saving, search
from memtree.stores.memories import shown as shown_sets
from memtree.stores.memories.agent import locating, searching
from memtree.stores.memories.agent import schemas as agent_schemas
from memtree.stores.memories.agent import wallets as agent_wallets
from memtree.stores.memories.agent import writing as structured
from memtree.stores.memories.removal import deletion, erasing, scope_removal, sweep
from memtree.stores.memories.tables import counters, unique_keys
from memtree.stores.memories.transactions import MemoryTransactions
from memtree.stores.memories.transactions import reading as reads
from memtree.stores.memories.transactions import writing as writes
from memtree.stores.memories.user import extracted as user_extracted
from memtree.stores.memories.user import groups as user_groups
from memtree.stores.memories.user import records as user_records
from memtree.stores.memories.user import settings as user_settings
from memtree.stores.memories.user import threads
from memtree.stores.sql import Work

TRIES = 20  # attempts, while others store the first memories of a kind in new scopes


# The modules are imported under other names than the methods, which would hide them in the class.
class SqlMemories(MemoryTransactions):
    # -- memories ----------------------------------------------------------------------------

    add = writes(MemoryStore.add, saving.add)
    add_many = writes(MemoryStore.add_many, saving.add_many)
    get = reads(MemoryStore.get, reading.get)
    page = reads(MemoryStore.page, reading.page)
    change = writes(MemoryStore.change, changing.change)
    supersede = writes(MemoryStore.supersede, changing.supersede)
    merge = writes(MemoryStore.merge, changing.merge)
    keep_both = writes(MemoryStore.keep_both, conflicts.settle)
    mark_duplicate = writes(MemoryStore.mark_duplicate, changing.mark_duplicate)
    delete = writes(MemoryStore.delete, scope_removal.delete)
    delete_matching = writes(MemoryStore.delete_matching, scope_removal.delete_matching)
    deletable = reads(MemoryStore.deletable, scope_removal.deletable)
    undelete = writes(MemoryStore.undelete, deletion.undelete)
    versions = reads(MemoryStore.versions, reading.versions)
    history = reads(MemoryStore.history, reading.history)
    tombstones = reads(MemoryStore.tombstones, reading.tombstones)
    replace_thread = writes(MemoryStore.replace_thread, threads.replace_thread)
    records = reads(MemoryStore.records, user_records.records)
    restore = writes(MemoryStore.restore, user_records.restore)
    state = reads(MemoryStore.state, counters.state)
    changes = reads(MemoryStore.changes, reading.changes)
    search_rows = reads(MemoryStore.search_rows, search.search_rows)
    matching = reads(MemoryStore.matching, search.matching)
    without_vectors = reads(MemoryStore.without_vectors, search.without_vectors)
    count_without_vectors = reads(MemoryStore.count_without_vectors, search.count_without_vectors)
    segment = reads(MemoryStore.segment, search.segment)
    put_segment = writes(MemoryStore.put_segment, search.put_segment)
    shown = reads(MemoryStore.shown, shown_sets.shown)
    put_shown = writes(MemoryStore.put_shown, shown_sets.put_shown)
    _put_updates = writes(MemoryStore.put_updates, conflicts.put)
    _twins = reads(MemoryStore.twins, reading.twins)
    _put_vectors = writes(MemoryStore.put_vectors, search.put_vectors)

    async def put_updates(self, scope: Scope, id_: str, updates: Sequence[PossibleUpdate]) -> None:
        if updates:
            await self._put_updates(scope, id_, updates)

    async def twins(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, list[str]]:
        return await self._twins(scope, ids) if ids else {}

    async def put_vectors(
        self, scope: Scope, recipe: str, rows: Mapping[int, tuple[int, bytes]]
    ) -> None:
        if rows:
            await self._put_vectors(scope, recipe, rows)

    # -- users -------------------------------------------------------------------------------

    add_group = writes(MemoryGroups.add_group, user_groups.add_group)
    groups = reads(MemoryGroups.groups, user_groups.groups)
    group = reads(MemoryGroups.group, user_groups.group)
    change_group = writes(MemoryGroups.change_group, user_groups.change_group)
    delete_group = writes(MemoryGroups.delete_group, user_groups.delete_group)
    add_members = writes(MemoryGroups.add_members, user_groups.add_members)
    remove_members = writes(MemoryGroups.remove_members, user_groups.remove_members)
    groups_of = reads(MemoryGroups.groups_of, user_groups.groups_of)
    settings = reads(UserSettingsStore.settings, user_settings.settings)
    change_settings = writes(UserSettingsStore.change_settings, user_settings.change_settings)
    plan = reads(Plans.plan, user_settings.plan)
    set_plan = writes(Plans.set_plan, user_settings.set_plan)
    extracted = reads(ExtractedMessages.extracted, user_extracted.extracted)
    add_extracted = writes(ExtractedMessages.add_extracted, user_extracted.add_extracted)
    put_snapshot = writes(ExtractedMessages.put_snapshot, user_extracted.put_snapshot)

    # -- agents ------------------------------------------------------------------------------

    write = writes(AgentMemories.write, structured.write)
    unique_holders = reads(AgentMemories.unique_holders, unique_keys.unique_holders)
    locate = reads(AgentMemories.locate, locating.locate)
    agent_page = reads(AgentMemories.agent_page, locating.agent_page)
    change_all = writes(AgentMemories.change_all, changing.change_all)
    delete_all = writes(AgentMemories.delete_all, scope_removal.delete_all)
    delete_matching_all = writes(
        AgentMemories.delete_matching_all, scope_removal.delete_matching_all
    )
    scope_totals = reads(AgentSearchStore.scope_totals, searching.scope_totals)
    scope_versions = reads(AgentSearchStore.scope_versions, searching.scope_versions)
    placed_rows = reads(AgentSearchStore.placed_rows, searching.placed_rows)
    placed_changes = reads(AgentSearchStore.placed_changes, searching.placed_changes)
    matching_in = reads(AgentSearchStore.matching_in, searching.matching_in)
    placed_memories = reads(AgentSearchStore.placed_memories, searching.placed_memories)
    schemas = reads(SchemaStore.schemas, agent_schemas.schemas)
    prove_wallet = writes(WalletStore.prove_wallet, agent_wallets.prove_wallet)
    wallet_tenants = reads(WalletStore.wallet_tenants, agent_wallets.wallet_tenants)
    wallets = reads(WalletStore.wallets, agent_wallets.wallets)
    release_wallet = writes(WalletStore.release_wallet, agent_wallets.release_wallet)
    revoke_grant = writes(WalletStore.revoke_grant, agent_wallets.revoke_grant)
    revoked_grants = reads(WalletStore.revoked_grants, agent_wallets.revoked_grants)
    put_objects = writes(ProviderObjects.put_objects, provider_objects.put_objects)
    known_objects = reads(ProviderObjects.known_objects, provider_objects.known_objects)

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
        put = partial(agent_schemas.put_schema, once=once, expected=expected)
        return await self._with_scopes(
            lambda sql: put(sql, tenant, schema, unique_key, most=most, now=self.now())
        )

    async def delete_schema(self, tenant: str, kind: str) -> bool:
        return await self._with_scopes(lambda sql: agent_schemas.delete_schema(sql, tenant, kind))

    async def _with_scopes(self, work: Work[bool]) -> bool:
        for _ in range(TRIES):
            try:
                return await self.write_memories(work)
            except agent_schemas.ScopesChanged:
                await asyncio.sleep(0)
        raise StoreUnavailable("Many memories of this kind are being stored: try again.")

    # -- maintenance -------------------------------------------------------------------------

    scopes_without_vectors = reads(
        MemoryMaintenance.scopes_without_vectors, search.scopes_without_vectors
    )
    memory_scopes = reads(MemoryMaintenance.memory_scopes, reading.memory_scopes)

    async def sweep_memories(self, now: float, deleted_days: int) -> int:
        """Erase memories deleted `deleted_days` ago or expired, in transactions of a thousand rows,
        so that other writers get their turn in between."""
        before = now - deleted_days * DAY
        erased = 0
        for scope in await self.read_memories(lambda sql: erasing.ended_scopes(sql, before)):
            while gone := await self._erase_ended(scope, before, now):
                erased += gone
        if await self.read_memories(lambda sql: sweep.any_ended(sql, now)):
            await self.write_memories(lambda sql: sweep.drop_ended(sql, now))
        for scope in await self.read_memories(sweep.scopes_of_unused):
            await self._drop_unused(scope)
        await self.database.scrub(at_once=False)
        return erased

    async def erase_memories(self, tenant: str) -> int:
        erased = 0
        for scope in await self.read_memories(lambda sql: erasing.scopes_of(sql, tenant)):
            erased += await self._erase_scope(scope)
        await self.write_memories(lambda sql: agent_wallets.erase_tenant(sql, tenant))
        await self.database.scrub(at_once=True)
        return erased

    async def _erase_ended(self, scope: int, before: float, now: float) -> int:
        return await self.write_memories(lambda sql: erasing.erase_ended(sql, scope, before, now))

    async def _erase_scope(self, scope: int) -> int:
        now = self.now()
        return await self.write_memories(lambda sql: erasing.erase_scope(sql, scope, now))

    async def _drop_unused(self, scope: int) -> None:
        await self.write_memories(lambda sql: sweep.drop_unused(sql, scope))
