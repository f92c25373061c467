"""The vectors of the newest queries, for embedders: an agent asks for one text several times.

Nothing of a text can be read out of it, and it ends with its process.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

CACHED_QUERIES = 256


class QueryCache:
    """The newest queries' vectors, by a keyed digest: the text itself is not kept."""

    def __init__(self, size: int = CACHED_QUERIES) -> None:
        self._size = size
        self._seed = secrets.token_bytes(16)
        self._rows: OrderedDict[bytes, Matrix] = OrderedDict()
        self._cleared = 0

    @property
    def generation(self) -> int:
        """Changes with every `clear`: who began before must not put."""
        return self._cleared

    def get(self, text: str) -> Matrix | None:
        key = self._key(text)
        if key in self._rows:
            self._rows.move_to_end(key)
        return self._rows.get(key)

    def put(self, text: str, row: Matrix) -> None:
        row.flags.writeable = False  # every later caller gets this very array
        self._rows[self._key(text)] = row
        if len(self._rows) > self._size:
            self._rows.popitem(last=False)

    def clear(self) -> None:
        self._rows.clear()
        self._cleared += 1

    def _key(self, text: str) -> bytes:
        return hashlib.blake2b(text.encode(), key=self._seed, digest_size=16).digest()
