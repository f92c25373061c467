"""`MemoryStore` and `MemoryMaintenance` over SQL. A back end says how a transaction is run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from memtree.memories.memory import Memory, MemoryChange, NewMemory, PossibleUpdate, Tombstone
from memtree.memories.ports import (
    ANY,
    Added,
    ChangeEvent,
    MemoryFilter,
    MemoryPage,
    MemoryRef,
    ScopeState,
    SearchRows,
    ShownMemory,
    StoredSegment,
)
from memtree.memories.scope import Scope
from memtree.stores.memories import (
    changing,
    conflicts,
    counters,
    deletion,
    erasing,
    provider_objects,
    reading,
    saving,
    search,
    shown,
    sweep,
)
from memtree.stores.memories.agent import wallets
from memtree.stores.memories.agent.methods import SqlAgentMemories
from memtree.stores.memories.agent.searching import SqlAgentSearch
from memtree.stores.memories.user.methods import SqlUserMemories

DAY = 86_400.0


class SqlMemories(SqlUserMemories, SqlAgentMemories, SqlAgentSearch):
    """Its docstrings are those of the ports."""

    # -- one by one --------------------------------------------------------------------------

    async def add(
        self,
        scope: Scope,
        memory: NewMemory,
        *,
        once: bool = False,
        idempotency_key: str = "",
        most: int = 0,
    ) -> Added:
        return await self.write_memories(
            lambda sql: saving.add(
                sql,
                scope,
                memory,
                once=once,
                idempotency_key=idempotency_key,
                most=most,
                now=self.now(),
            )
        )

    async def get(
        self,
        scope: Scope,
        refs: Sequence[MemoryRef],
        *,
        over: bool = False,
        deleted: bool = False,
    ) -> list[Memory]:
        return await self.read_memories(
            lambda sql: reading.get(sql, scope, refs, over=over, deleted=deleted, now=self.now())
        )

    async def page(
        self,
        scope: Scope,
        wanted: MemoryFilter = ANY,
        *,
        before: int | None = None,
        limit: int = 100,
    ) -> MemoryPage:
        return await self.read_memories(
            lambda sql: reading.page(sql, scope, wanted, before=before, limit=limit, now=self.now())
        )

    async def change(
        self, scope: Scope, ref: MemoryRef, change: MemoryChange, *, if_version: int | None = None
    ) -> Memory:
        return await self.write_memories(
            lambda sql: changing.change(
                sql, scope, ref, change, if_version=if_version, now=self.now()
            )
        )

    async def supersede(self, scope: Scope, ref: MemoryRef, by: NewMemory, reason: str) -> Memory:
        return await self.write_memories(
            lambda sql: changing.supersede(sql, scope, ref, by, reason=reason, now=self.now())
        )

    async def put_updates(self, scope: Scope, id_: str, updates: Sequence[PossibleUpdate]) -> None:
        if updates:
            await self.write_memories(lambda sql: conflicts.put(sql, scope, id_, updates))

    async def keep_both(self, scope: Scope, one: str, two: str) -> bool:
        return await self.write_memories(lambda sql: conflicts.settle(sql, scope, one, two))

    async def twins(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, list[str]]:
        return await self.read_memories(lambda sql: reading.twins(sql, scope, ids)) if ids else {}

    async def mark_duplicate(self, scope: Scope, id_: str, of: str) -> bool:
        return await self.write_memories(
            lambda sql: changing.mark_duplicate(sql, scope, id_, of, now=self.now())
        )

    async def delete(
        self,
        scope: Scope,
        refs: Sequence[MemoryRef],
        *,
        reason: str | None = None,
        purge: bool = False,
    ) -> list[str]:
        how = erasing.purge_here if purge else deletion.delete_here
        gone = await self.write_memories(
            lambda sql: deletion.delete(sql, scope, refs, how, reason=reason, now=self.now())
        )
        if purge:
            await self.scrub_memories(at_once=True)
        return gone

    async def deletable(
        self, scope: Scope, wanted: Sequence[MemoryRef] | MemoryFilter, *, purge: bool = False
    ) -> list[str]:
        return await self.read_memories(
            lambda sql: deletion.deletable(sql, scope, wanted, purge=purge, now=self.now())
        )

    async def undelete(self, scope: Scope, refs: Sequence[MemoryRef]) -> list[Memory]:
        return await self.write_memories(
            lambda sql: deletion.undelete(sql, scope, refs, now=self.now())
        )

    async def versions(
        self, scope: Scope, wanted: Sequence[tuple[str, int]]
    ) -> dict[tuple[str, int], Memory]:
        return await self.read_memories(
            lambda sql: reading.versions(sql, scope, wanted, self.now())
        )

    async def history(self, scope: Scope, ref: MemoryRef) -> list[Memory]:
        return await self.read_memories(lambda sql: reading.history(sql, scope, ref))

    async def tombstones(self, scope: Scope, limit: int = 1_000) -> list[Tombstone]:
        return await self.read_memories(lambda sql: reading.tombstones(sql, scope, limit))

    # -- changes -----------------------------------------------------------------------------

    async def state(self, scope: Scope) -> ScopeState:
        return await self.read_memories(lambda sql: counters.state(sql, scope, self.now()))

    async def changes(self, scope: Scope, after: int, limit: int = 1_000) -> list[ChangeEvent]:
        return await self.read_memories(lambda sql: reading.changes(sql, scope, after, limit))

    # -- search ------------------------------------------------------------------------------

    async def search_rows(self, scope: Scope, recipe: str, after: int) -> SearchRows:
        return await self.read_memories(
            lambda sql: search.search_rows(sql, scope, recipe, after, self.now())
        )

    async def matching(self, scope: Scope, wanted: MemoryFilter) -> list[int]:
        return await self.read_memories(lambda sql: search.matching(sql, scope, wanted, self.now()))

    async def put_vectors(
        self, scope: Scope, recipe: str, rows: Mapping[int, tuple[int, bytes]]
    ) -> None:
        if rows:
            await self.write_memories(lambda sql: search.put_vectors(sql, scope, recipe, rows))

    async def without_vectors(self, scope: Scope, recipe: str, limit: int) -> list[Memory]:
        return await self.read_memories(
            lambda sql: search.without_vectors(sql, scope, recipe, limit, self.now())
        )

    async def segment(self, scope: Scope, recipe: str) -> StoredSegment | None:
        return await self.read_memories(lambda sql: search.segment(sql, scope, recipe))

    async def put_segment(self, scope: Scope, recipe: str, segment: StoredSegment) -> None:
        await self.write_memories(lambda sql: search.put_segment(sql, scope, recipe, segment))

    # -- injection ---------------------------------------------------------------------------

    async def shown(self, scope: Scope, conversation: str) -> list[ShownMemory]:
        return await self.read_memories(
            lambda sql: shown.shown(sql, scope, conversation, self.now())
        )

    async def put_shown(
        self, scope: Scope, conversation: str, shown_: Sequence[ShownMemory], expires: float
    ) -> None:
        await self.write_memories(
            lambda sql: shown.put_shown(sql, scope, conversation, shown_, expires)
        )

    # -- objects at the provider -------------------------------------------------------------

    async def put_objects(self, digests: Collection[bytes], expires: float) -> None:
        await self.write_memories(lambda sql: provider_objects.put_objects(sql, digests, expires))

    async def known_objects(self, digests: Collection[bytes]) -> set[bytes]:
        return await self.read_memories(
            lambda sql: provider_objects.known_objects(sql, digests, self.now())
        )

    # -- maintenance -------------------------------------------------------------------------

    async def scopes_without_vectors(self, recipe: str, limit: int) -> list[Scope]:
        return await self.read_memories(
            lambda sql: search.scopes_without_vectors(sql, recipe, limit, self.now())
        )

    async def sweep_memories(self, now: float, deleted_days: int) -> int:
        """Transactions of a thousand rows, so that other writers get their turn in between."""
        before = now - deleted_days * DAY
        erased = 0
        for scope in await self.read_memories(lambda sql: erasing.ended_scopes(sql, before)):
            while gone := await self._erase_ended(scope, before, now):
                erased += gone
        if await self.read_memories(lambda sql: sweep.any_ended(sql, now)):
            await self.write_memories(lambda sql: sweep.drop_ended(sql, now))
        for scope in await self.read_memories(sweep.scopes_of_unused):
            await self._drop_unused(scope)
        await self.scrub_memories(at_once=False)
        return erased

    async def erase_memories(self, tenant: str) -> int:
        erased = 0
        for scope in await self.read_memories(lambda sql: erasing.scopes_of(sql, tenant)):
            erased += await self._erase_scope(scope)
        await self.write_memories(lambda sql: wallets.erase_tenant(sql, tenant))
        await self.scrub_memories(at_once=True)
        return erased

    async def memory_scopes(self, tenant: str | None) -> list[tuple[Scope, int]]:
        return await self.read_memories(lambda sql: reading.memory_scopes(sql, tenant, self.now()))

    async def _erase_ended(self, scope: int, before: float, now: float) -> int:
        return await self.write_memories(lambda sql: erasing.erase_ended(sql, scope, before, now))

    async def _erase_scope(self, scope: int) -> int:
        now = self.now()
        return await self.write_memories(lambda sql: erasing.erase_scope(sql, scope, now))

    async def _drop_unused(self, scope: int) -> None:
        await self.write_memories(lambda sql: sweep.drop_unused(sql, scope))
