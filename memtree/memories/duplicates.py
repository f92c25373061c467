"""Find the stored memories that a new text comes close to, and those corrected or forgotten.

A text is compared with a bounded number of others. The longest texts would take seconds to compare
with all of their neighbours, and whoever saves them decides on their length.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from memtree.memories.memory import Memory, NewMemory, PossibleUpdate, Tombstone
from memtree.memories.memory_store import MemoryFilter, MemoryReading
from memtree.memories.memory_topics import outranks
from memtree.memories.relation.relation import NOTHING, Relation, compare
from memtree.memories.scope import Scope
from memtree.memories.search.ranking import MemoryHit
from memtree.memories.search.scope_search import MemorySearch
from memtree.memories.search.vector_bytes import Vector
from memtree.statements.attributes import changed, tells_change
from memtree.text.telling_words import apart

MOST_CHARS = 100_000  # of both sides of all comparisons; some 0.3 s, in Chinese 1 s (2.5 GHz)
QUICK_CHARS = 8_000  # takes some 20 ms: less is compared where the caller stands


def comparisons(text: str, others: Iterable[str]) -> list[str]:
    """Return the first of the others, as many as can be compared with `text` in a bounded time; at
    least one.

    >>> len(comparisons("a" * 16_000, ["b" * 16_000] * 8))
    3
    """
    chosen: list[str] = []
    left = MOST_CHARS
    for other in others:
        left -= len(text) + len(other)
        if left < 0 and chosen:
            break
        chosen.append(other)
    return chosen


def is_quick(text: str, others: Iterable[str]) -> bool:
    """Return True if comparing them takes so little time that it needs no thread."""
    return sum(len(text) + len(other) for other in others) <= QUICK_CHARS


Result = TypeVar("Result")

NEIGHBOURS = 8  # looked at in a duplicate check
# Of these, those with another value of an attribute: who moves may say so in another language.
ONE_VALUE_NEIGHBOURS = 40
MOST_STANDING = 100  # that are looked at as well
MOST_NEAR = 5  # told to the caller
_LONGEST_VALUE = 4  # words
_TENSES = ("then -> now", "now -> then")
MOST_TOMBSTONES = 200  # newest ones, compared with a new text


class NearMemory(NamedTuple):
    """A stored memory that a new text comes close to. `differs`: as in `PossibleUpdate`."""

    memory: Memory
    relevance: float
    relation: Relation
    differs: tuple[str, ...]

    @property
    def says_the_same(self) -> bool:
        return self.relation in (Relation.SAME, Relation.DUPLICATE)


def same_in(near: Iterable[NearMemory], new: NewMemory | Memory) -> NearMemory | None:
    """Return the stored memory that says what a new one says, so that this need not be stored."""
    return next((x for x in near if x.says_the_same and not outranks(new, x.memory)), None)


def possible_updates(near: Sequence[NearMemory]) -> list[PossibleUpdate]:
    """Return the memories that a new text may replace."""
    return [
        PossibleUpdate(each.memory.id, each.memory.text, each.differs)
        for each in near
        if each.relation is Relation.POSSIBLE_UPDATE
    ]


class DuplicateCheck:
    def __init__(self, store: MemoryReading, search: MemorySearch) -> None:
        self._store, self._search = store, search

    async def near(self, scope: Scope, text: str, vector: Vector | None) -> tuple[NearMemory, ...]:
        """Return the stored memories that a text comes close to, best first: the same, duplicates,
        and what it may be an update of."""
        has_value = tells_change(text)
        limit = ONE_VALUE_NEIGHBOURS if has_value else NEIGHBOURS
        neighbours = await self._search.neighbours(scope, text, vector, limit=limit)
        hits = list(neighbours.hits[:NEIGHBOURS])
        if has_value:
            # A new value of a standing memory may share no word with it.
            page = await self._store.page(scope, MemoryFilter(standing=True), limit=MOST_STANDING)
            standing = [MemoryHit(memory, 0.0, 0.0) for memory in page.memories]
            far = [*neighbours.hits[NEIGHBOURS:], *standing]
            known = {hit.memory.id for hit in hits}
            hits += [
                hit
                for hit in {hit.memory.id: hit for hit in far}.values()
                if hit.memory.id not in known and changed(text, hit.memory.text).differs
            ]
        others = comparisons(text, [hit.memory.text for hit in hits])
        rows = await _compared(
            text, others,
            lambda: [_near(text, hit, not neighbours.by_words) for hit in hits[: len(others)]],
        )  # fmt: skip
        near = [row for row in rows if row.relation is not Relation.OTHER]
        near.sort(key=lambda row: (_ORDER[row.relation], -row.relevance, row.memory.number))
        return tuple(near[:MOST_NEAR])

    async def corrected(self, scope: Scope, text: str) -> tuple[Tombstone, ...]:
        """Return the tombstones of texts that this one comes close to. The text of a forgotten
        memory is read where it is still stored, and is not told."""
        stones = await self._store.tombstones(scope, MOST_TOMBSTONES)
        bare = [stone.id for stone in stones if not stone.text]
        rows = await self._store.get(scope, bare, deleted=True) if bare else []
        texts = {row.id: row.text for row in rows}
        known = [(stone, old) for stone in stones if (old := stone.text or texts.get(stone.id))]
        others = comparisons(text, [old for _, old in known])
        related = await _compared(
            text, others,
            lambda: [compare(text, old, None).relation is not Relation.OTHER for old in others],
        )  # fmt: skip
        near = [stone for (stone, _), is_near in zip(known, related, strict=False) if is_near]
        return tuple(near[:MOST_NEAR])


_ORDER = {Relation.SAME: 0, Relation.DUPLICATE: 1, Relation.POSSIBLE_UPDATE: 2}


async def _compared(text: str, others: Sequence[str], work: Callable[[], Result]) -> Result:
    """Do `work` on the texts and return its result, in a thread where that takes a while."""
    return work() if is_quick(text, others) else await asyncio.to_thread(work)


def _near(text: str, hit: MemoryHit, by_vector: bool) -> NearMemory:
    relation, differs = compare(text, hit.memory.text, hit.relevance if by_vector else None)
    if relation is Relation.POSSIBLE_UPDATE and not changed(text, hit.memory.text).differs:
        # What a translation says differently is no value, and a difference of wording no update.
        differs = () if apart(text, hit.memory.text) else named_difference(differs)
        relation = relation if differs else Relation.OTHER
    return NearMemory(hit.memory, hit.relevance, relation, differs)


def named_difference(differs: Sequence[str]) -> tuple[str, ...]:
    """Return the one changed value or negation; none where it cannot be named, since nobody could
    then decide which of two texts is right.

    >>> named_difference(["8090 -> 8091"]), named_difference(["lives -> not lives"])
    (('8090 -> 8091',), ('lives -> not lives',))
    >>> named_difference(["(nothing) -> lies"]), named_difference(["then -> now"])
    ((), ())
    """
    if len(differs) == 1 and differs[0] not in _TENSES:
        old, arrow, new = differs[0].partition(" -> ")
        negated = "not" in old.split() or "not" in new.split()
        if arrow and (negated or (_is_value(old) and _is_value(new))):
            return (differs[0],)
    return ()


def _is_value(side: str) -> bool:
    """Return True for one word, or a few that are a name or hold a number."""
    words = side.split()
    if side == NOTHING or len(words) > _LONGEST_VALUE:
        return False
    named = all(word[0].isupper() or not word[0].isalpha() for word in words)
    return len(words) == 1 or named or any(char.isdigit() for char in side)
