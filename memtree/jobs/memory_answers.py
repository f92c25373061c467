"""Answers from memories, by the configured model, within daily limits.

    relevant memories -> reserve the money -> one call -> the grounded part of the answer

Without a relevant memory the model is not called. A model that fails or is too slow is an error:
rules cannot replace it, since they write no answers.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Sequence

from memtree.agents import grounded_answers
from memtree.agents.grounded_answers import UNKNOWN, GroundedAnswer
from memtree.clock import Clock
from memtree.config import Settings
from memtree.errors import SummarizerUnavailable, Unavailable, UpstreamTimeout
from memtree.jobs.spending import DailyLimits, Spending, SummaryPrices
from memtree.jobs.summary_stage import open_endpoint
from memtree.memories.memory import Memory
from memtree.ports.context_store import Tallies
from memtree.ports.models import ChatModel, ModelAnswer, ModelQuestion
from memtree.text import tokens

SECONDS = 60.0  # how long a caller waits for an answer
PARALLEL = 4


class MemoryAnswers:
    """Answers questions. `totals`: calls of this process by outcome."""

    def __init__(self, model: ChatModel, spending: Spending, *, seconds: float = SECONDS) -> None:
        self._model, self._spending, self._seconds = model, spending, seconds
        self.totals: Counter[str] = Counter()

    async def answer(
        self,
        tenant: str,
        question: str,
        memories: Sequence[Memory],
        shared: Collection[int] = (),
    ) -> GroundedAnswer:
        """Answer a question from memories. `memories`: best first. `shared`: indexes of those that
        belong to other tenants. Raises `Unavailable` if the model fails or the day's limit is
        reached, and `UpstreamTimeout`."""
        if not memories:
            return UNKNOWN
        shown = memories[: grounded_answers.MOST]
        messages = await asyncio.to_thread(grounded_answers.prompt, question, shown, shared)
        size = sum(tokens.count_many(message["content"] for message in messages))
        model_question = ModelQuestion(
            messages,
            grounded_answers.json_schema(),
            grounded_answers.ROOM,
            lambda text, _: grounded_answers.readable(text),
            grounded_answers.KEY,
        )
        try:
            said = await self._spending.paid(
                tenant, size, grounded_answers.ROOM, lambda: self._asked(model_question)
            )
        except SummarizerUnavailable:
            self.totals["failed"] += 1
            raise
        if said is None:
            self.totals["limited"] += 1
            raise Unavailable("mode=answer: the day's limit of the model is reached")
        answer = await asyncio.to_thread(grounded_answers.grounded, said.text, question, shown)
        if answer is None:
            self.totals["unreadable"] += 1
            raise Unavailable("mode=answer: the model's answer could not be read; try again")
        self.totals["grounded" if answer.sources else "unknown"] += 1
        return answer

    async def _asked(self, question: ModelQuestion) -> ModelAnswer:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._model.answer(question)
        except TimeoutError:  # the reservation stays counted: the call may have been charged
            self.totals["late"] += 1
            raise UpstreamTimeout("mode=answer: the model did not answer in time") from None

    async def close(self) -> None:
        await self._model.close()


def open_answers(settings: Settings, tallies: Tallies | None, clock: Clock) -> MemoryAnswers | None:
    """Open the service; None if no model is configured. `tallies`: store of the daily totals."""
    if tallies is None or not (settings.summary_model and settings.summary_base_url):
        return None
    limits, prices = DailyLimits.of(settings), SummaryPrices.of(settings)
    spending = Spending(tallies, clock, prices, limits)
    return MemoryAnswers(open_endpoint(settings, PARALLEL), spending)
