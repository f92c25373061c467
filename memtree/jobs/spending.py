"""Account for the cost of a model's calls: reserved before a call, settled after it, limited by
tenant and day (UTC).

A reservation counts as spent until it is settled, so concurrent calls stay under the limit
together, and the reservation of a killed process stays counted, so that the limit always holds.
Money is kept in millionths of whatever currency the prices are in.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from memtree.clock import Clock, day_of
from memtree.config import Settings
from memtree.errors import SummarizerUnavailable, Unavailable
from memtree.ports.context_store import Tallies
from memtree.ports.indexing_stages import SummaryStatus
from memtree.ports.models import ChatModel, ModelAnswer, ModelQuestion, SummaryDrafts, Usage
from memtree.text import tokens

log = logging.getLogger("memtree.indexer")

MILLION = 1_000_000
PREFIX = "summary."
TOKENS, MICROS = PREFIX + "tokens", PREFIX + "micros"  # tallies that limits apply to


PaidT = TypeVar("PaidT", ModelAnswer, SummaryDrafts)


@dataclass(frozen=True, slots=True)
class SummaryPrices:
    """Price of a million tokens. `cached`: of input read from the server's prompt cache."""

    input: float = 0.0
    cached: float = 0.0
    output: float = 0.0

    @classmethod
    def of(cls, settings: Settings) -> SummaryPrices:
        """Read the prices from the settings. Cached input without a price of its own costs as much
        as other input."""
        input_ = settings.summary_input_price
        return cls(input_, settings.summary_cached_price or input_, settings.summary_output_price)

    def micros(self, usage: Usage) -> int:
        """Return the cost in millionths: a price per million tokens is the price of one token in
        millionths."""
        cached = min(usage.cached, usage.input)
        plain = usage.input - cached
        cost = plain * self.input + cached * self.cached + usage.output * self.output
        return math.ceil(cost - 1e-6)


@dataclass(frozen=True, slots=True)
class DailyLimits:
    """Limits of one tenant's use a day: tokens, and money in millionths. 0: no limit."""

    tokens: int = 0
    micros: int = 0

    @classmethod
    def of(cls, settings: Settings) -> DailyLimits:
        money = round(settings.summary_money_per_day * MILLION)
        return cls(settings.summary_tokens_per_day, money)

    def named(self) -> dict[str, int]:
        """The limits that are set, by the names of their tallies."""
        return {
            name: limit for name, limit in ((TOKENS, self.tokens), (MICROS, self.micros)) if limit
        }


@dataclass(frozen=True, slots=True)
class Reservation:
    """Upper bound of one call's cost, as it was added to the tallies of a day."""

    tenant: str
    day: int
    tokens: int
    micros: int


class Spending:
    """Reserves and settles the costs of a tenant's calls, in the store's tallies by day."""

    def __init__(
        self,
        tallies: Tallies,
        clock: Clock,
        prices: SummaryPrices = SummaryPrices(),
        limits: DailyLimits = DailyLimits(),
    ) -> None:
        self._tallies, self._clock = tallies, clock
        self._prices, self._limits = prices, limits

    @property
    def today(self) -> int:
        """Return the days since 1970, UTC."""
        return day_of(self._clock.now())

    async def status(self, tenant: str, state: str, nodes: int) -> SummaryStatus:
        """Return a status with `state` and `nodes`, and what the tenant spent today."""
        try:
            spent = await self.spent(tenant)
        except Unavailable:
            return SummaryStatus("unavailable", nodes)
        return SummaryStatus(
            state,
            nodes,
            spent["calls"],
            spent["input_tokens"],
            spent["cached_tokens"],
            spent["output_tokens"],
            spent["micros"] / MILLION,
        )

    async def reserve(self, tenant: str, input_: int, output: int) -> Reservation | None:
        """Reserve the tokens that a call may need; None if today's limit leaves no room. Raises as
        `TreeStore` does, and then reserves nothing.
        """
        most = Usage(input_, output)
        taken = Reservation(tenant, self.today, input_ + output, self._prices.micros(most))
        amounts = {TOKENS: taken.tokens} | ({MICROS: taken.micros} if taken.micros else {})
        added = await self._tallies.add(tenant, taken.day, amounts, self._limits.named())
        return taken if added else None

    async def settle(
        self, reserved: Reservation, usage: Usage, counts: Mapping[str, int] | None = None
    ) -> int:
        """Replace the reservation by the actual cost of the call; returns millionths.

        `counts`: further numbers of the day, by their names without `summary.`. If the store fails
        here, the reservation stays: too much is counted, never too little.
        """
        micros = self._prices.micros(usage)
        amounts = {
            TOKENS: usage.input + usage.output - reserved.tokens,
            MICROS: micros - reserved.micros,
            f"{PREFIX}input_tokens": usage.input,
            f"{PREFIX}cached_tokens": usage.cached,
            f"{PREFIX}output_tokens": usage.output,
            **{PREFIX + name: count for name, count in (counts or {}).items()},
        }
        amounts = {name: amount for name, amount in amounts.items() if amount}
        try:
            await self._tallies.add(reserved.tenant, reserved.day, amounts)
        except Unavailable as error:
            log.warning("summaries.not_tallied code=%s", error.code)
        return micros

    async def paid(
        self, tenant: str, input_: int, output: int, call: Callable[[], Awaitable[PaidT]]
    ) -> PaidT | None:
        """Make a call of a model that may need so many tokens, and account for it; None without a
        call if today's limit leaves no room. Raises as `reserve` does, and what the call raises."""
        reserved = await self.reserve(tenant, input_, output)
        if reserved is None:
            return None
        try:
            said = await call()
        except SummarizerUnavailable as error:
            counts = {"failed": 1, "calls": int(any(error.cost))}
            await self.settle(reserved, Usage(*error.cost), counts)
            raise
        await self.settle(reserved, said.usage, {"calls": 1})
        return said

    async def spent(self, tenant: str) -> dict[str, int]:
        """Return today's totals of a tenant by their names without `summary.`; 0 for missing
        ones."""
        today = self.today
        tallies = await self._tallies.tallies(tenant, today, today)
        names = ("calls", "input_tokens", "cached_tokens", "output_tokens", "micros")
        return {name: tallies.get(PREFIX + name, 0) for name in names}


# ---------------------------------------------------------------- models that are asked


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
        try:
            said = await self._spending.paid(
                tenant, size, question.room, lambda: self._model.answer(question)
            )
        except SummarizerUnavailable as error:
            self._count("failed", Usage(*error.cost))
            raise
        if said is None:
            self.totals.calls["limited"] += 1
        else:
            self._count("answered", said.usage)
        return said

    async def close(self) -> None:
        await self._model.close()

    def _count(self, outcome: str, usage: Usage) -> None:
        self.totals.calls[outcome] += 1
        self.totals.tokens.update(input=usage.input, cached=usage.cached, output=usage.output)
