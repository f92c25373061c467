"""`Retention` over dicts: chains and forgetting."""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import reduce

from memtree.budget.epoch import Epoch
from memtree.days import day_of
from memtree.ports.store import RECIPE_DAYS, Receipt
from memtree.stores.ram.claims import drop_stale
from memtree.stores.ram.conversations import note_gone
from memtree.stores.ram.database import RamPart, TenantData
from memtree.stores.references import (
    frontier_nodes,
    plan_nodes,
    plan_versions,
    relinked,
    superseded,
    unneeded,
)
from memtree.stores.rows import RecipeRow, added, read_epoch, read_frontier


class RamRetention(RamPart):
    """`Retention`."""

    async def chain(self, tenant: str, address: bytes, most: int | None = None) -> list[bytes]:
        addresses = self.database.read(tenant).addresses
        chain: dict[bytes, None] = {}
        while address in addresses and address not in chain and (most is None or len(chain) < most):
            chain[address] = None
            address = addresses[address].previous
        return list(chain)

    async def forget(
        self, tenant: str, addresses: Sequence[bytes] | None, *, dry_run: bool = False
    ) -> Receipt:
        self.database.require_open()
        tenants = self.database.tenants
        before = tenants.get(tenant)
        if addresses is None:
            receipt = tenants.pop(tenant, TenantData()).counts()
        else:
            receipt = self.database.delete(tenant, lambda data: _forget(data, set(addresses)))
        if dry_run and before is not None:
            tenants[tenant] = before
        return receipt

    async def sweep(self, now: float) -> Receipt:
        self.database.require_open()
        receipt = Receipt()
        for tenant, data in list(self.database.tenants.items()):
            if _expired(data, now):
                swept = self.database.delete(tenant, lambda data: _sweep(data, now))
                receipt = added(receipt, swept)
        drop_stale(self.database, now)
        return added(receipt, self._sweep_recipes(day_of(now)))

    async def keep_recipe(self, recipe: str, now: float) -> None:
        self.database.require_open()
        self.database.recipes[recipe] = RecipeRow(recipe, day_of(now))

    def _sweep_recipes(self, day: int) -> Receipt:
        tenants, recipes = self.database.tenants, self.database.recipes
        stored = {recipe for data in tenants.values() for recipe, _ in data.vectors}
        in_memories = self.database.memory_recipes()
        rows = [row.on(day) for row in recipes.values()]
        rows += [RecipeRow(recipe, day) for recipe in (stored | in_memories) - recipes.keys()]
        unused = {row.recipe for row in rows if row.idle >= RECIPE_DAYS}
        named = {row.recipe: row for row in rows if row.recipe not in unused - in_memories}
        self.database.recipes = named
        owners = list(tenants) if unused else []
        deleted = (
            self.database.delete(each, lambda data: _drop_vectors(data, unused)) for each in owners
        )
        return reduce(added, deleted, Receipt())


def _expired(data: TenantData, now: float) -> bool:
    addresses = any(row.expires < now for row in data.addresses.values())
    return addresses or any(row.expires < now for row in data.epochs.values())


def _sweep(data: TenantData, now: float) -> None:
    data.epochs = {at: row for at, row in data.epochs.items() if row.expires >= now}
    _forget(data, {at for at, row in data.addresses.items() if row.expires < now})
    for version in superseded(data.summaries, plan_versions(_plans(data))):
        del data.summaries[version]


def _drop_vectors(data: TenantData, recipes: Container[str]) -> None:
    data.vectors = {at: row for at, row in data.vectors.items() if row.recipe not in recipes}


def _forget(data: TenantData, addresses: set[bytes]) -> None:
    previous = {at: row.previous for at, row in data.addresses.items()}
    note_gone(data, previous, addresses)
    for address, link in relinked(previous, addresses).items():
        data.addresses[address] = data.addresses[address]._replace(previous=link)
    for address in addresses & data.addresses.keys():
        del data.addresses[address]
    data.turns = {
        at: row
        for at, row in data.turns.items()
        if row.address not in addresses and row.epoch in data.epochs
    }
    _collect(data)


def _collect(data: TenantData) -> None:
    """Drop whatever no address and no epoch needs."""
    used = {row.epoch for row in data.turns.values()}
    data.epochs = {at: row for at, row in data.epochs.items() if at in used}
    keys = {row.frontier for row in data.addresses.values()}
    data.frontiers = {at: row for at, row in data.frontiers.items() if at in keys}
    frontiers = (read_frontier(row.data) for row in data.frontiers.values())
    roots = {*frontier_nodes(frontiers), *plan_nodes(_plans(data))}
    dead = unneeded({at: row.children for at, row in data.nodes.items()}, roots)
    data.nodes = {at: row for at, row in data.nodes.items() if at not in dead}
    data.vectors = {at: row for at, row in data.vectors.items() if row.id in data.nodes}
    data.summaries = {at: row for at, row in data.summaries.items() if row.id in data.nodes}
    data.claims = {at: row for at, row in data.claims.items() if at in data.nodes}


def _plans(data: TenantData) -> list[Epoch]:
    return [read_epoch(row.data) for row in data.epochs.values()]
