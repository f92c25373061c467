"""Read once again, by today's rules, what earlier rules stored: "User said: ..." is told of the
user where it can be, and what the user wants of every answer, or is, stands in prompts.

Once for each scope and `RULES`, in the background. Each changed memory keeps its history, and one
that anybody has changed since it was stored keeps what they made of it: its place in prompts.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from memtree.errors import NotFound, VersionConflict
from memtree.memories.book import MemoryBook
from memtree.memories.extraction_rule_extraction import retold
from memtree.memories.memory import EXTRACTED, UNSET, Memory, MemoryChange, PossibleUpdate
from memtree.memories.memory_store import MemoryFilter, MemoryStore
from memtree.memories.scope import Scope
from memtree.memories.search.vector_bytes import packed_terms
from memtree.memories.standing import is_own_word, standing_topic
from memtree.memories.user_memories import ExtractedMessages
from memtree.process.bounded import remember
from memtree.text.normal_form import text_hash

RULES = b"memories read by rules: 1"  # a new number has all memories read again
PAGE = 100  # memories


class MemoryRereading:
    """Bound to its ports; safe for concurrent calls."""

    def __init__(self, book: MemoryBook, store: MemoryStore, done: ExtractedMessages) -> None:
        self._book, self._store, self._done = book, store, done
        self._known: OrderedDict[Scope, None] = OrderedDict()

    async def once(self, scope: Scope) -> int:
        """Read the memories of a scope again, if no process has; how many changed. Raises store
        errors; the next call goes on then."""
        if scope in self._known:
            return 0
        changed = 0
        if not await self._done.extracted(scope, [RULES]):
            changed = await self._all(scope)
            await self._done.add_extracted(scope, RULES, [], most=0)
        remember(self._known, scope, None)
        return changed

    async def _all(self, scope: Scope) -> int:
        changed, before = 0, None
        links: dict[str, list[Memory]] = {}  # by id of an older memory, those that may replace it
        more = True
        while more:
            page = await self._store.page(scope, MemoryFilter(), before=before, limit=PAGE)
            for memory in page.memories:
                for update in memory.updates:
                    links.setdefault(update.id, []).append(memory)
            for memory, change in await asyncio.to_thread(
                _changes, page.memories, self._book.clock.now()
            ):
                changed += await self._change(scope, memory, change, links.get(memory.id, ()))
            more, before = page.more, page.memories[-1].number if page.memories else None
        if changed:
            self._book.saving.stored_without_vectors(scope)
        return changed

    async def _change(
        self, scope: Scope, memory: Memory, change: MemoryChange, newer: Sequence[Memory]
    ) -> bool:
        try:
            await self._store.change(scope, memory.id, change, if_version=memory.version)
        except (NotFound, VersionConflict):  # somebody changed it meanwhile
            return False
        if change.text is not UNSET:  # it says the same: what it may replace is the same
            for each in (memory, *newer):
                updates: Sequence[PossibleUpdate] = each.updates
                if updates:
                    await self._store.put_updates(scope, each.id, updates)
        return True


def _changes(memories: Sequence[Memory], now: float) -> list[tuple[Memory, MemoryChange]]:
    """Return the memories that today's rules read otherwise, each with its change."""
    changes = ((memory, _change_of(memory, now)) for memory in memories)
    return [(memory, change) for memory, change in changes if change]


def _change_of(memory: Memory, now: float) -> MemoryChange | None:
    if not is_own_word(memory) or memory.tainted or memory.kind:
        return None
    text = retold(memory.text) if memory.source_type == EXTRACTED else memory.text
    standing = memory.standing
    if not standing and memory.version == 1:
        standing = standing_topic(text)
    if text != memory.text:
        return MemoryChange(now, text, text_hash(text), packed_terms(text), standing=standing)
    return MemoryChange(now, standing=standing) if standing != memory.standing else None
