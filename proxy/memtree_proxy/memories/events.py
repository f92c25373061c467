"""Stream changes to a scope's memories as events: {type, id, count, version}, without text."""

from __future__ import annotations

from memtree.memories.book import MemoryBook
from memtree.memories.scope import Scope
from memtree_proxy.access.event_streams import Event


class MemoryFeed:
    """`EventFeed` of one scope. The `count` in each event is the scope's number of memories."""

    def __init__(self, book: MemoryBook, scope: Scope) -> None:
        self._book, self._scope = book, scope
        self._total = 0

    async def count(self) -> int:
        return (await self._book.state(self._scope)).changed

    async def changed(self, after: int, timeout: float) -> int:
        state = await self._book.changed(self._scope, after, timeout)
        self._total = state.total
        return state.changed

    async def events(self, after: int) -> list[Event]:
        return [
            Event(
                row.changed,
                {"type": row.type, "id": row.id, "count": self._total, "version": row.version},
            )
            for row in await self._book.changes(self._scope, after)
        ]
