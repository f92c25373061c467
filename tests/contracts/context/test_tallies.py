"""`Tallies`: one contract, every back end."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing

from memtree.ports.context_store import TALLY_DAYS, IndexBatch, Receipt
from tests.contracts.backends import A, B, Backend, OnMemory, OnPostgres, OnSqlite, leaf

DAY = 20_000
NAME, OTHER = "summary.input_tokens", "summary.calls"


class TalliesContract(Backend):
    async def test_numbers_add_up(self, store):
        assert await store.tallies(A, 0, 10**6) == {}
        for amounts in ({NAME: 100, OTHER: 1}, {NAME: 50}, {NAME: -30, "new": 0}, {}):
            assert await store.add(A, DAY, amounts)
        assert await store.tallies(A, DAY, DAY) == {NAME: 120, OTHER: 1, "new": 0}
        assert await store.check() == []

    async def test_days_and_tenants_stand_apart(self, store):
        for day in range(DAY, DAY + 4):
            await store.add(A, day, {NAME: 10 ** (day - DAY)})
        await store.add(B, DAY + 1, {OTHER: 7})
        assert await store.tallies(A, DAY + 1, DAY + 2) == {NAME: 110}
        assert await store.tallies(B, DAY, DAY) == {}
        assert await store.tallies(A, DAY + 3, DAY) == {}
        assert await store.tallies(A, DAY, DAY + 1) == {NAME: 11}
        assert await store.tallies(B, DAY, DAY + 1) == {OTHER: 7}

    async def test_the_numbers_of_each_day(self, store):
        await store.add(A, DAY + 2, {"a.x": 4, "b.x": 9})
        await store.add(A, DAY, {"a.y": -1, "a.x": 1})
        await store.add(A, DAY + 2, {"a.x": 1})
        await store.add(A, DAY + 1, {"b.x": 1, "A.x": 1, "a%x": 1, "a_x": 1})
        await store.add(B, DAY, {"a.x": 50})
        found = await store.daily(A, DAY - 5, DAY + 5, "a.")
        assert found == {DAY: {"a.x": 1, "a.y": -1}, DAY + 2: {"a.x": 5}}
        assert list(found) == [DAY, DAY + 2]
        assert await store.daily(A, DAY + 1, DAY + 1, "a%") == {DAY + 1: {"a%x": 1}}
        assert await store.daily(A, DAY, DAY, "") == {DAY: {"a.x": 1, "a.y": -1}}
        assert await store.daily(B, DAY + 1, DAY + 5, "a.") == {}
        assert await store.daily("nobody", DAY, DAY, "") == {}

    async def test_a_limit_is_reached_and_not_passed(self, store):
        limits = {NAME: 100}
        assert await store.add(A, DAY, {NAME: 60, OTHER: 1}, limits)
        assert not await store.add(A, DAY, {NAME: 41, OTHER: 1}, limits)
        assert await store.tallies(A, DAY, DAY) == {NAME: 60, OTHER: 1}
        assert await store.add(A, DAY, {NAME: 40, OTHER: 1}, limits)
        assert not await store.add(A, DAY, {NAME: 1}, limits)
        assert await store.add(A, DAY, {NAME: -10}, limits)
        assert await store.add(A, DAY, {NAME: 10}, limits)
        assert await store.tallies(A, DAY, DAY) == {NAME: 100, OTHER: 2}

    async def test_limits_are_those_of_one_day_and_tenant(self, store):
        limits = {NAME: 10}
        assert await store.add(A, DAY, {NAME: 10}, limits)
        assert await store.add(A, DAY + 1, {NAME: 10}, limits)
        assert await store.add(B, DAY, {NAME: 10}, limits)
        assert not await store.add(B, DAY, {NAME: 1}, limits)

    async def test_every_limit_counts(self, store):
        limits = {NAME: 10, OTHER: 3}
        await store.add(A, DAY, {NAME: 10, OTHER: 4})
        assert not await store.add(A, DAY, {"third": 1}, limits)
        await store.add(A, DAY, {OTHER: -1})
        assert await store.add(A, DAY, {"third": 1}, limits)
        assert not await store.add(B, DAY, {NAME: 1}, {NAME: 0})
        assert await store.tallies(B, DAY, DAY) == {}

    async def test_large_numbers(self, store):
        await store.add(A, DAY, {NAME: 2**53})
        await store.add(A, DAY, {NAME: 1})
        assert await store.tallies(A, DAY, DAY) == {NAME: 2**53 + 1}

    async def test_a_deletion_leaves_them(self, store):
        await store.commit(A, IndexBatch((leaf(0),)))
        await store.add(A, DAY, {NAME: 100}, {NAME: 100})
        await store.forget(A, None)
        assert await store.tallies(A, DAY, DAY) == {NAME: 100}
        assert not await store.add(A, DAY, {NAME: 1}, {NAME: 100})
        assert await store.check() == []

    async def test_a_sweep_takes_the_old_ones(self, store):
        for day in (DAY - 1, DAY, DAY + TALLY_DAYS):
            await store.add(A, day, {NAME: 1})
        await store.add(B, DAY - 400, {NAME: 1})
        assert await store.sweep((DAY + TALLY_DAYS) * 86_400 - 1.0) == Receipt()
        assert await store.tallies(A, 0, 10**6) == {NAME: 3}
        assert await store.sweep((DAY + TALLY_DAYS) * 86_400.0) == Receipt()
        assert await store.tallies(A, 0, 10**6) == {NAME: 2}
        assert await store.tallies(A, 0, DAY - 1) == await store.tallies(B, 0, DAY - 1) == {}

    async def test_a_limit_holds_among_many(self, store):
        await self.crowd([store] * 6)

    async def crowd(self, stores):
        """Adders that together would pass the limit by far."""

        async def add(store) -> int:
            limits = {NAME: 100}
            return 7 * sum([await store.add(A, DAY, {NAME: 7}, limits) for _ in range(10)])

        added = await asyncio.gather(*map(add, stores))
        assert sum(added) == 98
        assert await stores[0].tallies(A, DAY, DAY) == {NAME: 98}


class TestMemoryStore(OnMemory, TalliesContract):
    pass


class DurableContract(TalliesContract):
    """Promises that several stores on one file or schema keep."""

    async def test_a_limit_holds_among_connections(self, store, tmp_path):
        others = [self.open(tmp_path) for _ in range(3)]
        await self.crowd([store, *others, store, others[0]])
        for other in others:
            await other.close()

    async def test_they_are_there_after_a_restart(self, store, tmp_path):
        await store.add(A, DAY, {NAME: 5})
        await store.close()
        second = self.open(tmp_path)
        assert await second.tallies(A, DAY, DAY) == {NAME: 5}
        await second.close()


class TestPostgresStore(OnPostgres, DurableContract):
    pass


class TestSqliteStore(OnSqlite, DurableContract):
    async def test_check_finds_damage(self, store):
        with closing(sqlite3.connect(store.database.path)) as db, db:
            db.execute("INSERT INTO tallies VALUES (?, ?, '', 'many')", (A, DAY))
        assert [line.rpartition(": ")[2] for line in await store.check()] == [
            "has no name",
            "'many' is no whole number of a day",
        ]
