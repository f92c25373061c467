"""Serve chat memory: `/chat/api/{chatId}/memory` and `/chat/api/{chatId}/memories...`."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from memtree.config import Settings
from memtree.memories.book import MemoryBook
from memtree.memories.memory import Memory
from memtree.memories.memory_curation import MemoryCuration
from memtree.memories.scope import Scope, checked_id
from memtree_proxy.api.curation_routes import MemoryFeed, deleted
from memtree_proxy.api.memory_requests import (
    CHAT_MEMORY,
    MemoryRequests,
    if_version,
    naming,
    path_id,
    unknown,
)
from memtree_proxy.http.auth import Gate
from memtree_proxy.http.decoding import names, queried
from memtree_proxy.http.event_streams import EventStreams, last_event
from memtree_proxy.wire import curation_bodies
from memtree_proxy.wire.chat_memory_bodies import (
    ChatListing,
    ChatMemoryEdit,
    ChatMemoryPage,
    ChatSearch,
    NewChatMemory,
    chat_memory,
    found_chat_memories,
    saved_chat_memory,
)
from memtree_proxy.wire.curation_bodies import Memories, MemoryIds
from memtree_proxy.wire.memory_rows import ShownRow
from memtree_proxy.wire.routes import answer, counted, route
from memtree_proxy.wire.values import Deleting, distinct


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
        posted = await self._requests.posted(request, NewChatMemory)
        self._requests.check_text(posted.content, "content")
        result = await self._book.save(scope, posted.draft())
        (row,) = await _rows(self._book, scope, [result.memory])
        made = saved_chat_memory(row, result)
        return answer(made, 200 if result.existing else 201, result.memory)

    @route("GET /chat/api/{chatId}/memories", ChatListing)
    async def page(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        query = queried(ChatListing, request.query_params)
        wanted = query.wanted(deleted=query.include is not None)
        page = await self._book.page(scope, wanted, cursor=query.cursor, limit=query.limit)
        return answer(
            ChatMemoryPage(
                memories=[
                    chat_memory(row) for row in await _rows(self._book, scope, page.memories)
                ],
                next_cursor=page.next_cursor,
                total=page.total,
            )
        )

    @route("GET /chat/api/{chatId}/memories/search", ChatSearch)
    async def search(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        query = queried(ChatSearch, request.query_params)
        result = await self._book.search(
            scope, query.query, wanted=query.wanted(), limit=query.limit
        )
        rows = await _rows(self._book, scope, [hit.memory for hit in result.hits])
        return answer(found_chat_memories(rows, result))

    @route("GET /chat/api/{chatId}/memories/{memoryId}")
    async def _show(self, request: Request) -> Response:
        scope, id_ = await self._requests.scope(request), path_id(request, CHAT_MEMORY)
        with naming(CHAT_MEMORY):
            return await _shown(self._book, scope, await self._book.get(scope, id_))

    @route("PATCH /chat/api/{chatId}/memories/{memoryId}")
    async def _update(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        version = if_version(request.headers)
        posted = await self._requests.posted(request, ChatMemoryEdit)
        self._requests.check_text(posted.content, "content")
        with naming(CHAT_MEMORY):
            memory = await self._book.edit(
                scope, path_id(request, CHAT_MEMORY), posted.edit(), if_version=version
            )
        return await _shown(self._book, scope, memory)

    @route("DELETE /chat/api/{chatId}/memories/{memoryId}", Deleting)
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
            return await _shown(
                self._book, scope, await self._book.confirm(scope, id_, by_person=True)
            )

    @route("POST /chat/api/{chatId}/memories/undelete")
    async def undelete(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        posted = await self._requests.posted(request, MemoryIds)
        back = await self._book.undelete(scope, distinct(posted.ids))
        rows = await _rows(self._book, scope, back)
        return answer(Memories(memories=[chat_memory(row) for row in rows]))

    @route("GET /chat/api/{chatId}/memories/events")
    async def events(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        allowed = self._requests.allowed(request, scope)
        feed = MemoryFeed(self._book, scope)
        return await self._streams.open(scope.tenant, feed, last_event(request.headers), allowed)


async def _rows(book: MemoryBook, scope: Scope, memories: Sequence[Memory]) -> list[ShownRow]:
    now, twins = book.clock.now(), await book.twins(scope, memories)
    return [ShownRow(memory, now, twins.get(memory.id, ())) for memory in memories]


async def _shown(book: MemoryBook, scope: Scope, memory: Memory) -> Response:
    (row,) = await _rows(book, scope, [memory])
    return answer(chat_memory(row), of=memory)


class ChatCurationRoutes:
    def __init__(self, curation: MemoryCuration, gate: Gate, settings: Settings) -> None:
        self._curation = curation
        self._requests = ChatRequests(gate, settings)

    @route("POST /chat/api/{chatId}/memories/delete", Deleting)
    async def delete_many(self, request: Request) -> Response:
        """Delete the memories that a filter or ids select. Answers a receipt, or their number in a
        dry run."""
        scope = await self._requests.scope(request)
        dry_run, purge = await self._requests.delete_options(
            request, posted=names(curation_bodies.ChatBulkDeletion)
        )
        posted = await self._requests.posted(request, curation_bodies.ChatBulkDeletion)
        return await deleted(self._curation, scope, posted, dry_run=dry_run, purge=purge)

    @route("GET /chat/api/{chatId}/memories/tombstones", curation_bodies.ChatTombstoneQuery)
    async def tombstones(self, request: Request) -> Response:
        """List deleted and replaced memories, newest first."""
        scope = await self._requests.scope(request)
        most = queried(curation_bodies.ChatTombstoneQuery, request.query_params).limit
        stones = await self._curation.tombstones(scope, most)
        return answer(curation_bodies.tombstones(stones, curation_bodies.ChatTombstone))

    @route("GET /chat/api/{chatId}/memories/{memoryId}/history")
    async def history(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        with naming(CHAT_MEMORY):
            past = await self._curation.past(scope, path_id(request, CHAT_MEMORY))
        return answer(curation_bodies.history(past, curation_bodies.chat_version))

    @route("POST /chat/api/{chatId}/memories/{memoryId}/settle")
    async def settle(self, request: Request) -> Response:
        """Settle the conflict of two memories: keep both, or let one replace the other."""
        scope = await self._requests.scope(request)
        posted = await self._requests.posted(request, curation_bodies.MemorySettlement)
        with naming(CHAT_MEMORY):
            memory = await self._curation.book.settle(
                scope,
                path_id(request, CHAT_MEMORY),
                posted.other,
                replaces=posted.replaces,
                by_person=True,
            )
        return await _shown(self._curation.book, scope, memory)
