"""Keep and search the documents of a namespace, for routes, the command line and `use_rag` chats.

    put      masked -> cut -> stored in one step (words find it from now on) -> vectors later
    search   the passages nearest to a query: the search of memories

A document that is put again takes the place of the one with its id. Where both say the same,
nothing is written and nothing is embedded anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from memtree.clock import Clock
from memtree.errors import MemoryLimit, NotFound
from memtree.memories import document_passages
from memtree.memories.book import MemoryBook
from memtree.memories.document_passages import FIRST, Cut, Document, NewDocument
from memtree.memories.memory import Memory
from memtree.memories.memory_store import MemoryFilter, MemoryMaintenance, MemoryStore, all_pages
from memtree.memories.scope import Scope, ScopeKind
from memtree.process.threads import counted

_TRIES = 3  # of a text that somebody replaces while it is read


class PutDocument(NamedTuple):
    """`replaced`: there was another one with this id. `changed`: False where it said the same, and
    nothing was written."""

    document: Document
    replaced: bool
    changed: bool


class DocumentPage(NamedTuple):
    """A page of documents, latest first. `next_cursor`: for the page of older ones, None on the
    last one."""

    documents: tuple[Document, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class PassageHit:
    """A passage that a search found, with its document. `relevance`: 0 to 1, comparable between
    searches."""

    passage: Memory
    document: Document
    relevance: float


@dataclass(frozen=True, slots=True)
class DocumentSearch:
    """Hits, best first. `degraded`: as `SearchResult` has it."""

    hits: tuple[PassageHit, ...] = ()
    degraded: tuple[str, ...] = ()


class Namespace(NamedTuple):
    name: str
    passages: int


class NamespaceState(NamedTuple):
    """`pending`: some passages wait for their vectors."""

    passages: int
    pending: bool


class DocumentBook:
    """Keeps documents over the book of memories, whose search and vectors it uses. `cut`: a text to
    its passages. The rules of `book` hold: a tenant may have so many memories, passages among
    them."""

    def __init__(
        self,
        book: MemoryBook,
        store: MemoryStore,
        maintenance: MemoryMaintenance,
        clock: Clock,
        new_id: Callable[[], str],
        cut: Cut,
    ) -> None:
        self._book, self._store, self._maintenance = book, store, maintenance
        self._clock, self._new_id, self._cut = clock, new_id, cut

    # -- putting -----------------------------------------------------------------------------

    async def put(self, scope: Scope, document: NewDocument) -> PutDocument:
        """Store a document, in the place of the one with its id. Raises `MemoryLimit` and store
        errors; then the old one is still there."""
        first = await self._first(scope, document.id)
        if first is not None:
            there = document_passages.document_of(first)
            if there.digest == await asyncio.to_thread(counted, lambda: document.digest):
                return PutDocument(there, replaced=False, changed=False)
        now = self._clock.now()
        made = await asyncio.to_thread(
            counted, lambda: document_passages.memories_of(document, self._cut, self._new_id, now)
        )
        try:
            replaced = await self._store.replace_thread(
                scope, document.id, made, most=self._book.rules.most
            )
        except MemoryLimit as error:
            reason = f"{document.id} has {len(made)} passages, and each counts as a memory."
            raise MemoryLimit(f"{reason} {error.message}") from None
        self._book.saving.without_vectors(scope)
        self._book.announce(scope)
        stored = document_passages.document_of(made[0])
        return PutDocument(stored, replaced=bool(replaced), changed=True)

    # -- reading -----------------------------------------------------------------------------

    async def get(self, scope: Scope, id_: str) -> Document:
        """Return a document. Raises `NotFound`."""
        first = await self._first(scope, id_)
        if first is None:
            raise _unknown()
        return document_passages.document_of(first)

    async def text(self, scope: Scope, id_: str) -> tuple[Document, str]:
        """Return a document with its text as it is kept. Raises `NotFound`."""
        for _ in range(_TRIES):
            pages = all_pages(self._store, scope, MemoryFilter(thread_id=id_))
            rows = [memory async for page in pages for memory in page]  # the last one first
            if not rows:
                raise _unknown()
            text = document_passages.text_of(rows)
            if text is not None:
                return document_passages.document_of(rows[-1]), text
        raise _unknown()

    async def page(
        self,
        scope: Scope,
        *,
        type_: str | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> DocumentPage:
        """Return a page of documents. Raises `BadRequest` for a cursor that is none of ours."""
        wanted = MemoryFilter(category=type_, tags=(FIRST,))
        page = await self._book.page(scope, wanted, cursor=cursor, limit=limit)
        return DocumentPage(
            tuple(map(document_passages.document_of, page.memories)), page.next_cursor
        )

    async def namespaces(self, tenant: str) -> list[Namespace]:
        """Return the namespaces that hold something, by name."""
        scopes = await self._maintenance.memory_scopes(tenant)
        return [
            Namespace(scope.owner, count)
            for scope, count in scopes
            if scope.kind is ScopeKind.NAMESPACE
        ]

    async def state(self, scope: Scope) -> NamespaceState:
        passages = (await self._store.state(scope)).total
        return NamespaceState(passages, await self.pending(scope))

    async def pending(self, scope: Scope) -> bool:
        """Return True if passages wait for their vectors: words alone rank these."""
        return await self._book.saving.waits(scope)

    async def search(
        self,
        scope: Scope,
        query: str,
        *,
        type_: str | None = None,
        limit: int = 5,
        least: float = 0.0,
        unhurried: bool = False,
    ) -> DocumentSearch:
        """Return the passages nearest to a query. `least`: relevance that a hit must have.
        `unhurried`: as `MemoryBook.search` has it. Raises `BadRequest` for an empty query, and
        store errors."""
        result = await self._book.search(
            scope,
            query,
            wanted=MemoryFilter(category=type_),
            limit=limit,
            least=least,
            unhurried=unhurried,
        )
        heads = list(dict.fromkeys(document_passages.head_of(hit.memory) for hit in result.hits))
        firsts = {first.id: first for first in await self._store.get(scope, heads)}
        return DocumentSearch(
            tuple(
                PassageHit(hit.memory, document_passages.document_of(firsts[head]), hit.relevance)
                for hit in result.hits
                if (head := document_passages.head_of(hit.memory)) in firsts
            ),
            result.degraded,
        )

    # -- deleting ----------------------------------------------------------------------------

    async def delete(
        self, scope: Scope, id_: str, *, purge: bool = False, dry_run: bool = False
    ) -> int:
        """Delete a document and return how many passages went, or with `dry_run` would. Raises
        `NotFound` for none."""
        gone = await self._delete(scope, MemoryFilter(thread_id=id_), purge, dry_run)
        if not gone:
            raise _unknown()
        return gone

    async def clear(self, scope: Scope, *, purge: bool = False, dry_run: bool = False) -> int:
        """Delete all documents of a namespace, and return how many passages went, or with `dry_run`
        would."""
        return await self._delete(scope, MemoryFilter(), purge, dry_run)

    async def _delete(self, scope: Scope, wanted: MemoryFilter, purge: bool, dry_run: bool) -> int:
        if dry_run:
            return len(await self._store.matching(scope, wanted))
        purge = purge or not self._book.rules.deleted_days
        gone = await self._store.delete_matching(scope, wanted, purge=purge)
        self._book.announce(scope, erased=purge)
        return len(gone)

    async def _first(self, scope: Scope, id_: str) -> Memory | None:
        wanted = MemoryFilter(thread_id=id_, tags=(FIRST,))
        page = await self._store.page(scope, wanted, limit=1)
        return page.memories[0] if page.memories else None


def _unknown() -> NotFound:
    return NotFound("This namespace has no document with this id.", param="id")
