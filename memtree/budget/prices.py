"""Price input of which the provider may have cached a prefix.

Prices are multiples of the price of uncached input, so costs come in uncached input tokens.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

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
