"""Price a conversation, sent whole or folded: input only, in uncached input tokens.

Assumes that the provider caches what was sent before for as long as `Prices.lifetime` says, and
that it is called once for each assistant message.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from memtree.budget.prices import Prices
from memtree.history.chat_history import History

LATEST = 9  # requests whose mean growth is assumed for the next ones
STEP = 1_000  # tokens assumed for a request's growth, if there was only one
THOUSAND = 1_000
LOOKED_AHEAD = 16  # requests after a first fold that must not cost more either


@dataclass(frozen=True, slots=True)
class LaterRequests:
    """Requests after a first fold, in tokens: each adds `step`, and a recall block of `block` on
    average; an epoch begins with `start`, its first block with `first_block`, and ends before it
    would exceed `most`."""

    step: float
    block: float
    start: float
    first_block: float
    most: float

    def stay_within(
        self, size: float, tokens: float, fixed: int, prices: Prices, extra: float, limit: CostLimit
    ) -> bool:
        """Return True if folding never costs more than allowed, at any later request. `size`: of
        the first answer, at a history of `tokens`; `extra`: additional cost of that answer."""
        paid, share = limit.paid, limit.share
        posted, blocks = self.start, size - self.start
        for _ in range(LOOKED_AHEAD):
            whole = prices.cost(fixed + tokens, self.step)
            if posted + self.step > self.most:  # a new epoch
                posted, blocks = self.start, self.first_block
                folded = prices.cost(fixed, posted + blocks)
            else:
                folded = prices.cost(fixed + posted + blocks, self.step + self.block)
                posted, blocks = posted + self.step, blocks + self.block
            tokens, paid, extra = tokens + self.step, paid + whole, extra + folded - whole
            if extra > share * paid:
                return False
        return True


@dataclass(frozen=True, slots=True)
class CostLimit:
    """Limit on the cost of a first fold: the share `share` of `paid`, which is what sending
    everything has cost so far."""

    paid: float
    share: float


def direct_cost(history: History, fixed: int, prices: Prices) -> float:
    """Return the cost so far of sending everything, including the present request. `fixed`: tokens
    of system messages and tools."""
    cost, before = 0.0, 0
    for size in _requests(history):
        cost += prices.cost(before, fixed + size - before)
        before = fixed + size
    return cost


def _requests(history: History) -> Iterator[int]:
    """Yield the tokens of the history at each request."""
    size = 0
    for index, fact in enumerate(history.facts):
        if fact.role == "assistant" and index:
            yield size
        size += fact.tokens
    yield size


def costs_little(
    size: int,
    history: History,
    fixed: int,
    prices: Prices,
    share: float,
    cached_messages: int | None = None,
    later: LaterRequests | None = None,
) -> bool:
    """Return True if a first fold to `size` tokens costs at most this share of everything paid so
    far, now and, if they are given, after the `later` requests.

    Folding writes what is sent anew. Messages since the last request must be written anyway, and
    the rest of the history would be read from the provider's cache: at most its first
    `cached_messages` messages (None: as many as the last request had).
    """
    cached = _cached(history)
    if cached_messages is not None:
        cached = min(cached, history.size(0, cached_messages))
    extra = prices.write * (size - (history.tokens - cached)) - prices.read * cached
    limit = CostLimit(direct_cost(history, fixed, prices), share)
    if extra > share * limit.paid:
        return False
    return later is None or later.stay_within(size, history.tokens, fixed, prices, extra, limit)


def mean_step(history: History) -> float:
    """Return the mean number of tokens that the latest requests added."""
    latest = list(_requests(history))[-LATEST:]
    grown = latest[-1] - latest[0]
    return max(1.0, grown / (len(latest) - 1)) if len(latest) > 1 else STEP


def folds_at(
    size: int,
    history: History,
    fixed: int,
    prices: Prices,
    share: float,
    room: int,
    later: LaterRequests | None = None,
) -> int:
    """Estimate the tokens of the history from which on a first fold to `size` tokens costs little,
    if each request adds as much as the latest ones: rounded up to thousands, at most `room`, where
    it must be folded."""
    step = mean_step(history)
    paid = direct_cost(history, fixed, prices)

    def costs_little_after(requests: int) -> bool:
        cached = history.tokens + (requests - 1) * step
        read = requests * (fixed + history.tokens) + step * requests * (requests - 1) / 2
        limit = CostLimit(paid + prices.cost(read, requests * step), share)
        extra = prices.write * (size - step) - prices.read * cached
        if extra > share * limit.paid:
            return False
        tokens = cached + step
        return later is None or later.stay_within(size, tokens, fixed, prices, extra, limit)

    most = math.ceil(max(0.0, room - history.tokens) / step)
    requests = 1 + bisect_left(range(1, most + 1), True, key=costs_little_after)
    return min(room, THOUSAND * math.ceil((history.tokens + requests * step) / THOUSAND))


def _cached(history: History) -> int:
    """Return the tokens of the history at the previous request."""
    sizes = list(_requests(history))
    return sizes[-2] if len(sizes) > 1 else 0
