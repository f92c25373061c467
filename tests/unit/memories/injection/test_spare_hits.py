"""A search is asked for more hits than lines may be shown, since some hits never are."""

from __future__ import annotations

from typing import Any

from memtree.memories.injection.options import InjectionOptions
from memtree.memories.memory import NewMemory
from memtree.memories.memory_injection import MemoryInjection
from memtree.memories.scope import Scope
from memtree.memories.search.ranking import MemoryHit, SearchResult
from memtree.stores import RamStore, open_memories

SCOPE = Scope.of_user("tenant", "ada")
MOST = 30


async def test_as_many_lines_are_shown_as_may_be_behind_hits_that_never_are():
    """The best hits are of another category, one more than may be shown."""
    memories = open_memories(RamStore())
    ids = [f"mem_{at}" for at in range(2 * MOST + 1)]
    for at, id_ in enumerate(ids):
        category = "instruction" if at <= MOST else "fact"
        text = f"Town number {at} has a harbour"
        new = NewMemory(id_, text, text.encode(), b"", 1.0, category=category)
        await memories.add(SCOPE, new)

    class Ranked:
        async def search(self, scope: Scope, query: str, *, limit: int, **_: Any) -> SearchResult:
            found = await memories.get(scope, ids[:limit])
            return SearchResult(tuple(MemoryHit(memory, 0.9, 1.0) for memory in found))

    injection = MemoryInjection(memories, Ranked(), lambda: 2.0)
    options = InjectionOptions(MOST, threshold=0.5, category="fact")
    made = await injection.choose(SCOPE, (), "Which town has a harbour?", options)
    assert len(made.lines) == MOST
