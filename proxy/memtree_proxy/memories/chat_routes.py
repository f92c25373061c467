"""Serve chat memory: `/chat/api/{chatId}/memory` and `/chat/api/{chatId}/memories...`.

Serve curation of a chat's memories: history, merging, settling conflicts, bulk deletion.
"""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from memtree.config import Settings
from memtree.memories.book import MemoryBook
from memtree.memories.curation import MemoryCuration
from memtree.memories.memory import Memory
from memtree.memories.scope import Scope, checked_id
from memtree_proxy.access.auth import Gate
from memtree_proxy.access.event_streams import (
    LAST_EVENT_HEADER,
    MOST_STREAMS,
    EventStreams,
    last_event,
)
from memtree_proxy.memories.answers import answer, counted, saved
from memtree_proxy.memories.curation_routes import MAX_TOMBSTONES, MemoryFeed, deleted, event_stream
from memtree_proxy.memories.requests import (
    CHAT_MEMORY,
    HITS,
    IF_MATCH_HEADER,
    MAX_HITS,
    MAX_ROWS,
    MemoryRequests,
    if_version,
    limit,
    naming,
    path_id,
    searched,
    unknown,
)
from memtree_proxy.request.delete_options import DRY_RUN, PURGE, refuse_unknown
from memtree_proxy.wire import chat_memories, curation, parameter
from memtree_proxy.wire.answer import shown, shown_each
from memtree_proxy.wire.chat_memories import FILTERS, ROW, ChatFilters, ChatListing
from memtree_proxy.wire.curation import MemoryIds
from memtree_proxy.wire.memory_rows import ShownHits, ShownPage, ShownRow
from memtree_proxy.wire.operation import memory_operation
from memtree_proxy.wire.shape import names, read

