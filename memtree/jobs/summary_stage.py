"""Open stage 3 from the settings: a summariser, its queue, and the cache of completed nodes."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtree.clock import Clock
from memtree.config import Settings
from memtree.errors import BadRequest, importing
from memtree.jobs.spending import DailyLimits, Spending, SummaryPrices
from memtree.jobs.summary_calls import SummaryCaller
from memtree.jobs.summary_queue import GATHER, MAX_TRIES, InProcessSummaries
from memtree.ports.context_store import Store
from memtree.ports.models import Summarizer
from memtree.tree.summary_batches import CompletedSummaries

if TYPE_CHECKING:
    from memtree.models.chat_endpoint import ChatEndpoint

BY_MODEL = "a model for summaries", "remote", "summary_model"  # for `importing`
HASTY_TRIES = 3  # attempts for one call, each with its own attempts at the server


@dataclass(frozen=True, slots=True)
class SummaryStage:
    """Stage 3 of a process. The opener calls `queue.start()` and `close()`."""

    summarizer: Summarizer
    queue: InProcessSummaries
    completed: CompletedSummaries

    @classmethod
    def of(
        cls,
        settings: Settings,
        store: Store,
        clock: Clock,
        summarizer: Summarizer,
        *,
        patient: bool = True,
        gather: float = GATHER,
    ) -> SummaryStage:
        """`patient=False`: a person waits for this one history, so calls are made even when they
        are not full, and a model that is down is soon given up. `gather`: seconds that a call which
        is not full waits otherwise."""
        spending = Spending(store, clock, SummaryPrices.of(settings), DailyLimits.of(settings))
        caller = SummaryCaller(
            store,
            summarizer,
            spending,
            clock,
            secrets.token_hex(8),
            both=settings.summary_text == "both",
        )
        completed = CompletedSummaries()
        queue = InProcessSummaries(
            caller,
            completed,
            parallel=settings.summary_parallel,
            parts=settings.summary_leaves,
            gather=gather if patient else 0.0,
            max_tries=MAX_TRIES if patient else HASTY_TRIES,
        )
        return cls(summarizer, queue, completed)

    async def close(self, patience: float) -> None:
        """Start no more calls; running ones have `patience` seconds to finish."""
        await self.queue.close(patience)
        await self.summarizer.close()


def open_summarizer(settings: Settings) -> Summarizer | None:
    """Open the model that the settings name, without calling it; None if they name none. Raises
    `BadRequest` if some of its settings are missing.
    """
    if not settings.summary_model:
        return None
    if not settings.summary_base_url:
        raise BadRequest("a model for summaries needs summary_base_url", param="summary_base_url")
    with importing(*BY_MODEL):
        from memtree.models.chat_endpoint import ChatSummarizer  # noqa: PLC0415
    return ChatSummarizer(open_endpoint(settings, settings.summary_parallel))


def open_endpoint(settings: Settings, parallel: int) -> ChatEndpoint:
    """Open the endpoint of the model for summaries, for `parallel` calls at once."""
    with importing(*BY_MODEL):
        # Takes half a second and 25 MB, so only users of it should pay.
        from memtree.models.chat_endpoint import ChatEndpoint  # noqa: PLC0415
    return ChatEndpoint(
        settings.summary_base_url or "",
        settings.summary_model or "",
        settings.summary_api_key,
        parallel=parallel,
        seconds=settings.summary_seconds,
        requests_per_minute=settings.summary_requests_per_minute,
        tokens_per_minute=settings.summary_tokens_per_minute,
    )
