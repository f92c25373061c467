"""Serve agents' memories on `/memories`, except searches and batches.

Read the query parameters of agents' memories, for lists and searches.

Serve the batch routes: `/memories/batch/create`, `delete` and `update`.

A batch is applied whole or not at all. It reaches the memories of the calling user and of all
agents of the tenant. Unknown ids are not counted; repeated ids count once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from memtree.background.spending import AskedModel, CountedModel
from memtree.errors import BadRequest
from memtree.memories.agents.agent_book import MOST_TOGETHER, AgentBook, AgentCuration
from memtree.memories.agents.agent_memory import AgentScopes, LocatedMemory
from memtree.memories.agents.extraction.agent_extraction import AgentExtraction
from memtree.memories.agents.extraction.agent_messages import ConversationReaders
from memtree.memories.ports import MemoryFilter
from memtree.memories.scope import Scope
from memtree.ports.models import Usage
from memtree_proxy.access.request_scopes import (
    AGENT_FIELDS,
    queried_agents,
    refuse_twice,
    user_scope,
)
from memtree_proxy.http import request_body
from memtree_proxy.http.headers import USER_HEADER
from memtree_proxy.memories.answers import answer, counted
from memtree_proxy.memories.caller_model import CallerModel
from memtree_proxy.memories.requests import (
    MEMORY,
    AgentRequests,
    if_version,
    limit,
    naming,
    queried_tags,
    searched,
    unknown,
)
from memtree_proxy.request import fields
from memtree_proxy.request.memory_switch import strip_suffix
from memtree_proxy.upstream.upstreams import Upstreams
from memtree_proxy.wire import agent_answers
from memtree_proxy.wire.agent_answers import ShownMemory, ShownPage, Stored
from memtree_proxy.wire.agent_memories import (
    AgentMemoryEdit,
    BatchDeletion,
    BatchUpdate,
    ListFilters,
    NewAgentMemories,
    NewAgentMemoryBatch,
)
from memtree_proxy.wire.agent_search import (
    ALL,
    MAP,
    MAX_MAPPED,
    MAX_ROWS,
    MODES,
    RAW,
    ROWS,
    SCOPES,
    SUPERSEDED,
    AgentSearch,
    SearchFilters,
    SearchRequest,
)
from memtree_proxy.wire.answer import shown
from memtree_proxy.wire.operation import READING, operation
from memtree_proxy.wire.shape import names, read

DEFAULT_LISTED, MAX_LISTED = 100, 1_000
USERS_FILTERS = (
    "include", "group_id", "category", "source_type", "tainted", "standing", "conflicts",
    "created_from", "created_before", "threshold",
)  # fmt: skip
_ONCE = (*AGENT_FIELDS, "threadId", "kind", "limit", SUPERSEDED)


class ListQuery(NamedTuple):
    wanted: MemoryFilter
    limit: int
    cursor: str | None


def read_list_query(query: QueryParams) -> ListQuery:
    """Read the query of a list. Raises `BadRequest` naming the parameter."""
    refuse_twice(query, (*_ONCE, "cursor"))
    _refuse_users_filters(query)
    wanted = read(ListFilters, {**query, "tags": queried_tags(query)}).wanted()
    if fields.switch(query, SUPERSEDED):
        wanted = replace(wanted, superseded=True)
    return ListQuery(wanted, limit(query, MAX_LISTED, DEFAULT_LISTED), query.get("cursor"))


def read_search_query(query: QueryParams) -> SearchRequest:
    """Read the query of a search. Raises `BadRequest` naming the parameter."""
    refuse_twice(query, (*_ONCE, "query", "mode", "scope"))
    _refuse_users_filters(query)
    mode = fields.choice(query.get("mode"), "mode", MODES) or RAW
    most = (MAX_MAPPED, MAX_MAPPED) if mode == MAP else (MAX_ROWS, ROWS)
    given: dict[str, object] = {name: query.get(name) for name in names(SearchFilters)}
    given |= {"tags": queried_tags(query), SUPERSEDED: fields.switch(query, SUPERSEDED)}
    filters = read(SearchFilters, given)
    scope = fields.choice(query.get("scope"), "scope", SCOPES) or ALL
    return SearchRequest([AgentSearch(searched(query), filters, limit(query, *most))], mode, scope)


def _refuse_users_filters(query: QueryParams) -> None:
    """Raise `BadRequest` for filters of users' memories; ignoring them would match more
    memories."""
    for name in USERS_FILTERS:
        if name in query:
            raise BadRequest(f"{name} and agentId exclude each other", param=name)


TAG = "Agent memories"
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
        if posted.memories:
            return await self.stored(request, posted)
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
                posted.messages(),
                readers,
                thread=posted.thread_id,
                schemas=posted.schemas,
                expires=posted.ends,
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
            [memory.draft(posted.ends) for memory in posted.memories],
            thread=posted.thread_id,
        )
        return _stored(Stored(*stored))

    async def page(self, request: Request) -> Response:
        """Return a page of agents' memories. None has a group, since groups belong to users."""
        tenant = await self._requests.tenant(request)
        scopes = queried_agents(request.query_params, tenant.id) or AgentScopes(tenant.id, None)
        query = read_list_query(request.query_params)
        page = await self._book.page(scopes, query.wanted, cursor=query.cursor, limit=query.limit)
        return answer(shown(agent_answers.PAGE, ShownPage(page, self._book.clock.now())))

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
        memory = ShownMemory(located, self._book.clock.now(), alone=True)
        return answer(shown(agent_answers.MEMORY_ANSWER, memory), of=located.memory)

    async def _changed(self, request: Request, located: LocatedMemory) -> LocatedMemory:
        version = if_version(request.headers)
        edit = (await self._requests.posted(request, AgentMemoryEdit)).edit()
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


def _stored(stored: Stored) -> Response:
    """Answer 201 if a memory was created, else 200."""
    made = shown(agent_answers.STORED, stored)
    return answer(made, 201 if made["created"] else 200)


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
        parameters=(request_body.ENCODING_HEADER,),
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
        parameters=(USER_HEADER, request_body.ENCODING_HEADER),
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
        parameters=(USER_HEADER, request_body.ENCODING_HEADER),
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