TAG = "Chat memory"
route = memory_operation(TAG)


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

    @route(
        "POST /chat/api/{chatId}/memory",
        "createChatMemory",
        "Remember something",
        "Creates a memory from a message of the chat. What says the same as a stored "
        "memory is not stored twice: the answer is that one, with status 200. What may "
        "replace one is stored beside it, and the answer names both.",
        answers={
            201: ("It is saved.", "SavedChatMemory"),
            200: ("It was there already, in these or other words.", "SavedChatMemory"),
        },
        etag=True,
        errors=(409, 422),
        body="ChatMemory",
    )
    async def create(self, request: Request) -> Response:
        """Save a memory. Answers 201 with it, or 200 with the stored memory that says the same."""
        scope = await self._requests.scope(request)
        posted = await self._requests.posted(request, chat_memories.NewChatMemory)
        result = await self._book.save(scope, posted.draft())
        rows = await _rows(self._book, scope, [result.memory])
        return saved(shown(ROW, rows[0]), chat_memories.SAVED, result)

    @route(
        "GET /chat/api/{chatId}/memories",
        "listChatMemories",
        "List memories",
        "The memories of a chat that are not deleted, the newest first. Without `limit` "
        f"all of them, up to {MAX_ROWS:,}.",
        answers={200: ("A page of them.", "ChatMemoryPage")},
        parameters=(
            *FILTERS,
            *parameter.queried(ChatListing)[len(FILTERS) :],
            parameter.limit(MAX_ROWS, MAX_ROWS),
            "cursor",
        ),
    )
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
        rows = await _rows(self._book, scope, page.memories)
        return answer(shown(chat_memories.PAGE, ShownPage(rows, page.next_cursor, page.total)))

    @route(
        "GET /chat/api/{chatId}/memories/search",
        "searchChatMemories",
        "Search memories",
        "By meaning and by words.",
        answers={200: ("The best of them.", "ChatMemoryHits")},
        parameters=(
            parameter.search_text(),
            *FILTERS,
            parameter.limit(MAX_HITS, HITS),
        ),
    )
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
        rows = await _rows(self._book, scope, [hit.memory for hit in result.hits])
        return answer(shown(chat_memories.HITS, ShownHits.of(rows, result)))

    @route(
        "GET /chat/api/{chatId}/memories/{memoryId}",
        "showChatMemory",
        "Show a memory",
        "One memory.",
        answers={200: ("The memory.", "ChatMemory")},
        etag=True,
        errors=(404,),
    )
    async def _show(self, request: Request) -> Response:
        scope, id_ = await self._requests.scope(request), path_id(request, CHAT_MEMORY)
        with naming(CHAT_MEMORY):
            return await _shown(self._book, scope, await self._book.get(scope, id_))

    @route(
        "PATCH /chat/api/{chatId}/memories/{memoryId}",
        "updateChatMemory",
        "Change a memory",
        "Its embedding follows the new content.",
        answers={200: ("The memory as it is now.", "ChatMemory")},
        etag=True,
        errors=(404, 409, 422),
        parameters=(IF_MATCH_HEADER,),
        body="ChatMemoryEdit",
    )
    async def _update(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        version = if_version(request.headers)
        posted = await self._requests.posted(request, chat_memories.ChatMemoryEdit)
        with naming(CHAT_MEMORY):
            memory = await self._book.edit(
                scope, path_id(request, CHAT_MEMORY), posted.edit(), if_version=version
            )
        return await _shown(self._book, scope, memory)

    @route(
        "DELETE /chat/api/{chatId}/memories/{memoryId}",
        "deleteChatMemory",
        "Delete a memory",
        "It is in no answer and no search from now on. For "
        "{deleted_days} days it can be brought back, then it is erased.",
        answers={204: ("It is gone.",)},
        errors=(404,),
        deletes=(DRY_RUN, PURGE),
    )
    async def _delete(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        id_, how = path_id(request, CHAT_MEMORY), await self._requests.delete_options(request)
        if how.dry_run and (count := await self._book.count(scope, [id_], purge=how.purge)):
            return counted(count)
        if how.dry_run or not await self._book.delete(scope, [id_], purge=how.purge):
            raise unknown(CHAT_MEMORY)
        return Response(status_code=204)

    @route(
        "POST /chat/api/{chatId}/memories/{memoryId}/confirm",
        "confirmChatMemory",
        "Confirm a memory",
        "A person says that a tainted memory is right: it counts as any other from now on.",
        answers={200: ("The memory as it is now.", "ChatMemory")},
        etag=True,
        errors=(404, 415),
    )
    async def confirm(self, request: Request) -> Response:
        """Record that a person confirmed the memory; a tainted memory counts like any other from
        then on."""
        scope, id_ = await self._requests.scope(request), path_id(request, CHAT_MEMORY)
        with naming(CHAT_MEMORY):
            return await _shown(
                self._book, scope, await self._book.confirm(scope, id_, by_person=True)
            )

    @route(
        "POST /chat/api/{chatId}/memories/undelete",
        "undeleteChatMemories",
        "Bring memories back",
        "Deleted memories that are not erased yet. Others are left out of the answer.",
        answers={200: ("Those that are back.", "ChatMemories")},
        body="MemoryIds",
    )
    async def undelete(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        posted = await self._requests.posted(request, MemoryIds)
        rows = await _rows(self._book, scope, await self._book.undelete(scope, posted.ids))
        return answer({"memories": shown_each(ROW, rows)})

    @route(
        "GET /chat/api/{chatId}/memories/events",
        "watchChatMemories",
        "Watch memories",
        "Server-sent events, one for each change, with no text in it. The stream ends when "
        "the credential is let in no longer. At most "
        f"{MOST_STREAMS} streams of a tenant are open at once.",
        answers={200: event_stream("memories of the chat")},
        parameters=(LAST_EVENT_HEADER,),
    )
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
    return answer(shown(ROW, row), of=memory)


class ChatCurationRoutes:
    def __init__(self, curation: MemoryCuration, gate: Gate, settings: Settings) -> None:
        self._curation = curation
        self._requests = ChatRequests(gate, settings)

    @route(
        "POST /chat/api/{chatId}/memories/delete",
        "deleteChatMemories",
        "Delete many memories",
        "What a filter or a list of ids means, or all: in one step. With `dry_run` they "
        "are counted. The receipt says that ids and texts were looked for afterwards.",
        answers={200: ("A receipt, or a count.", "BulkReceipt")},
        body="ChatBulkDeletion",
    )
    async def delete_many(self, request: Request) -> Response:
        """Delete the memories that a filter or ids select. Answers a receipt, or their number in a
        dry run."""
        scope = await self._requests.scope(request)
        dry_run, purge = await self._requests.delete_options(request, posted=curation.BULK_FIELDS)
        posted = await self._requests.read(
            request, lambda body: curation.bulk_deletion(body, curation.OF_CHATS)
        )
        return await deleted(self._curation, scope, posted, dry_run=dry_run, purge=purge)

    @route(
        "GET /chat/api/{chatId}/memories/tombstones",
        "listChatTombstones",
        "What was forgotten or replaced",
        "The newest first. Of what was forgotten no text is left.",
        answers={200: ("The tombstones.", "ChatTombstones")},
        parameters=(parameter.limit(MAX_TOMBSTONES, MAX_TOMBSTONES),),
    )
    async def tombstones(self, request: Request) -> Response:
        """List deleted and replaced memories, newest first."""
        scope = await self._requests.scope(request)
        most = limit(request.query_params, MAX_TOMBSTONES, MAX_TOMBSTONES)
        stones = await self._curation.tombstones(scope, most)
        return answer(shown(curation.CHAT_TOMBSTONES, stones))

    @route(
        "GET /chat/api/{chatId}/memories/{memoryId}/history",
        "showChatMemoryHistory",
        "What a memory said before",
        "Its versions, and those of the memories that it took the place of.",
        answers={200: ("The history.", "ChatMemoryHistory")},
        errors=(404,),
    )
    async def history(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        with naming(CHAT_MEMORY):
            past = await self._curation.past(scope, path_id(request, CHAT_MEMORY))
        return answer(shown(curation.CHAT_HISTORY, past))

    @route(
        "POST /chat/api/{chatId}/memories/{memoryId}/settle",
        "settleChatMemories",
        "Settle a conflict",
        "Of two memories of which one may replace the other: it does, or both are kept.",
        answers={200: ("The memory that counts.", "ChatMemory")},
        etag=True,
        errors=(404, 409, 422),
        body="MemorySettlement",
    )
    async def settle(self, request: Request) -> Response:
        """Settle the conflict of two memories: keep both, or let one replace the other."""
        scope = await self._requests.scope(request)
        posted = await self._requests.posted(request, curation.MemorySettlement)
        with naming(CHAT_MEMORY):
            memory = await self._curation.book.settle(
                scope,
                path_id(request, CHAT_MEMORY),
                posted.other,
                replaces=posted.replaces,
                by_person=True,
            )
        return await _shown(self._curation.book, scope, memory)
