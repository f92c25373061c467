"""`Claims` and `Tallies` over dicts: who summarises which node, and numbers that add up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memtree.stores.ram.database import RamDatabase, RamPart
from memtree.stores.rows import ClaimRow, oldest_tally, within


class RamClaims(RamPart):
    """`Claims` and `Tallies`."""

    async def claim(
        self, tenant: str, ids: Sequence[bytes], owner: str, now: float, until: float
    ) -> set[bytes]:
        data = self.database.read(tenant)
        summarised = {node for node, version in data.summaries if version > 0}
        free = {
            node
            for node in ids
            if node in data.nodes
            and node not in summarised
            and not (node in data.claims and data.claims[node].bars(owner, now))
        }
        for node in free:
            standing = data.claims.get(node)
            own = standing.until if standing and standing.owner == owner else until
            data.claims[node] = ClaimRow(node, owner, max(own, until))
        return free

    async def release(self, tenant: str, ids: Sequence[bytes], owner: str) -> None:
        claims = self.database.read(tenant).claims
        for node in ids:
            if node in claims and claims[node].owner == owner:
                del claims[node]

    async def add(
        self,
        tenant: str,
        day: int,
        amounts: Mapping[str, int],
        limits: Mapping[str, int] | None = None,
    ) -> bool:
        self.database.require_open()
        stored = self.database.tallies.get((tenant, day), {})
        if not within(stored, amounts, limits or {}):
            return False
        sums = {name: stored.get(name, 0) + amount for name, amount in amounts.items()}
        self.database.tallies[tenant, day] = {**stored, **sums}
        return True

    async def tallies(self, tenant: str, first: int, last: int) -> dict[str, int]:
        return (await self.tallied(first, last)).get(tenant, {})

    async def daily(
        self, tenant: str, first: int, last: int, prefix: str
    ) -> dict[int, dict[str, int]]:
        self.database.require_open()
        found: dict[int, dict[str, int]] = {}
        for day in sorted(day for whose, day in self.database.tallies if whose == tenant):
            stored = self.database.tallies[tenant, day]
            amounts = {name: stored[name] for name in sorted(stored) if name.startswith(prefix)}
            if amounts and first <= day <= last:
                found[day] = amounts
        return found

    async def tallied(self, first: int, last: int) -> dict[str, dict[str, int]]:
        self.database.require_open()
        sums: dict[str, dict[str, int]] = {}
        for (tenant, day), amounts in self.database.tallies.items():
            for name, amount in amounts.items() if first <= day <= last else ():
                own = sums.setdefault(tenant, {})
                own[name] = own.get(name, 0) + amount
        return sums


def drop_stale(database: RamDatabase, now: float) -> None:
    """Claims that have ended, and tallies that nobody reads any more."""
    for data in database.tenants.values():
        data.claims = {at: row for at, row in data.claims.items() if row.until > now}
    kept = database.tallies.items()
    database.tallies = {at: row for at, row in kept if at[1] >= oldest_tally(now)}
