"""What handlers of memory routes do with a request before they read its fields."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from starlette.requests import Request

from memtree.config import Settings
from memtree.errors import Unauthorized
from memtree.memories.scope import Scope
from proxy.access.auth import Gate, Tenant
from proxy.http import json_body, request_body
from proxy.http.json_body import Body
from proxy.observability import request_trace

Value = TypeVar("Value")


class MemoryRequests:
    def __init__(self, gate: Gate, settings: Settings) -> None:
        self._gate = gate
        self._settings = settings

    @property
    def max_text_chars(self) -> int:
        return self._settings.max_text_chars

    async def tenant(self, request: Request) -> Tenant:
        # The log names the route, not the path: an id that a caller chose may be a person's name.
        request_trace.of(request.scope).route = request_trace.pattern(request.scope)
        return await self._gate.tenant(request)

    def allowed(self, request: Request, scope: Scope) -> Callable[[], Awaitable[bool]]:
        """Whether the credential of a request is still let in as the tenant that it was."""

        async def allowed() -> bool:
            try:
                tenant = await self._gate.tenant(request, counted=False)
            except Unauthorized:
                return False
            return tenant.id == scope.tenant

        return allowed

    async def read(self, request: Request, read: Callable[[Body], Value]) -> Value:
        """What `read` takes from the body."""
        raw = await request_body.content(request, self._settings.max_body_bytes)
        return await json_body.off_loop(len(raw), lambda: read(json_body.split(raw)))
