"""Looking after the memories of a chat: their past, letting one replace another, deleting many."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from memtree.config import Settings
from memtree.memories.curation import MemoryCuration
from memtree.memories.memory import Memory
from memtree.memories.scope import Scope
from memtree_proxy.access.auth import Gate
from memtree_proxy.memories.answers import answer, counted, receipt
from memtree_proxy.memories.chat import fields, rendering
from memtree_proxy.memories.chat.routes import TAG, ChatRequests
from memtree_proxy.memories.curation_routes import MAX_TOMBSTONES
from memtree_proxy.memories.fields import IF_MATCH_HEADER, if_version, limit
from memtree_proxy.memories.requests import CHAT_MEMORY, naming, path_id
from memtree_proxy.memories.user.fields import BULK_FIELDS, Deletion
from memtree_proxy.wire import parameter
from memtree_proxy.wire.operation import memory_operation

route = memory_operation(TAG)


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
        """Delete what a filter or ids mean, and answer their number, or a receipt of their
        deletion."""
        scope = await self._requests.scope(request)
        dry_run, purge = await self._requests.delete_options(request, posted=BULK_FIELDS)
        order = await self._requests.read(request, lambda body: fields.deletion(body, purge))
        if dry_run:
            return counted(await self._counted(scope, order, purge))
        if order.ids is None:
            return receipt(await self._curation.delete_matching(scope, order.wanted, purge=purge))
        return receipt(await self._curation.delete(scope, order.ids, purge=purge))

    async def _counted(self, scope: Scope, order: Deletion, purge: bool) -> int:
        if order.ids is None:
            return await self._curation.count(scope, order.wanted)
        return await self._curation.known(scope, order.ids, purge=purge)

    @route(
        "GET /chat/api/{chatId}/memories/tombstones",
        "listChatTombstones",
        "What was forgotten or replaced",
        "The newest first. Of what was forgotten no text is left.",
        answers={200: ("The tombstones.", "ChatTombstones")},
        parameters=(parameter.limit(MAX_TOMBSTONES, MAX_TOMBSTONES),),
    )
    async def tombstones(self, request: Request) -> Response:
        """List what was forgotten or replaced, newest first."""
        scope = await self._requests.scope(request)
        most = limit(request.query_params, MAX_TOMBSTONES, MAX_TOMBSTONES)
        stones = await self._curation.tombstones(scope, most)
        return answer({"tombstones": [rendering.tombstone_json(stone) for stone in stones]})

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
        return answer(rendering.past_json(past))

    @route(
        "POST /chat/api/{chatId}/memories/{memoryId}/merge",
        "mergeChatMemories",
        "Let a memory replace an older one",
        "The older one counts no more; what it said stays in the history.",
        answers={200: ("The memory that counts.", "ChatMemory")},
        etag=True,
        errors=(404, 409, 422),
        parameters=(IF_MATCH_HEADER,),
        body="ChatMemoryMerge",
    )
    async def merge(self, request: Request) -> Response:
        """A memory takes the place of an older one, which stays in its history."""
        scope = await self._requests.scope(request)
        version, most = if_version(request.headers), self._requests.max_text_chars
        merging = await self._requests.read(request, lambda body: fields.merging(body, most))
        with naming(CHAT_MEMORY):
            memory = await self._curation.merge(
                scope,
                path_id(request, CHAT_MEMORY),
                merging.replaces,
                text=merging.text,
                if_version=version,
            )
        return await self._shown(scope, memory)

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
        """Settle the conflict of two memories: one replaces the other, or both are kept."""
        scope = await self._requests.scope(request)
        settling = await self._requests.read(request, fields.settling)
        with naming(CHAT_MEMORY):
            memory = await self._curation.book.settle(
                scope, path_id(request, CHAT_MEMORY), settling.other, replaces=settling.replaces
            )
        return await self._shown(scope, memory)

    async def _shown(self, scope: Scope, memory: Memory) -> Response:
        book = self._curation.book
        twins = (await book.twins(scope, [memory])).get(memory.id, ())
        return answer(rendering.memory_json(memory, book.clock.now(), twins), of=memory)
