"""The routes of agents' memories on `/memories`, but for searches and batches."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from memtree.memories.agents.agent_book import AgentBook
from memtree.memories.agents.agent_curation import AgentCuration
from memtree.memories.agents.agent_memory import AgentScopes, LocatedMemory
from memtree.memories.agents.extraction.agent_extraction import AgentExtraction
from memtree.memories.scope import Scope
from memtree_proxy.access.agent_scope import AGENT_FIELDS, queried_agents
from memtree_proxy.memories.agent import fields, rendering
from memtree_proxy.memories.agent.requests import AgentRequests
from memtree_proxy.memories.answers import answer, counted
from memtree_proxy.memories.fields import if_version
from memtree_proxy.memories.user.requests import MEMORY, naming, unknown
from memtree_proxy.request.fields import idempotency_key


class AgentMemoryRoutes:
    def __init__(
        self,
        book: AgentBook,
        curation: AgentCuration,
        extraction: AgentExtraction,
        requests: AgentRequests,
    ) -> None:
        self._book, self._curation = book, curation
        self._extraction, self._requests = extraction, requests

    async def create(self, request: Request) -> Response:
        """Memories as they are, or those that a conversation holds."""
        asked = await self._requests.asked(request, fields.posted)
        if asked.messages:
            with self._requests.costly(asked.scope.tenant):
                return await self._extracted(asked)
        return await self.stored(request, asked)

    async def _extracted(self, asked: fields.Posted) -> Response:
        """What the user says in a conversation. 201 where something is new, else 200."""
        report = await self._extraction.extract(
            asked.scope,
            asked.messages,
            thread=asked.thread,
            schemas=asked.schemas,
            expires=asked.expires,
            force=asked.force,
        )
        shown = rendering.extracted_json(report)
        return answer(shown, 201 if shown["created"] else 200)

    async def stored(self, request: Request, asked: fields.Posted) -> Response:
        """201 where something is new, else 200."""
        stored = await self._book.create(
            asked.scope,
            asked.memories,
            thread=asked.thread,
            idempotency_key=idempotency_key(request.headers),
        )
        shown = rendering.stored_json(stored.results, stored.degraded)
        return answer(shown, 201 if shown["created"] else 200)

    async def page(self, request: Request) -> Response:
        """Groups are of users: there is none among them."""
        tenant = await self._requests.tenant(request)
        scopes = queried_agents(request.query_params, tenant.id) or AgentScopes(tenant.id, None)
        asked = fields.listed(request.query_params)
        page = await self._book.page(scopes, asked.wanted, cursor=asked.cursor, limit=asked.limit)
        return answer(
            {
                "success": True,
                "memories": [
                    rendering.memory_json(one, self._book.clock.now()) for one in page.memories
                ],
                "groups": [],
                "next_cursor": page.next_cursor,
                "total": page.total,
            }
        )

    async def locate(
        self, scopes: AgentScopes, id_: str, also: Sequence[Scope] = ()
    ) -> LocatedMemory | None:
        located = await self._book.locate(scopes, [id_], also)
        return located[0] if located else None

    async def memory(self, request: Request, located: LocatedMemory) -> Response:
        """Show, change or delete it, by the method."""
        if request.method == "DELETE":
            return await self._delete(request, located)
        if request.method == "PATCH":
            located = await self._changed(request, located)
        shown = rendering.memory_json(located, self._book.clock.now(), alone=True)
        return answer({"success": True, "memory": shown}, of=located.memory)

    async def _changed(self, request: Request, located: LocatedMemory) -> LocatedMemory:
        version = if_version(request.headers)
        edit = await self._requests.asked(request, fields.posted_edit)
        with naming(MEMORY):
            memory = await self._book.edit(
                located.scope, located.memory.id, edit, if_version=version
            )
        return LocatedMemory(located.scope, memory)

    async def _delete(self, request: Request, located: LocatedMemory) -> Response:
        how = await self._requests.delete_options(request, queried=AGENT_FIELDS)
        if how.dry_run:
            return counted(await self._curation.deletable([located]))
        deleted = await self._book.delete([located], purge=how.purge)
        if not deleted:
            raise unknown(MEMORY)
        return answer({"success": True, "deleted_from_groups": 0, "deleted": deleted})
