"""Share what every way of saving needs: turns, duplicate checks, vectors, and waiting.

A turn is the lock of one scope in this process, so that saves of the same text see each other.

A save that could not wait for the embedder is stored and found by its words. Its scope is put down
here, and its vectors follow in the background. If the duplicate check had to be left out for that,
it is made up for: the newer of two memories that say the same then counts as the older one's
duplicate. After a start the store is asked for the scopes that were left without vectors.

Requests may wait for a scope to change. Writes of this process wake whoever waits; those of others
are found by asking the store, once a second and scope however many wait.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from memtree.clock import Clock
from memtree.errors import EmbedderUnavailable, MemTreeError
from memtree.memories.duplicates import DuplicateCheck, NearMemory, possible_updates, same_in
from memtree.memories.memory import Memory, Tombstone
from memtree.memories.memory_store import (
    MemoryIndexing,
    MemoryMaintenance,
    MemoryReading,
    MemoryStore,
    ScopeState,
)
from memtree.memories.relation.relation import Relation, compare
from memtree.memories.scope import Scope
from memtree.memories.search.query import PATIENCE
from memtree.memories.search.scope_search import MemorySearch
from memtree.memories.search.vector_bytes import pack_vector
from memtree.ports.models import Embedder

POLL_SECONDS = 1.0


@dataclass(slots=True)
class ScopeWaiters:
    """Those who wait for one scope. `polled`: monotonic seconds of the last look at the store,
    whose answer was `state`; `wakes`: changes of this process so far, any of which makes that
    answer old."""

    count: int = 0
    wakes: int = 0
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    polled: float = float("-inf")
    state: ScopeState = field(default_factory=ScopeState)


class ScopeWatch:
    def __init__(self, store: MemoryReading, clock: Clock, poll: float = POLL_SECONDS) -> None:
        self._store, self._clock, self._poll = store, clock, poll
        self._waiters: dict[Scope, ScopeWaiters] = {}

    @property
    def watched(self) -> int:
        """Count the scopes that somebody waits for."""
        return len(self._waiters)

    def wake(self, scope: Scope) -> None:
        """Wake whoever waits for the scope: this process changed something in it."""
        waiters = self._waiters.get(scope)
        if waiters is not None:
            waiters.wakes += 1
            waiters.polled = float("-inf")
            waiters.woken.set()
            waiters.woken = asyncio.Event()

    async def changed(self, scope: Scope, after: int, timeout: float) -> ScopeState:
        """Return the scope's state as soon as its counter is above `after`, or after `timeout`
        seconds. Raises what the store does."""
        ends = self._clock.monotonic() + timeout
        waiters = self._waiters.setdefault(scope, ScopeWaiters())
        waiters.count += 1
        try:
            while True:
                woken = waiters.woken  # taken before the look: what comes after it wakes us
                state = await self._state(scope, waiters)
                left = ends - self._clock.monotonic()
                if state.changed > after or left <= 0:
                    return state
                try:
                    async with asyncio.timeout(min(left, self._poll)):
                        await woken.wait()
                except TimeoutError:
                    pass
        finally:
            waiters.count -= 1
            if not waiters.count:
                del self._waiters[scope]

    async def _state(self, scope: Scope, waiters: ScopeWaiters) -> ScopeState:
        async with waiters.asking:
            # A little less than the pause: timers may come early.
            if self._clock.monotonic() - waiters.polled >= self._poll * 0.9:
                now, wakes = self._clock.monotonic(), waiters.wakes
                waiters.state = await self._store.state(scope)
                waiters.polled = now if wakes == waiters.wakes else float("-inf")
            return waiters.state


log = logging.getLogger("memtree.memories")

BATCH = 32  # texts of one call
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0  # seconds, after a failure
LEFT_BEHIND = 1_000  # scopes that are looked for at once

Settle = Callable[[Scope, Memory], Awaitable[None]]


class PendingVectors:
    """Embeds in the background what was saved without a vector. `settle`: called for each memory
    whose duplicate check was deferred, once it has a vector."""

    def __init__(
        self,
        store: MemoryIndexing,
        maintenance: MemoryMaintenance,
        embedder: Embedder,
        settle: Settle,
        pause: float = FIRST_PAUSE,
        left_behind: int = LEFT_BEHIND,
    ) -> None:
        self._store, self._maintenance = store, maintenance
        self._embedder = embedder
        self._settle = settle
        self._first_pause = pause
        self._left_behind_at_once, self._more = left_behind, True
        self._scopes: OrderedDict[Scope, set[str]] = OrderedDict()
        # Vectors of the last batch: a document may say the same in hundreds of passages.
        self._newest: dict[tuple[Scope, str], dict[str, bytes]] = {}
        self._work = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, with what an earlier process left behind."""
        self._task = asyncio.create_task(self._run(), name="memory vectors")

    def submit(self, scope: Scope, deferred: str | None = None) -> None:
        """Note that a scope has memories without vectors. `deferred`: the id of one whose duplicate
        check is to be made up for."""
        waiting = self._scopes.setdefault(scope, set())
        if deferred is not None:
            waiting.add(deferred)
        self._idle.clear()
        self._work.set()

    async def join(self) -> None:
        """Wait until no scope waits for vectors."""
        await self._idle.wait()

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _run(self) -> None:
        pause = self._first_pause
        while True:
            try:
                if self._more and not self._scopes:
                    await self._left_behind()
                await self._work.wait()
                await self._next()
                pause = self._first_pause
            except Exception as error:  # noqa: BLE001  no vector at all would follow any more
                code = error.code if isinstance(error, MemTreeError) else type(error).__name__
                log.warning("memories.vectors_delayed code=%s", code)
                await asyncio.sleep(pause)
                pause = min(LONGEST_PAUSE, pause * 2)

    async def _left_behind(self) -> None:
        if not self._embedder.dimensions:
            await self._embedder.embed([])  # raises, or the recipe is known: the model was met
        if await self._maintenance.any_memories():
            await self._embedder.ready()  # so that the first search does not wait for it
        scopes = await self._maintenance.scopes_without_vectors(
            self._embedder.recipe, self._left_behind_at_once
        )
        for scope in scopes:
            self.submit(scope)
        self._more = len(scopes) == self._left_behind_at_once

    async def _next(self) -> None:
        """Embed one batch of the scope that waits longest, so that no scope keeps the others
        waiting."""
        if not self._scopes:
            self._newest = {}
            self._work.clear()
            self._idle.set()
            return
        # Taken out: what is submitted while this batch is made is a wish of its own.
        scope, deferred = self._scopes.popitem(last=False)
        try:
            rows = await self._store.without_vectors(scope, self._embedder.recipe, BATCH)
            await self._embed(scope, rows, deferred)
        except BaseException:
            self._put_back(scope, deferred)
            raise
        if len(rows) == BATCH or (rows and deferred):
            self._put_back(scope, deferred)

    async def _embed(self, scope: Scope, rows: Sequence[Memory], deferred: set[str]) -> None:
        if not rows:
            return
        recipe = self._embedder.recipe
        known = self._newest.get((scope, recipe), {})
        new = list(dict.fromkeys(row.text for row in rows if row.text not in known))
        if new:
            made = await self._embedder.embed(new)
            known = known | dict(zip(new, map(pack_vector, made), strict=True))
        recipe = self._embedder.recipe  # known since the first call
        packed = {row.number: (row.version, known[row.text]) for row in rows}
        self._newest = {(scope, recipe): {row.text: known[row.text] for row in rows}}
        await self._store.put_vectors(scope, recipe, packed)
        for row in rows:
            if row.id in deferred:
                await self._settle(scope, row)
                deferred.discard(row.id)

    def _put_back(self, scope: Scope, deferred: set[str]) -> None:
        """Put a scope back, at the end of the row."""
        self._scopes[scope] = self._scopes.pop(scope, set()) | deferred
        self._idle.clear()
        self._work.set()


