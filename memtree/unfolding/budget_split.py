"""Who gets how much of a memory message's budget."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BudgetSplit:
    """Shares of a memory message's budget. `outline`: (budgets, shares), between them linear."""

    outline: tuple[tuple[float, ...], tuple[float, ...]]
    rules: float
    ask: float
    trail: float
    user: float  # docs/decisions/0005


# An answer for the present question lives on excerpts; a message that stays for many turns on its
# outline, because excerpts chosen for one question are nearly worthless for another.
ONE_SHOT = BudgetSplit(
    ((2_000, 4_000, 8_000), (0.10, 0.15, 0.20)), rules=0.05, ask=0.1, trail=0, user=0.5
)
LASTING = BudgetSplit(((500, 2_000), (0.3, 0.5)), rules=0.2, ask=0.57, trail=0.2, user=0.5)
