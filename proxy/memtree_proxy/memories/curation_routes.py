"""Looking after memories, whoever remembers them: what changed, what they said, what is forgotten.

These routes are the same for a user's memories and for an agent's: `agentId` (and `subjectId`) in
the query say whose. Where many are deleted, `*` means every agent, or every subject. A memory that
its id names in the path is found without them: the user's own first, then any agent's of the
tenant.
"""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from memtree.background.memory_services import MemoryServices
from memtree.errors import BadRequest
from memtree.memories.agents.agent_memory import AgentScopes, LocatedMemory
from memtree.memories.curation import DeletionReceipt
from memtree.memories.memory import Memory
from memtree.memories.scope import Scope, ScopeKind
from memtree.wire.json_body import Body
from memtree_proxy.access.agent_scope import (
    AGENT_FIELDS,
    agent_scopes,
    queried_agents,
    single_scope,
)
from memtree_proxy.access.auth import Tenant
from memtree_proxy.access.event_streams import EventStreams, last_event
from memtree_proxy.access.user_scope import user_scope
from memtree_proxy.memories.answers import Json, answer, counted, receipt
from memtree_proxy.memories.events import MemoryFeed
from memtree_proxy.memories.fields import ids, if_version, limit
from memtree_proxy.memories.requests import MemoryRequests
from memtree_proxy.memories.user import fields, rendering
from memtree_proxy.memories.user.fields import BULK_FIELDS, Deletion
from memtree_proxy.memories.user.requests import MEMORY, naming, path_id, unknown
from memtree_proxy.memories.user.rows import row, rows
from memtree_proxy.wire.agent_answers import memory_json

MAX_TOMBSTONES = 1_000


