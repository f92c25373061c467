"""What user memories ask of a store, over SQL."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from memtree.memories.memory import Memory, MemoryChange, NewMemory, Tombstone
from memtree.memories.ports import ANY, Added, MemoryFilter, MemoryPage, MemoryRecord, MemoryRef
from memtree.memories.scope import Scope
from memtree.memories.user_memories import (
    GroupChange,
    MemoryGroup,
    SettingsChange,
    UserSettings,
)
from memtree.stores.memories import changing, deletion, erasing, saving
from memtree.stores.memories.transactions import MemoryTransactions
from memtree.stores.memories.user import as_of, extracted, groups, settings, threads
from memtree.stores.memories.user.records import records, restore


class SqlUserMemories(MemoryTransactions):
    """Its docstrings are those of the ports."""

    # -- more at once ------------------------------------------------------------------------

    async def add_many(
        self, scope: Scope, memories: Sequence[NewMemory], *, once: bool = False, most: int = 0
    ) -> list[Added]:
        return await self.write_memories(
            lambda sql: saving.add_many(sql, scope, memories, once=once, most=most, now=self.now())
        )

    async def merge(
        self,
        scope: Scope,
        ref: MemoryRef,
        older: MemoryRef,
        reason: str,
        *,
        change: MemoryChange | None = None,
        if_version: int | None = None,
    ) -> Memory:
        return await self.write_memories(
            lambda sql: changing.merge(
                sql,
                scope,
                ref,
                older,
                reason=reason,
                change=change,
                if_version=if_version,
                now=self.now(),
            )
        )

    async def delete_matching(
        self,
        scope: Scope,
        wanted: MemoryFilter,
        *,
        reason: str | None = None,
        purge: bool = False,
    ) -> list[str]:
        how = erasing.purge_matching_here if purge else deletion.delete_matching_here
        gone = await self.write_memories(
            lambda sql: deletion.delete(sql, scope, wanted, how, reason=reason, now=self.now())
        )
        if purge and gone:
            await self.scrub_memories(at_once=True)
        return gone

    async def replace_thread(
        self, scope: Scope, thread_id: str, memories: Sequence[NewMemory], *, most: int = 0
    ) -> int:
        return await self.write_memories(
            lambda sql: threads.replace_thread(
                sql, scope, thread_id, memories, most=most, now=self.now()
            )
        )

    async def as_of(
        self,
        scope: Scope,
        at: float,
        wanted: MemoryFilter = ANY,
        *,
        before: int | None = None,
        limit: int = 100,
    ) -> MemoryPage:
        return await self.read_memories(
            lambda sql: as_of.as_of(sql, scope, at, wanted, before=before, limit=limit)
        )

    async def records(self, scope: Scope, after: int = 0, limit: int = 500) -> list[MemoryRecord]:
        return await self.read_memories(lambda sql: records(sql, scope, after, limit, self.now()))

    async def restore(
        self,
        scope: Scope,
        records: Sequence[MemoryRecord],
        tombstones: Sequence[Tombstone] = (),
        *,
        most: int = 0,
    ) -> list[Memory]:
        return await self.write_memories(
            lambda sql: restore(sql, scope, records, tombstones, most=most, now=self.now())
        )

    # -- groups ------------------------------------------------------------------------------

    async def add_group(self, scope: Scope, group: MemoryGroup, most: int) -> MemoryGroup:
        return await self.write_memories(lambda sql: groups.add_group(sql, scope, group, most))

    async def groups(self, scope: Scope) -> list[MemoryGroup]:
        return await self.read_memories(lambda sql: groups.groups(sql, scope, self.now()))

    async def group(self, scope: Scope, id_: str) -> MemoryGroup:
        return await self.read_memories(lambda sql: groups.group(sql, scope, id_, self.now()))

    async def change_group(
        self, scope: Scope, id_: str, change: GroupChange, at: float
    ) -> MemoryGroup:
        return await self.write_memories(
            lambda sql: groups.change_group(sql, scope, id_, change, at, self.now())
        )

    async def delete_group(self, scope: Scope, id_: str) -> bool:
        return await self.write_memories(lambda sql: groups.delete_group(sql, scope, id_))

    async def add_members(self, scope: Scope, id_: str, refs: Sequence[MemoryRef]) -> int:
        return await self.write_memories(
            lambda sql: groups.add_members(sql, scope, id_, refs, now=self.now())
        )

    async def remove_members(self, scope: Scope, id_: str, refs: Sequence[MemoryRef]) -> int:
        return await self.write_memories(
            lambda sql: groups.remove_members(sql, scope, id_, refs, now=self.now())
        )

    async def groups_of(self, scope: Scope, ids: Collection[str]) -> Mapping[str, list[str]]:
        return await self.read_memories(lambda sql: groups.groups_of(sql, scope, ids, self.now()))

    # -- settings and plans ------------------------------------------------------------------

    async def settings(self, scope: Scope) -> UserSettings:
        return await self.read_memories(lambda sql: settings.settings(sql, scope))

    async def change_settings(self, scope: Scope, change: SettingsChange) -> UserSettings:
        return await self.write_memories(lambda sql: settings.change_settings(sql, scope, change))

    async def plan(self, tenant: str) -> str:
        return await self.read_memories(lambda sql: settings.plan(sql, tenant))

    async def set_plan(self, tenant: str, plan: str) -> None:
        await self.write_memories(lambda sql: settings.set_plan(sql, tenant, plan))

    # -- extraction --------------------------------------------------------------------------

    async def extracted(self, scope: Scope, digests: Collection[bytes]) -> set[bytes]:
        return await self.read_memories(lambda sql: extracted.extracted(sql, scope, digests))

    async def add_extracted(
        self, scope: Scope, digest: bytes, memories: Sequence[NewMemory], *, most: int
    ) -> list[Added] | None:
        return await self.write_memories(
            lambda sql: extracted.add_extracted(
                sql, scope, digest, memories, most=most, now=self.now()
            )
        )

    async def put_snapshot(
        self, scope: Scope, key: bytes, memory: NewMemory, *, most: int = 0
    ) -> Memory | None:
        return await self.write_memories(
            lambda sql: extracted.put_snapshot(sql, scope, key, memory, most=most, now=self.now())
        )
