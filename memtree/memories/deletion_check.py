"""Look for deleted memories in all places that show memories; a deletion's receipt rests on it.

list, detail, history, export            by the id of each
search, list of what says the same       by its own text: another row may be a twin
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from memtree.memories.memory import SNAPSHOT, Memory
from memtree.memories.memory_store import MemoryFilter, MemoryReading
from memtree.memories.scope import Scope
from memtree.memories.search.scope_search import MemorySearch
from memtree.text.normal_form import canonical, text_hash

MOST_SEARCHED = 50  # deleted memories whose texts a receipt looks for
# What a filter or `all: true` deletes; what lists and searches show with every `include`.
EVERYTHING = MemoryFilter(superseded=True, expired=True)
_TOGETHER = 10  # of these at a time
_NEAREST = 10  # hits of each search
_LOOKED_UP = 500  # ids at a time
_LONGEST_QUERY = 500  # characters


class DeletionTrace(NamedTuple):
    """The traces that deleted memories left. `visible`: some route still answers one, or a twin of
    it. `tombstones`: so many, without texts. `snapshots`: ids of those that quote one."""

    visible: bool = False
    tombstones: int = 0
    snapshots: frozenset[str] = frozenset()


class DeletionCheck:
    """Looks for what a deletion left. `patience`: seconds that a search waits for the embedder."""

    def __init__(self, store: MemoryReading, search: MemorySearch, patience: float) -> None:
        self._store, self._search, self._patience = store, search, patience

    async def trace(
        self, scope: Scope, gone: Sequence[str], before: Sequence[Memory]
    ) -> DeletionTrace:
        """Return the traces that deleted memories left. `gone`: their ids, all looked up. `before`:
        some of them as they were; those of the first `MOST_SEARCHED` are looked for in every
        way."""
        ids = frozenset(gone)
        parts = (gone[at : at + _LOOKED_UP] for at in range(0, len(gone), _LOOKED_UP))
        visible = any([await self._store.get(scope, part, over=True) for part in parts])
        stones = [stone for stone in await self._store.tombstones(scope) if stone.id in ids]
        visible = visible or any(stone.text for stone in stones)
        snapshots: set[str] = set()
        searched = [memory for memory in before if memory.id in ids][:MOST_SEARCHED]
        for at in range(0, len(searched), _TOGETHER):
            some = searched[at : at + _TOGETHER]
            listed = await asyncio.gather(*(self._listed(scope, each) for each in some))
            traces = await asyncio.gather(*(self._found(scope, each, ids) for each in some))
            visible = visible or any(listed) or any(twin for twin, _ in traces)
            snapshots.update(*(quoting for _, quoting in traces))
        return DeletionTrace(visible, len(stones), frozenset(snapshots))

    async def _listed(self, scope: Scope, memory: Memory) -> bool:
        """Return True if a list, the history, an export or a prompt holds the memory."""
        here = memory.number + 1
        page = await self._store.page(scope, EVERYTHING, before=here, limit=1)
        exported = await self._store.records(scope, memory.number - 1, limit=1)
        rows = [*page.memories, *(record.memory for record in exported)]
        if any(row.id == memory.id for row in rows) or await self._store.history(scope, memory.id):
            return True
        return bool(await self._store.versions(scope, [(memory.id, memory.version)]))

    async def _found(
        self, scope: Scope, memory: Memory, ids: Collection[str]
    ) -> tuple[bool, set[str]]:
        """Tell if a search finds the row or a twin, and name the snapshots that quote it."""
        text, form = memory.text[:_LONGEST_QUERY], canonical(memory.text)
        result = await self._search.search(scope, text, limit=_NEAREST, patience=self._patience)
        saying = replace(EVERYTHING, kind=memory.kind, text_hash=text_hash(memory.text))
        equal = await self._store.page(scope, saying, limit=_NEAREST)
        rows = [*equal.memories, *(hit.memory for hit in result.hits)]
        same = any(
            row.id in ids
            or (row.kind, row.data, canonical(row.text)) == (memory.kind, memory.data, form)
            for row in rows
        )
        return same, {
            row.id for row in rows if row.kind == SNAPSHOT and form in canonical(row.text)
        }
