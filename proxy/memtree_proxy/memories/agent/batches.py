"""The routes of batches: `/memories/batch/create`, `delete` and `update`.

A batch happens whole or not at all. It means memories of the calling user and of all agents of the
tenant; an id that names none of them is not counted, one that stands twice counts once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from memtree.memories.agents.agent_book import AgentBook
from memtree.memories.agents.agent_curation import AgentCuration
from memtree.memories.agents.agent_memory import AgentScopes, LocatedMemory
from memtree_proxy.access.user_scope import user_scope
from memtree_proxy.memories.agent import fields
from memtree_proxy.memories.agent.requests import AgentRequests
from memtree_proxy.memories.agent.routes import AgentMemoryRoutes
from memtree_proxy.memories.answers import answer, counted


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

    async def create(self, request: Request) -> Response:
        read = partial(fields.posted, conversations=False)
        return await self._memories.stored(request, await self._requests.asked(request, read))

    async def delete(self, request: Request) -> Response:
        how = await self._requests.delete_options(request, posted=("ids", "filters"))
        asked = await self._requests.asked(request, fields.batch_deletion)
        if asked.scopes is None:
            rows = await self._located(request, asked.ids)
            if how.dry_run:
                return counted(await self._curation.deletable(rows))
            deleted = await self._book.delete(rows, purge=how.purge)
        elif how.dry_run:
            deleted = await self._curation.count(asked.scopes, asked.wanted)
        else:
            deleted = await self._book.delete_matching(asked.scopes, asked.wanted, purge=how.purge)
        return counted(deleted) if how.dry_run else answer({"success": True, "deleted": deleted})

    async def update(self, request: Request) -> Response:
        asked = await self._requests.asked(request, fields.batch_update)
        rows = await self._located(request, asked.ids)
        return answer({"success": True, "updated": await self._book.edit_all(rows, asked.edit)})

    async def _located(self, request: Request, ids: Sequence[str]) -> list[LocatedMemory]:
        tenant = await self._requests.tenant(request)
        everywhere = AgentScopes(tenant.id, None, None)
        return await self._book.locate(everywhere, ids, [user_scope(request, tenant)])
