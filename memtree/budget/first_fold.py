"""Prices a conversation sent whole or folded, and decides when memory begins.

Memory begins with the first fold of a conversation that was sent whole until now:

    up to the target, or 10,000 tokens     it is sent whole, whatever it costs
    input that is paid for by the token    a fold rewrites text that could be read from the
                                           provider's cache: it waits until that costs at most a
                                           share of everything paid so far
    input that costs nothing, a hard       it is folded as soon as it exceeds that
    target, the mode `fresh`

Costs are those of input only, in uncached input tokens. They assume that the provider caches what
was sent before for as long as `Prices.lifetime` says, and that it is called once for each assistant
message. Pure: takes sizes and prices, returns a size.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace

from memtree.budget import epoch, packing
from memtree.budget.epoch import Epoch, EpochTerms
from memtree.budget.packing import THRESHOLD, TokenLimits
from memtree.budget.prices import Prices
from memtree.history.chat_history import History
from memtree.unfolding.memory_plan import Plan

LATEST = 9  # requests whose mean growth is assumed for the next ones
ASSUMED_STEP = 1_000  # tokens assumed for a request's growth, if there was only one
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
        self,
        size: float,
        tokens: float,
        fixed: int,
        prices: Prices,
        extra: float,
        paid: float,
        share: float,
    ) -> bool:
        """Return True if folding never costs more than allowed, at any later request. `size`: of
        the first answer, at a history of `tokens`; `extra`: additional cost of that answer. The
        cost may be the share `share` of `paid`, which is what sending everything has cost so
        far."""
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
    requests = list(_requests(history))
    cached = requests[-2] if len(requests) > 1 else 0
    if cached_messages is not None:
        cached = min(cached, history.size(0, cached_messages))
    extra = prices.write * (size - (history.tokens - cached)) - prices.read * cached
    paid = direct_cost(history, fixed, prices)
    if extra > share * paid:
        return False
    return later is None or later.stay_within(
        size, history.tokens, fixed, prices, extra, paid, share
    )


def mean_step(history: History) -> float:
    """Return the mean number of tokens that the latest requests added."""
    latest = list(_requests(history))[-LATEST:]
    grown = latest[-1] - latest[0]
    return max(1.0, grown / (len(latest) - 1)) if len(latest) > 1 else ASSUMED_STEP


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
        then = paid + prices.cost(read, requests * step)
        extra = prices.write * (size - step) - prices.read * cached
        if extra > share * then:
            return False
        tokens = cached + step
        return later is None or later.stay_within(size, tokens, fixed, prices, extra, then, share)

    most = math.ceil(max(0.0, room - history.tokens) / step)
    requests = 1 + bisect_left(range(1, most + 1), True, key=costs_little_after)
    return min(room, THOUSAND * math.ceil((history.tokens + requests * step) / THOUSAND))


# How much a first fold may cost extra, as a share of everything paid so far
AUTO_SHARE, STABLE_SHARE = 0.02, 0.05
STEP, STEP_USER = 1_000, 200  # tokens of a round of a usual chat, and of the user's part
# Factor if the newest message is the result of a call, and the model's reasoning is bound to its
# prompt: the fold waits a little for a question of the user
BEFORE_RESULT = 0.75
SHARES = {"auto": AUTO_SHARE, "stable": STABLE_SHARE}  # by mode; other modes ignore the price


@dataclass(frozen=True, slots=True)
class FirstFold:
    """`fixed`: tokens of system messages and tools. `room`: tokens up to which the history can be
    sent whole at all. `size`: tokens of the folded answer, with a recall block; `later`: the
    requests after it. `share`: None if the price is ignored."""

    history: History
    fixed: int
    target: int
    room: int
    prices: Prices
    share: float | None = None
    size: int = 0
    later: LaterRequests | None = None

    @classmethod
    def of(
        cls,
        history: History,
        limits: TokenLimits,
        *,
        fixed: int,
        carried: int,
        window: int,
        prices: Prices,
        mode: str,
        dialect: str = "",
    ) -> FirstFold:
        """`carried`: tokens of the preamble, which is sent with the memory message."""
        room = max(0, limits.prompt - fixed - carried)
        first = cls(history, fixed, limits.target, room, prices)
        share = SHARES.get(mode)
        if limits.hard or not prices.metered or share is None:
            return first
        if dialect and not history.asks(len(history) - 1):
            share *= BEFORE_RESULT
        terms = EpochTerms.of(limits, fixed + carried, window, prices)
        begun = _begun(history, limits, fixed + carried, terms.target)
        block = epoch.block_size(terms.target) if history.facts[-1].role == "user" else 0
        later = _later(history, begun, terms, carried)
        return replace(first, share=share, size=carried + begun.size + block, later=later)

    def costs_little(self, cached: int | None = None) -> bool:
        """Return True if the fold is cheap enough. `cached`: messages that the provider may have
        cached; None: all but the newest round."""
        if self.share is None or self.history.tokens > self.room:
            return True
        return costs_little(
            self.size, self.history, self.fixed, self.prices, self.share, cached, self.later
        )

    def folds_at(self) -> int:
        """Estimate the tokens of the history at its fold, if it grows on at the same rate; at least
        its present size."""
        least = max(min(max(self.target, THRESHOLD), self.room), self.history.tokens)
        if self.share is None:
            return least
        paid_for = folds_at(
            self.size, self.history, self.fixed, self.prices, self.share, self.room, self.later
        )
        return max(least, paid_for)


def _begun(history: History, limits: TokenLimits, taken: int, target: int) -> Epoch:
    """Return the epoch that would begin; if nothing can be left out yet, a typical one. `taken`:
    tokens besides the history."""
    packed = packing.begin(history, limits, taken)
    memory, size = packed.memory + packed.beside, packed.memory + packed.recent + packed.beside
    if not packed.memory:
        memory, size = int(packing.LASTING_MEMORY * target), int(_start(target))
    return Epoch(b"", len(history), size, memory, Plan(packed.cut), 0.0)


def _later(history: History, begun: Epoch, terms: EpochTerms, carried: int) -> LaterRequests:
    """Return requests like the latest ones. A recall block is assumed to have its maximal size."""
    step = mean_step(history)
    requests = [fact.role == "user" for fact in history.facts if fact.role != "assistant"]
    asking = sum(requests[-LATEST:]) / min(LATEST, len(requests))
    full = epoch.block_size(terms.target)
    refill = max(epoch.REFILL * step, epoch.REFILL_LEAST * asking)
    return LaterRequests(
        step=step,
        block=min(full * asking, refill),
        start=carried + begun.size,
        first_block=full * asking,
        most=carried + epoch.high_water(begun, history, terms),
    )


def in_a_usual_chat(limits: TokenLimits, prices: Prices, mode: str) -> int:
    """Estimate the tokens, without system messages and tools, of a chat of even rounds at its first
    fold, for callers that have no history yet."""
    first = min(max(limits.target, THRESHOLD), limits.prompt)
    share = None if limits.hard or not prices.metered else SHARES.get(mode)
    if share is None:
        return first
    # Rounds are kept whole: on average half a round of the room stays unused, and one round is
    # kept.
    least = packing.LASTING_MEMORY * limits.target + STEP
    start = max(_start(limits.target) - STEP / 2, least)
    size = start + epoch.block_size(limits.target)
    history, paid = STEP_USER, prices.cost(0, STEP_USER)
    while history + STEP < limits.prompt:
        history += STEP
        paid += prices.cost(history - STEP, STEP)
        extra = prices.write * (size - STEP) - prices.read * (history - STEP)
        if history > first and extra <= share * paid:
            return history
    return limits.prompt


def _start(target: int) -> float:
    """Return the typical tokens at the start of an epoch."""
    return target * (packing.SMALL_START if target < packing.SMALL_TARGET else packing.START)
