"""Memories for a message, chosen and made into lines; awaits search and store.

Nothing here stops a chat: without an embedder in time words rank, and where the store fails there
are no memories this time. Both are told.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from memtree.errors import Unavailable
from memtree.memories.injection import choice, rendering
from memtree.memories.memory import Memory
from memtree.memories.ports import MemoryStore, ShownMemory
from memtree.memories.rules import injectable
from memtree.memories.scope import Scope
from memtree.memories.search.hits import SearchResult
from memtree.text.memory_lines import MOST, MemoryLine, MemoryVersion

log = logging.getLogger("memtree")

LOOKED_AT = 2 * MOST  # hits, of which some may not fit well enough
PATIENCE = 0.3  # seconds for a remote embedder; the chat waits for it
DEADLINE = 2.0  # seconds for all of it


class MemorySearcher(Protocol):
    async def search(
        self, scope: Scope, query: str, *, limit: int, least: float, patience: float | None
    ) -> SearchResult: ...


@dataclass(frozen=True, slots=True)
class InjectionChoice:
    """`lines`: of the chosen memories, by age. `hits`: the ids of those that fit the message, best
    first. `degraded`: what failed on the way."""

    lines: tuple[MemoryLine, ...] = ()
    hits: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()


class MemoryInjection:
    def __init__(
        self, store: MemoryStore, search: MemorySearcher, now: Callable[[], float]
    ) -> None:
        self._store, self._search, self._now = store, search, now

    async def choose(self, scope: Scope, conversation: str, query: str) -> InjectionChoice:
        """The memories for a message of a conversation, which remembers what it was shown."""
        try:
            async with asyncio.timeout(DEADLINE):
                return await self._chosen(scope, conversation, query)
        except Unavailable as error:
            log.warning("memories.not_injected code=%s", error.code)
            return InjectionChoice(degraded=("store",))
        except TimeoutError:
            log.warning("memories.not_injected code=timeout")
            return InjectionChoice(degraded=("timeout",))

    async def _chosen(self, scope: Scope, conversation: str, query: str) -> InjectionChoice:
        memories = (await self._store.state(scope)).total
        if not memories:
            return InjectionChoice()  # nothing is embedded for a chat that has saved nothing
        shown = await self._store.shown(scope, conversation)
        result = SearchResult((), ())
        if query.strip():
            result = await self._search.search(
                scope, query, limit=LOOKED_AT, least=injectable.LEAST, patience=PATIENCE
            )
        hits = _fitting(query, result, memories)
        shown, live = await self._current(scope, shown, hits)
        made = choice.chosen(hits, shown, live, self._now())
        degraded = result.degraded
        if made.changed:
            degraded += await self._put(scope, conversation, made)
        lines = tuple(
            MemoryLine(MemoryVersion(memory.id, memory.version), rendering.line(memory))
            for memory in made.memories
        )
        there = {memory.id for memory in made.memories}
        return InjectionChoice(lines, tuple(hit.id for hit in hits if hit.id in there), degraded)

    async def _current(
        self, scope: Scope, shown: Sequence[ShownMemory], hits: Sequence[Memory]
    ) -> tuple[list[ShownMemory], dict[str, Memory]]:
        """What was shown, with what counts by now in the place of what was corrected, or found to
        be a duplicate, since; and the live memories among them and the hits."""
        live = {memory.id: memory for memory in hits}
        others = [known.id for known in shown if known.id not in live]
        if others:
            live |= {memory.id: memory for memory in await self._store.get(scope, others)}
        lost = [id_ for id_ in others if id_ not in live]
        if not lost:
            return list(shown), live
        stored = await self._store.get(scope, lost, deleted=True)
        corrections = {
            memory.id: other
            for memory in stored
            if (other := memory.superseded_by or memory.duplicate_of) and memory.deleted is None
        }
        if corrections:
            found = await self._store.get(scope, list(corrections.values()))
            live |= {memory.id: memory for memory in found}
        known_now = [
            known._replace(id=corrections[known.id], version=0)  # no version of it was shown
            if known.id in corrections
            else known
            for known in shown
        ]
        return list({known.id: known for known in known_now}.values()), live

    async def _put(self, scope: Scope, conversation: str, made: choice.Choice) -> tuple[str, ...]:
        """What failed: the memories are shown all the same."""
        latest = max((known.hit for known in made.shown), default=self._now())
        try:
            await self._store.put_shown(scope, conversation, made.shown, latest + choice.KEPT)
        except Unavailable as error:
            log.warning("memories.shown_not_kept code=%s", error.code)
            return ("store",)
        return ()

    def kept(self, scope: Scope) -> KeptLines:
        """The lines of what was shown before."""
        return KeptLines(self._store, scope)


def _fitting(query: str, result: SearchResult, memories: int) -> list[Memory]:
    """`memories`: how many the scope has."""
    return [
        hit.memory
        for hit in result.hits
        if injectable.injectable(
            hit.relevance,
            shares_word=injectable.shares_word(query, hit.memory.text),
            memories=memories,
        )
    ]


@dataclass(frozen=True, slots=True)
class KeptLines:
    """The `MemoryLines` of one scope."""

    store: MemoryStore
    scope: Scope

    async def lines(self, memories: Sequence[MemoryVersion]) -> Mapping[MemoryVersion, str]:
        wanted = [(memory.id, memory.version) for memory in memories]
        found = await self.store.versions(self.scope, wanted)
        return {MemoryVersion(*key): rendering.line(memory) for key, memory in found.items()}
