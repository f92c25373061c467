"""Serves users' memories on `/memories`, and hands requests that name an agent to agents' routes.

`/memories` is one collection of two forms, users' memories and agents' memories:

POST                an agent's if the body has `agentId`, else a user's
GET                 an agent's if the query has `agentId`, else a user's
GET  /search        in the form of agents if agentId, mode, scope or grants are sent
     /{memory_id}   whichever the id names; `agentId` and `subjectId` narrow it to agents
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from starlette.requests import Request
from starlette.responses import Response

from memtree.agents.agent_memory import AgentScopes
from memtree.agents.grant_json import HEADER as GRANTS_HEADER
from memtree.config import Settings
from memtree.history.json_body import Body
from memtree.history.message import Message, check_message
from memtree.jobs.memory_services import MemoryServices
from memtree.memories.memory import Memory
from memtree.memories.scope import Scope, ScopeKind
from memtree.memories.user_book import UserBook
from memtree.memories.user_memories import MemoryGroup
from memtree_proxy.api.agent_memory_routes import AgentMemoryRoutes
from memtree_proxy.api.memory_requests import (
    GROUP,
    MEMORY,
    MemoryRequests,
    UserRequests,
    if_version,
    naming,
    path_id,
    unknown,
)
from memtree_proxy.http.auth import AGENT_FIELDS, queried_agents, user_scope
from memtree_proxy.http.decoding import decode, queried
from memtree_proxy.wire.memory_rows import ShownRow
from memtree_proxy.wire.routes import answer, counted, route
from memtree_proxy.wire.user_memory_bodies import (
    ConversationToExtract,
    MemoryDeleted,
    MemoryEdit,
    MemoryPage,
    NewMemory,
    ShownGroup,
    UserListing,
    UserSearch,
    extracted,
    found_memories,
    saved_memory,
    user_memory,
)
from memtree_proxy.wire.values import AgentQuery, DeletingOne, NoQuery

AGENT_SEARCH = (*AGENT_FIELDS, "mode", "scope")  # parameters of the agents' search

Endpoint = Callable[[Request], Awaitable[Response]]


class UserMemoryRoutes:
    def __init__(self, services: MemoryServices, requests: UserRequests) -> None:
        self._book, self._users = services.book, services.users
        self._requests = requests

    # -- many memories -------------------------------------------------------------------------

    async def memories(self, request: Request) -> Response:
        """List memories or save a new memory, according to the method."""
        return await (self._create if request.method == "POST" else self._page)(request)

    async def _page(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        query = queried(UserListing, request.query_params)
        wanted = query.wanted()
        groups = await self._groups(scope, wanted.group)
        page = await self._book.page(scope, wanted, cursor=query.cursor, limit=query.limit)
        shown = await rows(self._users, scope, page.memories, groups, wanted.group)
        return answer(
            MemoryPage(
                memories=[user_memory(row) for row in shown],
                groups=[ShownGroup.of(group) for group in groups],
                next_cursor=page.next_cursor,
                total=page.total,
            )
        )

    async def _create(self, request: Request) -> Response:
        """Save a memory. Answers 201 with it, or 200 with the stored memory that says the same."""
        scope = await self._requests.scope(request)
        posted = await self._requests.posted(request, NewMemory)
        self._requests.check_text(posted.text, "text")
        result = await self._book.save(scope, posted.draft(self._book.clock.now()))
        (row,) = await rows(self._users, scope, [result.memory])
        return answer(saved_memory(row, result), 200 if result.existing else 201, result.memory)

    async def search(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        query = queried(UserSearch, request.query_params)
        wanted = query.wanted()
        groups = await self._groups(scope, wanted.group)
        result = await self._book.search(
            scope, query.query, wanted=wanted, limit=query.limit, least=query.threshold
        )
        memories = [hit.memory for hit in result.hits]
        hits = await rows(self._users, scope, memories, groups, wanted.group)
        return answer(found_memories(hits, result))

    # -- one memory ----------------------------------------------------------------------------

    async def memory(self, request: Request) -> Response:
        """Show, change or delete a memory, according to the method."""
        methods = {"PATCH": self._update, "DELETE": self._delete}
        return await methods.get(request.method, self._show)(request)

    async def _show(self, request: Request) -> Response:
        scope, id_ = await self._requests.scope(request), path_id(request, MEMORY)
        with naming(MEMORY):
            memory = await self._book.get(scope, id_)
        return await shown_one(self._users, scope, memory)

    async def _update(self, request: Request) -> Response:
        scope, id_ = await self._requests.scope(request), path_id(request, MEMORY)
        version = if_version(request.headers)
        posted = await self._requests.posted(request, MemoryEdit)
        self._requests.check_text(posted.text, "text")
        edit = posted.edit(self._book.clock.now())
        with naming(MEMORY):
            memory = await self._book.edit(scope, id_, edit, if_version=version)
        return await shown_one(self._users, scope, memory)

    async def _delete(self, request: Request) -> Response:
        scope, id_ = await self._requests.scope(request), path_id(request, MEMORY)
        how = await self._requests.delete_options(request, queried=AGENT_FIELDS)
        if how.dry_run and (count := await self._book.count(scope, [id_], purge=how.purge)):
            return counted(count)
        groups = (await self._users.groups_of(scope, [id_])).get(id_, [])
        gone = [] if how.dry_run else await self._book.delete(scope, [id_], purge=how.purge)
        if not gone:
            raise unknown(MEMORY)
        return answer(MemoryDeleted(deleted_from_groups=len(groups), deleted=len(gone)))

    async def _groups(self, scope: Scope, named: str | None) -> list[MemoryGroup]:
        """Return all groups. Raises `NotFound` if the group `named` is not among them."""
        groups = await self._users.groups(scope)
        if named is not None and named not in {group.id for group in groups}:
            raise unknown(GROUP)
        return groups


async def rows(
    users: UserBook,
    scope: Scope,
    memories: Sequence[Memory],
    groups: Sequence[MemoryGroup] | None = None,
    group: str | None = None,
) -> list[ShownRow]:
    """Return the memories' rows. `groups`: all groups of the scope, None to read them. `group`: id
    of the group to show in each row; None for the oldest group of each memory."""
    twins = await users.twins(scope, [memory.id for memory in memories])
    of = await users.groups_of(scope, [memory.id for memory in memories]) if memories else {}
    if groups is None:
        groups = await users.groups(scope) if of else ()
    now = users.clock.now()
    known = {group.id: group for group in groups}
    made = []
    for memory in memories:
        ids = [id_ for id_ in of.get(memory.id, ()) if id_ in known]
        named = group if group in ids else next(iter(ids), None)
        shown_group = known[named] if named else None
        made.append(ShownRow(memory, now, twins.get(memory.id, []), shown_group, ids))
    return made


async def shown_one(users: UserBook, scope: Scope, memory: Memory) -> Response:
    (row,) = await rows(users, scope, [memory])
    return answer(user_memory(row), of=memory)


class ExtractionRoute:
    def __init__(
        self, services: MemoryServices, requests: UserRequests, settings: Settings
    ) -> None:
        self._conversations = services.extracting.conversations
        self._users = services.users
        self._requests = requests
        self._max_messages, self._room = settings.max_messages, settings.extraction_chars

    @route("POST /memories/extract")
    async def extract(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        with self._requests.costly(scope.tenant):
            messages, dry_run = await self._requests.read(request, self._posted)
            report, snapshots = await self._conversations.extract(
                scope, messages, dry_run=dry_run, room=self._room
            )
        stored = await rows(self._users, scope, report.stored)
        shown = await rows(self._users, scope, snapshots)
        return answer(extracted(report, stored, shown, dry_run=dry_run))

    def _posted(self, body: Body) -> tuple[Sequence[Message], bool]:
        """Read the messages and `dry_run`. Raises `BadRequest` naming the message or the field."""
        messages = body.messages(self._max_messages)
        for index, message in enumerate(messages):
            check_message(message, f"messages[{index}]")
        return messages, decode(ConversationToExtract, body).dry_run


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
