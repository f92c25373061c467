"""What a conversation costs, sent whole or folded: input only, in uncached input tokens.

The provider is taken to cache what was sent before for as long as it says (`Prices.lifetime`), and
to be asked once for each assistant message.
"""

from __future__ import annotations

from collections.abc import Iterator

from memtree.budget.epoch import EpochTurn
from memtree.budget.prices import Prices
from memtree.conversation.history import History


def direct_cost(history: History, fixed: int, prices: Prices) -> float:
    """What sending everything has cost so far, the present request included.
    `fixed`: tokens of system messages and tools."""
    cost, before = 0.0, 0
    for size in _requests(history):
        cost += prices.cost(before, fixed + size - before)
        before = fixed + size
    return cost


def _requests(history: History) -> Iterator[int]:
    """Tokens of the history at each request."""
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
    met: int | None = None,
) -> bool:
    """Whether a first fold to `size` tokens costs at most this share of all that was paid so far.

    Folding writes what is sent anew. What came since the last request has to be written anyway,
    and the rest of the history would be read from the provider's cache: at most its first `met`
    messages (None: as many as the last request had).
    """
    cached = _cached(history)
    if met is not None:
        cached = min(cached, history.size(0, met))
    extra = prices.write * (size - (history.tokens - cached)) - prices.read * cached
    return extra <= share * direct_cost(history, fixed, prices)


def opened(history: History, fixed: int, sent: int, prices: Prices) -> tuple[float, float]:
    """(direct, paid) at a first fold: until now the history went whole. `sent`: tokens of this
    request with system messages and tools."""
    direct = direct_cost(history, fixed, prices)
    cached = _cached(history)
    whole = prices.cost(fixed + cached if cached else 0, history.tokens - cached)
    return direct, direct - whole + prices.cost(fixed, sent - fixed)


def _cached(history: History) -> int:
    """Tokens of the history at the request before this one."""
    sizes = list(_requests(history))
    return sizes[-2] if len(sizes) > 1 else 0


def followed(
    turn: EpochTurn,
    previous: int,
    same_epoch: bool,
    warm: bool,
    history: History,
    fixed: int,
    sent: int,
    prices: Prices,
) -> tuple[float, float]:
    """(direct, paid) with a further request. `turn`: the one before, on a history of `previous`
    tokens; `same_epoch`: what it sent is still the beginning of what is sent; `warm`: cached."""
    whole, folded = (fixed + previous, turn.sent if same_epoch else fixed) if warm else (0, 0)
    direct = prices.cost(whole, max(0, fixed + history.tokens - whole))
    paid = prices.cost(min(folded, sent), max(0, sent - folded))
    return turn.direct + direct, turn.paid + paid
