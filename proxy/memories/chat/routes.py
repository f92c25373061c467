"""The routes of chat memory: `/chat/api/{chatId}/memory` and `/chat/api/{chatId}/memories...`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from memtree.config import Settings
from memtree.errors import BadRequest, NotFound, Unauthorized
from memtree.memories.book import MemoryBook
from memtree.memories.memory import Memory
from memtree.memories.scope import Scope, checked_id
from proxy.access.auth import Gate
from proxy.http import json_body, request_body
from proxy.http.json_body import Body
from proxy.memories.chat import fields, rendering
from proxy.memories.chat.events import EventStreams
from proxy.observability import request_trace

Value = TypeVar("Value")


class ChatMemoryRoutes:
    def __init__(
        self, book: MemoryBook, gate: Gate, settings: Settings, streams: EventStreams
    ) -> None:
        self._book = book
        self._gate = gate
        self._settings = settings
        self._streams = streams

    async def create(self, request: Request) -> Response:
        """201 with the memory, or 200 with the one that says the same."""
        scope = await self._scope(request)
        most = self._settings.max_text_chars
        draft = await self._read(request, lambda body: fields.new_memory(body, most))
        saved = await self._book.save(scope, draft)
        updates = [] if saved.existing else rendering.updates_json(saved.near)
        shown = {**rendering.memory_json(saved.memory), "possible_update_of": updates}
        if saved.deferred:  # the look for duplicates is still to come
            shown["dedup"] = "deferred"
        if saved.degraded:
            shown["degraded"] = saved.degraded
        return _json(shown, 200 if saved.existing else 201, saved.memory)

    async def page(self, request: Request) -> Response:
        scope = await self._scope(request)
        asked = fields.page(request.query_params)
        page = await self._book.page(scope, asked.wanted, cursor=asked.cursor, limit=asked.limit)
        return _json(
            {
                "memories": [rendering.memory_json(memory) for memory in page.memories],
                "next_cursor": page.next_cursor,
                "total": page.total,
            }
        )

    async def search(self, request: Request) -> Response:
        scope = await self._scope(request)
        asked = fields.search(request.query_params)
        found = await self._book.search(scope, asked.query, wanted=asked.wanted, limit=asked.limit)
        hits = [rendering.hit_json(hit) for hit in found.hits]
        return _json({"memories": hits, "degraded": found.degraded})

    async def memory(self, request: Request) -> Response:
        """One memory, by the method."""
        methods = {"PATCH": self._update, "DELETE": self._delete}
        return await methods.get(request.method, self._show)(request)

    async def _show(self, request: Request) -> Response:
        scope, id_ = await self._scope(request), _memory_id(request)
        with _naming():
            return _shown(await self._book.get(scope, id_))

    async def _update(self, request: Request) -> Response:
        scope = await self._scope(request)
        version = fields.if_version(request.headers)
        most = self._settings.max_text_chars
        edit = await self._read(request, lambda body: fields.edit(body, most))
        with _naming():
            memory = await self._book.edit(scope, _memory_id(request), edit, if_version=version)
        return _shown(memory)

    async def _delete(self, request: Request) -> Response:
        scope = await self._scope(request)
        id_ = _memory_id(request)
        if not await self._book.delete(scope, [id_], purge=fields.purge(request.query_params)):
            raise _unknown()
        return Response(status_code=204)

    async def confirm(self, request: Request) -> Response:
        """A person says that it is so: a tainted memory counts as any other from now on."""
        scope, id_ = await self._scope(request), _memory_id(request)
        with _naming():
            return _shown(await self._book.confirm(scope, id_, by_person=True))

    async def undelete(self, request: Request) -> Response:
        scope = await self._scope(request)
        memories = await self._book.undelete(scope, await self._read(request, fields.ids))
        return _json({"memories": [rendering.memory_json(memory) for memory in memories]})

    async def events(self, request: Request) -> Response:
        scope = await self._scope(request)

        async def allowed() -> bool:
            try:
                tenant = await self._gate.tenant(request, counted=False)
            except Unauthorized:
                return False
            return tenant.id == scope.tenant

        return await self._streams.open(scope, fields.last_event(request.headers), allowed)

    async def _scope(self, request: Request) -> Scope:
        # The log names the route, not the chat: an id that a caller chose may be a person's name.
        trace = request_trace.of(request.scope)
        trace.route = request_trace.pattern(request.scope)
        tenant = await self._gate.tenant(request)
        return Scope.of_chat(tenant.id, checked_id(request.path_params["chatId"], "chatId"))

    async def _read(self, request: Request, read: Callable[[Body], Value]) -> Value:
        raw = await request_body.content(request, self._settings.max_body_bytes)
        return await json_body.off_loop(len(raw), lambda: read(json_body.split(raw)))


def _memory_id(request: Request) -> str:
    """What cannot be an id is no memory's."""
    with _naming():
        return checked_id(request.path_params["memoryId"], "memoryId")


@contextmanager
def _naming() -> Iterator[None]:
    """A memory that is not there is named as the path names it."""
    try:
        yield
    except (BadRequest, NotFound) as error:
        if isinstance(error, BadRequest) and error.param != "memoryId":
            raise
        raise _unknown() from None


def _unknown() -> NotFound:
    return NotFound("This chat has no memory with this memoryId.", param="memoryId")


def _shown(memory: Memory) -> Response:
    return _json(rendering.memory_json(memory), of=memory)


def _json(shown: dict[str, Any], status: int = 200, of: Memory | None = None) -> Response:
    """`of`: the memory that the answer is, whose version is the tag of the answer."""
    response = Response(msgspec.json.encode(shown), status, media_type="application/json")
    response.headers["cache-control"] = "no-store"
    if of is not None:
        response.headers["etag"] = f'"{of.version}"'
    return response
