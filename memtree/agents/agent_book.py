"""Make, read, change and delete structured memories, which agents store as they are.

    create   schema -> text, terms, secrets -> vectors, one call -> stored, all or none

If the embedder fails, no memory is lost: it is stored, words rank it, and its vector follows.

Deleting takes the memories of one agent, of one subject, or all of them, and gives a receipt. A
subject that wants to be forgotten is forgotten in one step, whichever agents remember it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from memtree.agents.agent_memory import (
    AgentMemories,
    AgentScopes,
    LocatedMemory,
    StructuredResult,
    StructuredWrite,
    WriteOutcome,
)
from memtree.agents.memory_schema import MemorySchema, unique_key
from memtree.agents.schema_book import SchemaBook
from memtree.agents.structured_memory import DIRECT, structured_memory
from memtree.clock import DAY
from memtree.errors import BadRequest, NotFound
from memtree.memories.book import MAX_PAGE, MemoryBook, before_number
from memtree.memories.deletion_check import MOST_SEARCHED
from memtree.memories.draft import Edit
from memtree.memories.memory import Memory, MemoryChange, MemoryFields
from memtree.memories.memory_curation import DeletionReceipt
from memtree.memories.memory_store import ANY, MemoryFilter, MemoryStore
from memtree.memories.saving import Vector
from memtree.memories.scope import Scope

MOST_TOGETHER = 100  # memories, or ids, of one request
_WRITES = "writes"  # what the store calls them in errors
_OFF_LOOP = 3  # memories, above which their texts are read in a thread: up to 7 ms each


@dataclass(frozen=True, slots=True)
class StructuredDraft(MemoryFields):
    """A memory as an agent gives it, its fields checked. `id`: of the one whose place it takes."""

    kind: str
    data: Mapping[str, Any]
    id: str = ""


class StoredMemories(NamedTuple):
    """In the order of what was given. `degraded`: what searches have to do without for now."""

    results: list[StructuredResult]
    degraded: tuple[str, ...] = ()


class AgentBookPage(NamedTuple):
    """`next_cursor`: for the page of older memories. `total`: live memories of the scopes."""

    memories: tuple[LocatedMemory, ...]
    next_cursor: str | None
    total: int


class AgentBook:
    """Bound to its ports; safe for concurrent calls. `book`: of the same store. `secrets`: whether
    data may hold them."""

    def __init__(
        self,
        agents: AgentMemories,
        store: MemoryStore,
        book: MemoryBook,
        schemas: SchemaBook,
        new_id: Callable[[], str],
        *,
        secrets: bool = False,
    ) -> None:
        self._agents, self._store, self._book = agents, store, book
        self.clock = book.clock
        self._schemas, self._new_id = schemas, new_id
        self._rules, self._secrets = book.rules, secrets

    # -- making ------------------------------------------------------------------------------

    async def create(
        self,
        scope: Scope,
        drafts: Sequence[StructuredDraft],
        *,
        thread: str | None = None,
        name: str = "memories",
    ) -> StoredMemories:
        """All or none. `name`: what errors call them, as in `memories[3].data`.

        Raises `BadRequest`, `SecretRejected`, `SchemaViolation`, `NotFound` for an `id` that is not
        there, `MemoryLimit`, store errors, and `EmbedderUnavailable` where the setting
        `strict_embedding` asks for it."""
        places = [f"{name}[{at}]" for at in range(len(drafts))]
        schemas = await self._schemas.check(
            scope.tenant,
            [(each.kind, each.data, place) for each, place in zip(drafts, places, strict=True)],
        )
        for draft, schema, place in zip(drafts, schemas, places, strict=True):
            if draft.id and schema is not None and schema.unique_on:
                raise BadRequest(
                    f"{place}.id: ids are made for kinds with uniqueOn; a new memory takes the "
                    "place of the one with the same values by itself",
                    param=f"{place}.id",
                )
        made = partial(self._writes, drafts, schemas, places, thread, self._book.clock.now())
        writes = await asyncio.to_thread(made) if len(drafts) > _OFF_LOOP else made()
        saving = self._book.saving
        vectors = await saving.vectors(
            [each.memory.text for each in writes], strict=self._rules.strict
        )
        try:
            results = await self._agents.write(scope, writes, most=self._rules.most)
        except (BadRequest, NotFound) as error:
            raise _placed(error, name) from None
        stored = results or []
        rows = _vectors_of(stored, vectors)
        if rows:
            await saving.keep_vectors(scope, rows)
        degraded = dict.fromkeys(name for _, vector in rows for name in saving.degraded(vector))
        return StoredMemories(stored, tuple(degraded))

    def _writes(
        self,
        drafts: Sequence[StructuredDraft],
        schemas: Sequence[MemorySchema | None],
        places: Sequence[str],
        thread: str | None,
        now: float,
    ) -> list[StructuredWrite]:
        return [
            structured_memory(
                self._new_id(),
                replace(draft, thread_id=thread, source_type=DIRECT),
                now,
                most=self._rules.max_text_chars,
                unique_key=unique_key(schema, draft.data) if schema else b"",
                replaces=draft.id,
                allow_secrets=self._secrets,
                name=f"{place}.data",
            )
            for draft, schema, place in zip(drafts, schemas, places, strict=True)
        ]

    # -- reading -----------------------------------------------------------------------------

    async def locate(
        self, scopes: AgentScopes, ids: Sequence[str], also: Sequence[Scope] = ()
    ) -> list[LocatedMemory]:
        """Live memories with these ids in the scopes, or in one of `also`; each once."""
        return await self._agents.locate(scopes, ids, also) if ids else []

    async def page(
        self,
        scopes: AgentScopes,
        wanted: MemoryFilter = ANY,
        *,
        cursor: str | None = None,
        limit: int = 100,
    ) -> AgentBookPage:
        """Newest first. Raises `BadRequest` for a cursor that is none of ours."""
        limit = min(MAX_PAGE, max(1, limit))
        page = await self._agents.agent_page(
            scopes, wanted, before=before_number(cursor), limit=limit
        )
        more = page.more and page.memories
        following = str(page.memories[-1].memory.number) if more else None
        return AgentBookPage(page.memories, following, page.total)

    # -- changing ----------------------------------------------------------------------------

    async def edit(
        self, scope: Scope, id_: str, edit: Edit, *, if_version: int | None = None
    ) -> Memory:
        """Raises `NotFound` and `VersionConflict`."""
        memory = await self._store.change(scope, id_, self._change(edit), if_version=if_version)
        self._book.announce(scope)
        return memory

    async def edit_all(self, rows: Sequence[LocatedMemory], edit: Edit) -> int:
        """Edit all of them in one step, and return how many were there."""
        changed = await self._agents.change_all(_refs(rows), self._change(edit))
        self._announce({row.scope: None for row in changed})
        return len(changed)

    async def delete(self, rows: Sequence[LocatedMemory], *, purge: bool = False) -> int:
        """In one step; how many were there. They can be brought back for `deleted_days` days, or
        not at all where these are 0 or `purge` is asked for."""
        purge = purge or not self._rules.deleted_days
        gone = await self._agents.delete_all(_refs(rows), purge=purge)
        self._announce(dict(gone), erased=purge)
        return len(gone)

    async def delete_matching(
        self, scopes: AgentScopes, wanted: MemoryFilter, *, purge: bool = False
    ) -> int:
        """`delete` of what a filter means."""
        purge = purge or not self._rules.deleted_days
        gone = await self._agents.delete_matching_all(scopes, wanted, purge=purge)
        self._announce(dict(gone), erased=purge)
        return len(gone)

    def _change(self, edit: Edit) -> MemoryChange:
        return MemoryChange(self._book.clock.now(), tags=edit.tags, expires=edit.expires)

    def _announce(self, scopes: Mapping[Scope, object], *, erased: bool = False) -> None:
        for scope in scopes:
            self._book.announce(scope, erased=erased)


def _refs(rows: Sequence[LocatedMemory]) -> list[tuple[Scope, str]]:
    return [(row.scope, row.memory.id) for row in rows]


def _vectors_of(
    results: Sequence[StructuredResult], vectors: Sequence[Vector | None]
) -> list[tuple[Memory, Vector | None]]:
    """Pair each memory that was stored, and that no later one superseded, with its vector. A memory
    that says what was there already has its vector."""
    gone = {each.superseded for each in results}
    stored = {
        each.memory.id: (each.memory, vector)
        for each, vector in zip(results, vectors, strict=True)
        if each.outcome is not WriteOutcome.UNCHANGED and each.memory.id not in gone
    }
    return list(stored.values())


def _placed(error: BadRequest | NotFound, name: str) -> BadRequest | NotFound:
    """The store counts what it was given to write; the caller knows them by another name."""
    place = (error.param or "").removesuffix(".replaces")
    if not place.startswith(_WRITES):
        return error
    param = f"{name}{place.removeprefix(_WRITES)}.id"
    if isinstance(error, NotFound):
        return NotFound(f"{param} names no existing memory.", param=param)
    return BadRequest(f"{param} names a memory of another kind", param=param)


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
        gone = await self._store.delete_all(_refs(known), purge=purge)
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
        named = _by_scope(_refs(rows))
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
