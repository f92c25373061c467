"""The routes of chat memory: `/chat/api/{chatId}/memory` and `/chat/api/{chatId}/memories...`."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from memtree.config import Settings
from memtree.memories.book import MemoryBook
from memtree.memories.memory import Memory
from memtree.memories.scope import Scope
from memtree_proxy.access.auth import Gate
from memtree_proxy.access.event_streams import EventStreams, last_event
from memtree_proxy.memories.answers import answer, counted, saved
from memtree_proxy.memories.chat import fields, rendering
from memtree_proxy.memories.chat.requests import ChatRequests, memory_id, naming_memory, unknown
from memtree_proxy.memories.events import MemoryFeed
from memtree_proxy.memories.fields import ids, if_version


class ChatMemoryRoutes:
    def __init__(
        self, book: MemoryBook, gate: Gate, settings: Settings, streams: EventStreams
    ) -> None:
        self._book = book
        self._requests = ChatRequests(gate, settings)
        self._streams = streams

    async def create(self, request: Request) -> Response:
        """201 with the memory, or 200 with the one that says the same."""
        scope = await self._requests.scope(request)
        most = self._requests.max_text_chars
        draft = await self._requests.read(request, lambda body: fields.new_memory(body, most))
        result = await self._book.save(scope, draft)
        (row,) = await self._rows(scope, [result.memory])
        return saved(row, result, "content")

    async def page(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        asked = fields.page(request.query_params)
        page = await self._book.page(scope, asked.wanted, cursor=asked.cursor, limit=asked.limit)
        return answer(
            {
                "memories": await self._rows(scope, page.memories),
                "next_cursor": page.next_cursor,
                "total": page.total,
            }
        )

    async def search(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        asked = fields.search(request.query_params)
        found = await self._book.search(scope, asked.query, wanted=asked.wanted, limit=asked.limit)
        now, memories = self._book.clock.now(), [hit.memory for hit in found.hits]
        twins = await self._book.twins(scope, memories)
        hits = [rendering.hit_json(hit, now, twins.get(hit.memory.id, ())) for hit in found.hits]
        return answer({"memories": hits, "degraded": found.degraded})

    async def memory(self, request: Request) -> Response:
        """One memory, by the method."""
        methods = {"PATCH": self._update, "DELETE": self._delete}
        return await methods.get(request.method, self._show)(request)

    async def _show(self, request: Request) -> Response:
        scope, id_ = await self._requests.scope(request), memory_id(request)
        with naming_memory():
            return await self._shown(scope, await self._book.get(scope, id_))

    async def _update(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        version = if_version(request.headers)
        most = self._requests.max_text_chars
        edit = await self._requests.read(request, lambda body: fields.edit(body, most))
        with naming_memory():
            memory = await self._book.edit(scope, memory_id(request), edit, if_version=version)
        return await self._shown(scope, memory)

    async def _delete(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        id_, how = memory_id(request), await self._requests.delete_options(request)
        if how.dry_run and (count := await self._book.count(scope, [id_], purge=how.purge)):
            return counted(count)
        if how.dry_run or not await self._book.delete(scope, [id_], purge=how.purge):
            raise unknown()
        return Response(status_code=204)

    async def confirm(self, request: Request) -> Response:
        """A person says that it is so: a tainted memory counts as any other from now on."""
        scope, id_ = await self._requests.scope(request), memory_id(request)
        with naming_memory():
            return await self._shown(scope, await self._book.confirm(scope, id_, by_person=True))

    async def undelete(self, request: Request) -> Response:
        scope = await self._requests.scope(request)
        memories = await self._book.undelete(scope, await self._requests.read(request, ids))
        return answer({"memories": await self._rows(scope, memories)})

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
