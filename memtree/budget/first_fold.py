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

from dataclasses import dataclass

from memtree.budget import costs, epoch, packing
from memtree.budget.packing import THRESHOLD, TokenLimits
from memtree.budget.prices import Prices
from memtree.conversation.history import History

# What a first fold may cost more, of all that has been paid so far
AUTO_SHARE, STABLE_SHARE = 0.02, 0.05
STEP, STEP_USER = 1_000, 200  # tokens of a round of a usual chat, and of the user in it
SHARES = {"auto": AUTO_SHARE, "stable": STABLE_SHARE}  # by mode; any other one asks no price


@dataclass(frozen=True, slots=True)
class FirstFold:
    """`fixed`: tokens of system messages and tools. `room`: tokens that the history may have to go
    whole at all. `size`: tokens that the answer would have, with a recall block. `share`: None
    where no price is asked."""

    history: History
    fixed: int
    target: int
    room: int
    size: int
    prices: Prices
    share: float | None

    @classmethod
    def of(
        cls,
        history: History,
        limits: TokenLimits,
        *,
        fixed: int,
        carried: int,
        prices: Prices,
        mode: str,
    ) -> FirstFold:
        """`carried`: tokens of the preamble, which is sent with the memory message."""
        room = max(0, limits.prompt - fixed - carried)
        asked = not limits.hard and prices.metered
        share = SHARES.get(mode) if asked else None
        size = carried + _size(history, limits, fixed + carried) if share is not None else 0
        return cls(history, fixed, limits.target, room, size, prices, share)

    def costs_little(self, met: int | None = None) -> bool:
        """Whether it is due. `met`: messages that the provider may have cached; None: all but the
        newest round."""
        if self.share is None or self.history.tokens > self.room:
            return True
        return costs.costs_little(self.size, self.history, self.fixed, self.prices, self.share, met)

    def folds_at(self) -> int:
        """About how many tokens the history has when it is folded, if it goes on growing as it
        did; never less than it has."""
        least = max(min(max(self.target, THRESHOLD), self.room), self.history.tokens)
        if self.share is None:
            return least
        paid_for = costs.folds_at(
            self.size, self.history, self.fixed, self.prices, self.share, self.room
        )
        return max(least, paid_for)


def in_a_usual_chat(limits: TokenLimits, prices: Prices, mode: str) -> int:
    """About how many tokens a chat of even rounds has at its first fold, for those who ask before
    there is one: system messages and tools apart."""
    least = min(max(limits.target, THRESHOLD), limits.prompt)
    share = None if limits.hard or not prices.metered else SHARES.get(mode)
    if share is None:
        return least
    # Rounds are kept whole, so on average half of one is missing to what they may have.
    size = _start(limits.target) - STEP / 2 + epoch.block_size(limits.target)
    history, paid = STEP_USER, prices.cost(0, STEP_USER)
    while history + STEP < limits.prompt:
        history += STEP
        paid += prices.cost(history - STEP, STEP)
        extra = prices.write * (size - STEP) - prices.read * (history - STEP)
        if history > least and extra <= share * paid:
            return history
    return limits.prompt


def _size(history: History, limits: TokenLimits, taken: int) -> int:
    """Tokens of what an epoch begins with; where nothing can be left out yet, what it usually
    begins with. `taken`: tokens that stand beside it."""
    target = min(limits.target, max(0, limits.prompt - taken))
    packed = packing.begin(history, limits, taken)
    block = epoch.block_size(target) if history.facts[-1].role == "user" else 0
    if not packed.memory:
        return int(_start(target)) + block
    return packed.memory + packed.recent + packed.beside + block


def _start(target: int) -> float:
    """Tokens that an epoch usually begins with."""
    return target * (packing.SMALL_START if target < packing.SMALL_TARGET else packing.START)
