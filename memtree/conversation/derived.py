"""Values found in the messages of a history, kept for the histories that continue it.

A room that reads many messages of a history keeps what it found, so that the next turn reads only
the new ones. A history that continues another one gets the values of the messages that no later one
can change (`History.settled`).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

PLACE_BYTES = 8  # of a message in a row, besides its value


class DerivedRow:
    """`values`: one for each message from the first on, None where nothing was found yet. `nbytes`:
    estimate for all values."""

    __slots__ = ("nbytes", "values")

    def __init__(self, values: list[Any], nbytes: int = 0) -> None:
        self.values, self.nbytes = values, nbytes

    def put(self, message: int, value: Any, nbytes: int = 0) -> None:
        """Keep the value of a message. Threads that find the same value need no lock."""
        self.values[message] = value
        self.nbytes += nbytes


class Derived:
    """Rows of a history by name; a name holds everything else that its values depend on."""

    __slots__ = ("_rows",)

    def __init__(self) -> None:
        self._rows: dict[Hashable, DerivedRow] = {}

    @property
    def nbytes(self) -> int:
        """Estimated size in bytes."""
        rows = list(self._rows.values())
        return sum(row.nbytes + PLACE_BYTES * len(row.values) for row in rows)

    def row(self, name: Hashable, length: int) -> DerivedRow:
        """Return a row with places for at least the first `length` messages."""
        row = self._rows.setdefault(name, DerivedRow([]))
        if (lacking := length - len(row.values)) > 0:
            row.values.extend([None] * lacking)
        return row

    def first(self, length: int) -> Derived:
        """Return the values of the first `length` messages."""
        kept = Derived()
        for name, row in list(self._rows.items()):
            values = row.values[:length]
            share = row.nbytes * len(values) // max(1, len(row.values))
            kept._rows[name] = DerivedRow(values, share)
        return kept
