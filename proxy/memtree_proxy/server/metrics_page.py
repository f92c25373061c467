"""`GET /metrics`, for who may see the numbers of the whole server."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from memtree_proxy.access.auth import Gate
from memtree_proxy.observability.metrics import Metrics


class MetricsPage:
    """`GET /metrics`."""

    def __init__(self, metrics: Metrics, gate: Gate) -> None:
        self._metrics = metrics
        self._gate = gate

    async def show(self, request: Request) -> Response:
        await self._gate.operator(request)
        await self._metrics.gather()
        return self._metrics.page(request.headers.get("accept", ""))
