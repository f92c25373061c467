"""Serve agents' memories on `/memories`, except searches and batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from starlette.requests import Request
from starlette.responses import Response

from memtree.agents.agent_book import AgentBook, AgentCuration
from memtree.agents.agent_extraction import AgentExtraction
from memtree.agents.agent_memory import AgentScopes, LocatedMemory
from memtree.agents.agent_messages import ConversationReaders
from memtree.jobs.spending import AskedModel, CountedModel
from memtree.memories.scope import Scope
from memtree.ports.models import Usage
from memtree_proxy.api.caller_model import CallerModel
from memtree_proxy.api.memory_requests import MEMORY, AgentRequests, if_version, naming, unknown
from memtree_proxy.chat.memory_switch import strip_suffix
from memtree_proxy.http.decoding import queried
from memtree_proxy.http.request_scopes import AGENT_FIELDS, queried_agents, user_scope
from memtree_proxy.upstream.upstreams import Upstreams
from memtree_proxy.wire.agent_answers import (
    AgentMemoryAnswer,
    BatchUpdated,
    Stored,
    agent_memory,
    agent_page,
    stored_memories,
)
from memtree_proxy.wire.agent_memories import (
    AgentListing,
    AgentMemoryEdit,
    BatchDeletion,
    BatchUpdate,
    NewAgentMemories,
    NewAgentMemoryBatch,
    known_ids,
)
from memtree_proxy.wire.answers import answer, counted
from memtree_proxy.wire.routes import route
from memtree_proxy.wire.user_memory_bodies import MemoryDeleted
from memtree_proxy.wire.values import Deleted, Deleting

OpenReaders = Callable[[AskedModel | None], tuple[ConversationReaders, CountedModel | None]]


class AgentMemoryRoutes:
    def __init__(
        self,
        book: AgentBook,
        curation: AgentCuration,
        extraction: AgentExtraction,
        readers: OpenReaders,
        upstreams: Upstreams,
        requests: AgentRequests,
    ) -> None:
        """`readers`: opens those of one conversation. `upstreams`: where the caller's own model
        is asked."""
        self._book, self._curation = book, curation
        self._extraction, self._requests = extraction, requests
        self._readers, self._upstreams = readers, upstreams

    async def create(self, request: Request) -> Response:
        """Save the posted memories, or those extracted from a posted conversation."""
        posted = await self._requests.posted(request, NewAgentMemories)
        if posted.memories is not None:
            return await self.stored(request, posted)
        messages, by = posted.messages(self._requests.max_messages), self._requests.context()
        tenant = await self._requests.tenant(request)
        scope = posted.scope(tenant.id)
        caller = None
        if posted.model:
            model_name = strip_suffix(posted.model).model
            caller = CallerModel(request, tenant, self._upstreams, model_name)
        readers, model = self._readers(caller)
        with self._requests.costly(scope.tenant):
            report = await self._extraction.extract(
                scope,
                messages,
                readers,
                thread=posted.thread_id,
                schemas=posted.schemas,
                expires=posted.ends(by.now),
                force=posted.force,
            )
        results = (*report.created, *report.updated)
        usage = model.usage if model else Usage()
        return _stored(Stored(results, report=report, usage=usage))

    async def stored(
        self, request: Request, posted: NewAgentMemories | NewAgentMemoryBatch
    ) -> Response:
        stored = await self._book.create(
            posted.scope((await self._requests.tenant(request)).id),
            posted.drafts(self._requests.context()),
            thread=posted.thread_id,
        )
        return _stored(Stored(*stored))

    async def page(self, request: Request) -> Response:
        """Return a page of agents' memories. None has a group, since groups belong to users."""
        tenant = await self._requests.tenant(request)
        scopes = queried_agents(request.query_params, tenant.id) or AgentScopes(tenant.id, None)
        query = queried(AgentListing, request.query_params)
        page = await self._book.page(scopes, query.wanted(), cursor=query.cursor, limit=query.limit)
        return answer(agent_page(page, self._book.clock.now()))

    async def locate(
        self, scopes: AgentScopes, id_: str, also: Sequence[Scope] = ()
    ) -> LocatedMemory | None:
        located = await self._book.locate(scopes, [id_], also)
        return located[0] if located else None

    async def memory(self, request: Request, located: LocatedMemory) -> Response:
        """Show, change or delete a memory, according to the method."""
        if request.method == "DELETE":
            return await self._delete(request, located)
        if request.method == "PATCH":
            located = await self._changed(request, located)
        memory = agent_memory(located, self._book.clock.now(), alone=True)
        return answer(AgentMemoryAnswer(memory=memory), of=located.memory)

    async def _changed(self, request: Request, located: LocatedMemory) -> LocatedMemory:
        version = if_version(request.headers)
        edit = (await self._requests.posted(request, AgentMemoryEdit)).edit(
            self._requests.context()
        )
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
        return answer(MemoryDeleted(deleted_from_groups=0, deleted=deleted))


def _stored(stored: Stored) -> Response:
    """Answer 201 if a memory was created, else 200."""
    made = stored_memories(stored)
    return answer(made, 201 if made.created else 200)


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
