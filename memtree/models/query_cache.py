"""Cache of the vectors of recent queries: an agent sends the same text several times.

It does not keep the texts, and it ends with its process.
"""

from __future__ import annotations

import hashlib
import secrets

import numpy as np
from numpy.typing import NDArray

from memtree.process.bounded import CacheLimits, SizedRows

Matrix = NDArray[np.float32]

ROW_BYTES = 400  # of a vector besides its numbers: key, place, array


class QueryCache:
    """Vectors of recent queries, by a keyed digest: the text itself is not kept."""

    def __init__(self, most: int = CacheLimits.of().queries) -> None:
        """`most`: bytes."""
        self._seed = secrets.token_bytes(16)
        self._rows: SizedRows[bytes, Matrix] = SizedRows(
            most, lambda _, row: ROW_BYTES + row.nbytes
        )
        self._cleared = 0

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes

    @property
    def generation(self) -> int:
        """Number that changes with every `clear`. A caller that began before a change must not
        `put`."""
        return self._cleared

    def get(self, text: str) -> Matrix | None:
        return self._rows.get(self._key(text))

    def put(self, text: str, row: Matrix) -> None:
        row.flags.writeable = False  # all callers share this array
        self._rows.put(self._key(text), row)

    def clear(self) -> None:
        self._rows.clear()
        self._cleared += 1

    def _key(self, text: str) -> bytes:
        return hashlib.blake2b(text.encode(), key=self._seed, digest_size=16).digest()
