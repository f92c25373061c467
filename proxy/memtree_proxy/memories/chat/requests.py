"""What every route of chat memory does with a request first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.requests import Request

from memtree.errors import BadRequest, NotFound
from memtree.memories.scope import Scope, checked_id
from memtree_proxy.memories.requests import MemoryRequests

MEMORY = "memoryId"  # in paths


class ChatRequests(MemoryRequests):
    async def scope(self, request: Request) -> Scope:
        tenant = await self.tenant(request)
        return Scope.of_chat(tenant.id, checked_id(request.path_params["chatId"], "chatId"))


def memory_id(request: Request) -> str:
    """What cannot be an id is no memory's."""
    with naming_memory():
        return checked_id(request.path_params[MEMORY], MEMORY)


@contextmanager
def naming_memory() -> Iterator[None]:
    """A memory that is not there is named as the path names it."""
    try:
        yield
    except (BadRequest, NotFound) as error:
        if error.param not in ("id", None, MEMORY):
            raise
        raise unknown() from None


def unknown() -> NotFound:
    return NotFound("This chat has no memory with this memoryId.", param=MEMORY)