Vector = NDArray[np.float32]


class MemorySaving:
    """Saves memories with their vectors; one per process. `patience`: seconds that vectors are
    waited for, None: as long as it takes. `strict`: what somebody saves needs its vector, however
    long that takes."""

    def __init__(
        self,
        store: MemoryStore,
        maintenance: MemoryMaintenance,
        search: MemorySearch,
        watch: ScopeWatch,
        embedder: Embedder | None,
        *,
        patience: float | None = PATIENCE,
        strict: bool = False,
    ) -> None:
        self._store, self._search, self._watch = store, search, watch
        self._embedder, self._strict = embedder, strict
        self._patience = None if strict else patience
        self._duplicates = DuplicateCheck(store, search)
        self._turns: WeakValueDictionary[Scope, asyncio.Lock] = WeakValueDictionary()
        self._pending = (
            PendingVectors(store, maintenance, embedder, self._settle)
            if embedder is not None
            else None
        )

    def start(self) -> None:
        """Begin work in the background."""
        if self._pending is not None:
            self._pending.start()

    async def join(self) -> None:
        """Wait until every memory has its vector."""
        if self._pending is not None:
            await self._pending.join()

    async def close(self) -> None:
        if self._pending is not None:
            await self._pending.close()

    def turn(self, scope: Scope) -> asyncio.Lock:
        """Return the lock of a scope in this process, one at a time: two that say nearly the same
        would not see each other."""
        return self._turns.setdefault(scope, asyncio.Lock())

    # -- duplicates --------------------------------------------------------------------------

    async def near(self, scope: Scope, text: str, vector: Vector | None) -> tuple[NearMemory, ...]:
        """Return the stored memories that a new text comes close to, best first."""
        return await self._duplicates.near(scope, text, vector)

    async def keep_updates(
        self, scope: Scope, memory: Memory, near: Sequence[NearMemory]
    ) -> Memory:
        """Keep which older memories a memory may replace, and return it with them."""
        updates = [each for each in possible_updates(near) if each.id != memory.id]
        if not updates:
            return memory
        await self._store.put_updates(scope, memory.id, updates)
        return replace(memory, conflicting=True, updates=tuple(updates))

    async def corrected(self, scope: Scope, text: str) -> tuple[Tombstone, ...]:
        """Return the tombstones of texts that a new one comes close to."""
        return await self._duplicates.corrected(scope, text)

    def says_the_same(
        self, text: str, vector: Vector | None, other: str, others: Vector | None
    ) -> bool:
        """Return True if one of two new texts would be a duplicate of the other."""
        relevance = None
        embedder = self._embedder
        if embedder and vector is not None and others is not None and embedder.reads(text):
            relevance = embedder.scale.relevance(float(vector @ others))
        return compare(text, other, relevance).relation in (Relation.SAME, Relation.DUPLICATE)

    # -- vectors -----------------------------------------------------------------------------

    async def vectors_to_save(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """Embed what somebody saves now. Raises `EmbedderUnavailable` where the setting
        `strict_embedding` asks for vectors and they do not come."""
        return await self.vectors(texts, strict=self._strict)

    async def vectors(
        self, texts: Sequence[str], *, strict: bool = False, patience: float | None = None
    ) -> Sequence[Vector | None]:
        """Embed texts and return one vector for each; None where the embedder is not there, or not
        quick enough. `strict`: then `EmbedderUnavailable`, where there is one at all. `patience`:
        seconds, instead of those that a save waits."""
        if self._embedder is None or not texts:
            return [None] * len(texts)
        vectors = await self._search.embed(texts, patience or self._patience)
        if vectors is not None:
            return list(vectors)
        if strict:
            raise EmbedderUnavailable("The embedder does not answer, and a memory needs a vector.")
        return [None] * len(texts)

    def degraded(self, vector: Vector | None) -> tuple[str, ...]:
        """Return what an answer says of a vector that is not there."""
        return ("embedder",) if vector is None and self._embedder is not None else ()

    async def keep_vectors(
        self, scope: Scope, rows: Sequence[tuple[Memory, Vector | None]], *, check: bool = False
    ) -> None:
        """Keep the vectors of memories that were just stored. Those that are None follow later;
        `check`: and so does the look for duplicates that they would have been needed for."""
        ready = {
            memory.number: (memory.version, pack_vector(vector))
            for memory, vector in rows
            if vector is not None
        }
        if ready and self._embedder is not None:
            await self._store.put_vectors(scope, self._embedder.recipe, ready)
        for memory, vector in rows:
            if vector is None:
                self.without_vectors(scope, memory.id if check else None)
        self._watch.wake(scope)

    def without_vectors(self, scope: Scope, deferred: str | None = None) -> None:
        """Note that a scope has memories without vectors, which are to follow. `deferred`: the id
        of one that is to be looked at for duplicates then."""
        if self._pending is not None:
            self._pending.submit(scope, deferred)

    def stored_without_vectors(self, scope: Scope) -> None:
        """Note that many memories were stored at once: their vectors follow, and whoever watches
        the scope is told."""
        self.without_vectors(scope)
        self._watch.wake(scope)

    async def waits(self, scope: Scope) -> bool:
        """Return True if memories of a scope wait for their vectors: words alone rank these."""
        if self._embedder is None:
            return False
        return bool(await self._store.without_vectors(scope, self._embedder.recipe, 1))

    async def waiting(self, scope: Scope) -> int:
        """Count the memories of a scope that wait for their vectors."""
        if self._embedder is None:
            return 0
        return await self._store.count_without_vectors(scope, self._embedder.recipe)

    async def _settle(self, scope: Scope, memory: Memory) -> None:
        """Make up for the duplicate check that a save could not wait for: the older of two
        counts."""
        vectors = await self._search.embed([memory.text], None)
        if vectors is None:
            return
        neighbours = await self._duplicates.near(scope, memory.text, vectors[0])
        older = [near for near in neighbours if near.memory.number < memory.number]
        if known := same_in(older, memory):
            await self._store.mark_duplicate(scope, memory.id, known.memory.id)
            self._watch.wake(scope)
            return
        await self.keep_updates(scope, memory, older)
