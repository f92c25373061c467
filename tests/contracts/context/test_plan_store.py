"""`PlanStore`: one contract, every back end."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from memtree.errors import NodesGone, StoreCorrupt
from memtree.ports.context_store import IndexBatch
from memtree.stores.stored_rows import EpochRow, TurnRow, epoch_row, turn_row
from memtree.text.memory_lines import MemoryVersion
from memtree.unfolding.memory_plan import TextSpan
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
    leaf,
    over,
    turn,
    version,
)

LEAVES = [leaf(number) for number in range(6)]
TOP = over(LEAVES[:4])
TREE = (*LEAVES, TOP)
BATCH = IndexBatch(TREE, {address(0): frontier([TOP, *LEAVES[4:]], 6)}, 10.0)
KEY, OTHER_KEY = b"key", b"\0another key"
ONE, TWO = epoch(1, TOP.id, LEAVES[4].id), epoch(2)
BLOCK = TextSpan(3, 10, 20)


def put(store, at, new, *, tenant=A, key=KEY, expires=100.0, **options):
    return store.put_turn(tenant, key, address(at), new, expires=expires, **options)


class PlanStoreContract(Backend):
    def expiry(self, store, of=ONE):
        return {row.id: row.expires for row in self.rows(store, A)["epochs"]}[of.id]

    # -- latest ----------------------------------------------------------------------------

    async def test_nothing_at_first(self, store):
        assert await store.latest(A, KEY, []) is None
        assert await store.latest(A, KEY, [address(0), b""]) is None

    async def test_gives_back_what_was_put(self, store):
        await store.commit(A, BATCH)
        new = turn(ONE, BLOCK)
        assert await put(store, 1, new, epoch=ONE) == new
        found = await store.latest(A, KEY, [address(2), address(1), address(0)])
        assert found.address == address(1)
        assert (found.turn, found.epoch) == (new, ONE)
        assert found.blocks == {address(1): new}
        assert await store.check() == []

    async def test_the_first_address_counts(self, store):
        await put(store, 1, turn(TWO, used=1.0), epoch=TWO)
        await put(store, 2, turn(TWO, used=2.0))
        for asked, met in (([1, 2], 1), ([2, 1], 2), ([5, 2, 1], 2), ([4, 5, 1], 1)):
            found = await store.latest(A, KEY, [address(n) for n in asked])
            assert (found.address, found.turn.used) == (address(met), float(met))

    async def test_some_thousand_addresses(self, store):
        await put(store, 1, turn(TWO), epoch=TWO)
        await put(store, 2, turn(TWO, used=2.0))
        far = [address(n) for n in range(10, 5010)]
        assert await store.latest(A, KEY, far) is None
        found = await store.latest(A, KEY, [*far, address(2), address(1)])
        assert (found.address, found.turn.used) == (address(2), 2.0)
        found = await store.latest(A, KEY, [*far[:80], address(1), *far, address(2)])
        assert found.address == address(1)

    async def test_all_blocks_of_the_epoch_come_along(self, store):
        new = {n: turn(TWO, *[BLOCK] * (n % 2), used=float(n)) for n in range(5)}
        for at, each in new.items():
            await put(store, at, each, epoch=TWO)
        three = epoch(3)
        await put(store, 9, turn(three, BLOCK), epoch=three)
        found = await store.latest(A, KEY, [address(2)])
        assert found.turn == new[2]
        assert found.blocks == {address(1): new[1], address(3): new[3]}

    async def test_a_block_of_memories_alone_is_one(self, store):
        shown = (MemoryVersion("mem_a", 1), MemoryVersion("mem_b", 3))
        begun = msgspec.structs.replace(TWO, memories=shown[:1])
        new = msgspec.structs.replace(turn(TWO), memories=shown[1:])
        await put(store, 1, new, epoch=begun)
        await put(store, 2, turn(TWO))
        found = await store.latest(A, KEY, [address(2)])
        assert found.epoch == begun
        assert found.blocks == {address(1): new}

    async def test_keys_are_apart(self, store):
        await put(store, 1, turn(TWO), epoch=TWO)
        assert await store.latest(A, OTHER_KEY, [address(1)]) is None
        three = epoch(3)
        await put(store, 1, turn(three, BLOCK), key=OTHER_KEY, epoch=three)
        assert (await store.latest(A, KEY, [address(1)])).epoch == TWO
        assert (await store.latest(A, OTHER_KEY, [address(1)])).epoch == three

    @pytest.mark.parametrize("keys", [(KEY, OTHER_KEY), (OTHER_KEY, KEY)])
    async def test_one_epoch_under_two_keys(self, store, keys):
        for used, key in enumerate(keys):
            await put(store, 1, turn(TWO, BLOCK, used=float(used)), key=key, epoch=TWO)
        for used, key in enumerate(keys):
            found = await store.latest(A, key, [address(1)])
            assert found.turn.used == used
            assert found.blocks == {address(1): found.turn}

    async def test_tenants_never_meet(self, store):
        await put(store, 1, turn(TWO), epoch=TWO)
        assert await store.latest(B, KEY, [address(1)]) is None
        with pytest.raises(NodesGone):
            await put(store, 1, turn(TWO), tenant=B)
        await put(store, 1, turn(TWO, BLOCK), tenant=B, epoch=TWO)
        assert (await store.latest(A, KEY, [address(1)])).blocks == {}

    async def test_a_turn_without_its_epoch_is_passed_over(self, store):
        await put(store, 1, turn(TWO), epoch=TWO)
        three = epoch(3)
        await put(store, 2, turn(three), epoch=three)
        self.uproot(store, A, "epochs", three.id)
        assert (await store.latest(A, KEY, [address(2), address(1)])).address == address(1)
        assert await put(store, 2, turn(TWO)) == turn(TWO)
        assert await store.check() == []

    # -- put_turn --------------------------------------------------------------------------

    async def test_a_standing_turn_stays_and_takes_the_later_use(self, store):
        await put(store, 1, turn(TWO, BLOCK, used=5.0), epoch=TWO)
        three = epoch(3)
        for used, kept in ((3.0, 5.0), (7.0, 7.0)):
            winner = await put(store, 1, turn(three, used=used), epoch=three)
            assert winner == turn(TWO, BLOCK, used=kept)
            assert (await store.latest(A, KEY, [address(1)])).turn == winner
        assert {row.id for row in self.rows(store, A)["epochs"]} == {TWO.id}

    async def test_nothing_comes_of_a_losing_epoch(self, store):
        await put(store, 1, turn(TWO), epoch=TWO)
        before = self.rows(store, A)
        shown = epoch(3, LEAVES[0].id)
        assert await put(store, 1, turn(shown), epoch=shown, nodes=LEAVES[:1]) == turn(TWO)
        assert self.rows(store, A) == before
        gone = epoch(4, b"?" * 16)  # a plan that cannot be kept does not matter where it loses
        assert await put(store, 1, turn(gone), epoch=gone) == turn(TWO)

    async def test_a_turn_of_another_epoch_is_replaced_where_it_is_named(self, store):
        await put(store, 1, turn(TWO, BLOCK, used=9.0), epoch=TWO)
        three = epoch(3)
        replaced = await put(store, 1, turn(three), epoch=three, instead_of=TWO.id)
        assert replaced == turn(three)
        found = await store.latest(A, KEY, [address(1)])
        assert (found.epoch, found.turn, found.blocks) == (three, turn(three), {})
        four = epoch(4)
        assert await put(store, 1, turn(four), epoch=four, instead_of=TWO.id) == turn(three)

    async def test_a_turn_of_the_same_epoch_is_replaced_where_it_is_named(self, store):
        await put(store, 1, turn(TWO, used=9.0), epoch=TWO)
        new = turn(TWO, BLOCK, used=1.0)
        assert await put(store, 1, new) == turn(TWO, used=9.0)
        assert await put(store, 1, new, instead_of=TWO.id) == new

    async def test_the_epoch_takes_the_later_expiry(self, store):
        await store.commit(A, BATCH)
        for at, expires, kept in (
            (1, 10.0, 10.0),
            (1, 30.0, 30.0),
            (1, 5.0, 30.0),
            (2, 40.0, 40.0),
        ):
            await put(store, at, turn(ONE), epoch=ONE, expires=expires)
            assert self.expiry(store) == kept
        await put(store, 2, turn(ONE), expires=50.0)
        assert self.expiry(store) == 50.0
        await put(
            store, 2, turn(TWO), epoch=TWO, expires=99.0
        )  # the loser's time, the winner's row
        assert self.expiry(store) == 99.0

    async def test_a_stored_epoch_stays_as_it_is(self, store):
        await put(store, 1, turn(TWO), epoch=TWO)
        other = msgspec.structs.replace(TWO, size=1)
        await put(store, 2, turn(TWO), epoch=other)
        assert (await store.latest(A, KEY, [address(2)])).epoch == TWO

    async def test_a_turn_without_a_stored_epoch_is_refused(self, store):
        with pytest.raises(NodesGone):
            await put(store, 1, turn(TWO))
        assert not any(self.rows(store, A).values())
        await put(store, 1, turn(TWO), epoch=TWO)
        before = self.rows(store, A)
        with pytest.raises(NodesGone):
            await put(store, 1, turn(epoch(3)), instead_of=TWO.id)
        assert self.rows(store, A) == before

    async def test_a_plan_names_summaries_of_its_own_tenant(self, store):
        for tenant in (A, B):
            await store.commit(tenant, BATCH)
        await store.put_summaries(B, {TOP.id: version(3)})
        named = epoch(7, (TOP.id, 3))
        with pytest.raises(NodesGone):
            await put(store, 1, turn(named), epoch=named)
        await store.put_summaries(A, {TOP.id: version(3)})
        await put(store, 1, turn(named), epoch=named)

    async def test_nodes_come_with_the_epoch(self, store):
        await put(store, 1, turn(ONE), epoch=ONE, nodes=TREE)
        assert await store.descendants(A, [TOP.id]) == {
            node.id: node for node in (*LEAVES[:4], TOP)
        }
        assert await store.check() == []

    @pytest.mark.parametrize("nodes", [(), (TOP, LEAVES[4]), LEAVES])
    async def test_a_plan_that_names_what_is_gone_writes_nothing(self, store, nodes):
        await store.commit(B, BATCH)
        with pytest.raises(NodesGone):
            await put(store, 1, turn(ONE), epoch=ONE, nodes=nodes)
        assert not any(self.rows(store, A).values())

    async def test_a_plan_names_summary_versions(self, store):
        await store.commit(A, BATCH)
        await store.put_summaries(A, {TOP.id: version(1)})
        await store.put_summaries(A, {LEAVES[0].id: version(2)})
        before = self.rows(store, A)
        for missing in ((TOP.id, 2), (LEAVES[0].id, 1), (LEAVES[1].id, 1)):
            gone = epoch(3, (TOP.id, 1), missing)
            with pytest.raises(NodesGone):
                await put(store, 1, turn(gone), epoch=gone)
            assert self.rows(store, A) == before
        good = epoch(3, (TOP.id, 1), (LEAVES[0].id, 2), (LEAVES[0].id, 0))
        await put(store, 1, turn(good), epoch=good)
        assert (await store.latest(A, KEY, [address(1)])).epoch == good
        assert await store.check() == []

    async def test_one_of_many_wins(self, store):
        epochs = [epoch(n) for n in range(10)]
        calls = [put(store, 1, turn(each), epoch=each) for each in epochs]
        winners = set(await asyncio.gather(*calls))
        assert len(winners) == 1
        found = await store.latest(A, KEY, [address(1)])
        assert {found.turn} == winners
        assert len(self.rows(store, A)["epochs"]) == 1

    # -- damage ----------------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            (epoch_row(ONE, 1.0)._replace(id=b"?" * 16), f"holds epoch {ONE.id.hex()}"),
            (epoch_row(epoch(3, b"?" * 16), 1.0), f"node {(b'?' * 16).hex()} is missing"),
            (epoch_row(epoch(3, (TOP.id, 7)), 1.0), f"summary 7 of {TOP.id.hex()} is missing"),
            (EpochRow(b"?" * 16, b"\xc1", 1.0), "does not decode"),
            (turn_row(KEY, address(2), turn(epoch(3))), "is missing"),
            (TurnRow(KEY, address(2), ONE.id, b"\xc1"), "does not decode"),
            (turn_row(KEY, address(2), turn(TWO))._replace(epoch=ONE.id), "its row says epoch"),
        ],
    )
    async def test_check_finds_damage(self, store, row, message):
        await store.commit(A, BATCH)
        await put(store, 1, turn(ONE), epoch=ONE)
        assert await store.check() == []
        self.plant(store, A, "epochs" if isinstance(row, EpochRow) else "turns", row)
        (line,) = await store.check()
        assert message in line

    async def test_what_does_not_decode_is_told(self, store):
        await put(store, 1, turn(TWO), epoch=TWO)
        self.plant(store, A, "epochs", EpochRow(TWO.id, b"\xc1", 1.0))
        with pytest.raises(StoreCorrupt, match="memtree check"):
            await store.latest(A, KEY, [address(1)])
        self.plant(store, A, "epochs", epoch_row(TWO, 1.0))
        self.plant(store, A, "turns", TurnRow(KEY, address(1), TWO.id, b"\xc1"))
        for call in (store.latest(A, KEY, [address(1)]), put(store, 1, turn(TWO))):
            with pytest.raises(StoreCorrupt, match="memtree check"):
                await call


class TestMemoryStore(OnMemory, PlanStoreContract):
    pass


class DurableContract(PlanStoreContract):
    """Promises that two stores on one file or schema keep."""

    async def test_two_processes_agree_on_the_turn(self, store, tmp_path):
        second = self.open(tmp_path)
        epochs = [epoch(n) for n in range(10)]
        calls = [
            put((store, second)[n % 2], 1, turn(each), epoch=each) for n, each in enumerate(epochs)
        ]
        assert len(set(await asyncio.gather(*calls))) == 1
        assert len(self.rows(store, A)["epochs"]) == 1
        await second.close()

    async def test_what_is_read_is_one_state(self, store, tmp_path):
        """An epoch never comes and goes between the steps of one read."""
        second = self.open(tmp_path)

        async def write() -> None:
            for _ in range(60):
                await put(second, 1, turn(TWO, BLOCK), epoch=TWO, expires=1.0)
                await second.sweep(2.0)

        async def read() -> None:
            while not writing.done():
                found = await store.latest(A, KEY, [address(1)])
                assert found is None or found.blocks == {address(1): turn(TWO, BLOCK)}

        writing = asyncio.ensure_future(write())
        await asyncio.gather(writing, read())
        await second.close()


class TestPostgresStore(OnPostgres, DurableContract):
    pass


class TestSqliteStore(OnSqlite, DurableContract):
    pass
