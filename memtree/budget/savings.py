"""Reckon what memory saved on a request: the one rule of the log, the days, the lists, the metrics.

    saved = without - with        in uncached input tokens; a loss is negative

*With* is what the provider says that the prompt cost, where it tells what it had cached; otherwise
the rule below on what was sent. *Without* is the rule on what was posted. A history that went whole
saved nothing, by definition.

The rule: of a prompt the provider reads from its cache what it begins with of the prompt before it
in the same conversation with the same model, if that is not older than the cache lives; it writes
the rest. So the first request of a conversation is cached on neither side. Pure.

    >>> prices = Prices(write=1.0, read=0.1, lifetime=300.0)
    >>> saved(Prompt(100_000), Prompt(20_000), prices)
    80000
    >>> saved(Prompt(101_000, 100_000), Prompt(21_000, 20_000), prices)
    8000
    >>> saved(Prompt(101_000, 100_000), Prompt(20_000, 2_000), prices)
    -7200
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from memtree.budget.prices import Prices


@dataclass(frozen=True, slots=True)
class Prompt:
    """Tokens of a prompt, tools and system messages included; `known`: at its beginning, those
    with which the prompt before it began as well."""

    tokens: int
    known: int = 0


class ProviderUsage(NamedTuple):
    """Usage that a provider tells of one answer, in its own tokens. `input`: of the whole prompt;
    `cached`: those it read from its cache, `written`: those it put there; `output`: those it
    answered with. None: it does not say."""

    input: int
    cached: int | None = None
    written: int | None = None
    output: int | None = None


def saved(
    posted: Prompt,
    sent: Prompt,
    prices: Prices,
    usage: ProviderUsage | None = None,
    *,
    several: bool = False,
) -> int:
    """Uncached input tokens. `several`: `usage` is the sum of several prompts to the provider, so
    it does not tell how many of its tokens one of ours is."""
    without = by_rule(posted, prices)
    if usage is None or usage.cached is None:
        return round(without - by_rule(sent, prices))
    # What was posted is reckoned in the provider's tokens, which it has counted of what was sent.
    scale = 1.0 if several or not sent.tokens else usage.input / sent.tokens
    return round(scale * without - as_billed(usage, prices))


def by_rule(prompt: Prompt, prices: Prices) -> float:
    known = min(prompt.known, prompt.tokens)
    return prices.cost(known, prompt.tokens - known)


def as_billed(usage: ProviderUsage, prices: Prices) -> float:
    """Price a prompt of which the provider says what it had cached."""
    cached = usage.cached or 0
    if usage.written is None:  # what is not read is written, where that is told apart at all
        return prices.cost(cached, usage.input - cached)
    plain = usage.input - cached - usage.written
    return prices.read * cached + prices.write * usage.written + plain
