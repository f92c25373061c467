"""`Retention`: one contract, every back end."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import msgspec
import pytest

from memtree.errors import NodesGone, StoreCorrupt, StoreUnavailable
from memtree.ports.context_store import IndexBatch, Receipt
from memtree.stores import SqliteStore
from memtree.stores.stored_rows import EpochRow, frontier_row
from memtree.tree.node import EMPTY, Node, Passage, Summary
from tests.contracts.backends import (
    A,
    B,
    Backend,
    OnMemory,
    OnPostgres,
    OnSqlite,
    address,
    epoch,
    frontier,
    garbage,
    leaf,
    over,
    turn,
    version,
)

LEAVES = [leaf(number) for number in range(18)]
LOW = [over(LEAVES[at : at + 4]) for at in range(0, 16, 4)]
TREE = (*LEAVES, *LOW)
KEY = b"key"
RECIPE = "minilm/1"
NOTHING = Receipt()


def growing(expires: float = 10.0) -> IndexBatch:
    """Addresses 0, 1, 2, 3: each covers one node more of LOW."""
    covered = {address(n): frontier(LOW[: n + 1], 4 * n + 4) for n in range(4)}
    return IndexBatch(TREE[:16] + TREE[18:], covered, expires)


async def put(store, at, of, *, tenant=A, expires=100.0, **options):
    return await store.put_turn(
        tenant, KEY, address(at), turn(of), epoch=of, expires=expires, **options
    )


class RetentionContract(Backend):
    async def sound(self, store, *tenants):
        assert await store.check() == []
        for tenant in tenants or (A,):
            assert garbage(self.rows(store, tenant)) == []

    def ids(self, store, table, tenant=A):
        return {row[0] for row in self.rows(store, tenant)[table]}

    # -- chain -----------------------------------------------------------------------------

    async def test_a_chain(self, store):
        await store.commit(A, growing())
        whole = [address(n) for n in (3, 2, 1, 0)]
        assert await store.chain(A, address(3)) == whole
        assert await store.chain(A, address(1)) == whole[2:]
        assert await store.chain(A, address(9)) == []
        assert await store.chain(B, address(3)) == []
        for most in (1, 2, 4, 9):
            assert await store.chain(A, address(3), most) == whole[:most]

    async def test_chains_that_branch(self, store):
        await store.commit(A, growing())
        branch = IndexBatch((), {address(n): EMPTY for n in (10, 11)}, 10.0, address(1))
        await store.commit(A, branch)
        assert await store.chain(A, address(11)) == [address(n) for n in (11, 10, 1, 0)]
        assert await store.chain(A, address(3)) == [address(n) for n in (3, 2, 1, 0)]

    async def test_a_long_chain(self, store):
        await store.commit(A, IndexBatch((), {address(n): EMPTY for n in range(6000)}))
        found = await store.chain(A, address(5999))
        assert found == [address(n) for n in reversed(range(6000))]

    async def test_a_chain_closes_over_what_is_forgotten(self, store):
        await store.commit(A, growing())
        branch = IndexBatch((), {address(10): EMPTY}, 10.0, address(2))
        await store.commit(A, branch)
        await store.forget(A, [address(1), address(2)])
        assert await store.chain(A, address(3)) == [address(3), address(0)]
        assert await store.chain(A, address(10)) == [address(10), address(0)]
        await store.forget(A, [address(0)])
        assert await store.chain(A, address(3)) == [address(3)]
        await self.sound(store)

    # -- forget ----------------------------------------------------------------------------

    @pytest.mark.parametrize("addresses", [[address(3)], [address(0), address(3)], None])
    async def test_a_dry_run_counts_what_would_go_and_deletes_nothing(self, store, addresses):
        await store.commit(A, growing())
        await put(store, 3, epoch(1))
        before = self.rows(store, A)
        counted = await store.forget(A, addresses, dry_run=True)
        assert self.rows(store, A) == before
        assert counted == await store.forget(A, addresses)
        assert counted.addresses > 0
        assert await store.forget(B, addresses, dry_run=True) == NOTHING

    async def test_forgetting_the_unknown(self, store):
        for addresses in ([], [address(0)], None):
            assert await store.forget(A, addresses) == NOTHING
        await store.commit(A, growing())
        before = self.rows(store, A)
        assert await store.forget(A, [address(99)]) == NOTHING
        assert await store.forget(A, []) == NOTHING
        assert await store.forget(B, [address(0)]) == NOTHING
        assert self.rows(store, A) == before

    async def test_what_another_address_needs_stays(self, store):
        await store.commit(A, growing())
        await store.put_vectors(A, RECIPE, {node.id: b"1234" for node in LEAVES})
        await store.put_vectors(A, "another", {LEAVES[15].id: b"1234"})
        await store.put_summaries(A, {LOW[3].id: version(1), LOW[2].id: version(1)})
        await store.put_summaries(A, {LOW[3].id: version(2)})
        assert await store.forget(A, [address(0), address(0)]) == Receipt(addresses=1)
        assert await store.forget(A, [address(3), address(99)]) == Receipt(
            addresses=1, nodes=5, vectors=5, summaries=2
        )
        assert self.ids(store, "nodes") == {node.id for node in (*LEAVES[:12], *LOW[:3])}
        assert len(self.rows(store, A)["frontiers"]) == 2
        await self.sound(store)

    async def test_a_shared_frontier_stays(self, store):
        whole = frontier(LOW, 16)
        await store.commit(
            A, IndexBatch(TREE[:16] + TREE[18:], {address(0): whole, address(1): whole})
        )
        assert await store.forget(A, [address(1)]) == Receipt(addresses=1)
        assert (await store.frontiers(A, [address(0)]))[address(0)].frontier == whole
        await self.sound(store)

    async def test_what_a_plan_names_stays_as_long_as_the_epoch(self, store):
        await store.commit(A, growing())
        await store.put_summaries(A, {LOW[3].id: version(1)})
        shown = epoch(1, (LOW[3].id, 1), LEAVES[0].id)
        await put(store, 50, shown)
        await store.forget(A, [address(n) for n in range(4)])
        assert self.ids(store, "nodes") == {node.id for node in (LEAVES[0], *LEAVES[12:16], LOW[3])}
        assert await store.summaries(A, [(LOW[3].id, 1)]) == {(LOW[3].id, 1): version(1)}
        await self.sound(store)
        assert await store.forget(A, [address(50)]) == Receipt(
            nodes=6, summaries=1, epochs=1, turns=1
        )
        assert not any(self.rows(store, A).values())

    async def test_an_epoch_goes_with_its_last_turn(self, store):
        one, two = epoch(1), epoch(2)
        for at, of in ((1, one), (2, one), (3, two)):
            await put(store, at, of)
        await store.put_turn(A, b"other", address(2), turn(one), expires=1.0)
        assert await store.forget(A, [address(2)]) == Receipt(turns=2)
        assert self.ids(store, "epochs") == {one.id, two.id}
        assert await store.forget(A, [address(1)]) == Receipt(turns=1, epochs=1)
        assert self.ids(store, "epochs") == {two.id}
        assert await store.latest(A, KEY, [address(1), address(2)]) is None
        await self.sound(store)

    async def test_an_epoch_that_was_replaced_goes(self, store):
        one, two = epoch(1, LEAVES[0].id), epoch(2)
        await put(store, 1, one, nodes=LEAVES[:1])
        await put(store, 1, two, instead_of=one.id)
        assert await store.forget(A, []) == Receipt(epochs=1, nodes=1)
        assert self.ids(store, "epochs") == {two.id}

    async def test_forgetting_all_of_a_tenant(self, store):
        for tenant in (A, B):
            await store.commit(tenant, growing())
            await store.put_vectors(tenant, RECIPE, {LEAVES[0].id: b"1234"})
            await store.put_summaries(tenant, {LOW[0].id: version(1)})
            await put(store, 50, epoch(1, LOW[0].id), tenant=tenant)
        key = await store.add_key("label", ["value"])
        others = self.rows(store, B)
        receipt = await store.forget(A, None)
        assert receipt == Receipt(4, 20, 1, 1, 1, 1)
        assert not any(self.rows(store, A).values())
        assert self.rows(store, B) == others
        assert [row.id for row in await store.list_keys()] == [key]
        assert await store.forget(A, None) == NOTHING
        await store.commit(A, growing())
        await self.sound(store, A, B)

    async def test_a_damaged_tenant_can_be_forgotten_whole(self, store):
        await store.commit(A, growing())
        self.plant(store, A, "epochs", EpochRow(b"?" * 16, b"\xc1", 1.0))
        key = frontier_row(frontier(LOW[:1], 4)).key
        self.plant(store, A, "frontiers", frontier_row(EMPTY)._replace(key=key, data=b"\xc1"))
        before = self.rows(store, A)
        with pytest.raises(StoreCorrupt, match="memtree check"):
            await store.forget(A, [address(3)])
        assert self.rows(store, A) == before
        assert (await store.forget(A, None)).addresses == 4
        assert await store.check() == []

    async def test_tenants_share_nothing(self, store):
        await store.commit(A, growing())
        await store.commit(B, growing())
        others = self.rows(store, B)
        await store.forget(A, [address(n) for n in range(4)])
        assert self.rows(store, B) == others
        assert not any(self.rows(store, A).values())

    async def test_nodes_that_were_read_before_are_not_named_after(self, store):
        await store.commit(A, growing())
        read = await store.nodes(A, [node.id for node in LOW])
        await store.forget(A, [address(n) for n in range(4)])
        late = IndexBatch((), {address(9): frontier(list(read.values()), 16)})
        with pytest.raises(NodesGone):
            await store.commit(A, late)
        with pytest.raises(NodesGone):
            await put(store, 9, epoch(1, LOW[0].id))
        await store.put_vectors(A, RECIPE, {LEAVES[0].id: b"1234"})
        await store.put_summaries(A, {LOW[0].id: version(1)})
        assert not any(self.rows(store, A).values())
        await store.commit(A, growing())
        await store.commit(A, late)
        await self.sound(store)

    # -- sweep -----------------------------------------------------------------------------

    async def test_nothing_expired(self, store):
        assert await store.sweep(10.0) == NOTHING
        await store.commit(A, growing(10.0))
        await put(store, 1, epoch(1), expires=10.0)
        await store.put_summaries(A, {LOW[0].id: version(1)})
        await store.put_summaries(A, {LOW[0].id: version(2)})
        before = self.rows(store, A)
        assert await store.sweep(10.0) == NOTHING
        assert self.rows(store, A) == before

    async def test_expired_addresses_go_with_their_turns(self, store):
        await store.commit(A, growing(10.0))
        await store.renew(A, [address(1)], 20.0)
        for at in (0, 1, 50):
            await put(store, at, epoch(at))
        assert await store.sweep(15.0) == Receipt(addresses=3, nodes=10, turns=1, epochs=1)
        assert self.ids(store, "addresses") == {address(1)}
        assert await store.chain(A, address(1)) == [address(1)]
        assert self.ids(store, "epochs") == {epoch(1).id, epoch(50).id}
        await self.sound(store)

    async def test_expired_epochs_go_with_their_turns(self, store):
        await store.commit(A, growing(100.0))
        lasting, ended = epoch(1), epoch(2, LEAVES[17].id)
        await put(store, 1, lasting, expires=100.0)
        await put(store, 2, ended, expires=10.0, nodes=LEAVES[17:])
        await put(store, 3, ended, expires=11.0, nodes=LEAVES[17:])
        assert await store.sweep(11.0) == NOTHING
        assert await store.sweep(12.0) == Receipt(nodes=1, epochs=1, turns=2)
        assert self.ids(store, "epochs") == {lasting.id}
        await self.sound(store)

    async def test_the_newest_summary_and_the_named_ones_are_kept(self, store):
        await store.commit(A, growing(100.0))
        for number in (1, 2, 3, 4):
            await store.put_summaries(A, dict.fromkeys([LOW[0].id, LOW[1].id], version(number)))
        await store.put_summaries(A, {LOW[2].id: version(1)})
        await put(store, 1, epoch(1, (LOW[0].id, 2), (LOW[1].id, 4)), expires=100.0)
        await put(store, 2, epoch(2, (LOW[0].id, 1)), expires=10.0)
        assert await store.forget(A, [address(77)]) == NOTHING
        assert await store.sweep(20.0) == Receipt(summaries=5, epochs=1, turns=1)
        versions = {(row.id, row.version) for row in self.rows(store, A)["summaries"]}
        assert versions == {(LOW[0].id, 2), (LOW[0].id, 4), (LOW[1].id, 4), (LOW[2].id, 1)}
        await self.sound(store)

    async def test_the_newest_extraction_made_anew_is_kept(self, store):
        await store.commit(A, growing(100.0))
        for number in (-998, -997):
            await store.put_summaries(A, dict.fromkeys([LOW[0].id, LOW[1].id], version(number)))
        await store.put_summaries(A, {LOW[1].id: version(1)})
        await put(store, 1, epoch(1, (LOW[0].id, -998)), expires=10.0)
        assert await store.sweep(20.0) == Receipt(summaries=3, epochs=1, turns=1)
        versions = {(row.id, row.version) for row in self.rows(store, A)["summaries"]}
        assert versions == {(LOW[0].id, -997), (LOW[1].id, 1)}
        await self.sound(store)

    async def test_a_sweep_goes_over_all_tenants(self, store):
        await store.commit(A, growing(10.0))
        await store.commit(B, growing(10.0))
        await store.commit("c", growing(50.0))
        assert await store.sweep(20.0) == Receipt(addresses=8, nodes=40)
        assert len(self.rows(store, "c")["addresses"]) == 4

    async def test_what_was_swept_can_come_again(self, store):
        await store.commit(A, growing(10.0))
        await store.sweep(20.0)
        await store.commit(A, growing(30.0))
        assert (await store.stats()).nodes == 20
        await self.sound(store)

    async def test_deleting_beside_writing(self, store):
        """Whoever writes is told `NodesGone` or has it all; the store is sound throughout."""

        async def write(task: int) -> None:
            for n in range(10):
                nodes = LEAVES[4 * (n % 4) : 4 * (n % 4) + 4]
                covered = frontier([LOW[n % 4]], 4)
                with_nodes = (*nodes, LOW[n % 4]) if n % 3 else ()
                try:
                    await store.commit(
                        A, IndexBatch(with_nodes, {address(100 * task + n): covered})
                    )
                    await put(store, n, epoch(100 * task + n, LOW[n % 4].id))
                except NodesGone:
                    pass

        async def delete() -> None:
            for n in range(10):
                await store.forget(A, [address(100 * task + n) for task in range(4)])
                await store.sweep(1.0)

        await asyncio.gather(*(write(task) for task in range(4)), delete())
        assert await store.check() == []


class TestMemoryStore(OnMemory, RetentionContract):
    pass


class TestPostgresStore(OnPostgres, RetentionContract):
    pass


class TestSqliteStore(OnSqlite, RetentionContract):
    async def test_another_process_is_told_that_nodes_are_gone(self, store, tmp_path):
        second = self.open(tmp_path)
        await store.commit(A, growing())
        read = await second.nodes(A, [node.id for node in LOW])
        await store.forget(A, None)
        with pytest.raises(NodesGone):
            await second.commit(A, IndexBatch((), {address(9): frontier(list(read.values()), 16)}))
        assert not any(self.rows(store, A).values())
        await second.close()

    async def test_no_tenant_is_left_of_one_that_was_forgotten(self, store, tmp_path):
        await store.commit(A, growing())
        await store.forget(A, None)
        content = b"".join(path.read_bytes() for path in (tmp_path / "new").iterdir())
        assert A.encode() not in content

    async def test_a_reader_in_another_process_holds_up_the_scrubbing_only(self, tmp_path):
        path = tmp_path / "store.db"
        store = SqliteStore(path, busy_timeout=0.3)  # so long that an outage would be believed
        await store.commit(A, growing())
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN")
            other.execute("SELECT count(*) FROM nodes").fetchone()
            with pytest.raises(StoreUnavailable, match=r"is deleted, but .* still in"):
                await store.forget(A, None)
            assert other.execute("SELECT count(*) FROM nodes").fetchone() == (20,)
            assert await store.nodes(A, [LOW[0].id]) == {}
            other.execute("ROLLBACK")
        assert b"headline" in left(tmp_path)
        assert await store.sweep(0.0) == NOTHING
        assert b"headline" not in left(tmp_path)
        await store.close()

    @pytest.mark.parametrize(
        "seed", [1, *(pytest.param(n, marks=pytest.mark.long) for n in (2, 3))]
    )
    async def test_no_byte_is_left(self, tmp_path, seed):
        """Two tenants whose rows are mixed, thousands of them; a part of one tenant's goes."""
        store = SqliteStore(tmp_path / "store.db")
        random = Random(seed)
        doomed = []
        for n in range(200):
            if n % 3:
                doomed += await marked(store, random, A, b"-GONE-")
            else:
                await marked(store, random, A, b"-STAY-")
            await marked(store, random, B, b"-STAY-")
        before = {tenant: self.rows(store, tenant) for tenant in (A, B)}
        assert b"-GONE-" in left(tmp_path)
        random.shuffle(doomed)
        for at in range(0, len(doomed), 500):
            await store.forget(A, doomed[at : at + 500])
        assert not re.findall(rb".{20}-GONE-.{20}", left(tmp_path), re.DOTALL)
        assert self.rows(store, B) == before[B]
        stays = {
            table: {row for row in rows if not any(b"-GONE-" in part for part in blobs(row))}
            for table, rows in before[A].items()
        }
        after = self.rows(store, A)
        assert {**after, "addresses": unlinked(after)} == {**stays, "addresses": unlinked(stays)}
        assert await store.check() == []
        await store.forget(A, None)
        assert self.rows(store, B) == before[B]
        await store.close()


