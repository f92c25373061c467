"""What every route of user memories does with a request first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from starlette.requests import Request

from memtree.errors import BadRequest, NotFound
from memtree.memories.scope import Scope, checked_id
from memtree.wire.json_body import Body
from memtree_proxy.access.agent_scope import AGENT_FIELDS
from memtree_proxy.access.user_scope import user_scope
from memtree_proxy.memories.requests import MemoryRequests

Value = TypeVar("Value")

MEMORY, GROUP = "memory_id", "group_id"  # in paths


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


def path_id(request: Request, name: str) -> str:
    """An id in the path; what cannot be an id names nothing."""
    with naming(name):
        return checked_id(request.path_params[name], name)


@contextmanager
def naming(name: str) -> Iterator[None]:
    """A memory or a group that is not there is named as the path names it."""
    try:
        yield
    except (BadRequest, NotFound) as error:
        if error.param not in ("id", None, name):
            raise
        raise unknown(name) from None


def unknown(name: str) -> NotFound:
    what = "group" if name == GROUP else "memory"
    return NotFound(f"There is no {what} with this {name}.", param=name)


def _of_an_agent(name: str) -> BadRequest:
    return BadRequest(
        f"{name} is not for this route: agents have no groups and no settings, and a conversation "
        "of theirs is posted to /memories",
        param=name,
    )
