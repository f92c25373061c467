"""Serve curation of a chat's memories: history, merging, settling conflicts, bulk deletion."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from memtree.config import Settings
from memtree.memories.curation import MemoryCuration
from memtree_proxy.access.auth import Gate
from memtree_proxy.http.decoding import names, queried
from memtree_proxy.memories.answers import answer
from memtree_proxy.memories.chat.routes import ChatRequests, shown_one
from memtree_proxy.memories.curation_routes import deleted
from memtree_proxy.memories.requests import CHAT_MEMORY, naming, path_id
from memtree_proxy.wire import curation
from memtree_proxy.wire.routes import route
from memtree_proxy.wire.values import Deleting


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
            request, posted=names(curation.ChatBulkDeletion)
        )
        posted = await self._requests.posted(request, curation.ChatBulkDeletion)
        return await deleted(self._curation, scope, posted, dry_run=dry_run, purge=purge)

    @route("GET /chat/api/{chatId}/memories/tombstones", curation.ChatTombstoneQuery)
    async def tombstones(self, request: Request) -> Response:
        """List deleted and replaced memories, newest first."""
        scope = await self._requests.scope(request)
        most = queried(curation.ChatTombstoneQuery, request.query_params).limit
        stones = await self._curation.tombstones(scope, most)
        return answer(curation.tombstones(stones, curation.ChatTombstone))

    @route("GET /chat/api/{chatId}/memories/{memoryId}/history")
    async def history(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        with naming(CHAT_MEMORY):
            past = await self._curation.past(scope, path_id(request, CHAT_MEMORY))
        return answer(curation.history(past, curation.chat_version))

    @route("POST /chat/api/{chatId}/memories/{memoryId}/settle")
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
        return await shown_one(self._curation.book, scope, memory)
