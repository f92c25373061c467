"""Health of the process, and, for the operator, problems of its parts and its metrics."""

from __future__ import annotations

from dataclasses import asdict

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from memtree import __version__
from memtree_proxy.access.auth import Gate
from memtree_proxy.checkups.health_report import HealthReport
from memtree_proxy.observability.metrics import Metrics


async def health(_: Request) -> Response:
    """Answer that the process runs. Checks no parts, and needs no credential."""
    return JSONResponse({"status": "ok", "version": __version__})


class HealthDetails:
    """`GET /health/details`: the checks of `memtree doctor` for the running server."""

    def __init__(self, report: HealthReport, gate: Gate) -> None:
        self._report = report
        self._gate = gate

    async def show(self, request: Request) -> Response:
        await self._gate.operator(request)
        findings = [asdict(finding) for finding in await self._report.findings()]
        return JSONResponse({"version": __version__, "findings": findings})


class MetricsPage:
    """Answers `GET /metrics`."""

    def __init__(self, metrics: Metrics, gate: Gate) -> None:
        self._metrics = metrics
        self._gate = gate

    async def show(self, request: Request) -> Response:
        await self._gate.operator(request)
        await self._metrics.gather()
        return self._metrics.page(request.headers.get("accept", ""))
