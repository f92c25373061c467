"""How an epoch under a hard target spends it: one continuous rule for every target.

    |-- recent rounds --|-- memory message --|-- spare --|-------- reserved --------| target

`reserved` is what the next requests will cost at their present mean: their growth of the history
and, under a large target, their recall blocks. The memory message, which is unfolded for the
question that begins the epoch, takes the rest but for what is spare for sizes that vary and for
blocks. It never shrinks when the target grows (docs/decisions/0018). Pure; what a soft target
does stands in `packing` and `epoch`.
"""

from __future__ import annotations

from dataclasses import dataclass

FEW, MANY = 3, 8  # requests that an epoch reserves for: up to `SMALL` tokens, and from `LARGE` on
SMALL, LARGE = 8_000, 20_000
BLOCK = 0.05  # tokens of a planned recall block for each token of the target over `SMALL`
MOST_RESERVED, MOST_OF_LEFT = 0.42, 0.55  # of the target; of what recent rounds leave of it
SPARE, MOST_SPARE = 0.25, 0.08  # of what is free; of the target
ALIKE = 0.6  # of the most that may be reserved: from there on, later questions count in full
WANTED = 0.6  # of the memory message of a new epoch, which a question finds or ends this one


@dataclass(frozen=True, slots=True)
class EpochBudget:
    """Division of a hard target between the present answer and later requests of its epoch.
    `memory`: tokens of the memory message. `reserved`: for the next `requests`. `alike`: how much
    their questions count beside the present one, from 0 (rounds are short: another epoch costs
    little more than its memory message) to 1 (all share alike)."""

    memory: int
    reserved: int
    requests: float
    alike: float

    @property
    def wanted(self) -> float:
        """Tokens that must be left for a later question; with fewer, the question begins a new
        epoch."""
        return WANTED * self.memory * (1 - self.alike)


def epoch_budget(target: int, growth: float, recent: int) -> EpochBudget:
    """Divide a hard target. `growth`: tokens that a request adds to the history, on average;
    `recent`: tokens of the rounds that are sent whole.

    >>> [epoch_budget(target, 1_200, 1_200).memory for target in (4_000, 8_000, 12_000, 20_000)]
    [944, 2800, 4800, 8800]
    >>> [epoch_budget(target, 1_200, 1_200).reserved for target in (4_000, 8_000, 12_000, 20_000)]
    [1540, 3360, 5040, 8400]
    """
    long = min(1.0, max(0.0, (target - SMALL) / (LARGE - SMALL)))
    cost = growth + BLOCK * max(0, target - SMALL)
    demand = cost * (FEW + (MANY - FEW) * long)
    left = max(0, target - recent)
    most = min(MOST_RESERVED * target, MOST_OF_LEFT * left)
    # A request that does not fit into `most` ends the epoch, so little is kept for it.
    reserved = max(0.0, min(demand, most, (3 * most - growth) / 2))
    free = left - reserved
    memory = max(free - min(SPARE * free, MOST_SPARE * target), least_memory(min(target, recent)))
    reserved = min(reserved, max(0.0, left - memory))
    alike = min(1.0, (demand / (ALIKE * most)) ** 4) if most else 1.0
    return EpochBudget(int(memory), int(reserved), reserved / cost if cost else 0.0, alike)


def least_memory(target: int) -> int:
    """Tokens that the memory message may have at least where something is left out, however large
    the newest round is."""
    return max(target // 4, min(1_000, target // 2))
