"""Deletions, counted: a request that began before one must not write what it deleted."""

from __future__ import annotations

from itertools import count

MAX_TENANTS = 10_000  # whose deletions are remembered


class Generations:
    """A number for each tenant that changes with every deletion."""

    def __init__(self) -> None:
        self._tenants: dict[str, int] = {}
        self._everybody = 0  # of all tenants
        self._deletions = count(1)

    def of(self, tenant: str) -> int:
        return max(self._everybody, self._tenants.get(tenant, 0))

    def change(self, tenant: str) -> None:
        """Something of the tenant is deleted."""
        self._tenants[tenant] = next(self._deletions)
        if len(self._tenants) > MAX_TENANTS:  # the oldest: no request is that old
            del self._tenants[next(iter(self._tenants))]

    def change_all(self) -> None:
        """Something is deleted, of whom is not known."""
        self._everybody = next(self._deletions)
        self._tenants.clear()
