"""Serve user memories: `/memories`, its search, and each memory by its id.

Build rows of user memories with their groups.

Read the query parameters of users' memories, for lists and searches.

Serve `POST /memories/extract`: extract memories from a posted conversation, and report them.

The same extraction runs in the background for users who enabled it for their chats. This route is
an explicit request, so it ignores those switches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from memtree.background.memory_services import MemoryServices
from memtree.config import Settings
from memtree.conversation.message import Message, check_message
from memtree.errors import BadRequest
from memtree.memories.grants.grant_json import HEADER
from memtree.memories.memory import Memory
from memtree.memories.ports import MemoryFilter
from memtree.memories.scope import Scope
from memtree.memories.user_book import UserBook
from memtree.memories.user_memories import MemoryGroup
from memtree.wire.json_body import Body
from memtree_proxy.http import request_body
from memtree_proxy.http.headers import USER_HEADER
from memtree_proxy.memories.answers import answer, counted, saved
from memtree_proxy.memories.requests import (
    GROUP,
    HITS,
    IF_MATCH_HEADER,
    MAX_HITS,
    MAX_ROWS,
    MEMORY,
    UserRequests,
    if_version,
    limit,
    naming,
    path_id,
    queried_tags,
    searched,
    unknown,
)
from memtree_proxy.request import fields
from memtree_proxy.request.delete_options import DRY_RUN, PURGE, refuse_unknown
from memtree_proxy.wire import agent_parameters, parameter
from memtree_proxy.wire.agent_parameters import EITHER, whose
from memtree_proxy.wire.answer import shown
from memtree_proxy.wire.curation import (
    AGENTS_FILTERS,
    OF_CHATS,
    OF_USERS,
    BulkFilter,
    memory_filter,
)
from memtree_proxy.wire.json_schema import Json
from memtree_proxy.wire.memory_rows import ShownHits, ShownPage, ShownRow
from memtree_proxy.wire.operation import memory_operation
from memtree_proxy.wire.parameter import query
from memtree_proxy.wire.shape import read
from memtree_proxy.wire.types import GIVEN_TAGS
from memtree_proxy.wire.user_answers import EXTRACTED, PAGE, ROW, SAVED, Extracted
from memtree_proxy.wire.user_answers import HITS as FOUND
from memtree_proxy.wire.user_memories import (
    ConversationToExtract,
    MemoryEdit,
    NewMemory,
    not_a_number,
    number,
)


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
    return answer(shown(ROW, row), of=memory)


INCLUDED = ("superseded", "expired", "deleted")
_SWITCHES = ("tainted", "standing", "conflicts")
_LISTED = ("tag", "limit", "cursor", "include")  # parameters other than filters


class UserQuery(NamedTuple):
    """Query of a list or a search. `cursor`: for lists. `text`, `least`: for searches."""

    wanted: MemoryFilter
    limit: int
    cursor: str | None = None
    text: str = ""
    least: float = 0.0


def read_page_query(query: QueryParams) -> UserQuery:
    wanted = _which(query)
    refuse_unknown(query, (*OF_USERS, *_LISTED), "query parameter")
    return UserQuery(wanted, limit(query, MAX_ROWS, MAX_ROWS), query.get("cursor"))


def read_search_query(query: QueryParams) -> UserQuery:
    wanted = _which(query)
    refuse_unknown(query, (*OF_USERS, *_LISTED, "query", "threshold"), "query parameter")
    text, most = searched(query), limit(query, MAX_HITS, HITS)
    return UserQuery(wanted, most, text=text, least=_least(query))


def filter_parameters() -> list[Json]:
    """List the parameters that filter the memories of a list or a search."""
    known = {row["name"]: row for row in parameter.queried(BulkFilter)}
    known["tag"] = parameter.query("tag", "With this tag; may stand several times.", GIVEN_TAGS)
    shown = {"type": "string", "enum": list(INCLUDED)}
    return [
        *(known[name] for name in ("group_id", "category", "tag", *OF_CHATS[2:])),
        parameter.query("include", "Those as well.", {"type": "array", "items": shown}),
    ]


def _which(query: QueryParams) -> MemoryFilter:
    """Return the filter that the query names."""
    for name in AGENTS_FILTERS:
        if name in query:
            raise BadRequest(f"{name} needs agentId: user memories have a category", param=name)
    if "include_superseded" in query:
        raise BadRequest("include_superseded needs agentId; here it is include=superseded",
                         param="include_superseded")  # fmt: skip
    included = _included(query)
    # Build the fields as a posted filter has them.
    given: dict[str, object] = {name: query.get(name) for name in OF_USERS}
    given |= {name: fields.switch(query, name) for name in _SWITCHES}
    given["tags"] = queried_tags(query)
    return memory_filter(given, "", **{name: name in included for name in INCLUDED})


def _included(query: QueryParams) -> list[str]:
    names = [name.strip() for value in query.getlist("include") for name in value.split(",")]
    for name in names:
        if name not in INCLUDED:
            raise BadRequest(f"include must name only {', '.join(INCLUDED)}", param="include")
    return names


def _least(query: QueryParams) -> float:
    given = query.get("threshold")
    try:
        return 0.0 if given is None else number(float(given[:40]), "threshold", 0.0, 1.0)
    except ValueError:
        raise not_a_number("threshold") from None


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
            *filter_parameters(),
            *agent_parameters.filters(),
            parameter.limit(MAX_ROWS, MAX_ROWS),
            "cursor",
        ),
    )
    async def _page(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        view = read_page_query(request.query_params)
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
        parameters=(USER_HEADER, request_body.ENCODING_HEADER),
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
            *filter_parameters(),
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
        ask = read_search_query(request.query_params)
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


class ExtractionRoute:
    def __init__(
        self, services: MemoryServices, requests: UserRequests, settings: Settings
    ) -> None:
        self._conversations = services.extracting.conversations
        self._users = services.users
        self._requests = requests
        self._max_messages, self._room = settings.max_messages, settings.extraction_chars

    @route(
        "POST /memories/extract",
        "extractMemories",
        "Read a conversation for memories",
        "At once, and whatever the settings of the user say. Only what the user wrote is "
        "read, outside of code, quotations and pasted text. Each message is read once: "
        "what was read before, in this or another conversation, is not read again. With "
        "`dry_run` nothing is stored, and the messages count as not read.",
        answers={200: ("What came of it.", "Extracted")},
        parameters=(USER_HEADER,),
        body="ConversationToExtract",
    )
    async def extract(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        with self._requests.costly(scope.tenant):
            messages, dry_run = await self._requests.read(request, self._posted)
            report, snapshots = await self._conversations.extract(
                scope, messages, dry_run=dry_run, room=self._room
            )
        extracted = Extracted(
            dry_run,
            report,
            stored=await rows(self._users, scope, report.stored),
            snapshots=await rows(self._users, scope, snapshots),
        )
        return answer(shown(EXTRACTED, extracted))

    def _posted(self, body: Body) -> tuple[Sequence[Message], bool]:
        """Read the messages and `dry_run`. Raises `BadRequest` naming the message or the field."""
        messages = body.messages(self._max_messages)
        for index, message in enumerate(messages):
            check_message(message, f"messages[{index}]")
        return messages, read(ConversationToExtract, body).dry_run
