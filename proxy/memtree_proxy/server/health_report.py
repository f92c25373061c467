"""Report health, problems and metrics of a running server, for callers that poll every few seconds.

Each part is checked at most once in `PartCheck.seconds`, by one caller at a time, and has
`PATIENCE` to answer; callers in between get the last result. Nothing is checked without a request,
and nothing continues after the request that began it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from starlette.requests import Request
from starlette.responses import Response

from memtree import __version__
from memtree.config import Settings
from memtree.errors import MemTreeError
from memtree.jobs.runtime import Runtime
from memtree_indexer.queues import redis_queues
from memtree_proxy.http.auth import Gate
from memtree_proxy.http.metrics import Metrics
from memtree_proxy.server import part_checks, surroundings
from memtree_proxy.server.surroundings import Finding
from memtree_proxy.wire.routes import answer
from memtree_proxy.wire.values import Answer

PATIENCE = 5.0  # seconds for one part
# seconds that a result stays valid: of cheap checks, and of expensive ones
OFTEN, SELDOM = 9.0, 60.0


@dataclass(frozen=True, slots=True)
class PartCheck:
    """A check of one part, which may have nothing to tell, and for how many seconds its result
    stays valid."""

    part: str
    find: Callable[[], Awaitable[Sequence[Finding] | Finding | None]]
    seconds: float


class HealthReport:
    def __init__(
        self,
        looks: Sequence[PartCheck] = (),
        *,
        patience: float = PATIENCE,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._recent = [RecentCheck(look, patience, monotonic) for look in looks]

    async def findings(self) -> list[Finding]:
        """Return the findings of all parts, in their order."""
        by_part = await asyncio.gather(*(recent.findings() for recent in self._recent))
        return [finding for part in by_part for finding in part]


class RecentCheck:
    """A check, and its last result."""

    def __init__(self, look: PartCheck, patience: float, monotonic: Callable[[], float]) -> None:
        self._look, self._patience, self._monotonic = look, patience, monotonic
        self._alone = asyncio.Lock()
        self._found: Sequence[Finding] = ()
        self._stands_until: float | None = None

    async def findings(self) -> Sequence[Finding]:
        async with self._alone:
            if self._stands_until is None or self._monotonic() >= self._stands_until:
                self._found = await self._looked()
                self._stands_until = self._monotonic() + self._look.seconds
            return self._found

    async def _looked(self) -> Sequence[Finding]:
        try:
            async with asyncio.timeout(self._patience):
                findings = await self._look.find()
            if isinstance(findings, Finding):
                return (findings,)
            return findings or ()
        except TimeoutError:
            text = f"no answer within {self._patience:g} seconds"
        except MemTreeError as error:
            text = error.message
        except OSError as error:
            text = error.strerror or type(error).__name__
        return (Finding(self._look.part, "problem", text),)


def health_report(settings: Settings, runtime: Runtime, patience: float = PATIENCE) -> HealthReport:
    """Build the report of the server in this process."""

    async def upstream() -> Finding:
        return (await part_checks.upstream(settings))[0]

    async def messages() -> Sequence[Finding]:
        return (await part_checks.messages(settings))[0]

    async def embedder() -> Finding:
        # Embedders cache vectors, so each check needs a new text.
        question = f"{part_checks.QUESTION} {time.time_ns()}"
        return await part_checks.embedder(settings, runtime, question)

    async def summaries() -> Finding:
        return part_checks.seen_summarizer(settings, runtime)

    return HealthReport(
        (
            PartCheck("upstream", upstream, SELDOM / 2),
            PartCheck("messages", messages, SELDOM / 2),
            PartCheck("store", partial(part_checks.store, runtime.store), SELDOM / 2),
            PartCheck("database", partial(part_checks.database, settings.store), SELDOM),
            PartCheck("disk", partial(asyncio.to_thread, surroundings.disk, settings.store), OFTEN),
            PartCheck("embedder", embedder, SELDOM),
            PartCheck("summaries", summaries, OFTEN),
            PartCheck("queue", partial(surroundings.queue, redis_queues(runtime)), OFTEN),
            PartCheck("files", partial(asyncio.to_thread, surroundings.files), OFTEN),
        ),
        patience=patience,
    )


class Health(Answer, frozen=True, kw_only=True):
    status: Literal["ok"]
    version: str


class ShownHealth(Answer, frozen=True, kw_only=True):
    version: str
    findings: Sequence[Finding]


async def health(_: Request) -> Response:
    """Answer that the process runs. Checks no parts, and needs no credential."""
    return answer(Health(status="ok", version=__version__))


class HealthDetails:
    """`GET /health/details`: the checks of `memtree doctor` for the running server."""

    def __init__(self, report: HealthReport, gate: Gate) -> None:
        self._report = report
        self._gate = gate

    async def show(self, request: Request) -> Response:
        await self._gate.operator(request)
        findings = await self._report.findings()
        return answer(ShownHealth(version=__version__, findings=findings))


class MetricsPage:
    """Answers `GET /metrics`."""

    def __init__(self, metrics: Metrics, gate: Gate) -> None:
        self._metrics = metrics
        self._gate = gate

    async def show(self, request: Request) -> Response:
        await self._gate.operator(request)
        await self._metrics.gather()
        return self._metrics.page(request.headers.get("accept", ""))
