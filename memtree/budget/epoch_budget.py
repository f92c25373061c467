"""Division of a hard target within an epoch: one continuous rule for every target.

    |-- recent rounds --|-- memory message --|-- spare --|-------- reserved --------| target

`reserved` is the expected size of the next requests at their present mean: their growth of the
history and, under a large target, their recall blocks. The memory message, which is unfolded for
the question that begins the epoch, takes the rest, except a spare part for varying sizes and for
blocks. It never shrinks when the target grows (docs/decisions/0018). Pure; soft targets are handled
in `packing` and `epoch`.
"""

from __future__ import annotations

from dataclasses import dataclass

# requests that an epoch reserves room for: with targets up to `SMALL` tokens, and from `LARGE` on
FEW, MANY = 3, 8
SMALL, LARGE = 8_000, 20_000
BLOCK = 0.05  # tokens of a planned recall block for each token of the target over `SMALL`
MOST_RESERVED, MOST_OF_LEFT = 0.42, 0.55  # of the target; of the part that recent rounds leave
SPARE, MOST_SPARE = 0.25, 0.08  # of the free tokens; of the target
ALIKE = 0.6  # of the maximal reserve: from there on, later questions count in full
WANTED = 0.6  # of a new epoch's memory message: a question that would get less begins a new epoch


@dataclass(frozen=True, slots=True)
class EpochBudget:
    """Division of a hard target between the present answer and later requests of its epoch.
    `memory`: tokens of the memory message. `reserved`: for the next `requests`. `alike`: weight of
    their questions relative to the present one, from 0 (rounds are short: another epoch costs
    little more than its memory message) to 1 (equal)."""

    memory: int
    reserved: int
    requests: float
    alike: float

    @property
    def wanted(self) -> float:
        """Return the tokens that must be left for a later question; with fewer, the question begins
        a new epoch."""
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
    # A request that does not fit into `most` ends the epoch, so little is reserved for it.
    reserved = max(0.0, min(demand, most, (3 * most - growth) / 2))
    free = left - reserved
    memory = max(free - min(SPARE * free, MOST_SPARE * target), least_memory(min(target, recent)))
    reserved = min(reserved, max(0.0, left - memory))
    alike = min(1.0, (demand / (ALIKE * most)) ** 4) if most else 1.0
    return EpochBudget(int(memory), int(reserved), reserved / cost if cost else 0.0, alike)


def least_memory(target: int) -> int:
    """Return the least tokens of a memory message if anything is left out, however large the newest
    round is."""
    return max(target // 4, min(1_000, target // 2))
