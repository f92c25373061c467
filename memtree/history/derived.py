"""Keep what was derived from the messages of a history for the histories that continue it.

That is what was found in the messages, or rendered of them: a later turn reads only new messages
(docs/decisions/0033). No answer depends on it.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

PLACE_BYTES = 8  # of a message in a row, besides its value
TEXT_BYTES = 200  # of a text besides its characters
EPOCHS = 4  # whose texts are kept, the last used: agents of one history each have their own


class RenderedText(NamedTuple):
    """`outline_tokens`: tokens of the summary lines in a memory message, 0 for another text."""

    text: str
    outline_tokens: int = 0


@dataclass(frozen=True, slots=True)
class _EpochTexts:
    """Texts by name, rendered of the first `cut` messages."""

    cut: int
    texts: dict[Hashable, RenderedText] = field(default_factory=dict)


class Derived:
    """Rows of values by name, and the texts of epochs. A name holds all else that its values depend
    on. Threads that find the same value need no lock. `found_bytes`: an estimate for the rows."""

    __slots__ = ("_epochs", "_rows", "found_bytes")

    def __init__(self) -> None:
        self._rows: dict[Hashable, list[Any]] = {}
        self._epochs: dict[bytes, _EpochTexts] = {}
        self.found_bytes = 0

    @property
    def nbytes(self) -> int:
        """Return an estimate of the bytes of all values and texts."""
        texts = [text for epoch in self._epochs.values() for text, _ in epoch.texts.values()]
        return self.found_bytes + TEXT_BYTES * len(texts) + sum(map(sys.getsizeof, texts))

    def row(self, name: Hashable, length: int) -> list[Any]:
        """Return a row with places for at least the first `length` messages, None where nothing was
        found yet. Who puts a value there adds its size to `found_bytes`."""
        row = self._rows.setdefault(name, [])
        if (lacking := length - len(row)) > 0:
            row += [None] * lacking
            self.found_bytes += PLACE_BYTES * lacking
        return row

    def texts(self, epoch: bytes, cut: int) -> dict[Hashable, RenderedText]:
        """Return the texts of an epoch by name. They depend on the first `cut` messages, the epoch
        and their names alone. Who renders one puts it there."""
        kept = self._epochs[epoch] = self._epochs.pop(epoch, _EpochTexts(cut))
        if len(self._epochs) > EPOCHS:
            del self._epochs[next(iter(self._epochs))]
        return kept.texts

    def first(self, length: int, settled: int) -> Derived:
        """Return what was derived from the first `length` messages; of their rows, the values of
        the first `settled` ones, which nothing behind them changes."""
        kept, rows = Derived(), list(self._rows.items())  # a thread may add one meanwhile
        kept._rows = {name: row[:settled] for name, row in rows}
        longest = max(1, settled, *[len(row) for _, row in rows])
        kept.found_bytes = self.found_bytes * settled // longest
        kept._epochs = {
            epoch: _EpochTexts(one.cut, dict(one.texts))
            for epoch, one in self._epochs.items()
            if one.cut <= length
        }
        return kept
