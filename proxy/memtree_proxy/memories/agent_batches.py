"""Serve the batch routes: `/memories/batch/create`, `delete` and `update`.

A batch is applied whole or not at all. It reaches the memories of the calling user and of all
agents of the tenant. Unknown ids are not counted; repeated ids count once.
"""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from memtree.memories.agents.agent_book import MOST_TOGETHER, AgentBook, AgentCuration
from memtree.memories.agents.agent_memory import AgentScopes, LocatedMemory
from memtree_proxy.access.user_scope import user_scope
from memtree_proxy.http import content_encoding
from memtree_proxy.http.own_headers import USER_HEADER
from memtree_proxy.memories.agent_routes import AgentMemoryRoutes
from memtree_proxy.memories.answers import answer, counted
from memtree_proxy.memories.requests import AgentRequests
from memtree_proxy.wire.agent_memories import BatchDeletion, BatchUpdate, NewAgentMemoryBatch
from memtree_proxy.wire.operation import READING, operation

TAG = "Agent memories"


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

    @operation(
        "POST /memories/batch/create",
        "createMemoryBatch",
        TAG,
        "Store many memories of an agent",
        f"Up to {MOST_TOGETHER} memories as they are: all or none. `POST /memories` with "
        "`memories` does the same.",
        answers={
            201: ("They are stored.", "StoredMemories"),
            200: ("What was there, or took its place.", "StoredMemories"),
        },
        errors=(404, 409, 422, *READING),
        parameters=(content_encoding.HEADER,),
        body="NewAgentMemoryBatch",
    )
    async def create(self, request: Request) -> Response:
        posted = await self._requests.posted(request, NewAgentMemoryBatch)
        return await self._memories.stored(request, posted)

    @operation(
        "POST /memories/batch/delete",
        "deleteMemoryBatch",
        TAG,
        "Delete many memories",
        f"Those with these ids (up to {MOST_TOGETHER}), of the calling user and of all "
        "agents, or what filters mean among agents' memories: all or none. Ids that name "
        "none of them are not counted, repeated ones count once.",
        answers={200: ("How many went, or would go.", "BatchDeleted", "DryRun")},
        errors=READING,
        parameters=(USER_HEADER, content_encoding.HEADER),
        body="BatchDeletion",
    )
    async def delete(self, request: Request) -> Response:
        how = await self._requests.delete_options(request, posted=("ids", "filters"))
        posted = await self._requests.posted(request, BatchDeletion)
        scopes = posted.scopes((await self._requests.tenant(request)).id)
        if scopes is None:
            rows = await self._located(request, posted.ids)
            if how.dry_run:
                return counted(await self._curation.deletable(rows))
            deleted = await self._book.delete(rows, purge=how.purge)
        elif how.dry_run:
            deleted = await self._curation.count(scopes, posted.wanted())
        else:
            deleted = await self._book.delete_matching(scopes, posted.wanted(), purge=how.purge)
        return counted(deleted) if how.dry_run else answer({"success": True, "deleted": deleted})

    @operation(
        "POST /memories/batch/update",
        "updateMemoryBatch",
        TAG,
        "Change many memories",
        "The same change of all of them, or of none; ids count as in `batch/delete`.",
        answers={200: ("How many were changed.", "BatchUpdated")},
        errors=(422, *READING),
        parameters=(USER_HEADER, content_encoding.HEADER),
        body="BatchUpdate",
    )
    async def update(self, request: Request) -> Response:
        posted = await self._requests.posted(request, BatchUpdate)
        rows = await self._located(request, posted.ids)
        updated = await self._book.edit_all(rows, posted.update.edit())
        return answer({"success": True, "updated": updated})

    async def _located(self, request: Request, ids: Sequence[str]) -> list[LocatedMemory]:
        tenant = await self._requests.tenant(request)
        everywhere = AgentScopes(tenant.id, None, None)
        return await self._book.locate(everywhere, ids, [user_scope(request, tenant)])
