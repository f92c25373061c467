"""Dispatch `/memories`, one collection of two forms: users' memories and agents' memories.

POST                an agent's if the body has `agentId`, else a user's
GET                 an agent's if the query has `agentId`, else a user's
GET  /search        in the form of agents if agentId, mode, scope or grants are sent
     /{memory_id}   whichever the id names; `agentId` and `subjectId` narrow it to agents

Each route in this file only chooses the handler that answers the request.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from memtree.agents.agent_memory import AgentScopes
from memtree.agents.grant_json import HEADER as GRANTS_HEADER
from memtree.memories.scope import ScopeKind
from memtree_proxy.api.agent_routes import AgentMemoryRoutes
from memtree_proxy.api.memory_requests import MEMORY, MemoryRequests, path_id, unknown
from memtree_proxy.api.user_routes import UserMemoryRoutes
from memtree_proxy.http.decoding import queried
from memtree_proxy.http.request_scopes import AGENT_FIELDS, queried_agents, user_scope
from memtree_proxy.wire.values import AgentQuery, DeletingOne, NoQuery

AGENT_SEARCH = (*AGENT_FIELDS, "mode", "scope")  # parameters of the agents' search

Endpoint = Callable[[Request], Awaitable[Response]]


class MemoryCollection:
    """Routes of `/memories` that choose between users' and agents' handlers. `search`: handler that
    searches agents' memories."""

    def __init__(
        self,
        users: UserMemoryRoutes,
        requests: MemoryRequests,
        agents: AgentMemoryRoutes,
        search: Endpoint,
    ) -> None:
        self._users, self._requests = users, requests
        self._agents, self._search = agents, search

    async def memories(self, request: Request) -> Response:
        """List memories (GET) or save new memories (POST), of a user or of an agent."""
        tenant = await self._requests.tenant(request)
        if request.method == "POST":
            queried(NoQuery, request.query_params)
            body = await self._requests.body(request)
            named = any(body.fragment(name) not in (None, b"null") for name in AGENT_FIELDS)
            return await (self._agents.create if named else self._users.memories)(request)
        named = queried_agents(request.query_params, tenant.id) is not None
        return await (self._agents.page if named else self._users.memories)(request)

    async def search(self, request: Request) -> Response:
        is_agent_search = any(name in request.query_params for name in AGENT_SEARCH)
        if is_agent_search or GRANTS_HEADER in request.headers:
            return await self._search(request)
        return await self._users.search(request)

    async def memory(self, request: Request) -> Response:
        """Show, change or delete the memory that the path names, according to the method."""
        tenant = await self._requests.tenant(request)
        queried(DeletingOne if request.method == "DELETE" else AgentQuery, request.query_params)
        named = queried_agents(request.query_params, tenant.id)
        scopes = named or AgentScopes(tenant.id, None, None)
        also = () if named else (user_scope(request, tenant),)
        located = await self._agents.locate(scopes, path_id(request, MEMORY), also)
        if located is not None and located.scope.kind is ScopeKind.AGENT:
            return await self._agents.memory(request, located)
        if named:
            raise unknown(MEMORY)
        return await self._users.memory(request)
