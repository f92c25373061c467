"""Serve the batch routes: `/memories/batch/create`, `delete` and `update`.

A batch is applied whole or not at all. It reaches the memories of the calling user and of all
agents of the tenant. Unknown ids are not counted; repeated ids count once.
"""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from memtree.memories.agents.agent_book import AgentBook
from memtree.memories.agents.agent_curation import AgentCuration
from memtree.memories.agents.agent_memory import AgentScopes, LocatedMemory
from memtree_proxy.access.user_scope import user_scope
from memtree_proxy.memories.agent.routes import AgentMemoryRoutes
from memtree_proxy.memories.answers import answer, counted
from memtree_proxy.memories.requests import AgentRequests
from memtree_proxy.wire.agent_answers import BatchUpdated
from memtree_proxy.wire.agent_memories import (
    BatchDeletion,
    BatchUpdate,
    NewAgentMemoryBatch,
    known_ids,
)
from memtree_proxy.wire.routes import route
from memtree_proxy.wire.values import Deleted, Deleting


class AgentBatchRoutes:
    def __init__(
        self,
        book: AgentBook,
        curation: AgentCuration,
        memories: AgentMemoryRoutes,
        requests: AgentRequests,
    ) -> None:
        self._book, self._curation = book, curation
        self._memories, self._requests = memories, requests

    @route("POST /memories/batch/create")
    async def create(self, request: Request) -> Response:
        posted = await self._requests.posted(request, NewAgentMemoryBatch)
        return await self._memories.stored(request, posted)

    @route("POST /memories/batch/delete", Deleting)
    async def delete(self, request: Request) -> Response:
        how = await self._requests.delete_options(request, posted=("ids", "filters"))
        posted = await self._requests.posted(request, BatchDeletion)
        scopes = posted.scopes((await self._requests.tenant(request)).id)
        if scopes is None:
            rows = await self._located(request, posted.ids or ())
            if how.dry_run:
                return counted(await self._curation.deletable(rows))
            deleted = await self._book.delete(rows, purge=how.purge)
        elif how.dry_run:
            deleted = await self._curation.count(scopes, posted.wanted())
        else:
            deleted = await self._book.delete_matching(scopes, posted.wanted(), purge=how.purge)
        return counted(deleted) if how.dry_run else answer(Deleted(deleted=deleted))

    @route("POST /memories/batch/update")
    async def update(self, request: Request) -> Response:
        posted = await self._requests.posted(request, BatchUpdate)
        rows = await self._located(request, posted.ids)
        updated = await self._book.edit_all(
            rows, posted.update.edit(self._requests.context(), "update.")
        )
        return answer(BatchUpdated(updated=updated))

    async def _located(self, request: Request, ids: Sequence[str]) -> list[LocatedMemory]:
        tenant = await self._requests.tenant(request)
        everywhere = AgentScopes(tenant.id, None, None)
        return await self._book.locate(everywhere, known_ids(ids), [user_scope(request, tenant)])
