"""Values found in the messages of a history, kept for the histories that continue it.

A room that reads every message of a history keeps what it found, so that the next turn reads only
the new ones. Nothing is kept that a later message could change (`History.settled`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

MESSAGE_BYTES = 8  # of a message in a row: its place


class _Row(NamedTuple):
    values: tuple[Any, ...]
    nbytes: int


class Derived:
    """Rows by name, each with a value for every message from the first on. `put` replaces whole
    rows, so threads that read the same history need no lock."""

    __slots__ = ("_rows",)

    def __init__(self) -> None:
        self._rows: dict[Hashable, _Row] = {}

    @property
    def nbytes(self) -> int:
        """Estimated size in bytes."""
        return sum(row.nbytes for row in list(self._rows.values()))

    def get(self, name: Hashable) -> Sequence[Any]:
        """Return a row; empty if there is none."""
        row = self._rows.get(name)
        return row.values if row else ()

    def put(self, name: Hashable, values: Sequence[Any], nbytes: int) -> None:
        """Replace a row. `nbytes`: of its values, without their places."""
        self._rows[name] = _Row(tuple(values), nbytes + MESSAGE_BYTES * len(values))

    def first(self, length: int) -> Derived:
        """Return the values of the first `length` messages."""
        kept = Derived()
        for name, row in list(self._rows.items()):
            kept._rows[name] = _Row(row.values[:length], row.nbytes)
        return kept
