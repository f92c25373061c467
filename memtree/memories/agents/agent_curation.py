"""Deleting what agents remember: of one agent, of one subject, of all of them, with a receipt.

A subject that wants to be forgotten is forgotten in one step, whichever agents remember it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from memtree.memories.agents.agent_memory import AgentScopes, LocatedMemory
from memtree.memories.agents.ports import AgentMemories
from memtree.memories.book import MAX_PAGE, MemoryBook
from memtree.memories.curation import MOST_SEARCHED, DeletionReceipt
from memtree.memories.ports import MemoryFilter
from memtree.memories.scope import Scope

_TOGETHER = 10  # searches at a time
_NEAREST = 10  # hits of each
_LOOKED_UP = 500  # ids at a time
_LONGEST_QUERY = 500  # characters


class AgentCuration:
    """Bound to its ports; safe for concurrent calls. `deleted_days` 0: deleted is erased."""

    def __init__(self, store: AgentMemories, book: MemoryBook, *, deleted_days: int = 30) -> None:
        self._store, self._book, self._deleted_days = store, book, deleted_days

    async def whose(
        self, scopes: AgentScopes, id_: str, also: Sequence[Scope] = ()
    ) -> Scope | None:
        """The scope that has a live memory with this id, of these or of `also`, which come first;
        of several the first by agent and subject."""
        found = await self._store.locate(scopes, [id_], also)
        return found[0].scope if found else None

    async def count(self, scopes: AgentScopes, wanted: MemoryFilter) -> int:
        """How many memories a filter means."""
        counted, before = 0, None
        while True:
            page = await self._store.agent_page(scopes, wanted, before=before, limit=MAX_PAGE)
            counted += len(page.memories)
            if not page.more or not page.memories:
                return counted
            before = page.memories[-1].memory.number

    async def known(self, scopes: AgentScopes, ids: Sequence[str]) -> int:
        """How many live memories these are."""
        return len(await self._located(scopes, ids))

    async def delete(
        self, scopes: AgentScopes, ids: Sequence[str], *, purge: bool = False
    ) -> DeletionReceipt:
        """All or none of those that are there."""
        known = await self._located(scopes, ids)
        purge = purge or not self._deleted_days
        rows = [(each.scope, each.memory.id) for each in known]
        gone = await self._store.delete_all(rows, purge=purge)
        return await self._receipt(scopes, gone, known, purge)

    async def delete_matching(
        self, scopes: AgentScopes, wanted: MemoryFilter, *, purge: bool = False
    ) -> DeletionReceipt:
        """All or none of what a filter means."""
        page = await self._store.agent_page(scopes, wanted, limit=MOST_SEARCHED)
        purge = purge or not self._deleted_days
        gone = await self._store.delete_matching_all(scopes, wanted, purge=purge)
        return await self._receipt(scopes, gone, page.memories, purge)

    async def _receipt(
        self,
        scopes: AgentScopes,
        gone: Sequence[tuple[Scope, str]],
        before: Sequence[LocatedMemory],
        purge: bool,
    ) -> DeletionReceipt:
        """Looked for by their ids, and the first ones by their own texts."""
        for scope in dict.fromkeys(scope for scope, _ in gone):
            self._book.announce(scope, erased=purge)
        ids = [id_ for _, id_ in gone]
        rows = frozenset(gone)
        found = {(each.scope, each.memory.id) for each in await self._located(scopes, ids)}
        asked = [each for each in before if (each.scope, each.memory.id) in rows]
        asked = asked[:MOST_SEARCHED]
        for at in range(0, len(asked), _TOGETHER):
            some = asked[at : at + _TOGETHER]
            results = await asyncio.gather(*(self._search(each) for each in some))
            found |= set().union(*results)
        return DeletionReceipt(tuple(ids), found.isdisjoint(rows))

    async def _search(self, gone: LocatedMemory) -> set[tuple[Scope, str]]:
        text = gone.memory.text[:_LONGEST_QUERY]
        result = await self._book.search(gone.scope, text, limit=_NEAREST)
        return {(gone.scope, hit.memory.id) for hit in result.hits}

    async def _located(self, scopes: AgentScopes, ids: Sequence[str]) -> list[LocatedMemory]:
        rows: list[LocatedMemory] = []
        for at in range(0, len(ids), _LOOKED_UP):
            rows += await self._store.locate(scopes, ids[at : at + _LOOKED_UP])
        return rows
