"""Cache of the translations of posted lists, by their numbers.

A request whose history begins with that of an earlier one goes on from what is known of that. What
is kept are positions and marks, no text; yet it goes when something is deleted, and is bounded in
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
        """Bytes that it takes."""
        ...


V = TypeVar("V", bound=SizedTranslation)


class KnownTranslations(Generic[V]):
    """Translations by tenant and number of the list. Of a conversation that grows the newest two
    are kept: a client may go on from the last but one, with other words."""

    def __init__(self, most: int = BYTES) -> None:
        """`most`: bytes of all together."""
        self._rows: TenantRows[int, _Known[V]] = TenantRows(most, _size)

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes

    def get(self, tenant: str, number: int) -> V | None:
        known = self._rows.get((tenant, number))
        return None if known is None else known.value

    def put(self, tenant: str, number: int, value: V, before: int | None = None) -> None:
        """`before`: the list that it grew from, or the same."""
        grew = None if before is None else self._rows.get((tenant, before))
        if grew is not None and before == number:
            before = grew.before
        elif grew is not None and grew.before is not None:
            self._rows.drop((tenant, grew.before))
        self._rows.put((tenant, number), _Known(value, before))

    def forget(self, tenant: str | None = None) -> None:
        """Forget the lists that a tenant posted; None: those of all."""
        self._rows.forget(tenant)


class _Known(NamedTuple, Generic[V]):
    value: V
    before: int | None


def _size(key: tuple[str, int], known: _Known[V]) -> int:
    return known.value.nbytes + len(key[0]) + 300
