"""Read first what every route of agents' memories needs of a request."""

from __future__ import annotations

from typing import TypeVar

from starlette.requests import Request

from memtree.config import Settings
from memtree.ports.clock import Clock
from memtree_proxy.access.auth import Gate
from memtree_proxy.access.rate_limits import CostlyWork
from memtree_proxy.memories.requests import MemoryRequests
from memtree_proxy.wire.agent_memories import RequestContext
from memtree_proxy.wire.shape import Shape, read

Value = TypeVar("Value", bound=Shape)


class AgentRequests(MemoryRequests):
    def __init__(
        self, gate: Gate, settings: Settings, clock: Clock, work: CostlyWork | None = None
    ) -> None:
        super().__init__(gate, settings, work)
        self._clock = clock

    async def posted(self, request: Request, shape: type[Value]) -> Value:
        """Read the body as a shape."""
        tenant = await self.tenant(request)
        by = RequestContext(
            tenant.id,
            self._clock.now(),
            self._settings.max_messages,
            self._settings.agent_secrets == "allow",
        )
        return await self.read(request, lambda body: read(shape, body, by))
