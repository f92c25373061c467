"""Prices prompts of which the provider may have cached a prefix, and what memory saves by them.

Prices are multiples of the price of uncached input, so costs come in uncached input tokens. What
memory saved on a request is computed by the same rule for the log, daily totals, lists and metrics:

    saved = without - with        in uncached input tokens; a loss is negative

*With* is the provider's own count of the prompt, if it reports cached tokens; otherwise the rule
below applied to what was sent. *Without* is the rule applied to what was posted. A history that was
sent whole saved nothing, by definition.

The rule: the provider reads from its cache the common prefix with the previous prompt of the same
conversation and model, if the cache has not expired; it writes the rest. So the first request of a
conversation is cached on neither side. Pure.

    >>> prices = Prices(write=1.0, read=0.1, lifetime=300.0)
    >>> saved(Prompt(100_000), Prompt(20_000), prices)
    80000
    >>> saved(Prompt(101_000, 100_000), Prompt(21_000, 20_000), prices)
    8000
    >>> saved(Prompt(101_000, 100_000), Prompt(20_000, 2_000), prices)
    -7200

Some providers cache nothing, or hardly anything. What they report is compared with the rule
(`CacheEvidence`), and both sides are reckoned with the share of the rule's cached tokens that the
provider really reads from its cache.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

HOUR = 3_600.0
HOUR_WRITE = 2.0  # Anthropic, for a marker with a ttl of one hour; 1.25 for five minutes


@dataclass(frozen=True, slots=True)
class Prices:
    """`write`: price of tokens that the provider puts into its cache; `read`: of tokens it reads
    from there. `lifetime`: seconds that an unused prefix stays cached. `metered`: input is paid for
    by the token; on the user's own machine it is not, and the prices only represent the work.
    `minimum`: tokens that a prompt must have to be cached at all."""

    write: float = 1.25
    read: float = 0.10
    lifetime: float = HOUR
    metered: bool = True
    minimum: int = 0

    @property
    def rewrite(self) -> float:
        """Return the extra cost of writing a token anew, in cached reads."""
        return max(0.0, self.write - self.read) / max(self.read, 0.001)

    @property
    def for_an_hour(self) -> Prices:
        """Return the prices of a one-hour cache, if the provider charges for writes."""
        if self.write <= 1.0:
            return self
        return replace(self, write=max(self.write, HOUR_WRITE), lifetime=max(self.lifetime, HOUR))

    def cost(self, cached: float, written: float) -> float:
        """Price a prompt whose first `cached` tokens belong to an earlier prompt."""
        if cached < self.minimum:  # too short to be cached
            cached, written = 0, cached + written
        if written < self.minimum and not cached:
            return written
        return self.read * cached + self.write * written


# For callers of the library that name no prices: the most expensive caches, so that a wrong guess
# never raises costs.
CAUTIOUS = Prices()
# For models with unknown prices, by where they run. On the internet: the middle of what providers
# charge for cached input (0.02 to 0.5). On the local network: epochs as long as with the expensive
# caches, since such a server must reread what changes, but a first fold never waits for a price.
UNKNOWN = Prices(1.0, 0.25, HOUR)
LOCAL = Prices(1.25, 0.10, HOUR, metered=False)


# Shorter prefixes prove nothing: no provider has to cache them. As OpenAI documents it.
LEAST_EXPECTED = 1_024
FADING = 0.9  # weight of what earlier requests have shown, at each further one


@dataclass(frozen=True, slots=True)
class Prompt:
    """Tokens of a prompt, tools and system messages included; `known`: tokens of its common prefix
    with the previous prompt."""

    tokens: int
    known: int = 0


class ProviderUsage(NamedTuple):
    """Usage that a provider reports for one answer, in its own tokens. `input`: of the whole
    prompt; `cached`: those it read from its cache, `written`: those it put there; `output`: of the
    answer. None: not reported."""

    input: int
    cached: int | None = None
    written: int | None = None
    output: int | None = None


class CacheEvidence(NamedTuple):
    """How well a provider caches a model's prompts. `expected`: tokens of which the rule says that
    they are cached; `cached`: those that the provider has read from its cache."""

    expected: float = 0.0
    cached: float = 0.0

    def followed_by(self, newer: CacheEvidence) -> CacheEvidence:
        """Return the evidence of earlier requests and of `newer`; no change if that has none."""
        if not newer.expected:
            return self
        return CacheEvidence(
            FADING * self.expected + newer.expected, FADING * self.cached + newer.cached
        )

    def share(self, own: CacheEvidence) -> float:
        """Return the share of the rule's cached tokens that counts as cached for a request with the
        evidence `own`: the larger one, so that a single miss of a provider that caches is a loss;
        1.0 without any evidence."""
        shares = [each.cached / each.expected for each in (self, own) if each.expected]
        return max(shares, default=1.0)


def evidence_of(
    sent: Prompt, usage: ProviderUsage | None, *, several: bool = False
) -> CacheEvidence:
    """Return what one answer shows about the provider's cache; arguments as in `saved`."""
    if usage is None or usage.cached is None or sent.known < LEAST_EXPECTED:
        return CacheEvidence()
    expected = sent.known * _scale(sent, usage, several=several)
    return CacheEvidence(expected, min(usage.cached, expected))


def saved(
    posted: Prompt,
    sent: Prompt,
    prices: Prices,
    usage: ProviderUsage | None = None,
    *,
    several: bool = False,
    share: float = 1.0,
) -> int:
    """Return the savings in uncached input tokens. `several`: `usage` is the sum of several prompts
    to the provider, so it does not give the ratio between its tokens and ours. `share`: of the
    known tokens, those that count as cached."""
    if not (usage and usage.written):  # what is hardly cached is hardly written to the cache
        prices = replace(prices, write=1 + share * (prices.write - 1))
    without = by_rule(_cached(posted, share), prices)
    if usage is None or usage.cached is None:
        return round(without - by_rule(_cached(sent, share), prices))
    # The posted tokens are converted into the provider's, by its count of the sent ones.
    scale = _scale(sent, usage, several=several)
    return round(scale * without - as_billed(usage, prices))


def _scale(sent: Prompt, usage: ProviderUsage, *, several: bool) -> float:
    return 1.0 if several or not sent.tokens else usage.input / sent.tokens


def _cached(prompt: Prompt, share: float) -> Prompt:
    return Prompt(prompt.tokens, round(share * min(prompt.known, prompt.tokens)))


def by_rule(prompt: Prompt, prices: Prices) -> float:
    known = min(prompt.known, prompt.tokens)
    return prices.cost(known, prompt.tokens - known)


def as_billed(usage: ProviderUsage, prices: Prices) -> float:
    """Price a prompt for which the provider reports cached tokens."""
    cached = usage.cached or 0
    # tokens that were not read count as written, if writes are reported at all
    if usage.written is None:
        return prices.cost(cached, usage.input - cached)
    plain = usage.input - cached - usage.written
    return prices.read * cached + prices.write * usage.written + plain
