"""`Retention.keep_recipe`: one contract, every back end."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing

import pytest

from memtree.errors import StoreUnavailable
from memtree.ports.context_store import RECIPE_DAYS, IndexBatch, Receipt
from memtree.stores.context import retention
from tests.contracts.backends import (
    A,
    B,
    Backend,
    OnMemory,
    OnPostgres,
    OnSqlite,
    address,
    frontier,
    garbage,
    leaf,
)

LEAVES = [leaf(number) for number in range(4)]
COVERED = IndexBatch(tuple(LEAVES), {address(0): frontier(LEAVES, 4)}, 1e12)
RECIPE = "minilm/1"
NOTHING = Receipt()
DAY = 86_400.0


class RecipesContract(Backend):
    async def swept(self, store, days, *, keep=()):
        """Sweeps once on each of these days, as a process does that uses some recipes."""
        receipts = []
        for day in days:
            for recipe in keep:
                await store.keep_recipe(recipe, day * DAY)
            receipts.append(await store.sweep(day * DAY))
        return receipts

    async def vectored(self, store, *recipes, tenants=(A,)):
        for tenant in tenants:
            await store.commit(tenant, COVERED)
            for recipe in recipes:
                await store.put_vectors(tenant, recipe, {node.id: b"1234" for node in LEAVES[:3]})

    def recipes(self, store, tenant=A):
        return {row.recipe for row in self.rows(store, tenant)["vectors"]}

    async def test_a_day_counts_once_and_a_use_ends_the_count(self, store):
        """Whatever comes on the same day: a new recipe, or a process that begins to use an old
        one."""
        await self.vectored(store, "old")
        await self.swept(store, range(20_000, 20_000 + RECIPE_DAYS))
        await self.vectored(store, "new")
        assert await self.swept(store, [20_000 + RECIPE_DAYS - 1]) == [NOTHING]
        assert self.recipes(store) == {"old", "new"}
        await store.keep_recipe("old", (20_000 + RECIPE_DAYS - 1) * DAY)
        assert await self.swept(store, [20_000 + RECIPE_DAYS]) == [NOTHING]
        assert self.recipes(store) == {"old", "new"}

    async def test_vectors_that_nobody_uses_go_after_a_month(self, store):
        await self.vectored(store, "old", "new", tenants=(A, B))
        days = range(20_000, 20_000 + RECIPE_DAYS)
        assert await self.swept(store, days, keep=["new"]) == [NOTHING] * RECIPE_DAYS
        assert self.recipes(store) == {"old", "new"}
        last = [20_000 + RECIPE_DAYS]
        assert await self.swept(store, last, keep=["new"]) == [Receipt(vectors=6)]
        assert self.recipes(store) == self.recipes(store, B) == {"new"}
        assert await self.swept(store, range(20_100, 20_200), keep=["new"]) == [NOTHING] * 100
        assert self.recipes(store) == {"new"}
        assert await store.check() == []
        assert garbage(self.rows(store, A)) == garbage(self.rows(store, B)) == []

    async def test_what_comes_back_begins_anew(self, store):
        await self.vectored(store, "old")
        days = range(20_000, 20_000 + RECIPE_DAYS)
        assert not any(map(any, await self.swept(store, days)))
        assert any((await self.swept(store, [21_000]))[0])
        await self.vectored(store, "old")
        assert not any(map(any, await self.swept(store, [day + 2_000 for day in days])))
        assert self.recipes(store) == {"old"}

    async def test_whoever_uses_vectors_once_a_month_keeps_them(self, store):
        await self.vectored(store, RECIPE)
        for first in range(20_000, 20_000 + 5 * RECIPE_DAYS, RECIPE_DAYS):
            await store.keep_recipe(RECIPE, first * DAY)
            days = range(first, first + RECIPE_DAYS)
            assert await self.swept(store, days) == [NOTHING] * RECIPE_DAYS
        assert self.recipes(store) == {RECIPE}

    async def test_a_clock_that_jumps_makes_nothing_old(self, store):
        await self.vectored(store, RECIPE)
        await store.keep_recipe(RECIPE, 20_000 * DAY)
        for day in (20_000, 90_000, 3, 20_000, 40_000, 90_000, 20_001):
            # A process that sweeps every hour and uses another model
            assert await self.swept(store, [day] * 24, keep=["other"]) == [NOTHING] * 24
        assert self.recipes(store) == {RECIPE}
        jumps = [day for pair in zip(range(99), range(500, 599), strict=True) for day in pair]
        assert await self.swept(store, jumps, keep=[RECIPE]) == [NOTHING] * 198

    async def test_days_without_a_sweep_do_not_count(self, store):
        await self.vectored(store, RECIPE)
        await store.keep_recipe(RECIPE, 20_000 * DAY)
        assert await self.swept(store, range(20_700, 20_700 + 700 * 29, 700)) == [NOTHING] * 29
        assert self.recipes(store) == {RECIPE}

    async def test_a_recipe_without_vectors_is_no_matter(self, store):
        await store.keep_recipe("never", 20_000 * DAY)
        assert await self.swept(store, range(20_001, 20_040)) == [NOTHING] * 39
        await store.close()
        with pytest.raises(StoreUnavailable, match="closed"):
            await store.keep_recipe("never", 20_000 * DAY)

    async def unused_everywhere(self, store) -> int:
        """Let both tenants' vectors fall out of use, and return the day of it."""
        await self.vectored(store, "old", tenants=(A, B))
        day = 20_000 + RECIPE_DAYS
        await self.swept(store, range(20_000, day))
        await store.database.write(lambda sql: retention.count_recipes(sql, day))
        return day

    async def test_unused_vectors_are_dropped_tenant_by_tenant(self, store):
        """Each in a transaction that holds the lock of this tenant alone."""
        await self.unused_everywhere(store)
        assert await store.database.write(lambda sql: retention.drop_recipes(sql, A)) == 3
        assert self.recipes(store) == set()
        assert self.recipes(store, B) == {"old"}
        assert await store.database.read(retention.tenants_of_unused) == [B]

    async def test_a_recipe_is_remembered_while_its_vectors_stand(self, store):
        """A forgotten one would be counted from its first day again."""
        day = await self.unused_everywhere(store)
        await store.database.write(retention.forget_recipes)
        assert await store.sweep(day * DAY) == Receipt(vectors=6)

    async def test_keeping_beside_sweeping(self, store):
        """Vectors of a recipe that is in use are there throughout."""
        await self.vectored(store, RECIPE, "old", tenants=(A, B))

        async def use() -> None:
            for day in range(20_000, 20_060):
                await store.keep_recipe(RECIPE, day * DAY)
                await store.put_vectors(A, RECIPE, {LEAVES[day % 4].id: b"1234"})

        async def sweep() -> None:
            for day in range(20_000, 20_060):
                await store.keep_recipe(RECIPE, day * DAY)
                await store.sweep(day * DAY)

        await asyncio.gather(use(), sweep(), sweep())
        assert self.recipes(store) == self.recipes(store, B) == {RECIPE}
        assert await store.check() == []
        assert garbage(self.rows(store, A)) == garbage(self.rows(store, B)) == []


class TestMemoryStore(OnMemory, RecipesContract):
    pass


class TestPostgresStore(OnPostgres, RecipesContract):
    LONG = (
        "test_a_clock_that_jumps_makes_nothing_old",
        "test_whoever_uses_vectors_once_a_month_keeps_them",
    )


class TestSqliteStore(OnSqlite, RecipesContract):
    async def test_a_recipe_that_was_never_kept_begins_to_count(self, store, tmp_path):
        await self.vectored(store, RECIPE)
        await store.close()
        with closing(sqlite3.connect(tmp_path / "new" / "store.db")) as db, db:
            db.execute("DELETE FROM recipes")
        late = self.open(tmp_path)
        days = range(20_000, 20_000 + RECIPE_DAYS)
        assert await self.swept(late, days) == [NOTHING] * RECIPE_DAYS
        await late.close()
        again = self.open(tmp_path)
        assert await self.swept(again, [20_000 + RECIPE_DAYS]) == [Receipt(vectors=3)]
        await again.close()
