"""Saved memories of one owner, as the library offers them."""

from __future__ import annotations

from collections.abc import Sequence

from memtree.errors import BadRequest
from memtree.memories.book import ForgottenMemory, MemoryBook
from memtree.memories.draft import MemoryDraft
from memtree.memories.memory import Memory
from memtree.memories.scope import Scope, ScopeKind, checked_id
from memtree.memories.search.ranking import MemoryHit

MOST_LISTED = 1_000
KINDS = tuple(kind.value for kind in (ScopeKind.USER, ScopeKind.CHAT, ScopeKind.AGENT))


class SavedMemories:
    """Created by `MemTree.of`. All methods raise store errors."""

    def __init__(self, book: MemoryBook, scope: Scope) -> None:
        self._book, self._scope = book, scope

    async def save(
        self,
        text: str,
        *,
        category: str | None = None,
        tags: Sequence[str] = (),
        expires: float | None = None,
        standing: bool | None = None,
    ) -> Memory:
        """Save a text; a repeated text is saved once. `category` None: inferred from the text.
        `expires`: unix seconds. Raises `BadRequest`, `SecretRejected` and `MemoryLimit`."""
        draft = MemoryDraft(
            text, category=category, tags=tuple(tags), expires=expires, standing=standing
        )
        return (await self._book.save(self._scope, draft)).memory

    async def search(self, query: str, *, limit: int = 5) -> list[MemoryHit]:
        """Return the memories most relevant to a question, best first."""
        result = await self._book.search(self._scope, query, limit=limit, unhurried=True)
        return list(result.hits)

    async def list(self, *, limit: int = 100) -> list[Memory]:
        """Return the newest memories. Raises `BadRequest` for a limit out of range."""
        if not 1 <= limit <= MOST_LISTED:
            raise BadRequest(f"limit must be 1 to {MOST_LISTED:,}", param="limit")
        page = await self._book.page(self._scope, limit=limit)
        return [*page.memories]

    async def delete(self, memory: str) -> ForgottenMemory:
        """Delete a memory by its id, with its duplicates. Raises `NotFound`."""
        return await self._book.forget(self._scope, memory)


def scope_named(tenant: str, owner: str) -> Scope:
    """Return the scope of `user:ID`, `chat:ID` or `agent:ID`; the tenant's own for "". Raises
    `BadRequest`."""
    if not owner:
        return Scope.of_user(tenant)
    kind, _, name = owner.partition(":")
    if kind not in KINDS:
        raise BadRequest("owner must be user:ID, chat:ID or agent:ID", param="owner")
    return Scope(tenant, ScopeKind(kind), checked_id(name, kind))
