"""`KeyStore`: one contract, every back end."""

from __future__ import annotations

import asyncio
from time import time

import pytest

from memtree.errors import BadRequest
from memtree.ports.context_store import IndexBatch
from tests.contracts.backends import (
    Backend,
    OnMemory,
    OnPostgres,
    OnSqlite,
    address,
    frontier,
    leaf,
)

SECRET = "sk-a-value-that-must-not-be-found"


class KeyStoreContract(Backend):
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
        await store.add_key("two", ["2"])
        assert await store.tenant_of("1") != await store.tenant_of("2")

    async def test_a_label_names_one_key(self, store):
        first = await store.add_key("one", ["1"])
        with pytest.raises(BadRequest, match="one already"):
            await store.add_key("one", ["2"])
        assert await store.tenant_of("2") is None
        await store.revoke_key(first)
        assert await store.add_key("one", ["2"])

    async def test_one_of_many_gets_the_label(self, store):
        calls = [store.add_key("same", [str(n)]) for n in range(10)]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert sum(isinstance(outcome, BadRequest) for outcome in outcomes) == 9
        assert [row.label for row in await store.list_keys()] == ["same"]

    async def test_keys_are_listed_as_they_came(self, store):
        before = time()
        ids = [await store.add_key("one", ["1", "2", "2"]), await store.add_key("two", ["3"])]
        rows = await store.list_keys()
        shown = [(row.id, row.label, row.values) for row in rows]
        assert shown == [(ids[0], "one", 2), (ids[1], "two", 1)]
        assert before <= rows[0].created <= rows[1].created <= time()
        assert [row.tenant for row in rows] == [
            await store.tenant_of("1"),
            await store.tenant_of("3"),
        ]

    async def test_neither_id_nor_tenant_tells_of_the_value(self, store):
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

    # -- several values, one tenant ----------------------------------------------------------

    async def test_a_value_more_lets_in_as_the_same_tenant(self, store):
        key = await store.add_key("one", ["1"])
        await store.add_values(key, ["2", "1", "3"])
        assert {await store.tenant_of(value) for value in "123"} == {await store.tenant_of("1")}
        assert [row.values for row in await store.list_keys()] == [3]

    async def test_only_the_new_values_let_in(self, store):
        key = await store.add_key("one", ["1", "2"])
        tenant = await store.tenant_of("1")
        await store.add_key("two", ["4"])
        await store.add_values(key, ["2", "3"], only=True)
        assert await store.tenant_of("1") is None
        assert await store.tenant_of("2") == await store.tenant_of("3") == tenant
        assert await store.tenant_of("4")

    @pytest.mark.parametrize("only", [False, True])
    async def test_values_that_cannot_be_added_change_nothing(self, store, only):
        key = await store.add_key("one", ["1", "2"])
        await store.add_key("two", ["3"])
        for key_id, values in ((key, ["4", "3"]), ("key_unknown", ["4"]), (key, []), (key, [""])):
            with pytest.raises(BadRequest):
                await store.add_values(key_id, values, only=only)
        assert await store.tenant_of("4") is None
        assert await store.tenant_of("1") == await store.tenant_of("2")
        assert await store.tenant_of("3") not in (None, await store.tenant_of("1"))
        assert [row.values for row in await store.list_keys()] == [2, 1]

    async def test_a_removed_value_lets_nobody_in(self, store):
        key = await store.add_key("one", ["1", "2"])
        await store.remove_value(key, "1")
        assert await store.tenant_of("1") is None
        assert await store.tenant_of("2")

    async def test_what_is_no_value_of_the_key_and_its_last_one_stay(self, store):
        key = await store.add_key("one", ["1"])
        await store.add_key("two", ["2", "3"])
        for value, word in (("2", "does not have"), ("9", "does not have"), ("1", "only value")):
            with pytest.raises(BadRequest, match=word):
                await store.remove_value(key, value)
        with pytest.raises(BadRequest):
            await store.remove_value("key_unknown", "1")
        assert [row.values for row in await store.list_keys()] == [1, 2]

    async def test_a_key_for_a_tenant_that_is_there(self, store):
        first = await store.add_key("old", ["1"])
        tenant = await store.tenant_of("1")
        await store.revoke_key(first)
        await store.add_key("new", ["2"], tenant)
        await store.add_key("another", ["3"], tenant)
        assert await store.tenant_of("2") == await store.tenant_of("3") == tenant
        assert [row.tenant for row in await store.list_keys()] == [tenant, tenant]

    # -- whose memory --------------------------------------------------------------------------

    async def test_tenants_are_those_that_have_something(self, store):
        await store.add_key("one", ["1"])
        assert await store.tenants() == []
        leaves = [leaf(n) for n in range(3)]
        at = {address(1): frontier(leaves, 3)}
        await store.commit("b", IndexBatch(tuple(leaves), at, 70.5))
        await store.commit("A", IndexBatch(tuple(leaves[:1])))
        await store.commit("c", IndexBatch(tuple(leaves), at, 10.0))
        await store.forget("c", [address(1)])
        assert await store.tenants() == [("A", 0, 1, 0.0), ("b", 1, 3, 70.5)]

    async def test_keys_of_two_tenants_change_places(self, store):
        await store.add_key("one", ["1"], "a")
        await store.add_key("more", ["2"], "a")
        await store.add_key("two", ["3"], "b")
        await store.add_key("apart", ["4"], "c")
        await store.move_tenant("a", "b")
        assert [row.tenant for row in await store.list_keys()] == ["b", "b", "a", "c"]
        assert [await store.tenant_of(value) for value in "1234"] == ["b", "b", "a", "c"]
        await store.move_tenant("b", "a")
        assert [row.tenant for row in await store.list_keys()] == ["a", "a", "b", "c"]
        assert await store.aliases() == {}

    async def test_shared_memory_leaves_those_who_had_it(self, store):
        await store.add_key("one", ["1"], "a")
        await store.add_key("two", ["2"], "b")
        await store.move_tenant("a", "b", share=True)
        assert [row.tenant for row in await store.list_keys()] == ["a", "a"]
        assert await store.aliases() == {"b": "a"}

    async def test_bare_credentials_change_places(self, store):
        assert await store.aliases() == {}
        await store.move_tenant("t_a", "t_b")
        assert await store.aliases() == {"t_a": "t_b", "t_b": "t_a"}
        # What t_b reaches goes on to t_c: the memory that was made as t_a.
        await store.move_tenant("t_a", "t_c")
        assert await store.aliases() == {"t_a": "t_b", "t_b": "t_c", "t_c": "t_a"}
        # Rows t_b are reached by who names t_a; sharing those of t_a lets that one in there, too.
        await store.move_tenant("t_a", "t_b", share=True)
        assert await store.aliases() == {"t_b": "t_c", "t_c": "t_a"}

    async def test_moves_reach_keys_and_bare_credentials_alike(self, store):
        """Memory of a server without keys goes to a key, and comes back."""
        await store.add_key("one", ["1"], "k")
        await store.move_tenant("t_a", "k")
        assert await store.tenant_of("1") == "t_a"
        assert (await store.aliases())["t_a"] == "k"
        await store.move_tenant("t_a", "k")
        assert await store.tenant_of("1") == "k"
        assert await store.aliases() == {}

    async def test_two_moves_at_once_are_one_after_the_other(self, store):
        await store.add_key("one", ["1"], "a")
        await store.add_key("two", ["2"], "b")
        await asyncio.gather(*(store.move_tenant("a", "b") for _ in range(5)))
        assert [row.tenant for row in await store.list_keys()] == ["b", "a"]


class TestMemoryStore(OnMemory, KeyStoreContract):
    pass


class TestPostgresStore(OnPostgres, KeyStoreContract):
    pass


class TestSqliteStore(OnSqlite, KeyStoreContract):
    async def test_no_value_is_in_the_file(self, store, tmp_path):
        await store.add_key("laptop", [SECRET])
        content = b"".join(path.read_bytes() for path in (tmp_path / "new").iterdir())
        assert b"laptop" in content
        assert SECRET.encode() not in content

    async def test_another_store_on_the_file_knows_the_key(self, store, tmp_path):
        await store.add_key("laptop", [SECRET])
        second = self.open(tmp_path)
        assert await second.tenant_of(SECRET) == await store.tenant_of(SECRET)
        await second.close()
