"""Deleting what agents remember: of one agent, of one subject, of all of them, with a receipt.

A subject that wants to be forgotten is forgotten in one step, whichever agents remember it.
"""

from __future__ import annotations

from collections.abc import Sequence

from memtree.days import DAY
from memtree.memories.agents.agent_memory import AgentScopes, LocatedMemory
from memtree.memories.agents.ports import AgentMemories
from memtree.memories.book import MAX_PAGE, MemoryBook
from memtree.memories.curation import DeletionReceipt
from memtree.memories.deletion_check import MOST_SEARCHED
from memtree.memories.ports import MemoryFilter
from memtree.memories.scope import Scope

_LOOKED_UP = 500  # ids at a time


class AgentCuration:
    """Bound to its ports; safe for concurrent calls. The rules of `book` hold."""

    def __init__(self, store: AgentMemories, book: MemoryBook) -> None:
        self._store, self._book = store, book

    async def whose(
        self, scopes: AgentScopes, id_: str, also: Sequence[Scope] = ()
    ) -> Scope | None:
        """The scope that has a memory with this id, of these or of `also`, which come first;
        of several the first by agent and subject."""
        located = await self._store.locate(scopes, [id_], also)
        return located[0].scope if located else None

    async def count(self, scopes: AgentScopes, wanted: MemoryFilter) -> int:
        """How many memories `delete_matching` would take."""
        rows: list[LocatedMemory] = []
        before: int | None = None
        while True:
            page = await self._store.agent_page(scopes, wanted, before=before, limit=MAX_PAGE)
            rows += page.memories
            if not page.more or not page.memories:
                return await self.deletable(rows, purge=wanted.deleted)
            before = page.memories[-1].memory.number

    async def known(self, scopes: AgentScopes, ids: Sequence[str]) -> int:
        """How many memories `delete` would take."""
        return await self.deletable(await self._located(scopes, ids))

    async def delete(
        self, scopes: AgentScopes, ids: Sequence[str], *, purge: bool = False
    ) -> DeletionReceipt:
        """All or none of those that are there."""
        known = await self._located(scopes, ids)
        purge = purge or not self._book.rules.deleted_days
        rows = [(each.scope, each.memory.id) for each in known]
        gone = await self._store.delete_all(rows, purge=purge)
        return await self._receipt(gone, known, purge)

    async def delete_matching(
        self, scopes: AgentScopes, wanted: MemoryFilter, *, purge: bool = False
    ) -> DeletionReceipt:
        """All or none of what a filter means."""
        page = await self._store.agent_page(scopes, wanted, limit=MOST_SEARCHED)
        purge = purge or not self._book.rules.deleted_days
        gone = await self._store.delete_matching_all(scopes, wanted, purge=purge)
        return await self._receipt(gone, page.memories, purge)

    async def _receipt(
        self, gone: Sequence[tuple[Scope, str]], before: Sequence[LocatedMemory], purge: bool
    ) -> DeletionReceipt:
        visible, stones = False, 0
        for scope, ids in _by_scope(gone).items():
            self._book.announce(scope, erased=purge)
            rows = [each.memory for each in before[:MOST_SEARCHED] if each.scope == scope]
            left = await self._book.deletions.trace(scope, ids, rows)
            visible, stones = visible or left.visible, stones + left.tombstones
        kept = self._book.rules.deleted_days * DAY
        until = None if purge or not gone else self._book.clock.now() + kept
        return DeletionReceipt(tuple(id_ for _, id_ in gone), not visible, until, stones)

    async def deletable(self, rows: Sequence[LocatedMemory], *, purge: bool = False) -> int:
        """How many memories go with these."""
        named = _by_scope([(each.scope, each.memory.id) for each in rows])
        return sum(
            [await self._book.count(scope, ids, purge=purge) for scope, ids in named.items()]
        )

    async def _located(self, scopes: AgentScopes, ids: Sequence[str]) -> list[LocatedMemory]:
        rows: list[LocatedMemory] = []
        for at in range(0, len(ids), _LOOKED_UP):
            rows += await self._store.locate(scopes, ids[at : at + _LOOKED_UP])
        return rows


def _by_scope(rows: Sequence[tuple[Scope, str]]) -> dict[Scope, list[str]]:
    named: dict[Scope, list[str]] = {}
    for scope, id_ in rows:
        named.setdefault(scope, []).append(id_)
    return named
