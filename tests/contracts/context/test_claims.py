"""`Claims`: one contract, every back end."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from memtree.ports.context_store import IndexBatch, Receipt
from memtree.stores.stored_rows import ClaimRow
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
    over,
    version,
)

LEAVES = [leaf(number) for number in range(12)]
LOW = [over(LEAVES[at : at + 4]) for at in range(0, 12, 4)]
IDS = [node.id for node in LEAVES]
ONE, OTHER = "worker one", "worker two"


def batch(expires: float = 50.0) -> IndexBatch:
    """Addresses 0, 1, 2: each covers one node more of LOW."""
    covered = {address(n): frontier(LOW[: n + 1], 4 * n + 4) for n in range(3)}
    return IndexBatch((*LEAVES, *LOW), covered, expires)


class ClaimsContract(Backend):
    def claims(self, store, tenant=A):
        return self.rows(store, tenant)["claims"]

    async def test_who_comes_first_has_it(self, store):
        await store.commit(A, batch())
        assert await store.claim(A, IDS[:3], ONE, 10.0, 20.0) == set(IDS[:3])
        assert await store.claim(A, IDS[1:5], OTHER, 10.0, 20.0) == set(IDS[3:5])
        assert await store.claim(A, IDS[:5], "a third", 19.9, 30.0) == set()
        owners = {row.id: row.owner for row in self.claims(store)}
        assert owners == {**dict.fromkeys(IDS[:3], ONE), **dict.fromkeys(IDS[3:5], OTHER)}
        assert await store.check() == []

    async def test_only_stored_nodes_of_the_tenant(self, store):
        assert await store.claim(A, IDS[:2], ONE, 10.0, 20.0) == set()
        await store.commit(A, batch())
        strange = [leaf(99).id, b"", b"short"]
        assert await store.claim(A, [IDS[0], *strange, IDS[0]], ONE, 10.0, 20.0) == {IDS[0]}
        assert await store.claim(A, [], ONE, 10.0, 20.0) == set()
        assert await store.claim(B, IDS[:1], ONE, 10.0, 20.0) == set()
        await store.commit(B, batch())
        assert await store.claim(B, IDS[:1], OTHER, 10.0, 20.0) == set(IDS[:1])
        assert {row.id for row in self.claims(store)} == {IDS[0]}

    async def test_what_has_a_later_summary_is_left_out(self, store):
        await store.commit(A, batch())
        await store.put_summaries(A, {IDS[0]: version(1), LOW[0].id: version(3)})
        assert await store.claim(A, [*IDS[:2], LOW[0].id], ONE, 10.0, 20.0) == {IDS[1]}
        await store.put_summaries(A, {IDS[1]: version(1)})
        assert await store.claim(A, IDS[:3], ONE, 10.0, 20.0) == {IDS[2]}

    async def test_what_extraction_made_anew_can_be_claimed(self, store):
        await store.commit(A, batch())
        await store.put_summaries(A, {IDS[0]: version(-998)})
        assert await store.claim(A, IDS[:1], ONE, 10.0, 20.0) == {IDS[0]}

    async def test_extraction_made_anew_is_older_than_a_models_summary(self, store):
        await store.commit(A, batch())
        for number in (-998, -997):
            await store.put_summaries(A, {IDS[0]: version(number)})
        assert await store.newest_summaries(A, [IDS[0]]) == {IDS[0]: version(-997)}
        assert await store.summaries(A, [(IDS[0], -998)]) == {(IDS[0], -998): version(-998)}
        await store.put_summaries(A, {IDS[0]: version(1)})
        assert await store.newest_summaries(A, [IDS[0]]) == {IDS[0]: version(1)}
        assert await store.check() == []

    async def test_an_expired_claim_is_taken_over(self, store):
        await store.commit(A, batch())
        await store.claim(A, IDS[:2], ONE, 10.0, 20.0)
        assert await store.claim(A, IDS[:1], OTHER, 20.0, 25.0) == set(IDS[:1])
        assert await store.claim(A, IDS[:2], ONE, 21.0, 30.0) == {IDS[1]}
        assert self.claims(store) == {ClaimRow(IDS[0], OTHER, 25.0), ClaimRow(IDS[1], ONE, 30.0)}

    async def test_ones_own_claim_is_prolonged(self, store):
        await store.commit(A, batch())
        for now, until in ((10.0, 20.0), (15.0, 40.0), (16.0, 30.0)):
            assert await store.claim(A, IDS[:1], ONE, now, until) == {IDS[0]}
        assert self.claims(store) == {ClaimRow(IDS[0], ONE, 40.0)}
        assert await store.claim(A, IDS[:1], OTHER, 39.0, 50.0) == set()

    async def test_releasing(self, store):
        await store.commit(A, batch())
        await store.claim(A, IDS[:3], ONE, 10.0, 20.0)
        await store.claim(A, IDS[3:4], OTHER, 10.0, 20.0)
        await store.release(A, [*IDS[1:], leaf(99).id], ONE)
        await store.release(B, IDS, ONE)
        await store.release(A, [], ONE)
        assert {row.id for row in self.claims(store)} == {IDS[0], IDS[3]}
        assert await store.claim(A, IDS[:4], OTHER, 11.0, 20.0) == set(IDS[1:4])

    async def test_many_at_once(self, store):
        many = [leaf(number) for number in range(5000)]
        await store.commit(A, IndexBatch(tuple(many)))
        ids = [node.id for node in many]
        assert await store.claim(A, ids[:4500], ONE, 10.0, 20.0) == set(ids[:4500])
        assert await store.claim(A, ids, OTHER, 10.0, 20.0) == set(ids[4500:])
        await store.release(A, ids, ONE)
        assert await store.claim(A, ids, OTHER, 10.0, 20.0) == set(ids)

    # -- deletion --------------------------------------------------------------------------

    async def test_claims_go_with_their_nodes(self, store):
        await store.commit(A, batch())
        await store.claim(A, IDS, ONE, 10.0, 99.0)
        assert await store.forget(A, [address(2)]) == Receipt(addresses=1, nodes=5)
        assert {row.id for row in self.claims(store)} == set(IDS[:8])
        assert garbage(self.rows(store, A)) == []
        assert await store.sweep(60.0) == Receipt(addresses=2, nodes=10)
        assert not any(self.rows(store, A).values())
        assert await store.check() == []

    async def test_claims_go_with_the_tenant(self, store):
        for tenant in (A, B):
            await store.commit(tenant, batch())
            await store.claim(tenant, IDS, ONE, 10.0, 99.0)
        await store.forget(A, None)
        assert self.claims(store) == set()
        assert len(self.claims(store, B)) == len(IDS)
        assert await store.check() == []

    async def test_a_sweep_takes_expired_claims_alone(self, store):
        for tenant in (A, B):
            await store.commit(tenant, batch())
            await store.claim(tenant, IDS[:2], ONE, 10.0, 20.0)
            await store.claim(tenant, IDS[2:3], ONE, 10.0, 21.0)
        assert await store.sweep(20.0) == Receipt()
        for tenant in (A, B):
            assert self.claims(store, tenant) == {ClaimRow(IDS[2], ONE, 21.0)}
            assert len(self.rows(store, tenant)["nodes"]) == 15

    # -- the whole -------------------------------------------------------------------------

    async def test_each_node_has_one_winner(self, store):
        await store.commit(A, batch())
        await self.race([store] * 8)

    async def race(self, stores):
        """Owners that all want all nodes: each node is won once."""
        wanted = [*IDS, *(node.id for node in LOW)]

        async def grab(number: int, store) -> list[bytes]:
            won: list[bytes] = []
            for at in range(len(wanted)):  # one by one, each owner from another place
                node = wanted[(at + 5 * number) % len(wanted)]
                won += await store.claim(A, [node], f"owner {number}", 10.0, 20.0)
            return won

        taken = await asyncio.gather(*(grab(n, store) for n, store in enumerate(stores)))
        assert sorted(node for won in taken for node in won) == sorted(wanted)


class TestMemoryStore(OnMemory, ClaimsContract):
    pass


class TestPostgresStore(OnPostgres, ClaimsContract):
    pass


class TestSqliteStore(OnSqlite, ClaimsContract):
    async def test_each_node_has_one_winner_among_connections(self, store, tmp_path):
        await store.commit(A, batch())
        others = [self.open(tmp_path) for _ in range(3)]
        await self.race([store, *others])
        for other in others:
            await other.close()

    @pytest.mark.parametrize("addresses", [[address(n) for n in range(3)], None])
    async def test_no_byte_of_a_claim_is_left(self, store, tmp_path, addresses):
        await store.commit(A, batch())
        await store.claim(A, IDS, "the-owner", 10.0, 99.0)
        assert b"the-owner" in _files(tmp_path)
        await store.forget(A, addresses)
        content = _files(tmp_path)
        assert b"the-owner" not in content
        assert not any(node in content for node in IDS)


def _files(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in (folder / "new").iterdir())
