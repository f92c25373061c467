"""Count deletions: a request that began before a deletion must not write deleted data again."""

from __future__ import annotations

from itertools import count

MAX_TENANTS = 10_000  # with remembered deletions


class Generations:
    """A number for each tenant that changes with every deletion."""

    def __init__(self) -> None:
        self._tenants: dict[str, int] = {}
        self._everybody = 0  # deletions of unknown tenants
        self._deletions = count(1)

    def of(self, tenant: str) -> int:
        return max(self._everybody, self._tenants.get(tenant, 0))

    def change(self, tenant: str | None) -> None:
        """Count a deletion of the tenant (None: of an unknown one)."""
        if tenant is None:
            self._everybody = next(self._deletions)
            self._tenants.clear()
            return
        self._tenants[tenant] = next(self._deletions)
        if len(self._tenants) > MAX_TENANTS:  # drop the oldest: no request is that old
            del self._tenants[next(iter(self._tenants))]
