"""Read first what every route of user memories needs of a request."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from starlette.requests import Request

from memtree.errors import BadRequest
from memtree.memories.scope import Scope
from memtree.wire.json_body import Body
from memtree_proxy.access.agent_scope import AGENT_FIELDS
from memtree_proxy.access.user_scope import user_scope
from memtree_proxy.memories.requests import MemoryRequests

Value = TypeVar("Value")


class UserRequests(MemoryRequests):
    async def scope(self, request: Request) -> Scope:
        """Raises `BadRequest` where an agent's memories are asked for: the user's are not meant."""
        scope = user_scope(request, await self.tenant(request))
        for name in AGENT_FIELDS:
            if name in request.query_params:
                raise _of_an_agent(name)
        return scope

    async def read(self, request: Request, read: Callable[[Body], Value]) -> Value:
        def checked(body: Body) -> Value:
            for name in AGENT_FIELDS:
                if body.fragment(name) not in (None, b"null"):
                    raise _of_an_agent(name)
            return read(body)

        return await super().read(request, checked)


def _of_an_agent(name: str) -> BadRequest:
    return BadRequest(
        f"{name} is not for this route: agents have no groups and no settings, and a conversation "
        "of theirs is posted to /memories",
        param=name,
    )
