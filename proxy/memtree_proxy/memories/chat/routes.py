"""The routes of chat memory: `/chat/api/{chatId}/memory` and `/chat/api/{chatId}/memories...`."""

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
    LAST_EVENT_HEADER,
    MOST_STREAMS,
    EventStreams,
    last_event,
)
from memtree_proxy.http import content_encoding
from memtree_proxy.memories.answers import answer, counted, saved
from memtree_proxy.memories.chat import fields, rendering
from memtree_proxy.memories.events import MemoryFeed, event_stream
from memtree_proxy.memories.fields import (
    HITS,
    IF_MATCH_HEADER,
    MAX_HITS,
    MAX_ROWS,
    ids,
    if_version,
)
from memtree_proxy.memories.requests import CHAT_MEMORY, MemoryRequests, naming, path_id, unknown
from memtree_proxy.request.delete_options import DRY_RUN, PURGE
from memtree_proxy.wire import parameter
from memtree_proxy.wire.operation import KNOWN, READING, operation
from memtree_proxy.wire.parameter import query
from memtree_proxy.wire.types import one_of

TAG = "Chat memory"


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

    @operation(
        "POST /chat/api/{chatId}/memory",
        "createChatMemory",
        TAG,
        "Remember something",
        "Creates a memory from a message of the chat. What says the same as a stored "
        "memory is not stored twice: the answer is that one, with status 200. What may "
        "replace one is stored beside it, and the answer names both.",
        answers={
            201: ("It is saved.", "SavedChatMemory"),
            200: ("It was there already, in these or other words.", "SavedChatMemory"),
        },
        etag=True,
        errors=(409, 422, *READING),
        parameters=("chatId", content_encoding.HEADER),
        body="ChatMemory",
    )
    async def create(self, request: Request) -> Response:
        """Save a memory. Answers 201 with it, or 200 with the memory that says the same already."""
        scope = await self._requests.scope(request)
        most = self._requests.max_text_chars
        draft = await self._requests.read(request, lambda body: fields.new_memory(body, most))
        result = await self._book.save(scope, draft)
        (row,) = await self._rows(scope, [result.memory])
        return saved(row, result, "content")

    @operation(
        "GET /chat/api/{chatId}/memories",
        "listChatMemories",
        TAG,
        "List memories",
        "The memories of a chat that are not deleted, the newest first. Without `limit` "
        f"all of them, up to {MAX_ROWS:,}.",
        answers={200: ("A page of them.", "ChatMemoryPage")},
        errors=(400, *KNOWN),
        parameters=(
            "chatId",
            *fields.FILTERS,
            query("include", "Those as well.", one_of(*fields.INCLUDED).schema),
            parameter.limit(MAX_ROWS, MAX_ROWS),
            "cursor",
        ),
    )
    async def page(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        view = fields.page(request.query_params)
        page = await self._book.page(scope, view.wanted, cursor=view.cursor, limit=view.limit)
        return answer(
            {
                "memories": await self._rows(scope, page.memories),
                "next_cursor": page.next_cursor,
                "total": page.total,
            }
        )

    @operation(
        "GET /chat/api/{chatId}/memories/search",
        "searchChatMemories",
        TAG,
        "Search memories",
        "By meaning and by words.",
        answers={200: ("The best of them.", "ChatMemoryHits")},
        errors=(400, *KNOWN),
        parameters=(
            "chatId",
            parameter.search_text(),
            *fields.FILTERS,
            parameter.limit(MAX_HITS, HITS),
        ),
    )
    async def search(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        ask = fields.search(request.query_params)
        result = await self._book.search(scope, ask.query, wanted=ask.wanted, limit=ask.limit)
        now, memories = self._book.clock.now(), [hit.memory for hit in result.hits]
        twins = await self._book.twins(scope, memories)
        hits = [rendering.hit_json(hit, now, twins.get(hit.memory.id, ())) for hit in result.hits]
        return answer({"memories": hits, "degraded": result.degraded})

    @operation(
        "GET /chat/api/{chatId}/memories/{memoryId}",
        "showChatMemory",
        TAG,
        "Show a memory",
        "One memory.",
        answers={200: ("The memory.", "ChatMemory")},
        etag=True,
        errors=(400, 404, *KNOWN),
        parameters=("chatId", "memoryId"),
    )
    async def _show(self, request: Request) -> Response:
        scope, id_ = await self._requests.scope(request), path_id(request, CHAT_MEMORY)
        with naming(CHAT_MEMORY):
            return await self._shown(scope, await self._book.get(scope, id_))

    @operation(
        "PATCH /chat/api/{chatId}/memories/{memoryId}",
        "updateChatMemory",
        TAG,
        "Change a memory",
        "Its embedding follows the new content.",
        answers={200: ("The memory as it is now.", "ChatMemory")},
        etag=True,
        errors=(404, 409, 422, *READING),
        parameters=("chatId", "memoryId", IF_MATCH_HEADER, content_encoding.HEADER),
        body="ChatMemoryEdit",
    )
    async def _update(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        version = if_version(request.headers)
        most = self._requests.max_text_chars
        edit = await self._requests.read(request, lambda body: fields.edit(body, most))
        with naming(CHAT_MEMORY):
            memory = await self._book.edit(
                scope, path_id(request, CHAT_MEMORY), edit, if_version=version
            )
        return await self._shown(scope, memory)

    @operation(
        "DELETE /chat/api/{chatId}/memories/{memoryId}",
        "deleteChatMemory",
        TAG,
        "Delete a memory",
        "It is in no answer and no search from now on. For "
        "{deleted_days} days it can be brought back, then it is erased.",
        answers={204: ("It is gone.",)},
        errors=(400, 404, *KNOWN),
        parameters=("chatId", "memoryId"),
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

    @operation(
        "POST /chat/api/{chatId}/memories/{memoryId}/confirm",
        "confirmChatMemory",
        TAG,
        "Confirm a memory",
        "A person says that a tainted memory is right: it counts as any other from now on.",
        answers={200: ("The memory as it is now.", "ChatMemory")},
        etag=True,
        errors=(400, 404, 415, *KNOWN),
        parameters=("chatId", "memoryId"),
    )
    async def confirm(self, request: Request) -> Response:
        """A person says that it is so: a tainted memory counts as any other from now on."""
        scope, id_ = await self._requests.scope(request), path_id(request, CHAT_MEMORY)
        with naming(CHAT_MEMORY):
            return await self._shown(scope, await self._book.confirm(scope, id_, by_person=True))

    @operation(
        "POST /chat/api/{chatId}/memories/undelete",
        "undeleteChatMemories",
        TAG,
        "Bring memories back",
        "Deleted memories that are not erased yet. Others are left out of the answer.",
        answers={200: ("Those that are back.", "ChatMemories")},
        errors=READING,
        parameters=("chatId", content_encoding.HEADER),
        body="MemoryIds",
    )
    async def undelete(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        memories = await self._book.undelete(scope, await self._requests.read(request, ids))
        return answer({"memories": await self._rows(scope, memories)})

    @operation(
        "GET /chat/api/{chatId}/memories/events",
        "watchChatMemories",
        TAG,
        "Watch memories",
        "Server-sent events, one for each change, with no text in it. The stream ends when "
        "the credential is let in no longer. At most "
        f"{MOST_STREAMS} streams of a tenant are open at once.",
        answers={200: event_stream("memories of the chat")},
        errors=(400, *KNOWN),
        parameters=("chatId", LAST_EVENT_HEADER),
    )
    async def events(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        allowed = self._requests.allowed(request, scope)
        feed = MemoryFeed(self._book, scope)
        return await self._streams.open(scope.tenant, feed, last_event(request.headers), allowed)

    async def _rows(self, scope: Scope, memories: Sequence[Memory]) -> list[rendering.Json]:
        now, twins = self._book.clock.now(), await self._book.twins(scope, memories)
        return [rendering.memory_json(each, now, twins.get(each.id, ())) for each in memories]

    async def _shown(self, scope: Scope, memory: Memory) -> Response:
        (row,) = await self._rows(scope, [memory])
        return answer(row, of=memory)
