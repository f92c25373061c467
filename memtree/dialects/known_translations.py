"""Cache of the translations of posted lists, by their numbers.

A request whose history begins with an earlier one continues from the earlier translation. The cache
holds positions and marks, no text; yet it is emptied when something is deleted, and is bounded in
bytes.
"""

from __future__ import annotations

from typing import Generic, NamedTuple, Protocol, TypeVar

from memtree.process.bounded import TenantRows

BYTES = 16 * 1024 * 1024  # about 80 histories of a million tokens


class SizedTranslation(Protocol):
    """Translation of one list, with its size."""

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        ...


V = TypeVar("V", bound=SizedTranslation)


class KnownTranslations(Generic[V]):
    """Translations by tenant and number of the list. The newest two of a growing conversation are
    kept, since a client may replace the last turn."""

    def __init__(self, most: int = BYTES) -> None:
        """Create an empty cache. `most`: bytes in all."""
        self._rows: TenantRows[int, _Known[V]] = TenantRows(most, _size)

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes

    def get(self, tenant: str, number: int) -> V | None:
        known = self._rows.get((tenant, number))
        return None if known is None else known.value

    def put(self, tenant: str, number: int, value: V, before: int | None = None) -> None:
        """Store a translation. `before`: the list that this list grew from or equals."""
        grew = None if before is None else self._rows.get((tenant, before))
        if grew is not None and before == number:
            before = grew.before
        elif grew is not None and grew.before is not None:
            self._rows.drop((tenant, grew.before))
        self._rows.put((tenant, number), _Known(value, before))

    def forget(self, tenant: str | None = None) -> None:
        """Remove a tenant's lists; None: the lists of all tenants."""
        self._rows.forget(tenant)


class _Known(NamedTuple, Generic[V]):
    value: V
    before: int | None


def _size(key: tuple[str, int], known: _Known[V]) -> int:
    return known.value.nbytes + len(key[0]) + 300
