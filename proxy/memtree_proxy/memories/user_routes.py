"""Serve user memories: `/memories`, its search, and each memory by its id."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from memtree.background.memory_services import MemoryServices
from memtree.memories.grants.grant_json import HEADER
from memtree.memories.scope import Scope
from memtree.memories.user_memories import MemoryGroup
from memtree_proxy.http import content_encoding
from memtree_proxy.http.own_headers import USER_HEADER
from memtree_proxy.memories import user_queries
from memtree_proxy.memories.answers import answer, counted, saved
from memtree_proxy.memories.fields import HITS, IF_MATCH_HEADER, MAX_HITS, MAX_ROWS, if_version
from memtree_proxy.memories.requests import GROUP, MEMORY, UserRequests, naming, path_id, unknown
from memtree_proxy.memories.user_rows import rows, shown_one
from memtree_proxy.request.delete_options import DRY_RUN, PURGE
from memtree_proxy.wire import agent_parameters, parameter
from memtree_proxy.wire.agent_parameters import EITHER, whose
from memtree_proxy.wire.answer import shown
from memtree_proxy.wire.memory_rows import ShownHits, ShownPage
from memtree_proxy.wire.operation import memory_operation
from memtree_proxy.wire.parameter import query
from memtree_proxy.wire.user_answers import HITS as FOUND
from memtree_proxy.wire.user_answers import PAGE, ROW, SAVED
from memtree_proxy.wire.user_memories import MemoryEdit, NewMemory

TAG = "User memories"
route = memory_operation(TAG)
_SAVED = ("SavedMemory", "StoredMemories")


class UserMemoryRoutes:
    def __init__(self, services: MemoryServices, requests: UserRequests) -> None:
        self._book, self._users = services.book, services.users
        self._requests = requests

    # -- many memories -------------------------------------------------------------------------

    async def memories(self, request: Request) -> Response:
        """List memories or save a new memory, according to the method."""
        return await (self._create if request.method == "POST" else self._page)(request)

    @route(
        "GET /memories",
        "listMemories",
        "List memories and groups",
        "The memories that are not deleted, the newest first, and all groups. Without "
        f"`limit` all of them, up to {MAX_ROWS:,}.",
        answers={200: ("A page of them.", "MemoryPage", "AgentMemoryPage")},
        errors=(404,),
        parameters=(
            USER_HEADER,
            *user_queries.filters(),
            *agent_parameters.filters(),
            parameter.limit(MAX_ROWS, MAX_ROWS),
            "cursor",
        ),
    )
    async def _page(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        view = user_queries.page(request.query_params)
        groups = await self._groups(scope, view.wanted.group)
        page = await self._book.page(scope, view.wanted, cursor=view.cursor, limit=view.limit)
        shown_rows = await rows(self._users, scope, page.memories, groups, view.wanted.group)
        return answer(shown(PAGE, ShownPage(shown_rows, page.next_cursor, page.total, groups)))

    @route(
        "POST /memories",
        "createMemory",
        "Remember something",
        "What says the same as a stored memory is not stored twice: the answer is that "
        "one, with status 200. What may replace one is stored beside it, and the answer "
        "names both. With `agentId`: structured memories of an agent, or a conversation to "
        "find some in. Where there are schemas a model fills them: the server's, else the one that "
        "`model` names, at the upstream and with the caller's credential; with neither: 422 "
        "`model_needed`.",
        answers={
            201: ("It is saved.", *_SAVED),
            200: ("It was there already, in these or other words.", *_SAVED),
        },
        etag=None,
        errors=(404, 409, 422, 502, 504),
        parameters=(USER_HEADER, content_encoding.HEADER),
        body="AnyNewMemory",
    )
    async def _create(self, request: Request) -> Response:
        """Save a memory. Answers 201 with it, or 200 with the stored memory that says the same."""
        scope = await self._requests.scope(request)
        now = self._book.clock.now()
        posted = await self._requests.posted(request, NewMemory, now)
        result = await self._book.save(scope, posted.draft(now))
        (row,) = await rows(self._users, scope, [result.memory])
        return saved(shown(ROW, row), SAVED, result)

    @route(
        "GET /memories/search",
        "searchMemories",
        "Search memories",
        "By meaning and by words. With `agentId`, `mode`, `scope` or grants: in the form "
        "of agents' memories, with their filters alone, ten rows by default; without "
        "`agentId` of the user's memories in that form.",
        answers={200: ("The best of them.", "MemoryHits", *agent_parameters.FORMS)},
        errors=(404, 504),
        parameters=(
            USER_HEADER,
            HEADER,
            parameter.search_text(),
            *user_queries.filters(),
            *whose(),
            *agent_parameters.search_filters(),
            parameter.limit(MAX_HITS, HITS),
            query(
                "threshold",
                "The relevance that a hit must have; clamped to 0 to 1.",
                {"type": "number", "default": 0},
            ),
        ),
    )
    async def search(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        ask = user_queries.search(request.query_params)
        groups = await self._groups(scope, ask.wanted.group)
        result = await self._book.search(
            scope,
            ask.text,
            wanted=ask.wanted,
            limit=ask.limit,
            least=ask.least,
        )
        memories = [hit.memory for hit in result.hits]
        hits = await rows(self._users, scope, memories, groups, ask.wanted.group)
        return answer(shown(FOUND, ShownHits.of(hits, result)))

    # -- one memory ----------------------------------------------------------------------------

    async def memory(self, request: Request) -> Response:
        """Show, change or delete a memory, according to the method."""
        methods = {"PATCH": self._update, "DELETE": self._delete}
        return await methods.get(request.method, self._show)(request)

    @route(
        "GET /memories/{memory_id}",
        "showMemory",
        "Show a memory",
        "One memory.",
        answers={200: ("The memory.", *EITHER)},
        etag=True,
        errors=(404,),
        parameters=(USER_HEADER, "memory_id", *whose()),
    )
    async def _show(self, request: Request) -> Response:
        scope, id_ = await self._requests.scope(request), path_id(request, MEMORY)
        with naming(MEMORY):
            memory = await self._book.get(scope, id_)
        return await shown_one(self._users, scope, memory)

    @route(
        "PATCH /memories/{memory_id}",
        "updateMemory",
        "Change a memory",
        "What it said before stays in its history.",
        answers={200: ("The memory as it is now.", *EITHER)},
        etag=True,
        errors=(404, 409, 422),
        parameters=(USER_HEADER, "memory_id", *whose(), IF_MATCH_HEADER),
        body="AnyMemoryEdit",
    )
    async def _update(self, request: Request) -> Response:
        scope, id_ = await self._requests.scope(request), path_id(request, MEMORY)
        version = if_version(request.headers)
        posted = await self._requests.posted(request, MemoryEdit, self._book.clock.now())
        with naming(MEMORY):
            memory = await self._book.edit(scope, id_, posted.edit(), if_version=version)
        return await shown_one(self._users, scope, memory)

    @route(
        "DELETE /memories/{memory_id}",
        "deleteMemory",
        "Delete a memory",
        "It is in no answer, no search and no group from now on. For "
        "{deleted_days} days it can be brought back, then it is erased.",
        answers={200: ("It is gone.", "MemoryDeleted")},
        errors=(404,),
        parameters=(USER_HEADER, "memory_id", *whose()),
        deletes=(DRY_RUN, PURGE),
    )
    async def _delete(self, request: Request) -> Response:
        scope, id_ = await self._requests.scope(request), path_id(request, MEMORY)
        how = await self._requests.delete_options(request)
        if how.dry_run and (count := await self._book.count(scope, [id_], purge=how.purge)):
            return counted(count)
        groups = (await self._users.groups_of(scope, [id_])).get(id_, [])
        gone = [] if how.dry_run else await self._book.delete(scope, [id_], purge=how.purge)
        if not gone:
            raise unknown(MEMORY)
        made = {"success": True, "deleted_from_groups": len(groups), "deleted": len(gone)}
        return answer(made)

    async def _groups(self, scope: Scope, named: str | None) -> list[MemoryGroup]:
        """Return all groups. Raises `NotFound` if the group `named` is not among them."""
        groups = await self._users.groups(scope)
        if named is not None and named not in {group.id for group in groups}:
            raise unknown(GROUP)
        return groups
