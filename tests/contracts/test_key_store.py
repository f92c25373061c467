"""`KeyStore`: one contract, every back end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path

import pytest

from memtree.errors import BadRequest
from memtree.stores import RamStore, SqliteStore
from memtree.stores.postgres import PostgresStore
from tests.postgres import drop_schema, store_url

Store = SqliteStore | RamStore | PostgresStore
SECRET = "sk-a-value-that-must-not-be-found"


@pytest.fixture
def ticks() -> Iterator[float]:
    return count(1000.0)


class KeyStoreContract:
    @pytest.fixture
    async def store(self, tmp_path: Path, ticks: Iterator[float]) -> AsyncIterator[Store]:
        store = self.open(tmp_path, ticks)
        yield store
        await store.close()

    def open(self, folder: Path, ticks: Iterator[float]) -> Store:
        raise NotImplementedError

    async def test_no_keys_at_first(self, store):
        assert not await store.has_keys()
        assert await store.list_keys() == []
        assert await store.tenant_of(SECRET) is None
        assert not await store.revoke_key("key_unknown")

    async def test_all_values_of_a_key_are_one_tenant(self, store):
        await store.add_key("laptop", [SECRET, "session=é"])
        tenant = await store.tenant_of(SECRET)
        assert tenant
        assert await store.tenant_of("session=é") == tenant
        assert await store.tenant_of(SECRET + " ") is None
        assert await store.has_keys()

    async def test_keys_have_tenants_of_their_own(self, store):
        await store.add_key("one", ["1"])
        await store.add_key("one", ["2"])
        assert await store.tenant_of("1") != await store.tenant_of("2")

    async def test_keys_are_listed_as_they_came(self, store):
        first = await store.add_key("one", ["1", "2", "2"])
        second = await store.add_key("two", ["3"])
        rows = await store.list_keys()
        assert [(row.id, row.label, row.values, row.created) for row in rows] == [
            (first, "one", 2, 1000.0),
            (second, "two", 1, 1001.0),
        ]
        assert [row.tenant for row in rows] == [
            await store.tenant_of("1"),
            await store.tenant_of("3"),
        ]

    async def test_neither_id_nor_tenant_tells_of_the_value(self, store, tmp_path, ticks):
        first = await store.add_key("one", [SECRET])
        tenant = await store.tenant_of(SECRET)
        await store.revoke_key(first)
        assert await store.add_key("one", [SECRET]) != first
        assert await store.tenant_of(SECRET) != tenant

    async def test_a_taken_value_is_refused_and_nothing_of_the_key_is_kept(self, store):
        await store.add_key("one", ["1"])
        with pytest.raises(BadRequest) as caught:
            await store.add_key("two", ["2", "1"])
        assert caught.value.param == "values"
        assert await store.tenant_of("2") is None
        assert len(await store.list_keys()) == 1

    @pytest.mark.parametrize("values", [[], [""], ["1", ""], "1"])
    async def test_a_key_needs_values(self, store, values):
        with pytest.raises(BadRequest):
            await store.add_key("one", values)
        assert not await store.has_keys()

    async def test_a_revoked_key_lets_nobody_in(self, store):
        first = await store.add_key("one", ["1", "2"])
        await store.add_key("two", ["3"])
        assert await store.revoke_key(first)
        assert not await store.revoke_key(first)
        assert await store.tenant_of("1") is None
        assert await store.tenant_of("2") is None
        assert await store.tenant_of("3")

    async def test_one_of_many_gets_the_value(self, store):
        calls = [store.add_key(str(n), ["same"]) for n in range(10)]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert sum(isinstance(outcome, str) for outcome in outcomes) == 1
        assert sum(isinstance(outcome, BadRequest) for outcome in outcomes) == 9

    async def test_a_header_that_is_no_text_is_only_unknown(self, store):
        assert await store.tenant_of("\udcff") is None


class TestMemoryStore(KeyStoreContract):
    def open(self, folder: Path, ticks: Iterator[float]) -> Store:
        return RamStore(now=lambda: next(ticks))


class TestPostgresStore(KeyStoreContract):
    @pytest.fixture
    async def store(self, tmp_path: Path, ticks: Iterator[float]) -> AsyncIterator[Store]:
        store = self.open(tmp_path, ticks)
        yield store
        await store.close()
        drop_schema(tmp_path)

    def open(self, folder: Path, ticks: Iterator[float]) -> Store:
        return PostgresStore(store_url(folder), now=lambda: next(ticks))


class TestSqliteStore(KeyStoreContract):
    def open(self, folder: Path, ticks: Iterator[float]) -> Store:
        return SqliteStore(folder / "store.db", now=lambda: next(ticks))

    async def test_no_value_is_in_the_file(self, store, tmp_path):
        await store.add_key("laptop", [SECRET])
        content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert b"laptop" in content
        assert SECRET.encode() not in content

    async def test_another_store_on_the_file_knows_the_key(self, store, tmp_path, ticks):
        await store.add_key("laptop", [SECRET])
        second = self.open(tmp_path, ticks)
        assert await second.tenant_of(SECRET) == await store.tenant_of(SECRET)
        await second.close()
