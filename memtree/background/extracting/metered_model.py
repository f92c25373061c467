"""Models that readers of conversations ask: the configured one, whose cost for a tenant is reserved
before a call and settled after it, or the caller's own, which the caller pays."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

from memtree.background.summarizing.spending import Spending
from memtree.errors import SummarizerUnavailable
from memtree.ports.models import ChatModel, ModelAnswer, ModelQuestion, Usage
from memtree.text import tokens


class AskedModel(Protocol):
    """A model that a reader may ask on behalf of a tenant."""

    async def ask(self, tenant: str, question: ModelQuestion) -> ModelAnswer | None:
        """Ask. Returns None if the tenant's limit of the day is reached. If there is no answer,
        raises `Unavailable`, or of the caller's own model `UpstreamFailed`, `UpstreamTimeout` or
        `ModelNeeded`."""
        ...


class CountedModel:
    """Counts the tokens of the calls that one request makes."""

    def __init__(self, model: AskedModel) -> None:
        self._model = model
        self.usage = Usage()

    async def ask(self, tenant: str, question: ModelQuestion) -> ModelAnswer | None:
        said = await self._model.ask(tenant, question)
        if said is not None:
            self.usage += said.usage
        return said


@dataclass(slots=True)
class ModelTotals:
    """For metrics: calls by outcome, tokens by kind."""

    calls: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)


class MeteredModel:
    """The configured model with its spending, shared by all extractors: an `AskedModel`."""

    def __init__(self, model: ChatModel, spending: Spending) -> None:
        self._model, self._spending = model, spending
        self.totals = ModelTotals()

    async def ask(self, tenant: str, question: ModelQuestion) -> ModelAnswer | None:
        """Call the model. Returns None if the day's limit is reached. Raises what
        `ChatModel.answer` raises, and the errors of the store that keeps the spending."""
        size = sum(tokens.count_many(message["content"] for message in question.messages))
        reserved = await self._spending.reserve(tenant, size, question.room)
        if reserved is None:
            self.totals.calls["limited"] += 1
            return None
        try:
            said = await self._model.answer(question)
        except SummarizerUnavailable as error:
            self._count("failed", Usage(*error.cost))
            counts = {"failed": 1, "calls": int(any(error.cost))}
            await self._spending.settle(reserved, Usage(*error.cost), counts)
            raise
        self._count("answered", said.usage)
        await self._spending.settle(reserved, said.usage, {"calls": 1})
        return said

    async def close(self) -> None:
        await self._model.close()

    def _count(self, outcome: str, usage: Usage) -> None:
        self.totals.calls[outcome] += 1
        self.totals.tokens.update(input=usage.input, cached=usage.cached, output=usage.output)
