"""Serve chat memory: `/chat/api/{chatId}/memory` and `/chat/api/{chatId}/memories...`."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from memtree.config import Settings
from memtree.memories.book import MemoryBook
from memtree.memories.memory import Memory
from memtree.memories.scope import Scope, checked_id
from memtree_proxy.access.auth import Gate
from memtree_proxy.access.event_streams import (
    EventStreams,
    last_event,
)
from memtree_proxy.memories.answers import answer, counted, saved
from memtree_proxy.memories.events import MemoryFeed
from memtree_proxy.memories.fields import (
    HITS,
    MAX_HITS,
    MAX_ROWS,
    if_version,
    limit,
    searched,
)
from memtree_proxy.memories.requests import CHAT_MEMORY, MemoryRequests, naming, path_id, unknown
from memtree_proxy.request.delete_options import refuse_unknown
from memtree_proxy.wire import chat_memories
from memtree_proxy.wire.answer import shown, shown_each
from memtree_proxy.wire.chat_memories import FILTERS, ROW, ChatFilters, ChatListing
from memtree_proxy.wire.curation import MemoryIds
from memtree_proxy.wire.memory_rows import ShownHits, ShownPage, ShownRow
from memtree_proxy.wire.routes import route
from memtree_proxy.wire.shape import names, read


class ChatRequests(MemoryRequests):
    async def scope(self, request: Request) -> Scope:
        tenant = await self.tenant(request)
        return Scope.of_chat(tenant.id, checked_id(request.path_params["chatId"], "chatId"))


class ChatMemoryRoutes:
    def __init__(
        self, book: MemoryBook, gate: Gate, settings: Settings, streams: EventStreams
    ) -> None:
        self._book = book
        self._requests = ChatRequests(gate, settings)
        self._streams = streams

    @route("POST /chat/api/{chatId}/memory")
    async def create(self, request: Request) -> Response:
        """Save a memory. Answers 201 with it, or 200 with the stored memory that says the same."""
        scope = await self._requests.scope(request)
        posted = await self._requests.posted(request, chat_memories.NewChatMemory)
        result = await self._book.save(scope, posted.draft())
        rows = await self._rows(scope, [result.memory])
        return saved(shown(ROW, rows[0]), chat_memories.SAVED, result)

    @route("GET /chat/api/{chatId}/memories")
    async def page(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        query = request.query_params
        refuse_unknown(query, (*names(ChatListing), "limit", "cursor"), "query parameter")
        page = await self._book.page(
            scope,
            read(ChatListing, query).wanted(),
            cursor=query.get("cursor"),
            limit=limit(query, MAX_ROWS, MAX_ROWS),
        )
        rows = await self._rows(scope, page.memories)
        return answer(shown(chat_memories.PAGE, ShownPage(rows, page.next_cursor, page.total)))

    @route("GET /chat/api/{chatId}/memories/search")
    async def search(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        query = request.query_params
        refuse_unknown(query, (*FILTERS, "query", "limit"), "query parameter")
        result = await self._book.search(
            scope,
            searched(query),
            wanted=read(ChatFilters, query).wanted(),
            limit=limit(query, MAX_HITS, HITS),
        )
        rows = await self._rows(scope, [hit.memory for hit in result.hits])
        return answer(shown(chat_memories.HITS, ShownHits.of(rows, result)))

    @route("GET /chat/api/{chatId}/memories/{memoryId}")
    async def _show(self, request: Request) -> Response:
        scope, id_ = await self._requests.scope(request), path_id(request, CHAT_MEMORY)
        with naming(CHAT_MEMORY):
            return await self._shown(scope, await self._book.get(scope, id_))

    @route("PATCH /chat/api/{chatId}/memories/{memoryId}")
    async def _update(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        version = if_version(request.headers)
        posted = await self._requests.posted(request, chat_memories.ChatMemoryEdit)
        with naming(CHAT_MEMORY):
            memory = await self._book.edit(
                scope, path_id(request, CHAT_MEMORY), posted.edit(), if_version=version
            )
        return await self._shown(scope, memory)

    @route("DELETE /chat/api/{chatId}/memories/{memoryId}")
    async def _delete(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        id_, how = path_id(request, CHAT_MEMORY), await self._requests.delete_options(request)
        if how.dry_run and (count := await self._book.count(scope, [id_], purge=how.purge)):
            return counted(count)
        if how.dry_run or not await self._book.delete(scope, [id_], purge=how.purge):
            raise unknown(CHAT_MEMORY)
        return Response(status_code=204)

    @route("POST /chat/api/{chatId}/memories/{memoryId}/confirm")
    async def confirm(self, request: Request) -> Response:
        """Record that a person confirmed the memory; a tainted memory counts like any other from
        then on."""
        scope, id_ = await self._requests.scope(request), path_id(request, CHAT_MEMORY)
        with naming(CHAT_MEMORY):
            return await self._shown(scope, await self._book.confirm(scope, id_, by_person=True))

    @route("POST /chat/api/{chatId}/memories/undelete")
    async def undelete(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        posted = await self._requests.posted(request, MemoryIds)
        rows = await self._rows(scope, await self._book.undelete(scope, posted.ids))
        return answer({"memories": shown_each(ROW, rows)})

    @route("GET /chat/api/{chatId}/memories/events")
    async def events(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        allowed = self._requests.allowed(request, scope)
        feed = MemoryFeed(self._book, scope)
        return await self._streams.open(scope.tenant, feed, last_event(request.headers), allowed)

    async def _rows(self, scope: Scope, memories: Sequence[Memory]) -> list[ShownRow]:
        return await rows(self._book, scope, memories)

    async def _shown(self, scope: Scope, memory: Memory) -> Response:
        return await shown_one(self._book, scope, memory)


async def rows(book: MemoryBook, scope: Scope, memories: Sequence[Memory]) -> list[ShownRow]:
    now, twins = book.clock.now(), await book.twins(scope, memories)
    return [ShownRow(memory, now, twins.get(memory.id, ())) for memory in memories]


async def shown_one(book: MemoryBook, scope: Scope, memory: Memory) -> Response:
    (row,) = await rows(book, scope, [memory])
    return answer(shown(ROW, row), of=memory)
