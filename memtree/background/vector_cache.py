"""Cache of recent vectors: a passage that appears again in another leaf is not embedded again.

Leaves are identified by their content, but a history that lost its beginning, or got a message in
the middle, has some leaves with new boundaries around the same passages. A client that drops its
oldest message in every turn would have the leaves near its beginning embedded once a turn: in a
chat of 200 turns over a window of 30,000 tokens, every passage 3.3 times.

Bounded, per process, never shared between tenants; keyed by a hash with a secret of the process.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from memtree.ports.models import Embedder
from memtree.process.bounded import TenantRows
from memtree.process.cache_limits import CacheLimits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Row = NDArray[np.float32]

ROW_BYTES = 400  # of a vector besides its numbers: key, place, array
KEY_BYTES = 16


class VectorCache:
    """An embedder that remembers its newest vectors, by tenant and text."""

    def __init__(self, embedder: Embedder, most: int = CacheLimits.of().vectors) -> None:
        """`most`: bytes. With 384 dimensions a vector takes 2,000, for some 80 tokens."""
        self._embedder = embedder
        self._rows: TenantRows[bytes, Row] = TenantRows(most, lambda _, row: ROW_BYTES + row.nbytes)
        self._key = secrets.token_bytes(KEY_BYTES)
        self._forgotten: dict[str, int] = {}
        self._all = 0  # how often all tenants were forgotten
        self.calls: Counter[str] = Counter()  # calls of the embedder by outcome: ok, failed

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes

    @property
    def size(self) -> int:
        """Return the number of cached vectors of all tenants."""
        return len(self._rows)

    @property
    def tenants(self) -> set[str]:
        """Return the tenants with cached vectors."""
        return self._rows.tenants

    async def recipe(self) -> str:
        """Return the embedder's recipe, querying it if it is not known yet; call this before
        `embed`. Raises `EmbedderUnavailable`.
        """
        if not self._embedder.dimensions:
            await self._embedder.embed([])
        return self._embedder.recipe

    async def embed(self, tenant: str, texts: Sequence[str]) -> Row:
        """Return an array (n, dimensions), one row a text. Raises `EmbedderUnavailable`, and then
        caches nothing."""
        names = [(tenant, self._hash(text)) for text in texts]
        cached = ((name, self._rows.get(name)) for name in names)
        rows = {name: row for name, row in cached if row is not None}
        new = {name: text for name, text in zip(names, texts, strict=True) if name not in rows}
        if new:
            generation = self._generation(tenant)
            matrix = await self._called(list(new.values()))
            rows.update(zip(new, matrix, strict=True))
            if generation == self._generation(tenant):
                self._keep(dict.fromkeys(names), rows)
        ordered = [rows[name] for name in names]
        return np.array(ordered, np.float32).reshape(-1, self._embedder.dimensions)

    async def _called(self, texts: list[str]) -> Row:
        outcome = "failed"
        try:
            matrix = await self._embedder.embed(texts)
            outcome = "ok"
        finally:
            self.calls[outcome] += 1
        return matrix

    def forget(self, tenant: str) -> None:
        """Drop the tenant's vectors; those of a running batch are not cached either."""
        self._forgotten[tenant] = self._forgotten.get(tenant, 0) + 1
        self._rows.forget(tenant)

    def forget_all(self) -> None:
        """Drop the vectors of all tenants."""
        self._all += 1
        self._rows.clear()

    def _generation(self, tenant: str) -> tuple[int, int]:
        return self._all, self._forgotten.get(tenant, 0)

    def _keep(
        self, names: dict[tuple[str, bytes], None], rows: dict[tuple[str, bytes], Row]
    ) -> None:
        for name in names:
            self._rows.put(name, rows[name].copy())  # a view would keep its whole batch alive

    def _hash(self, text: str) -> bytes:
        data = text.encode("utf-8", "surrogatepass")
        return blake2b(data, digest_size=KEY_BYTES, key=self._key).digest()
