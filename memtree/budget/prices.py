"""Price input where a prefix may be cached by the provider.

Prices are multiples of the price of uncached input, so costs come in uncached input tokens.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

HOUR = 3_600.0
HOUR_WRITE = 2.0  # Anthropic, for a marker with the ttl of an hour; 1.25 for one of five minutes


@dataclass(frozen=True, slots=True)
class Prices:
    """`write`: tokens that the provider puts into its cache; `read`: tokens it finds there.
    `lifetime`: seconds that an unused prefix stays cached. `metered`: input is paid for by the
    token; on a machine of one's own it is not, and the prices only stand for the work. `minimum`:
    tokens that a prompt must have to be cached at all."""

    write: float = 1.25
    read: float = 0.10
    lifetime: float = HOUR
    metered: bool = True
    minimum: int = 0

    @property
    def rewrite(self) -> float:
        """How many cached reads more it costs to write a token anew than to read it."""
        return max(0.0, self.write - self.read) / max(self.read, 0.001)

    @property
    def for_an_hour(self) -> Prices:
        """Those of a cache that is asked to live an hour, where it charges for what it writes."""
        if self.write <= 1.0:
            return self
        return replace(self, write=max(self.write, HOUR_WRITE), lifetime=max(self.lifetime, HOUR))

    def cost(self, cached: float, written: float) -> float:
        """Price a prompt that begins with `cached` tokens of an earlier one."""
        if cached < self.minimum:  # it was too short to be kept
            cached, written = 0, cached + written
        if written < self.minimum and not cached:
            return written
        return self.read * cached + self.write * written


# For callers of the library who name no prices: the dearest caches, so that whoever guesses wrong
# has not made it dearer.
CAUTIOUS = Prices()
# Models whose prices nobody told us, by where they run. On the internet: in the middle of what
# providers charge for cached input (0.02 to 0.5). At home: epochs as long as with the dear ones,
# since a server there has to read anew what changes, but a first fold never waits for a price.
UNKNOWN = Prices(1.0, 0.25, HOUR)
LOCAL = Prices(1.25, 0.10, HOUR, metered=False)
