"""Looking after memories that are there: their past, deleting many with a receipt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memtree.days import DAY
from memtree.errors import NotFound
from memtree.memories.book import MemoryBook
from memtree.memories.deletion_check import MOST_SEARCHED
from memtree.memories.memory import Memory, Tombstone
from memtree.memories.memory_store import MemoryFilter, MemoryRef, MemoryStore
from memtree.memories.scope import Scope

_MOST_REPLACED = 50  # memories in one line of succession


class DeletionReceipt(NamedTuple):
    """`verified`: no list, search, history or export tells one of them, or a twin, any more (looked
    for are up to `MOST_SEARCHED`). What stands apart: `undelete_until`, unix seconds, None where
    nothing brings them back; `tombstones`, which have no texts; `snapshots` that quote one."""

    deleted: tuple[str, ...]
    verified: bool
    undelete_until: float | None = None
    tombstones: int = 0
    snapshots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplacedMemory:
    """A memory that another one took the place of. `versions`: newest first."""

    tombstone: Tombstone
    versions: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class MemoryPast:
    """`versions`: newest first, the present one among them. `replaced`: newest first."""

    versions: tuple[Memory, ...]
    replaced: tuple[ReplacedMemory, ...] = ()


class MemoryCuration:
    """Bound to its ports; safe for concurrent calls. `book`: of the same store; its rules hold."""

    def __init__(self, store: MemoryStore, book: MemoryBook) -> None:
        self._store, self.book = store, book

    # -- the past ------------------------------------------------------------------------------

    async def past(self, scope: Scope, ref: MemoryRef) -> MemoryPast:
        """All versions of a memory and of those that it replaced. Raises `NotFound`."""
        versions = await self._store.history(scope, ref)
        if not versions:
            raise NotFound("There is no memory with this id.", param="id")
        stones = await self._store.tombstones(scope)
        replaced: list[ReplacedMemory] = []
        ids = {versions[0].id}
        newer = versions[0]
        while len(replaced) < _MOST_REPLACED:
            stone = next(
                (one for one in stones if one.replaced_by in ids and one.id not in ids), None
            )
            link: MemoryRef | None = newer.supersedes if stone is None else stone.number
            older = [] if link is None else await self._store.history(scope, link)
            if stone is None and (not older or older[0].id in ids):
                break
            if stone is None:  # by what its schema says of unique values: it leaves no tombstone
                first = older[0]
                stone = Tombstone(first.id, first.number, newer.created, replaced_by=newer.id)
            newer = older[0] if older else newer
            ids.add(stone.id)
            replaced.append(ReplacedMemory(stone, tuple(older)))
        return MemoryPast(tuple(versions), tuple(replaced))

    async def tombstones(self, scope: Scope, limit: int = 1_000) -> list[Tombstone]:
        """List the tombstones of what was forgotten or replaced, newest first."""
        return await self._store.tombstones(scope, limit)

    # -- deleting many -------------------------------------------------------------------------

    async def count(self, scope: Scope, wanted: MemoryFilter) -> int:
        """How many memories `delete_matching` would take."""
        return len(await self._store.deletable(scope, wanted, purge=wanted.deleted))

    async def known(self, scope: Scope, refs: Sequence[MemoryRef], *, purge: bool = False) -> int:
        """How many memories `delete` would take."""
        return await self.book.count(scope, refs, purge=purge)

    async def delete_matching(
        self, scope: Scope, wanted: MemoryFilter, *, purge: bool = False
    ) -> DeletionReceipt:
        """All or none of what a filter means."""
        page = await self._store.page(scope, wanted, limit=MOST_SEARCHED)
        purge = purge or not self.book.rules.deleted_days
        gone = await self._store.delete_matching(scope, wanted, purge=purge)
        self.book.announce(scope, erased=purge)
        return await self._receipt(scope, gone, page.memories, purge)

    async def delete(
        self, scope: Scope, refs: Sequence[MemoryRef], *, purge: bool = False
    ) -> DeletionReceipt:
        """All or none of those that are there."""
        known = await self._store.get(scope, list(refs)[:MOST_SEARCHED], over=True)
        gone = await self.book.delete(scope, refs, purge=purge)
        return await self._receipt(scope, gone, known, purge or not self.book.rules.deleted_days)

    async def _receipt(
        self, scope: Scope, gone: Sequence[str], before: Sequence[Memory], purge: bool
    ) -> DeletionReceipt:
        left = await self.book.deletions.trace(scope, gone, before)
        until = None if purge else self.book.clock.now() + self.book.rules.deleted_days * DAY
        ends = until if gone else None
        snapshots = tuple(sorted(left.snapshots))
        return DeletionReceipt(tuple(gone), not left.visible, ends, left.tombstones, snapshots)
