"""What input costs where a prefix may be cached by the provider.

Prices are multiples of the price of uncached input, so costs come in uncached input tokens.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prices:
    """`write`: tokens that the provider puts into its cache; `read`: tokens it finds there.
    `lifetime`: seconds that an unused prefix stays cached."""

    write: float = 1.25
    read: float = 0.10
    lifetime: float = 3_600.0

    @property
    def rewrite(self) -> float:
        """How many cached reads more it costs to write a token anew than to read it."""
        return max(0.0, self.write - self.read) / max(self.read, 0.001)

    def cost(self, cached: float, written: float) -> float:
        return self.read * cached + self.write * written


UNKNOWN = Prices()  # the dear case: whoever guesses wrong has not made it dearer
