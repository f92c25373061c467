"""When memory begins: the first fold of a conversation that went whole until now.

    up to the target, or 10,000 tokens     it goes whole, whatever it costs
    input that is paid for by the token    a fold writes anew what could be read from the provider's
                                           cache: it waits until that costs at most a share of all
                                           that was paid so far
    input that nobody pays for, a hard     it is folded as soon as it is larger than that
    target, the mode `fresh`

Pure: sizes and prices in, a size out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from memtree.budget import costs, epoch, packing
from memtree.budget.costs import LaterRequests
from memtree.budget.epoch import Epoch, EpochTerms
from memtree.budget.packing import THRESHOLD, TokenLimits
from memtree.budget.prices import Prices
from memtree.conversation.history import History
from memtree.unfolding.plan import Plan

# What a first fold may cost more, of all that has been paid so far
AUTO_SHARE, STABLE_SHARE = 0.02, 0.05
STEP, STEP_USER = 1_000, 200  # tokens of a round of a usual chat, and of the user in it
# Of that, where the newest message is the result of a call, and what a model thought is bound to
# what it was sent: the fold waits a little for a question of the user
BEFORE_RESULT = 0.75
SHARES = {"auto": AUTO_SHARE, "stable": STABLE_SHARE}  # by mode; any other one asks no price


@dataclass(frozen=True, slots=True)
class FirstFold:
    """`fixed`: tokens of system messages and tools. `room`: tokens that the history may have to go
    whole at all. `size`: tokens that the answer would have, with a recall block; `later`: what the
    requests after it would add. `share`: None where no price is asked."""

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
        """Return True if the fold is due. `cached`: messages that the provider may have cached;
        None: all but the newest round."""
        if self.share is None or self.history.tokens > self.room:
            return True
        return costs.costs_little(
            self.size, self.history, self.fixed, self.prices, self.share, cached, self.later
        )

    def folds_at(self) -> int:
        """About how many tokens the history has when it is folded, if it goes on growing as it
        did; never less than it has."""
        least = max(min(max(self.target, THRESHOLD), self.room), self.history.tokens)
        if self.share is None:
            return least
        paid_for = costs.folds_at(
            self.size, self.history, self.fixed, self.prices, self.share, self.room, self.later
        )
        return max(least, paid_for)


def _begun(history: History, limits: TokenLimits, taken: int, target: int) -> Epoch:
    """The epoch that would begin; where nothing can be left out yet, what one usually is. `taken`:
    tokens that stand beside the history."""
    packed = packing.begin(history, limits, taken)
    memory, size = packed.memory + packed.beside, packed.memory + packed.recent + packed.beside
    if not packed.memory:
        memory, size = int(packing.LASTING_MEMORY * target), int(_start(target))
    return Epoch(b"", len(history), size, memory, Plan(packed.cut), 0.0)


def _later(history: History, begun: Epoch, terms: EpochTerms, carried: int) -> LaterRequests:
    """Requests like the latest ones. A recall block is taken to be as large as it may."""
    step = costs.mean_step(history)
    requests = [fact.role == "user" for fact in history.facts if fact.role != "assistant"]
    asking = sum(requests[-costs.LATEST :]) / min(costs.LATEST, len(requests))
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
    """About how many tokens a chat of even rounds has at its first fold, for those who ask before
    there is one: system messages and tools apart."""
    first = min(max(limits.target, THRESHOLD), limits.prompt)
    share = None if limits.hard or not prices.metered else SHARES.get(mode)
    if share is None:
        return first
    # Rounds are kept whole: on average half of one is missing to what they may have, one is kept.
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
    """Tokens that an epoch usually begins with."""
    return target * (packing.SMALL_START if target < packing.SMALL_TARGET else packing.START)