class CurationRoutes:
    def __init__(
        self, services: MemoryServices, requests: MemoryRequests, streams: EventStreams
    ) -> None:
        self._book, self._users = services.book, services.users
        self._curation, self._agents = services.curation, services.agent_curation
        self._requests, self._streams = requests, streams

    # -- all of them ---------------------------------------------------------------------------

    async def events(self, request: Request) -> Response:
        scope = await self._requests.any_scope(request)
        allowed = self._requests.allowed(request, scope)
        feed = MemoryFeed(self._book, scope)
        return await self._streams.open(scope.tenant, feed, last_event(request.headers), allowed)

    async def tombstones(self, request: Request) -> Response:
        """What was forgotten or replaced, newest first."""
        scope = await self._requests.any_scope(request)
        most = limit(request.query_params, MAX_TOMBSTONES, MAX_TOMBSTONES)
        stones = await self._curation.tombstones(scope, most)
        return answer({"tombstones": [rendering.tombstone_json(stone) for stone in stones]})

    async def delete_many(self, request: Request) -> Response:
        """What a filter or ids mean: their number, or a receipt of their deletion."""
        tenant = await self._requests.tenant(request)
        user = user_scope(request, tenant)
        dry_run, purge = await self._requests.delete_options(
            request, queried=AGENT_FIELDS, posted=(*AGENT_FIELDS, *BULK_FIELDS)
        )

        def read(body: Body) -> tuple[AgentScopes | None, Deletion]:
            scopes = _meant(request, body, tenant)
            known = fields.OF_USERS if scopes is None else fields.OF_AGENTS
            return scopes, fields.deletion(body, purge, known)

        scopes, asked = await self._requests.read(request, read)
        if dry_run:
            return counted(await self._counted(user, scopes, asked, purge))
        return receipt(await self._deleted(user, scopes, asked, purge))

    async def _counted(
        self, user: Scope, scopes: AgentScopes | None, asked: Deletion, purge: bool
    ) -> int:
        if scopes is not None:
            if asked.ids is None:
                return await self._agents.count(scopes, asked.wanted)
            return await self._agents.known(scopes, asked.ids)
        if asked.ids is None:
            return await self._curation.count(user, asked.wanted)
        return await self._curation.known(user, asked.ids, purge=purge)

    async def _deleted(
        self, user: Scope, scopes: AgentScopes | None, asked: Deletion, purge: bool
    ) -> DeletionReceipt:
        if scopes is not None and scopes.single is None:
            if asked.ids is None:
                return await self._agents.delete_matching(scopes, asked.wanted, purge=purge)
            return await self._agents.delete(scopes, asked.ids, purge=purge)
        scope = user if scopes is None else single_scope(scopes)
        if asked.ids is None:
            return await self._curation.delete_matching(scope, asked.wanted, purge=purge)
        return await self._curation.delete(scope, asked.ids, purge=purge)

    async def undelete(self, request: Request) -> Response:
        tenant = await self._requests.tenant(request)
        user = user_scope(request, tenant)
        scopes, named = await self._requests.read(
            request, lambda body: (_meant(request, body, tenant), ids(body))
        )
        scope = user if scopes is None else single_scope(scopes)
        back = await self._book.undelete(scope, named)
        return answer({"memories": await self._rows(scope, back)})

    # -- one of them ---------------------------------------------------------------------------

    async def confirm(self, request: Request) -> Response:
        """A person says that it is so: a tainted memory counts as any other from now on."""
        scope, id_ = await self._one(request)
        with naming(MEMORY):
            memory = await self._book.confirm(scope, id_, by_person=True)
        return await self._shown(scope, memory)

    async def history(self, request: Request) -> Response:
        scope, id_ = await self._one(request)
        with naming(MEMORY):
            past = await self._curation.past(scope, id_)
        return answer(rendering.past_json(past, structured=scope.kind is ScopeKind.AGENT))

    async def merge(self, request: Request) -> Response:
        scope, id_ = await self._one(request)
        version, most = if_version(request.headers), self._requests.max_text_chars
        asked = await self._requests.read(request, lambda body: fields.merging(body, most))
        with naming(MEMORY):
            memory = await self._curation.merge(
                scope, id_, asked.replaces, text=asked.text, if_version=version
            )
        return await self._shown(scope, memory)

    async def settle(self, request: Request) -> Response:
        """Two memories that conflict: one replaces the other, or both are kept."""
        scope, id_ = await self._one(request)
        asked = await self._requests.read(request, fields.settling)
        with naming(MEMORY):
            memory = await self._book.settle(scope, id_, asked.other, replaces=asked.replaces)
        return await self._shown(scope, memory)

    # -- whose ---------------------------------------------------------------------------------

    async def _one(self, request: Request) -> tuple[Scope, str]:
        """Whose the memory is that the path names, and its id. Where nobody has it as a live one,
        the scope in which it would be looked for first."""
        tenant = await self._requests.tenant(request)
        user, id_ = user_scope(request, tenant), path_id(request, MEMORY)
        scopes = queried_agents(request.query_params, tenant.id)
        if scopes is not None and scopes.single is not None:
            return scopes.single, id_
        every = scopes or AgentScopes(tenant.id, None, None)
        found = await self._agents.whose(every, id_, () if scopes else (user,))
        if found is None and scopes is not None:
            raise unknown(MEMORY)
        return found or user, id_

    # -- answers -------------------------------------------------------------------------------

    async def _rows(self, scope: Scope, memories: Sequence[Memory]) -> list[Json]:
        if scope.kind is ScopeKind.AGENT:
            now = self._book.clock.now()
            return [memory_json(LocatedMemory(scope, memory), now) for memory in memories]
        return await rows(self._users, scope, memories)

    async def _shown(self, scope: Scope, memory: Memory) -> Response:
        if scope.kind is ScopeKind.AGENT:
            shown = memory_json(LocatedMemory(scope, memory), self._book.clock.now())
            return answer({"success": True, "memory": shown}, of=memory)
        return answer(await row(self._users, scope, memory), of=memory)


def _meant(request: Request, body: Body, tenant: Tenant) -> AgentScopes | None:
    """Agents may be named in the query or in the body. Raises `BadRequest` where both name others:
    two readers would see two requests."""
    queried = queried_agents(request.query_params, tenant.id)
    posted = agent_scopes({name: body.value(name) for name in AGENT_FIELDS}, tenant.id)
    if queried is not None and posted is not None and queried != posted:
        raise BadRequest(
            "agentId and subjectId of the query and of the body differ", param=AGENT_FIELDS[0]
        )
    return posted or queried
