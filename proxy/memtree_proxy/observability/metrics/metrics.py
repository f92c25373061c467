"""Metrics for Prometheus: the work of memory and its savings. No tenants, no models, no text.

Each app has a registry of its own, so that two apps in one process do not share counts. Access to
the page is decided in `auth.Gate.operator`; requests and times are counted in `request_metrics`.
Every name is explained in docs/observability.md.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol, runtime_checkable

from prometheus_client import (
    CollectorRegistry,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from starlette.responses import Response

from memtree_proxy.observability.memory_outcome import MemoryOutcome
from memtree_proxy.observability.metrics.label_series import LabelCounts, counters
from memtree_proxy.observability.metrics.request_metrics import RequestMetrics

log = logging.getLogger("memtree")

# A creation time for each series would double the size of the page, and Prometheus does not read
# it.
disable_created_metrics()  # type: ignore[no-untyped-call]

# seconds to wait for numbers that are kept elsewhere; Prometheus itself waits for ten
PATIENCE = 5.0


COUNTERS = {
    "raw": ("memtree_raw_tokens", "Tokens that were posted to memory."),
    "sent": ("memtree_sent_tokens", "Tokens that memory sent in their place."),
    "recall": ("memtree_recall_tokens", "Tokens sent in recall blocks."),
    "saved": (
        "memtree_folding_saved_tokens",
        "Input cost saved by requests that were cheaper than sending everything, in uncached "
        "input tokens at the prices in effect.",
    ),
    "lost": (
        "memtree_folding_lost_tokens",
        "Input cost lost by requests that were dearer than sending everything, in the same unit.",
    ),
    "deletions": ("memtree_deletions", "Deletions carried out, by what was named.", "scope"),
    "epochs": (
        "memtree_epoch_answers",
        "Packed answers that went on with an epoch, or began one: only what goes on is cached "
        "by the provider.",
        "kind",
    ),
    "prefix": (
        "memtree_prefix_tokens",
        "Tokens of these answers that stayed as the request before them had sent them, and "
        "those that changed or were new; system messages and tools included.",
        "kind",
    ),
}


@runtime_checkable
class AsyncCollector(Protocol):
    """A collector whose numbers are kept elsewhere."""

    async def ask(self) -> None:
        """Fetch the numbers that the next page shows."""
        ...


class Metrics:
    """The counters of one app. Tokens as counted here, savings in uncached input tokens."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self.traffic = RequestMetrics(self._registry)
        self._async_collectors: list[AsyncCollector] = []
        self._answers = LabelCounts(
            self._registry,
            "memtree_answers",
            "Requests by what memory made of them (x-memtree-state), and why where a state alone "
            "does not say (x-memtree-reason, without its numbers); no mode where memory was not "
            "asked.",
            ("state", "mode", "reason"),
        )
        self._counters = counters(self._registry, COUNTERS)

    def count(self, outcome: MemoryOutcome) -> None:
        """Count an outcome. Implements `OutcomeSink`."""
        self._answers.add(outcome.state, outcome.mode, outcome.reason)
        if outcome.raw_tokens is not None:
            self._counters["raw"].inc(outcome.raw_tokens)
        if outcome.sent_tokens is not None:
            self._counters["sent"].inc(outcome.sent_tokens)
            self._counters["recall"].inc(outcome.recall_tokens)
        if outcome.epoch and outcome.sent_tokens is not None:
            self._counters["epochs"].labels(outcome.epoch).inc()
            stays = min(outcome.stays, outcome.sent_tokens)
            self._counters["prefix"].labels("stays").inc(stays)
            self._counters["prefix"].labels("changes").inc(outcome.sent_tokens - stays)
        # A counter cannot decrease, so savings and losses are counted separately.
        if outcome.saved:
            self._counters["saved" if outcome.saved > 0 else "lost"].inc(abs(outcome.saved))

    def deleted(self, scope: str) -> None:
        self._counters["deletions"].labels(scope).inc()

    def show_also(self, collector: Collector) -> None:
        """Show the numbers of another collector, too. An `AsyncCollector` is read before each page,
        which waits for it at most `PATIENCE`."""
        if isinstance(collector, AsyncCollector):
            self._async_collectors.append(collector)
        self._registry.register(collector)

    async def gather(self) -> None:
        """Read all collectors whose numbers are kept elsewhere, before a page."""
        for collector in self._async_collectors:
            try:
                async with asyncio.timeout(PATIENCE):
                    await collector.ask()
            except TimeoutError:
                log.warning("metrics.source_late")

    def page(self, accept: str = "") -> Response:
        """Return all metrics in the text format that the reader accepts."""
        encode, content_type = choose_encoder(accept)
        return Response(encode(self._registry), headers={"content-type": content_type})
