"""Save, find, change and delete memories: the one use case that all dialects call.

    save     look for the same -> store (words find it from now on) -> vector, at once or later
    search   filters, then words and meaning, fused; never an LLM

If the embedder fails, no memory is lost: it is stored, words rank it, and its vector follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from memtree.clock import DAY, Clock
from memtree.errors import BadRequest, NotFound
from memtree.memories.deletion_check import DeletionCheck
from memtree.memories.draft import (
    DedupPolicy,
    Edit,
    MemoryDraft,
    change_of,
    checked_name,
    in_place,
    inheriting,
)
from memtree.memories.draft import new_memory as made_of
from memtree.memories.duplicates import NearMemory, same_in
from memtree.memories.memory import (
    MAX_TEXT_CHARS,
    UNSET,
    Memory,
    MemoryChange,
    NewMemory,
    Tombstone,
    Unset,
)
from memtree.memories.memory_choice import is_outdated
from memtree.memories.memory_injection import MemoryInjection
from memtree.memories.memory_store import (
    ANY,
    ChangeEvent,
    MemoryFilter,
    MemoryMaintenance,
    MemoryRef,
    MemoryStore,
    ScopeState,
)
from memtree.memories.memory_topics import is_own_word, standing_topic
from memtree.memories.saving import MemorySaving, ScopeWatch
from memtree.memories.scope import Scope
from memtree.memories.search.query import PATIENCE
from memtree.memories.search.ranking import SearchResult
from memtree.memories.search.scope_search import MemorySearch
from memtree.ports.models import Embedder
from memtree.process.tracing import stepped
from memtree.text.normal_form import text_hash

MAX_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class MemoryRules:
    """Settings of memories. `most`: memories of a tenant; `strict`: a save needs its vector.
    `standing`: standing ones are shown in every prompt. `stale_days`: after which what changes may
    be out of date, 0 for never."""

    max_text_chars: int = MAX_TEXT_CHARS
    most: int = 100_000
    deleted_days: int = 30
    strict: bool = False
    standing: bool = True
    stale_days: int = 180


@dataclass(frozen=True, slots=True)
class SaveResult:
    """`existing`: nothing was stored, `memory` was there before. `near`: best first; a
    `possible_update` among them is one that the new memory may replace. `corrected`: tombstones
    near the new text. `deferred`: the look for duplicates is still to come."""

    memory: Memory
    existing: bool = False
    near: tuple[NearMemory, ...] = ()
    corrected: tuple[Tombstone, ...] = ()
    deferred: bool = False
    degraded: tuple[str, ...] = ()


class ForgottenMemory(NamedTuple):
    """`memory`: what it was. `twins`: ids of others that said the same, and went with it."""

    memory: Memory
    twins: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        return self.memory.id, *self.twins


class BookPage(NamedTuple):
    """`next_cursor`: for the page of older memories, None on the last one. `total`: live memories
    of the scope."""

    memories: tuple[Memory, ...]
    next_cursor: str | None
    total: int


class MemoryBook:
    """Memories bound to their ports. One per process; safe for concurrent calls. `injection`: those
    that stand in prompts without anybody's asking. `saving`: for who stores what is no draft.
    `clock`: that memories are dated with. `rules`: its settings. `searching`: the search itself,
    for others to use. `deletions`: whether any is told still. `patience`: seconds that a save, a
    search or a chat waits for vectors."""

    def __init__(
        self,
        store: MemoryStore,
        maintenance: MemoryMaintenance,
        search: MemorySearch,
        clock: Clock,
        new_id: Callable[[], str],
        *,
        embedder: Embedder | None = None,
        rules: MemoryRules = MemoryRules(),
        patience: float = PATIENCE,
    ) -> None:
        self._store, self._maintenance = store, maintenance
        self.searching, self._embedder = search, embedder
        self.clock, self._new_id = clock, new_id
        self.rules = rules
        self._patience = patience
        self.injection = MemoryInjection(
            store,
            search,
            clock.now,
            patience=patience,
            standing=rules.standing,
            stale=rules.stale_days * DAY,
        )
        self.deletions = DeletionCheck(store, search, patience)
        self._watch = ScopeWatch(store, clock)
        self.saving = MemorySaving(
            store,
            maintenance,
            search,
            self._watch,
            embedder,
            patience=patience,
            strict=rules.strict,
        )

    def start(self) -> None:
        """Begin work in the background."""
        self.saving.start()

    async def join(self) -> None:
        """Wait until every memory has its vector."""
        await self.saving.join()

    async def close(self) -> None:
        await self.saving.close()
        await self.searching.close()

    # -- saving ------------------------------------------------------------------------------

    @stepped("upsert_memory")
    async def save(
        self,
        scope: Scope,
        draft: MemoryDraft,
        policy: DedupPolicy = DedupPolicy.SKIP,
    ) -> SaveResult:
        """Save a memory. Raises `BadRequest`, `SecretRejected`, `MemoryLimit`, store errors, and
        `EmbedderUnavailable` where the setting `strict_embedding` asks for it."""
        new = self._made(draft)
        if policy is not DedupPolicy.SKIP:
            return await self._stored(scope, new, policy)
        async with self.saving.turn(scope):
            return await self._stored(scope, new, policy)

    @stepped("update_memory")
    async def correct(
        self, scope: Scope, ref: MemoryRef, draft: MemoryDraft, reason: str = ""
    ) -> SaveResult:
        """Save a new memory in the place of an old one, which leaves a tombstone with its text.
        Raises as `save` does, and `NotFound`."""
        old = await self.get(scope, ref)
        if not old.live(self.clock.now()):
            raise NotFound("This memory was superseded: correct its successor.", param="id")
        new = self._made(inheriting(draft, old))
        if new.text_hash == text_hash(old.text):
            return SaveResult(old, existing=True)
        [vector] = await self.saving.vectors_to_save([new.text])
        memory = await self._store.supersede(scope, old.id, new, reason)
        await self.saving.keep_vectors(scope, [(memory, vector)])
        return SaveResult(memory, degraded=self.saving.degraded(vector))

    def _made(self, draft: MemoryDraft) -> NewMemory:
        return made_of(draft, self._new_id(), self.clock.now(), self.rules.max_text_chars)

    def made_in_place(self, old: Memory, text: str) -> NewMemory:
        """Return what an old memory is with a part of its text."""
        return in_place(old, text, self._new_id(), self.clock.now())

    async def _stored(self, scope: Scope, new: NewMemory, policy: DedupPolicy) -> SaveResult:
        [vector] = await self.saving.vectors_to_save([new.text])
        near: tuple[NearMemory, ...] = ()
        corrected: tuple[Tombstone, ...] = ()
        if policy is not DedupPolicy.INSERT:
            near = await self.saving.near(scope, new.text, vector)
            corrected = await self.saving.corrected(scope, new.text)
        skips = policy is DedupPolicy.SKIP
        if skips and (known := same_in(near, new)):
            return SaveResult(known.memory, True, near, corrected)
        memory, existing = await self._store.add(scope, new, once=skips, most=self.rules.most)
        if existing:
            return SaveResult(memory, True, near, corrected)
        await self.saving.keep_vectors(scope, [(memory, vector)], check=skips)
        memory = await self.saving.keep_updates(scope, memory, near)
        degraded = self.saving.degraded(vector)
        checked = policy is DedupPolicy.INSERT or not degraded
        return SaveResult(memory, False, near, corrected, not checked, degraded)

    # -- reading -----------------------------------------------------------------------------

    async def get(self, scope: Scope, ref: MemoryRef) -> Memory:
        """Return a memory, which may have expired or be superseded. Raises `NotFound`."""
        rows = await self._store.get(scope, [ref], over=True)
        if not rows:
            raise NotFound("There is no memory with this id.", param="id")
        return rows[0]

    async def page(
        self,
        scope: Scope,
        wanted: MemoryFilter = ANY,
        *,
        cursor: str | None = None,
        limit: int = 100,
    ) -> BookPage:
        """Return a page of memories, newest first. Raises `BadRequest` for a cursor that is none of
        ours."""
        limit = min(MAX_PAGE, max(1, limit))
        page = await self._store.page(scope, wanted, before=before_number(cursor), limit=limit)
        following = str(page.memories[-1].number) if page.more and page.memories else None
        return BookPage(page.memories, following, page.total)

    @stepped("search_memory")
    async def search(
        self,
        scope: Scope,
        query: str,
        *,
        wanted: MemoryFilter = ANY,
        limit: int = 5,
        least: float = 0.0,
        unhurried: bool = False,
    ) -> SearchResult:
        """Return the memories nearest to a query, best first. `least`: relevance that a hit must
        have. `unhurried`: wait for the embedder as long as it takes. Raises `BadRequest` for an
        empty query, and store errors."""
        if not query.strip():
            raise BadRequest("query must not be empty", param="query")
        patience = None if unhurried else self._patience
        return await self.searching.search(
            scope, query, wanted=wanted, limit=limit, least=least, patience=patience
        )

    async def twins(self, scope: Scope, memories: Sequence[Memory]) -> Mapping[str, list[str]]:
        """Return, by id of a memory, the ids of those that say the same and for which it stands."""
        return await self._store.twins(scope, [memory.id for memory in memories])

    def outdated(self, memory: Memory) -> bool:
        """Return True if a memory may be out of date by now."""
        return is_outdated(memory, self.rules.stale_days * DAY, self.clock.now())

    async def history(self, scope: Scope, ref: MemoryRef) -> list[Memory]:
        return await self._store.history(scope, ref)

    async def state(self, scope: Scope) -> ScopeState:
        return await self._store.state(scope)

    async def changes(self, scope: Scope, after: int) -> list[ChangeEvent]:
        return await self._store.changes(scope, after)

    async def changed(self, scope: Scope, after: int, timeout: float) -> ScopeState:
        """Return the state as soon as something has changed after that count, or after `timeout`
        seconds; changes of other processes are seen within a second."""
        return await self._watch.changed(scope, after, timeout)

    # -- changing ----------------------------------------------------------------------------

    @stepped("update_memory")
    async def edit(
        self, scope: Scope, ref: MemoryRef, edit: Edit, *, if_version: int | None = None
    ) -> Memory:
        """Change fields of a memory. Raises `NotFound`, `VersionConflict`, and as `save` does."""
        if isinstance(edit.category, str):
            checked_name(edit.category, "category")
        old = await self.get(scope, ref)
        change = change_of(edit, old, self.clock.now(), self.rules.max_text_chars)
        texts = [] if isinstance(change.text, Unset) else [change.text]
        vectors = await self.saving.vectors_to_save(texts)
        memory = await self._store.change(scope, ref, change, if_version=if_version)
        await self.saving.keep_vectors(scope, [(memory, vector) for vector in vectors])
        return memory

    async def confirm(self, scope: Scope, ref: MemoryRef, *, by_person: bool) -> Memory:
        """Note that a memory is still true. Only a person's word takes its taint: a model that was
        told by a web page to save something can be told to confirm it as well. Raises
        `NotFound`."""
        now = self.clock.now()
        change = MemoryChange(now, last_confirmed=now)
        if by_person:
            change = _trusting(change, await self.get(scope, ref))
        memory = await self._store.change(scope, ref, change)
        self._watch.wake(scope)
        return memory

    async def settle(
        self,
        scope: Scope,
        ref: MemoryRef,
        other: MemoryRef,
        *,
        replaces: bool,
        by_person: bool,
    ) -> Memory:
        """End the conflict of two memories: one `replaces` the other, or both are kept. A person
        who lets it replace one confirms it; a model's text that a model lets replace one is
        tainted. Raises `NotFound` naming `id` or `with`."""
        memory = await self.get(scope, ref)
        try:
            older = await self.get(scope, other)
        except NotFound:
            raise NotFound("with names no existing memory.", param="with") from None
        pairs = {(memory.id, each.id) for each in memory.updates}
        pairs |= {(each.id, older.id) for each in older.updates}
        if not pairs & {(memory.id, older.id)}:
            raise NotFound("with names no memory that this one conflicts with.", param="with")
        if replaces:
            change = MemoryChange(self.clock.now())
            if by_person:
                change = _trusting(change, memory)
            elif not is_own_word(memory):
                change = replace(change, tainted=True, standing="")
            memory = await self._store.merge(scope, memory.id, older.id, "settled", change=change)
        else:
            await self._store.keep_both(scope, memory.id, older.id)
            memory = await self.get(scope, memory.id)
        self.announce(scope)
        return memory

    @stepped("delete_memory")
    async def forget(self, scope: Scope, ref: MemoryRef, reason: str = "") -> ForgottenMemory:
        """Delete it and its twins, and leave tombstones without text. Raises `NotFound`."""
        memory = await self.get(scope, ref)
        purge = not self.rules.deleted_days
        gone = await self._delete(scope, [memory.id], purge, reason)
        if not gone:
            raise NotFound("There is no memory with this id.", param="id")
        return ForgottenMemory(memory, tuple(id_ for id_ in gone if id_ != memory.id))

    @stepped("delete_memory")
    async def delete(
        self, scope: Scope, refs: Sequence[MemoryRef], *, purge: bool = False
    ) -> list[str]:
        """Delete memories and return the ids of those that went. They can be brought back for
        `deleted_days` days, or not at all where these are 0 or `purge` is asked for."""
        purge = purge or not self.rules.deleted_days
        return await self._delete(scope, refs, purge, None)

    async def _delete(
        self, scope: Scope, refs: Sequence[MemoryRef], purge: bool, reason: str | None
    ) -> list[str]:
        gone = await self._store.delete(scope, refs, reason=reason, purge=purge)
        self.announce(scope, erased=purge)
        return gone

    async def count(self, scope: Scope, refs: Sequence[MemoryRef], *, purge: bool = False) -> int:
        """Count the memories that `delete` would take."""
        purge = purge or not self.rules.deleted_days
        return len(await self._store.deletable(scope, refs, purge=purge))

    async def undelete(self, scope: Scope, refs: Sequence[MemoryRef]) -> list[Memory]:
        back = await self._store.undelete(scope, refs)
        if back:
            self.saving.without_vectors(scope)
        self._watch.wake(scope)
        return back

    def announce(self, scope: Scope, *, erased: bool = False) -> None:
        """Tell that another use case changed memories of this scope: whoever waits for changes is
        woken. `erased`: some are gone for good."""
        if erased and self._embedder is not None:
            self._embedder.forget()  # it keeps short texts for a while, with their vectors
        self._watch.wake(scope)

    async def sweep(self) -> int:
        """Erase for good what was deleted long ago, and return how many memories. Raises store
        errors."""
        return await self._maintenance.sweep_memories(self.clock.now(), self.rules.deleted_days)


def _trusting(change: MemoryChange, memory: Memory) -> MemoryChange:
    """Return the change with the trust of a person who confirms the memory."""
    return replace(change, tainted=False, standing=standing_topic(memory.text) or UNSET)


def before_number(cursor: str | None) -> int | None:
    """Return the number that a cursor of ours means. Raises `BadRequest`."""
    if cursor is None:
        return None
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 19):
        raise BadRequest("cursor must be the next_cursor of an earlier page", param="cursor")
    return int(cursor)
