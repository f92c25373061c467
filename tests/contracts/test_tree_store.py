"""`TreeStore`: one contract, every back end. A new back end adds a thin subclass."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import msgspec
import pytest

from memtree.address import node_id
from memtree.errors import StoreCorrupt, StoreUnavailable
from memtree.node import EMPTY, Frontier, Node, Passage, Summary
from memtree.ports import Batch
from memtree.stores import MemoryStore, SqliteStore, open_store

Store = SqliteStore | MemoryStore
A, B = "a" * 64, "b" * 64
RECIPE = "minilm/1"


def leaf(number: int, *, passages: int = 2, tail: int = 0) -> Node:
    return Node(
        id=node_id("leaf", number),
        level=0,
        tokens=300 + number,
        messages=2,
        tail=tail,
        summary=Summary(f"headline {number}", "body \0 with any bytes: é", ("anchor",)),
        passages=tuple(Passage(0, at * 10, at * 10 + 10, 3, 0) for at in range(passages)),
    )


def over(children: Sequence[Node]) -> Node:
    return Node(
        id=node_id("node", *(child.id for child in children)),
        level=children[0].level + 1,
        tokens=sum(child.tokens for child in children),
        messages=sum(child.messages for child in children),
        tail=children[-1].tail,
        summary=Summary("headline", "body"),
        children=tuple(child.id for child in children),
    )


def frontier(nodes: Sequence[Node], leaves: int) -> Frontier:
    return Frontier(
        nodes=tuple(node.id for node in nodes),
        levels=tuple(node.level for node in nodes),
        messages=sum(node.messages for node in nodes),
        tail=nodes[-1].tail,
        leaves=leaves,
        tokens=sum(node.tokens for node in nodes),
    )


LEAVES = [leaf(number, tail=number % 3) for number in range(18)]
LOW = [over(LEAVES[at : at + 4]) for at in range(0, 16, 4)]
TOP = over(LOW)
TREE = (*LEAVES, *LOW, TOP)
WHOLE = frontier([TOP, *LEAVES[16:]], 18)


def address(number: int) -> bytes:
    return node_id("address", number) * 2


def batch(expires: float = 10.0) -> Batch:
    return Batch(TREE, {address(0): WHOLE, address(1): WHOLE, address(2): EMPTY}, expires)


def by_id(nodes: Sequence[Node]) -> dict[bytes, Node]:
    return {node.id: node for node in nodes}


class TreeStoreContract:
    @pytest.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[Store]:
        store = self.open(tmp_path)
        yield store
        await store.close()

    def open(self, folder: Path) -> Store:
        raise NotImplementedError

    async def spoil(self, store: Store, node: bytes, data: bytes) -> None:
        """Put `data` where the node is stored."""
        raise NotImplementedError

    async def expiry(self, store: Store, at: bytes) -> float:
        raise NotImplementedError

    async def test_gives_back_what_was_committed(self, store):
        await store.commit(A, batch())
        assert await store.nodes(A, [node.id for node in TREE]) == by_id(TREE)
        known = {address(0): WHOLE, address(1): WHOLE, address(2): EMPTY}
        assert await store.frontiers(A, [address(n) for n in range(5)]) == known
        assert await store.check() == []

    async def test_unknown_ids_are_left_out(self, store):
        await store.commit(A, batch())
        strange = [b"", b"short", b"x" * 16, b"\0" * 16]
        assert await store.nodes(A, [*strange, TOP.id]) == {TOP.id: TOP}
        assert await store.descendants(A, strange) == {}
        assert await store.frontiers(A, strange) == {}
        assert await store.vectors(A, RECIPE, strange) == {}

    async def test_no_ids_no_answer(self, store):
        assert await store.nodes(A, []) == {}
        assert await store.descendants(A, []) == {}
        assert await store.frontiers(A, []) == {}
        assert await store.vectors(A, RECIPE, []) == {}

    async def test_repeated_ids_are_met_once(self, store):
        await store.commit(A, batch())
        assert await store.nodes(A, [TOP.id, TOP.id]) == {TOP.id: TOP}
        assert await store.descendants(A, [LOW[0].id] * 2) == by_id([LOW[0], *LEAVES[:4]])

    async def test_committing_again_changes_nothing(self, store):
        await store.commit(A, batch())
        await store.put_vectors(A, RECIPE, {LEAVES[0].id: b"1234"})
        before = await store.stats()
        await store.commit(A, batch())
        await store.put_vectors(A, RECIPE, {LEAVES[0].id: b"5678"})
        after = await store.stats()
        assert (before.nodes, before.leaves, before.addresses, before.vectors) == (23, 18, 3, 1)
        assert (after.nodes, after.leaves, after.addresses, after.vectors) == (23, 18, 3, 1)
        assert await store.vectors(A, RECIPE, [LEAVES[0].id]) == {LEAVES[0].id: b"1234"}

    async def test_a_known_node_or_address_stays(self, store):
        await store.commit(A, batch())
        other = msgspec.structs.replace(TOP, summary=Summary("other", "other"))
        await store.commit(A, Batch((other,), {address(0): EMPTY}, 99.0))
        assert await store.nodes(A, [TOP.id]) == {TOP.id: TOP}
        assert await store.frontiers(A, [address(0)]) == {address(0): WHOLE}

    async def test_an_address_takes_the_later_expiry(self, store):
        for expires, kept in ((10.0, 10.0), (5.0, 10.0), (20.0, 20.0)):
            await store.commit(A, batch(expires))
            assert await self.expiry(store, address(0)) == kept

    async def test_an_empty_batch_is_nothing(self, store):
        await store.commit(A, Batch())
        await store.put_vectors(A, RECIPE, {})
        assert (await store.stats()).nodes == 0

    async def test_tenants_never_meet(self, store):
        await store.commit(A, batch())
        await store.put_vectors(A, RECIPE, {LEAVES[0].id: b"1234"})
        assert await store.nodes(B, [TOP.id]) == {}
        assert await store.descendants(B, [TOP.id]) == {}
        assert await store.frontiers(B, [address(0)]) == {}
        assert await store.vectors(B, RECIPE, [LEAVES[0].id]) == {}

    async def test_a_tenant_with_half_a_tree_is_not_given_the_rest(self, store):
        await store.commit(A, batch())
        await store.commit(B, Batch((TOP, LOW[1])))
        assert await store.descendants(B, [TOP.id]) == by_id([TOP, LOW[1]])

    async def test_each_tenant_has_its_own_rows(self, store):
        await store.commit(A, batch(10.0))
        await store.commit(B, batch(20.0))
        await store.put_vectors(A, RECIPE, {LEAVES[0].id: b"aaaa"})
        await store.put_vectors(B, RECIPE, {LEAVES[0].id: b"bbbb"})
        assert await store.vectors(A, RECIPE, [LEAVES[0].id]) == {LEAVES[0].id: b"aaaa"}
        assert await store.vectors(B, RECIPE, [LEAVES[0].id]) == {LEAVES[0].id: b"bbbb"}
        assert (await store.stats()).nodes == 2 * len(TREE)

    async def test_descendants(self, store):
        await store.commit(A, batch())
        assert await store.descendants(A, [TOP.id]) == by_id([*LEAVES[:16], *LOW, TOP])
        assert await store.descendants(A, WHOLE.nodes) == by_id(TREE)
        assert await store.descendants(A, [LEAVES[3].id]) == {LEAVES[3].id: LEAVES[3]}

    async def test_descendants_of_the_widest_node(self, store):
        wide = over(LEAVES[:12])
        await store.commit(A, Batch((*LEAVES, wide)))
        assert await store.descendants(A, [wide.id]) == by_id([*LEAVES[:12], wide])

    async def test_a_node_below_itself_ends_the_walk(self, store):
        circle = msgspec.structs.replace(TOP, children=(TOP.id, LEAVES[0].id))
        await store.commit(A, Batch((circle, LEAVES[0])))
        assert await store.descendants(A, [TOP.id]) == by_id([circle, LEAVES[0]])

    async def test_many_ids_at_once(self, store):
        many = [leaf(number) for number in range(12_000)]
        await store.commit(A, Batch(tuple(many), {address(n): EMPTY for n in range(300)}))
        await store.put_vectors(A, RECIPE, {node.id: node.id * 2 for node in many})
        ids = [node.id for node in many] + [node_id("unknown", n) for n in range(3)]
        assert await store.nodes(A, ids) == by_id(many)
        assert await store.descendants(A, ids) == by_id(many)
        assert await store.vectors(A, RECIPE, ids) == {node.id: node.id * 2 for node in many}
        assert len(await store.frontiers(A, [address(n) for n in range(400)])) == 300

    async def test_vectors_by_recipe(self, store):
        await store.commit(A, batch())
        first, second = LEAVES[0].id, LEAVES[1].id
        await store.put_vectors(A, "one", {first: b"11", second: b"\0\0\xff\xff"})
        await store.put_vectors(A, "two", {first: b"2222"})
        every = [first, second, LEAVES[2].id]
        assert await store.vectors(A, "one", every) == {first: b"11", second: b"\0\0\xff\xff"}
        assert await store.vectors(A, "two", every) == {first: b"2222"}
        assert await store.vectors(A, "none", every) == {}
        assert await store.check() == []

    async def test_a_commit_that_fails_leaves_nothing(self, store):
        unstorable = Frontier(nodes=(object(),))  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            await store.commit(A, Batch(TREE, {address(0): WHOLE, address(1): unstorable}))
        assert (await store.stats()).nodes == 0
        await store.commit(A, batch())
        assert await store.check() == []

    async def test_twenty_tasks_at_once(self, store):
        async def one(task: int) -> None:
            mine = [leaf(100 * (task % 10) + number) for number in range(8)]
            node = over(mine)
            await store.commit(A, Batch((*mine, node), {address(task): frontier([node], 8)}))
            await store.put_vectors(A, RECIPE, {each.id: b"1234" for each in mine})
            assert await store.descendants(A, [node.id]) == by_id([*mine, node])

        await asyncio.gather(*(one(task) for task in range(20)))
        stats = await store.stats()
        assert (stats.nodes, stats.leaves, stats.addresses, stats.vectors) == (90, 80, 20, 80)
        assert await store.check() == []

    async def test_cancelled_calls_leave_the_store_usable(self, store):
        calls = [asyncio.ensure_future(store.commit(A, batch(n))) for n in range(20)]
        await asyncio.sleep(0)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await store.commit(B, batch())
        assert await store.nodes(B, [TOP.id]) == {TOP.id: TOP}
        assert await store.check() == []

    async def test_a_blob_that_does_not_decode_is_told(self, store):
        await store.commit(A, batch())
        await self.spoil(store, LEAVES[1].id, b"\xc1")
        with pytest.raises(StoreCorrupt, match="memtree check"):
            await store.descendants(A, [TOP.id])
        assert await store.nodes(A, [LEAVES[0].id]) == {LEAVES[0].id: LEAVES[0]}
        assert any(LEAVES[1].id.hex() in line for line in await store.check())

    async def test_check_finds_a_node_in_the_wrong_place(self, store):
        await store.commit(A, batch())
        await self.spoil(store, LEAVES[1].id, msgspec.msgpack.encode(LEAVES[17]))
        lines = await store.check()
        assert (
            f"tenant {A[:12]}: node {LEAVES[1].id.hex()}: holds node {LEAVES[17].id.hex()}" in lines
        )

    @pytest.mark.parametrize(
        ("damage", "message"),
        [
            ({"tokens": 1}, "says 1 tokens"),
            ({"messages": 1}, "says 1 messages"),
            ({"tail": 99}, "says tail 99"),
            ({"level": 3}, "is on level 1, not 2"),
            ({"children": TOP.children[:3]}, "has 3 children"),
            ({"children": (*TOP.children, b"?" * 16)}, "is missing"),
        ],
    )
    async def test_check_finds_damage_in_a_node(self, store, damage, message):
        damaged = msgspec.structs.replace(TOP, **damage)
        await store.commit(A, Batch((*LEAVES, *LOW, damaged)))
        assert any(message in line and TOP.id.hex() in line for line in await store.check())

    async def test_check_finds_a_leaf_with_children(self, store):
        await store.commit(A, Batch((msgspec.structs.replace(LEAVES[0], children=(b"1" * 16,)),)))
        assert any("leaf with children" in line for line in await store.check())

    @pytest.mark.parametrize(
        ("damage", "message"),
        [
            ({"nodes": (TOP.id, b"?" * 16)}, "is missing"),
            ({"levels": (1, 0, 0)}, "says levels (1, 0, 0), its nodes are on (2, 0, 0)"),
            ({"leaves": 17}, "says 17 leaves, its nodes hold 18"),
            ({"tokens": 1}, "says 1 tokens"),
            ({"messages": 1}, "says 1 messages"),
            ({"tail": 99}, "says tail 99"),
        ],
    )
    async def test_check_finds_damage_in_a_frontier(self, store, damage, message):
        damaged = msgspec.structs.replace(WHOLE, **damage)
        await store.commit(A, Batch(TREE, {address(0): damaged}))
        (line,) = await store.check()
        assert message in line
        assert "frontier" in line

    @pytest.mark.parametrize(
        ("node", "data", "message"),
        [
            (leaf(99), b"1234", "no such leaf"),
            (TOP, b"1234", "on level 2"),
            (LEAVES[0], b"123", "3 bytes for 2 passages"),
        ],
    )
    async def test_check_finds_damage_in_vectors(self, store, node, data, message):
        await store.commit(A, batch())
        await store.put_vectors(A, RECIPE, {LEAVES[1].id: b"1234", node.id: data})
        (line,) = await store.check()
        assert message in line

    async def test_check_holds_each_tenant_to_its_own_rows(self, store):
        await store.commit(A, batch())
        await store.commit(B, Batch((TOP,)))
        lines = await store.check()
        assert len(lines) == len(TOP.children)
        assert all(line.startswith(f"tenant {B[:12]}: ") for line in lines)

    async def test_a_closed_store_says_so(self, store):
        await store.close()
        await store.close()
        for call in (
            store.nodes(A, [TOP.id]),
            store.commit(A, batch()),
            store.check(),
            store.stats(),
        ):
            with pytest.raises(StoreUnavailable, match="closed"):
                await call


class TestMemoryStore(TreeStoreContract):
    def open(self, folder: Path) -> Store:
        return open_store("memory:")

    async def spoil(self, store, node, data):
        rows = store._tenants[A].nodes
        rows[node] = rows[node]._replace(data=data)

    async def expiry(self, store, at):
        return store._tenants[A].addresses[at].expires


class TestSqliteStore(TreeStoreContract):
    def open(self, folder: Path) -> Store:
        return open_store(f"sqlite:///{folder}/new/store.db")

    async def spoil(self, store, node, data):
        with sqlite3.connect(store._path) as db:
            db.execute("UPDATE nodes SET data = ? WHERE id = ?", (data, node))
        db.close()

    async def expiry(self, store, at):
        with sqlite3.connect(store._path) as db:
            ((expires,),) = db.execute("SELECT expires FROM addresses WHERE address = ?", (at,))
        db.close()
        return expires

    async def test_a_second_store_on_the_file_sees_it_all(self, store, tmp_path):
        await store.commit(A, batch())
        second = self.open(tmp_path)
        assert await second.descendants(A, WHOLE.nodes) == by_id(TREE)
        await second.commit(B, batch())
        assert await store.descendants(B, WHOLE.nodes) == by_id(TREE)
        await second.close()

    async def test_it_is_all_there_after_a_restart(self, store, tmp_path):
        await store.commit(A, batch())
        await store.close()
        assert [path.name for path in (tmp_path / "new").iterdir()] == ["store.db"]
        second = self.open(tmp_path)
        assert await second.frontiers(A, [address(0)]) == {address(0): WHOLE}
        assert (await second.stats()).bytes > 0
        await second.close()
