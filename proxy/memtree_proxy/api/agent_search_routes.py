"""Serve searches over agents' memories, own and shared, singly and in batches."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from memtree.agents import clusters, grounded_answers
from memtree.agents.agent_memory import AgentScopes
from memtree.agents.agent_search import AgentQuery
from memtree.agents.grant import OpenedGrants
from memtree.agents.grant_json import HEADER
from memtree.errors import Unavailable
from memtree.jobs.agent_services import AgentServices, MemoryAnswers
from memtree.memories.scope import Scope
from memtree_proxy.api.memory_requests import MemoryRequests
from memtree_proxy.http.auth import user_scope
from memtree_proxy.http.decoding import queried
from memtree_proxy.wire.agent_search_bodies import (
    ANSWER,
    MAP,
    OWN,
    RAW,
    SHARED,
    AgentSearch,
    BatchSearch,
    SearchOutcome,
    SearchQuery,
    SearchRequest,
)
from memtree_proxy.wire.routes import answer, route

NO_MODEL = (
    "mode=answer needs a model, and this server has none: set summary_base_url and summary_model, "
    "or ask for mode=llm"
)


class AgentSearchRoutes:
    def __init__(self, services: AgentServices, requests: MemoryRequests) -> None:
        self._search, self._grants = services.search, services.grants
        self._answers = services.answers
        self._requests = requests

    async def search(self, request: Request) -> Response:
        tenant = await self._requests.tenant(request)
        search_request = queried(SearchQuery, request.query_params).request()
        if search_request.mode == ANSWER and self._answers is None:
            raise Unavailable(NO_MODEL, param="mode")
        opened = await self._opened(request, tenant.id, search_request)
        [search] = search_request.searches
        query = _query(search, search_request.scope, opened, user_scope(request, tenant))
        if search_request.mode == ANSWER and self._answers is not None:
            return await self._answered(self._answers, tenant.id, query, opened)
        if search_request.mode == MAP:
            query = replace(query, least=clusters.RELEVANT, vectors=True)
            result = await self._search.search(query)
            made = await asyncio.to_thread(clusters.of_hits, result.hits, self._search.scale)
            return answer(SearchOutcome([result], opened.warnings).mapped(made))
        result = await self._search.search(query)
        return answer(SearchOutcome([result], opened.warnings).hits())

    @route("POST /memories/batch/search")
    async def batch(self, request: Request) -> Response:
        """Run several searches. If any of them is invalid, none is run."""
        tenant = await self._requests.tenant(request)
        posted = await self._requests.posted(request, BatchSearch)
        search_request = SearchRequest(posted.queries, RAW, posted.scope)
        opened = await self._opened(request, tenant.id, search_request)
        user = user_scope(request, tenant)
        results = await self._search.search_many(
            [
                _query(query, search_request.scope, opened, user, f"queries[{at}].filters.")
                for at, query in enumerate(search_request.searches)
            ]
        )
        return answer(SearchOutcome(results, opened.warnings).batch())

    async def _answered(
        self, by: MemoryAnswers, tenant: str, query: AgentQuery, opened: OpenedGrants
    ) -> Response:
        search_result = await self._search.search(replace(query, least=grounded_answers.RELEVANT))
        memories = [hit.memory.memory for hit in search_result.hits]
        shared = frozenset(at for at, hit in enumerate(search_result.hits) if hit.shared)
        said = await by.answer(tenant, query.text, memories, shared)
        outcome = SearchOutcome([search_result], opened.warnings)
        return answer(outcome.answered(said.text, said.sources))

    async def _opened(self, request: Request, tenant: str, search: SearchRequest) -> OpenedGrants:
        """Return the scopes that the request's grants open. With scope=own, grants are not read."""
        if search.scope == OWN:
            return OpenedGrants()
        header = ",".join(request.headers.getlist(HEADER)) or None
        # In a batch, each search names its own agent.
        single = len(search.searches) == 1
        wanted = search.searches[0].filters.agents(tenant) if single else None
        strict = search.scope == SHARED
        return await self._grants.opened(tenant, header, wanted, strict=strict)


def _query(
    search: AgentSearch, scope: str, opened: OpenedGrants, user: Scope, place: str = ""
) -> AgentQuery:
    agents = search.filters.agents(user.tenant)
    own = None if scope == SHARED else agents or user
    within = (narrowed(each, agents) for each in opened.scopes)
    shared = tuple(each for each in within if each is not None)
    return AgentQuery(
        search.query,
        own,
        shared,
        search.filters.wanted(place),
        search.filters.wanted_of_agents(place),
        limit=search.limit,
    )


def narrowed(opened: AgentScopes, wanted: AgentScopes | None) -> AgentScopes | None:
    """Narrow the scopes that a grant opens to those requested, or return None if they do not
    overlap. A field that is absent or `*` does not narrow them, since the grantor chose what to
    share."""
    if wanted is None:
        return opened
    agent, subject = opened.agent, opened.subject
    if wanted.agent is not None:
        if agent not in (None, wanted.agent):
            return None
        agent = wanted.agent
    if wanted.subject:
        if subject not in (None, wanted.subject):
            return None
        subject = wanted.subject
    return AgentScopes(opened.tenant, agent, subject)
