"""Division of a memory message's budget between its parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memtree.ranking.ranked_history import RankedHistory
from memtree.unfolding.excerpts_excerpt_choice import Shares

Curve = tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class BudgetSplit:
    """Shares of a memory message's budget, as curves (budgets, shares), interpolated linearly.
    `outline`: summary lines; `talk`: the same if messages are short, `lines`: the most
    of it if files are in hand, both at any budget; `hand`: passages of these files. `user`, `lead`
    and `answers`: used if answers are long (docs/decisions/archive.md#0005, 0016)."""

    outline: Curve
    rules: float
    ask: float
    trail: float
    user: float
    lead: Curve = ((0,), (0,))
    answers: float = 0
    talk: float = 0.05
    hand: float = 0.25
    lines: float = 0.07

    def for_long_answers(self, budget: int, ranked: RankedHistory) -> Shares:
        lead = int(np.interp(budget, *self.lead) * budget)
        shares = (lead, int(self.user * budget), int(self.answers * budget))
        return Shares(*shares, ranked.query, ranked.ranking.segments)


# An answer for the present question consists mainly of excerpts; a message that stays for many
# turns needs its outline, because excerpts chosen for one question hardly help with another.
ONE_SHOT = BudgetSplit(
    ((2_000, 4_000, 8_000), (0.10, 0.15, 0.20)),
    rules=0.2,
    ask=0.1,
    trail=0,
    user=0.6,
    lead=((2_000, 4_000, 8_000), (0.3, 0.25, 0.1)),
    answers=0.2,
)
LASTING = BudgetSplit(((500, 2_000), (0.3, 0.5)), rules=0.2, ask=0.57, trail=0.2, user=0.5)
