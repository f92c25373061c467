"""Serve curation of users' and agents' memories: changes, histories, tombstones, bulk deletion.

`agentId` and `subjectId` in the query select an agent's memories, else the user's are meant. In a
bulk deletion, `*` means every agent or every subject. A memory named by id in the path is found
without them: first among the user's own, then among all agents of the tenant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response

from memtree.agents.agent_memory import AgentScopes, LocatedMemory
from memtree.errors import BadRequest
from memtree.jobs.memory_services import MemoryServices
from memtree.memories.book import MemoryBook
from memtree.memories.memory import Memory
from memtree.memories.memory_curation import MemoryCuration
from memtree.memories.scope import Scope, ScopeKind
from memtree_proxy.api.memory_requests import MEMORY, MemoryRequests, naming, path_id, unknown
from memtree_proxy.api.user_memory_routes import rows, shown_one
from memtree_proxy.http.auth import (
    AGENT_FIELDS,
    Tenant,
    agent_scopes,
    queried_agents,
    single_scope,
    user_scope,
)
from memtree_proxy.http.decoding import names, queried
from memtree_proxy.http.event_streams import Event, EventStreams, last_event
from memtree_proxy.wire import curation_bodies
from memtree_proxy.wire.agent_memory_bodies import AgentMemoryAnswer, agent_memory
from memtree_proxy.wire.routes import answer, counted, route
from memtree_proxy.wire.user_memory_bodies import user_memory
from memtree_proxy.wire.values import AgentQuery, Answer, DeletingOne, distinct

Meant = TypeVar("Meant")


class CurationRoutes:
    def __init__(
        self, services: MemoryServices, requests: MemoryRequests, streams: EventStreams
    ) -> None:
        self._book, self._users = services.book, services.users
        self._curation, self._agents = services.curation, services.agents.curation
        self._requests, self._streams = requests, streams

    # -- many memories -------------------------------------------------------------------------

    @route("GET /memories/events", AgentQuery)
    async def events(self, request: Request) -> Response:
        scope = await self._requests.any_scope(request)
        allowed = self._requests.allowed(request, scope)
        feed = MemoryFeed(self._book, scope)
        return await self._streams.open(scope.tenant, feed, last_event(request.headers), allowed)

    @route("GET /memories/tombstones", curation_bodies.TombstoneQuery)
    async def tombstones(self, request: Request) -> Response:
        """List deleted and replaced memories, newest first."""
        scope = await self._requests.any_scope(request)
        most = queried(curation_bodies.TombstoneQuery, request.query_params).limit
        stones = await self._curation.tombstones(scope, most)
        return answer(curation_bodies.tombstones(stones, curation_bodies.ShownTombstone))

    @route("POST /memories/delete", DeletingOne)
    async def delete_many(self, request: Request) -> Response:
        """Delete the memories that a filter or ids select. Answers a receipt, or their number in a
        dry run."""
        tenant = await self._requests.tenant(request)
        user = user_scope(request, tenant)
        dry_run, purge = await self._requests.delete_options(
            request, queried=AGENT_FIELDS, posted=names(curation_bodies.AgentBulkDeletion)
        )
        posted, scopes = await self._meant(
            request, tenant, curation_bodies.UserBulkDeletion, curation_bodies.AgentBulkDeletion
        )
        wanted = posted.wanted(purged=purge)
        if scopes is None:
            return await deleted(self._curation, user, posted, dry_run=dry_run, purge=purge)
        if dry_run:
            if posted.ids is None:
                return counted(await self._agents.count(scopes, wanted))
            return counted(await self._agents.known(scopes, distinct(posted.ids)))
        if scopes.single is not None:
            return await deleted(self._curation, scopes.single, posted, purge=purge)
        if posted.ids is None:
            receipt = await self._agents.delete_matching(scopes, wanted, purge=purge)
        else:
            receipt = await self._agents.delete(scopes, distinct(posted.ids), purge=purge)
        return answer(curation_bodies.BulkReceipt.of(receipt))

    @route("POST /memories/undelete", AgentQuery)
    async def undelete(self, request: Request) -> Response:
        tenant = await self._requests.tenant(request)
        user = user_scope(request, tenant)
        posted, scopes = await self._meant(
            request, tenant, curation_bodies.MemoryIds, curation_bodies.AgentMemoryIds
        )
        scope = user if scopes is None else single_scope(scopes)
        back = await self._book.undelete(scope, distinct(posted.ids))
        return answer(curation_bodies.Memories(memories=await self._rows(scope, back)))

    # -- one memory ----------------------------------------------------------------------------

    @route("POST /memories/{memory_id}/confirm", AgentQuery)
    async def confirm(self, request: Request) -> Response:
        """Record that a person confirmed the memory; a tainted memory counts like any other from
        then on."""
        scope, id_ = await self._one(request)
        with naming(MEMORY):
            memory = await self._book.confirm(scope, id_, by_person=True)
        return await self._shown(scope, memory)

    @route("GET /memories/{memory_id}/history", AgentQuery)
    async def history(self, request: Request) -> Response:
        scope, id_ = await self._one(request)
        with naming(MEMORY):
            past = await self._curation.past(scope, id_)
        of_agent = scope.kind is ScopeKind.AGENT
        return answer(
            curation_bodies.history(
                past, curation_bodies.agent_version if of_agent else curation_bodies.user_version
            )
        )

    @route("POST /memories/{memory_id}/settle", AgentQuery)
    async def settle(self, request: Request) -> Response:
        """Settle the conflict of two memories: keep both, or let one replace the other."""
        scope, id_ = await self._one(request)
        posted = await self._requests.posted(request, curation_bodies.MemorySettlement)
        with naming(MEMORY):
            memory = await self._book.settle(
                scope, id_, posted.other, replaces=posted.replaces, by_person=True
            )
        return await self._shown(scope, memory)

    # -- scopes --------------------------------------------------------------------------------

    async def _one(self, request: Request) -> tuple[Scope, str]:
        """Return the scope and id of the memory that the path names. If no scope has it live,
        return the scope that would be searched first."""
        tenant = await self._requests.tenant(request)
        user, id_ = user_scope(request, tenant), path_id(request, MEMORY)
        scopes = queried_agents(request.query_params, tenant.id)
        if scopes is not None and scopes.single is not None:
            return scopes.single, id_
        every = scopes or AgentScopes(tenant.id, None, None)
        owner = await self._agents.whose(every, id_, () if scopes else (user,))
        if owner is None and scopes is not None:
            raise unknown(MEMORY)
        return owner or user, id_

    async def _meant(
        self, request: Request, tenant: Tenant, of_user: type[Meant], of_agent: type[Meant]
    ) -> tuple[Meant, AgentScopes | None]:
        """Read the body, and the agents that the query or the body names. Raises `BadRequest` if
        the two differ, since readers of either would see different requests."""
        queried = queried_agents(request.query_params, tenant.id)
        body = await self._requests.body(request)
        named = any(body.fragment(name) not in (None, b"null") for name in AGENT_FIELDS)
        if not named:
            kind = of_user if queried is None else of_agent
            return await self._requests.posted(request, kind), queried
        read = await self._requests.posted(request, of_agent)
        given = {name: body.value(name) for name in AGENT_FIELDS}
        posted = agent_scopes(given, tenant.id)
        if queried is not None and queried != posted:
            raise BadRequest(
                "agentId and subjectId of the query and of the body differ", param=AGENT_FIELDS[0]
            )
        return read, posted

    # -- answers -------------------------------------------------------------------------------

    async def _rows(self, scope: Scope, memories: Sequence[Memory]) -> Sequence[Answer]:
        if scope.kind is ScopeKind.AGENT:
            now = self._book.clock.now()
            return [agent_memory(LocatedMemory(scope, memory), now) for memory in memories]
        return [user_memory(row) for row in await rows(self._users, scope, memories)]

    async def _shown(self, scope: Scope, memory: Memory) -> Response:
        if scope.kind is ScopeKind.AGENT:
            shown = agent_memory(LocatedMemory(scope, memory), self._book.clock.now())
            return answer(AgentMemoryAnswer(memory=shown), of=memory)
        return await shown_one(self._users, scope, memory)


async def deleted(
    memories: MemoryCuration,
    scope: Scope,
    posted: curation_bodies.BulkDeletion,
    *,
    dry_run: bool = False,
    purge: bool,
) -> Response:
    """Delete the memories that a filter or ids select in a scope. Answers a receipt, or their
    number in a dry run."""
    wanted = posted.wanted(purged=purge)
    if dry_run and posted.ids is None:
        return counted(await memories.count(scope, wanted))
    if dry_run and posted.ids is not None:
        return counted(await memories.known(scope, distinct(posted.ids), purge=purge))
    if posted.ids is None:
        receipt = await memories.delete_matching(scope, wanted, purge=purge)
    else:
        receipt = await memories.delete(scope, distinct(posted.ids), purge=purge)
    return answer(curation_bodies.BulkReceipt.of(receipt))


class MemoryFeed:
    """`EventFeed` of one scope. The `count` in each event is the scope's number of memories."""

    def __init__(self, book: MemoryBook, scope: Scope) -> None:
        self._book, self._scope = book, scope
        self._total = 0

    async def count(self) -> int:
        return (await self._book.state(self._scope)).changed

    async def changed(self, after: int, timeout: float) -> int:
        state = await self._book.changed(self._scope, after, timeout)
        self._total = state.total
        return state.changed

    async def events(self, after: int) -> list[Event]:
        return [
            Event(
                row.changed,
                {"type": row.type, "id": row.id, "count": self._total, "version": row.version},
            )
            for row in await self._book.changes(self._scope, after)
        ]
