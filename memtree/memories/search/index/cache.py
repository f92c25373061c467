"""Indexes kept between searches, bounded in bytes, with a share for each tenant.

When there are too many bytes, the tenant that holds most gives its least recently used index. So of
n tenants one that holds no more than its share, a n-th of all bytes, never loses an index to
others.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol


class CachedIndex(Protocol):
    @property
    def nbytes(self) -> int: ...


class OfTenant(Protocol):
    """Protocol of a key that names its tenant; it can be hashed."""

    @property
    def tenant(self) -> str: ...


Key = tuple[OfTenant, str]


class IndexCache:
    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.bytes = 0
        self._tenants: dict[str, OrderedDict[Key, CachedIndex]] = {}
        self._held: dict[str, int] = {}  # bytes by tenant

    def get(self, scope: OfTenant, recipe: str) -> CachedIndex | None:
        rows = self._tenants.get(scope.tenant)
        if rows is None or (scope, recipe) not in rows:
            return None
        rows.move_to_end((scope, recipe))
        return rows[scope, recipe]

    def put(self, scope: OfTenant, recipe: str, index: CachedIndex) -> None:
        """An index larger than the whole cache is not kept."""
        rows = self._tenants.setdefault(scope.tenant, OrderedDict())
        before = rows.pop((scope, recipe), None)
        rows[scope, recipe] = index
        self._count(scope.tenant, index.nbytes - (before.nbytes if before else 0))
        while self.bytes > self.most_bytes:
            self._evict(max(self._held, key=self._held.__getitem__))

    def forget(self, tenant: str) -> None:
        """Let go of all indexes of a tenant."""
        while tenant in self._tenants:
            self._evict(tenant)

    def _evict(self, tenant: str) -> None:
        rows = self._tenants[tenant]
        _, index = rows.popitem(last=False)
        self._count(tenant, -index.nbytes)
        if not rows:
            del self._tenants[tenant], self._held[tenant]

    def _count(self, tenant: str, more: int) -> None:
        self.bytes += more
        self._held[tenant] = self._held.get(tenant, 0) + more
