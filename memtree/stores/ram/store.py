"""The store in memory: the same behaviour as the SQLite one, gone with the process.

For tests and for `memtree compress` on a single file. Values are kept encoded, so both stores
give back equal values and know the same damage. What one tenant has is in `held`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import TypeVar

from memtree.budget.epoch import Epoch, EpochTurn
from memtree.days import day_of
from memtree.errors import StoreUnavailable
from memtree.ports.store import (
    RECIPE_DAYS,
    ContinuedTurn,
    IndexBatch,
    IndexedPrefix,
    KeyRow,
    Receipt,
    StoreStats,
)
from memtree.stores.access_keys import new_key, taken, value_hash, value_hashes
from memtree.stores.dump import TABLES, Page, Row, pages, problems
from memtree.stores.ram.tenant import MemorySnapshot, TenantData
from memtree.stores.rows import (
    NewTurn,
    RecipeRow,
    added,
    oldest_tally,
    read_frontier,
    read_node,
    read_summary,
    summary_rows,
    within,
)
from memtree.tree.node import Node, Summary

T = TypeVar("T")


class RamStore:
    """All ports of a store in dicts."""

    def __init__(self, *, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._tenants: dict[str, TenantData] = {}
        self._keys: dict[str, KeyRow] = {}
        self._values: dict[str, str] = {}  # hash of a value -> key id
        self._tallies: dict[tuple[str, int], dict[str, int]] = {}  # (tenant, day) -> amounts
        self._recipes: dict[str, RecipeRow] = {}
        self._closed = False

    # -- trees -------------------------------------------------------------------------------

    async def frontiers(
        self, tenant: str, addresses: Sequence[bytes]
    ) -> dict[bytes, IndexedPrefix]:
        held = self._read(tenant)
        known = (held.addresses[each] for each in addresses if each in held.addresses)
        return {
            row.address: IndexedPrefix(
                read_frontier(held.frontiers[row.frontier].data), row.expires
            )
            for row in known
        }

    async def nodes(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node]:
        rows = self._read(tenant).nodes
        return {each: read_node(rows[each].data) for each in ids if each in rows}

    async def descendants(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node]:
        held = self._read(tenant)
        return {row.id: read_node(row.data) for row in held.below(ids)}

    async def commit(self, tenant: str, batch: IndexBatch) -> None:
        if batch.nodes or batch.frontiers:
            self._write(tenant, lambda held: held.commit(batch))

    async def renew(self, tenant: str, addresses: Sequence[bytes], expires: float) -> None:
        self._read(tenant).renew(addresses, expires)

    async def vectors(self, tenant: str, recipe: str, ids: Sequence[bytes]) -> dict[bytes, bytes]:
        rows = self._read(tenant).vectors
        return {each: rows[recipe, each].data for each in ids if (recipe, each) in rows}

    async def put_vectors(self, tenant: str, recipe: str, rows: Mapping[bytes, bytes]) -> None:
        self._read(tenant).put_vectors(recipe, rows)

    async def newest_summaries(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Summary]:
        rows = self._read(tenant).summaries
        asked = set(ids)
        newest: dict[bytes, Summary] = {}
        for node, version in sorted(rows):
            if node in asked:
                newest[node] = read_summary(rows[node, version].data)
        return newest

    async def summaries(
        self, tenant: str, wanted: Sequence[tuple[bytes, int]]
    ) -> dict[tuple[bytes, int], Summary]:
        rows = self._read(tenant).summaries
        return {each: read_summary(rows[each].data) for each in wanted if each in rows}

    async def put_summaries(self, tenant: str, rows: Mapping[bytes, Summary]) -> None:
        self._read(tenant).put_summaries(summary_rows(rows))

    # -- plans -------------------------------------------------------------------------------

    async def latest(
        self, tenant: str, key: bytes, addresses: Sequence[bytes]
    ) -> ContinuedTurn | None:
        return self._read(tenant).latest(key, addresses)

    async def put_turn(
        self,
        tenant: str,
        key: bytes,
        address: bytes,
        turn: EpochTurn,
        *,
        epoch: Epoch | None = None,
        nodes: Sequence[Node] = (),
        instead_of: bytes = b"",
        expires: float,
    ) -> EpochTurn:
        new = NewTurn(key, address, turn, epoch, nodes, instead_of, expires)
        return self._write(tenant, lambda held: held.put_turn(new))

    # -- retention ---------------------------------------------------------------------------

    async def chain(self, tenant: str, address: bytes) -> list[bytes]:
        return self._read(tenant).chain(address)

    async def forget(self, tenant: str, addresses: Sequence[bytes] | None) -> Receipt:
        self._open()
        if addresses is None:
            return self._tenants.pop(tenant, TenantData()).counts()
        return self._delete(tenant, lambda held: held.forget(addresses))

    async def sweep(self, now: float) -> Receipt:
        self._open()
        receipt = Receipt()
        for tenant, held in list(self._tenants.items()):
            if held.expired(now):
                swept = self._delete(tenant, lambda held: held.sweep(now))
                receipt = added(receipt, swept)
        for held in self._tenants.values():
            held.drop_claims(now)
        kept = self._tallies.items()
        self._tallies = {at: row for at, row in kept if at[1] >= oldest_tally(now)}
        return added(receipt, self._sweep_recipes(day_of(now)))

    async def keep_recipe(self, recipe: str, now: float) -> None:
        self._open()
        self._recipes[recipe] = RecipeRow(recipe, day_of(now))

    def _sweep_recipes(self, day: int) -> Receipt:
        stored = {recipe for held in self._tenants.values() for recipe, _ in held.vectors}
        rows = [row.on(day) for row in self._recipes.values()]
        rows += [RecipeRow(recipe, day) for recipe in stored - self._recipes.keys()]
        unused = {row.recipe for row in rows if row.idle >= RECIPE_DAYS}
        self._recipes = {row.recipe: row for row in rows if row.recipe not in unused}
        tenants = list(self._tenants) if unused else []
        gone = (self._delete(each, lambda held: held.drop_vectors(unused)) for each in tenants)
        return reduce(added, gone, Receipt())

    # -- claims and tallies ------------------------------------------------------------------

    async def claim(
        self, tenant: str, ids: Sequence[bytes], owner: str, now: float, until: float
    ) -> set[bytes]:
        return self._read(tenant).claim(ids, owner, now, until)

    async def release(self, tenant: str, ids: Sequence[bytes], owner: str) -> None:
        self._read(tenant).release(ids, owner)

    async def add(
        self,
        tenant: str,
        day: int,
        amounts: Mapping[str, int],
        limits: Mapping[str, int] | None = None,
    ) -> bool:
        self._open()
        stored = self._tallies.get((tenant, day), {})
        if not within(stored, amounts, limits or {}):
            return False
        sums = {name: stored.get(name, 0) + amount for name, amount in amounts.items()}
        self._tallies[tenant, day] = {**stored, **sums}
        return True

    async def tallies(self, tenant: str, first: int, last: int) -> dict[str, int]:
        return (await self.tallied(first, last)).get(tenant, {})

    async def tallied(self, first: int, last: int) -> dict[str, dict[str, int]]:
        self._open()
        found: dict[str, dict[str, int]] = {}
        for (tenant, day), amounts in self._tallies.items():
            for name, amount in amounts.items() if first <= day <= last else ():
                sums = found.setdefault(tenant, {})
                sums[name] = sums.get(name, 0) + amount
        return found

    # -- the whole ---------------------------------------------------------------------------

    async def check(self) -> list[str]:
        self._open()
        return problems(self._snapshot())

    async def stats(self) -> StoreStats:
        self._open()
        every = self._tenants.values()
        nodes = sum(len(held.nodes) for held in every)
        leaves = sum(row.level == 0 for held in every for row in held.nodes.values())
        addresses = sum(len(held.addresses) for held in every)
        return StoreStats(nodes, leaves, addresses, sum(len(held.vectors) for held in every), 0)

    async def close(self) -> None:
        self._closed = True

    # -- copies ------------------------------------------------------------------------------

    async def pages(self) -> AsyncGenerator[Page, None]:
        self._open()
        for page in pages(self._snapshot()):
            yield page

    async def counts(self) -> dict[str, int]:
        self._open()
        snapshot = self._snapshot()
        tenants = snapshot.tenants()
        return {
            name: sum(len(snapshot.table(table, of)) for of in (tenants if table.owned else ("",)))
            for name, table in TABLES.items()
        }

    async def load(self, page: Page) -> None:
        if page.table.owned:
            self._write(page.tenant, lambda held: held.load(page))
            return
        self._open()
        for row in page.rows:
            self._load_shared(page.table.name, row)

    def _load_shared(self, table: str, row: Row) -> None:
        if table == "tallies":
            tenant, day, name, amount = row
            self._tallies.setdefault((tenant, day), {})[name] = amount
        elif table == "recipes":
            self._recipes[row[0]] = RecipeRow(*row)
        elif table == "keys":
            key, label, tenant, created = row
            self._keys.setdefault(key, KeyRow(key, label, tenant, 0, created))
        else:
            self._values.setdefault(*row)

    async def missing(self, page: Page) -> int:
        self._open()
        table = page.table
        here = {table.key_of(row): row for row in self._snapshot().table(table, page.tenant)}
        if table.changes:
            return sum(table.key_of(row) not in here for row in page.rows)
        return sum(here.get(table.key_of(row)) != tuple(row) for row in page.rows)

    def _snapshot(self) -> MemorySnapshot:
        tallies = [(*at, *each) for at, row in self._tallies.items() for each in row.items()]
        keys = [(key.id, key.label, key.tenant, key.created) for key in self._keys.values()]
        shared: dict[str, list[Row]] = {
            "tallies": tallies,
            "recipes": [*self._recipes.values()],
            "keys": keys,
            "key_values": [*self._values.items()],
        }
        return MemorySnapshot({name: held.copied() for name, held in self._tenants.items()}, shared)

    # -- keys --------------------------------------------------------------------------------

    async def tenant_of(self, credential: str) -> str | None:
        self._open()
        key = self._values.get(value_hash(credential))
        return self._keys[key].tenant if key else None

    async def has_keys(self) -> bool:
        self._open()
        return bool(self._keys)

    async def add_key(self, label: str, values: Sequence[str]) -> str:
        self._open()
        hashes = value_hashes(values)
        if not self._values.keys().isdisjoint(hashes):
            raise taken()
        key = new_key(label, len(hashes), self._now())
        self._keys[key.id] = key
        self._values.update(dict.fromkeys(hashes, key.id))
        return key.id

    async def list_keys(self) -> list[KeyRow]:
        self._open()
        counted = Counter(self._values.values())
        keys = (replace(key, values=counted[key.id]) for key in self._keys.values())
        return sorted(keys, key=lambda key: (key.created, key.id))

    async def revoke_key(self, key_id: str) -> bool:
        self._open()
        self._values = {value: key for value, key in self._values.items() if key != key_id}
        return self._keys.pop(key_id, None) is not None

    # ----------------------------------------------------------------------------------------

    def _open(self) -> None:
        if self._closed:
            raise StoreUnavailable("The store is closed.")

    def _read(self, tenant: str) -> TenantData:
        """A tenant that is not known has nothing, and what is put there is not kept."""
        self._open()
        return self._tenants.get(tenant) or TenantData()

    def _write(self, tenant: str, work: Callable[[TenantData], T]) -> T:
        """A tenant begins with its first write that succeeds."""
        held = self._read(tenant)
        result = work(held)
        self._tenants[tenant] = held
        return result

    def _delete(self, tenant: str, work: Callable[[TenantData], Receipt]) -> Receipt:
        """On a copy, which counts where it succeeds."""
        if tenant not in self._tenants:
            return Receipt()
        held = self._tenants[tenant].copied()
        receipt = work(held)
        self._tenants[tenant] = held
        return receipt