def left(folder: Path) -> bytes:
    """All that is in the store's files."""
    return b"".join(path.read_bytes() for path in folder.iterdir())


def blobs(row) -> list[bytes]:
    named = row._replace(previous=b"") if hasattr(row, "previous") else row
    return [each for each in named if isinstance(each, bytes)]


def unlinked(rows: dict[str, set]) -> set:
    return {row._replace(previous=b"") for row in rows["addresses"]}


async def marked(store: SqliteStore, random: Random, tenant: str, mark: bytes) -> list[bytes]:
    """Rows of every kind whose ids and contents hold the mark; returns their addresses."""

    def name(size: int) -> bytes:
        return random.randbytes(size - len(mark)) + mark

    def summary(number: int = 0) -> Summary:
        body = f"{mark.decode()} body " * random.randrange(200)
        return Summary(f"{mark.decode()} headline", body, (mark.decode(),), number)

    passages = (Passage(0, 0, 9, 3, 0),)
    leaves = [
        Node(name(16), 0, 300, 1, 0, summary(), passages=passages)
        for _ in range(random.randint(4, 9))
    ]
    top = msgspec.structs.replace(over(leaves), id=name(16), summary=summary())
    covered = {name(32): frontier(leaves[:n], n) for n in range(1, len(leaves))}
    covered[name(32)] = frontier([top], len(leaves))
    await store.commit(tenant, IndexBatch((*leaves, top), covered, 5.0))
    vectors = {node.id: mark + random.randbytes(random.randrange(3000)) for node in leaves}
    await store.put_vectors(tenant, RECIPE, vectors)
    await store.put_summaries(tenant, {node.id: summary(1) for node in leaves})
    shown = epoch(0, *((node.id, 1) for node in leaves))
    shown = msgspec.structs.replace(shown, id=name(16))
    addresses = list(covered)
    for at in addresses[:2]:
        await store.put_turn(tenant, name(8), at, turn(shown), epoch=shown, expires=5.0)
    return addresses
