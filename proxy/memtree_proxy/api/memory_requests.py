"""Authenticate requests to memory routes, and read their paths and bodies."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar

from starlette.requests import Request

from memtree.clock import Clock
from memtree.config import Settings
from memtree.errors import BadRequest, NotFound, SecretRejected, Unauthorized
from memtree.history import json_body
from memtree.history.json_body import Body
from memtree.memories.draft import checked_text
from memtree.memories.scope import Scope, checked_id
from memtree.process.threads import off_loop
from memtree_proxy.http import request_body, request_trace
from memtree_proxy.http.auth import Gate, Tenant, queried_agents, single_scope, user_scope
from memtree_proxy.http.decoding import decode
from memtree_proxy.http.rate_limits import CostlyWork
from memtree_proxy.wire import request_options
from memtree_proxy.wire.agent_memory_bodies import RequestContext
from memtree_proxy.wire.request_options import DeleteOptions

Value = TypeVar("Value")

MEMORY, GROUP, CHAT_MEMORY = "memory_id", "group_id", "memoryId"  # path parameters
_UNKNOWN = {
    MEMORY: "There is no memory with this {}.",
    GROUP: "There is no group with this {}.",
    CHAT_MEMORY: "This chat has no memory with this {}.",
}
_TENANT, _BODY = "memtree_tenant", "memtree_body"  # attributes of `request.state`


class MemoryRequests:
    def __init__(self, gate: Gate, settings: Settings, work: CostlyWork | None = None) -> None:
        """Serve routes of memories; `work` limits those whose requests are costly."""
        self._gate = gate
        self._settings = settings
        self._work = work or CostlyWork(0, 0)

    async def tenant(self, request: Request) -> Tenant:
        """Authenticate and count the request once, however many handlers it passes."""
        known: Tenant | None = getattr(request.state, _TENANT, None)
        if known is None:
            # Log the route, not the path, since an id chosen by the caller may be a person's
            # name.
            request_trace.of(request.scope).route = request_trace.pattern(request.scope)
            known = await self._gate.memory_tenant(request)
            setattr(request.state, _TENANT, known)
        return known

    def costly(self, tenant: str) -> AbstractContextManager[None]:
        """Return a context that holds one of the tenant's slots for costly work. Raises
        `RateLimited` if all are taken."""
        return self._work.place(tenant)

    async def any_scope(self, request: Request) -> Scope:
        """Return the scope of the agent that the query names, else the user's. Raises `BadRequest`
        if the query may name several agents or subjects."""
        tenant = await self.tenant(request)
        user = user_scope(request, tenant)
        scopes = queried_agents(request.query_params, tenant.id)
        return user if scopes is None else single_scope(scopes)

    def allowed(self, request: Request, scope: Scope) -> Callable[[], Awaitable[bool]]:
        """Return a check that the request's credential still authenticates the tenant of the
        scope."""

        async def allowed() -> bool:
            try:
                tenant = await self._gate.memory_tenant(request, counted=False)
            except Unauthorized:
                return False
            return tenant.id == scope.tenant

        return allowed

    async def body(self, request: Request) -> Body:
        """Return the body, split into fields that are not decoded yet. It is read once, for all
        handlers that the request passes."""
        known: Body | None = getattr(request.state, _BODY, None)
        if known is None:
            raw = await request_body.unpacked(request, self._settings.max_body_bytes)
            known = await off_loop(len(raw), lambda: json_body.split(raw))
            setattr(request.state, _BODY, known)
        return known

    async def delete_options(
        self,
        request: Request,
        *switches: str,
        queried: Collection[str] = (),
        posted: Collection[str] = (),
    ) -> DeleteOptions:
        """Read how to delete: the switches, by default `dry_run` and `purge`. Raises `BadRequest`
        naming any field that is neither a switch nor in `queried` or `posted`."""
        raw = await request_body.kept(request, self._settings.max_body_bytes)
        body = await self.body(request) if raw else None
        switches = switches or (request_options.DRY_RUN, request_options.PURGE)
        return request_options.delete_options(
            request.query_params, body, switches, queried=queried, posted=posted
        )

    async def read(self, request: Request, read: Callable[[Body], Value]) -> Value:
        """Return the result of applying `read` to the body."""
        body = await self.body(request)
        return await off_loop(len(body.raw), lambda: read(body))

    def check_text(self, text: str | None, name: str) -> None:
        """Refuse a text that is not kept. Raises `BadRequest` and `SecretRejected`, naming the
        field."""
        if text is None:
            return
        try:
            checked_text(text, self._settings.max_text_chars, name)
        except SecretRejected as error:
            raise SecretRejected(f"{name}: {error.message}", param=name) from None

    async def posted(self, request: Request, kind: type[Value]) -> Value:
        """Decode the body. Raises `BadRequest`."""
        return await self.read(request, lambda body: decode(kind, body))


def path_id(request: Request, name: str) -> str:
    """Return an id in the path. Raises `NotFound`, also for strings that cannot be ids."""
    with naming(name):
        return checked_id(request.path_params[name], name)


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Raise `NotFound` for a missing memory or group, named by its path parameter."""
    try:
        yield
    except (BadRequest, NotFound) as error:
        if error.param not in ("id", None, name):
            raise
        raise unknown(name) from None


def unknown(name: str) -> NotFound:
    return NotFound(_UNKNOWN[name].format(name), param=name)


class AgentRequests(MemoryRequests):
    def __init__(
        self, gate: Gate, settings: Settings, clock: Clock, work: CostlyWork | None = None
    ) -> None:
        super().__init__(gate, settings, work)
        self._clock = clock

    @property
    def max_messages(self) -> int:
        return self._settings.max_messages

    def context(self) -> RequestContext:
        """Return what fields of agents' memories are read by."""
        return RequestContext(self._clock.now(), self._settings.agent_secrets == "allow")


class UserRequests(MemoryRequests):
    async def scope(self, request: Request) -> Scope:
        return user_scope(request, await self.tenant(request))


IF_MATCH_HEADER = "if-match"

_ETAG = re.compile(r'(?:W/)?"([0-9]{1,18})"|([0-9]{1,18})')


def if_version(headers: Mapping[str, str]) -> int | None:
    """Return the version in `if-match`, or None if any version may be changed. Raises
    `BadRequest`."""
    value = headers.get(IF_MATCH_HEADER, "*").strip()
    if value == "*":
        return None
    match = _ETAG.fullmatch(value)
    if match is None:
        raise BadRequest('if-match must be one version, as in "3"', param=IF_MATCH_HEADER)
    return int(match[1] or match[2])
