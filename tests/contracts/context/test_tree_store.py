"""`TreeStore`: one contract, every back end. A new back end adds a thin subclass."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.errors import BadRequest, NodesGone, StoreCorrupt, StoreUnavailable
from memtree.history.address_chain import node_id
from memtree.ports.context_store import IndexBatch, IndexedPrefix
from memtree.stores import SqliteStore
from memtree.stores.stored_rows import (
    AddressRow,
    ClaimRow,
    ConversationRow,
    SummaryRow,
    VectorRow,
    frontier_row,
    node_row,
)
from memtree.tree.node import EMPTY, SKETCH, SKETCHED, Frontier, Summary
from tests.contracts.backends import (
    A,
    B,
    Backend,
    OnMemory,
    OnPostgres,
    OnSqlite,
    address,
    by_id,
    frontier,
    leaf,
    over,
    version,
)

RECIPE = "minilm/1"
LEAVES = [leaf(number, tail=number % 3) for number in range(18)]
LOW = [over(LEAVES[at : at + 4]) for at in range(0, 16, 4)]
TOP = over(LOW)
TREE = (*LEAVES, *LOW, TOP)
WHOLE = frontier([TOP, *LEAVES[16:]], 18)
IDS, KEY = [node.id for node in LEAVES], frontier_row(WHOLE).key
changed, packed = msgspec.structs.replace, msgspec.msgpack.encode


def batch(expires: float = 10.0) -> IndexBatch:
    return IndexBatch(TREE, {address(0): WHOLE, address(1): WHOLE, address(2): EMPTY}, expires)


class TreeStoreContract(Backend):
    async def test_gives_back_what_was_committed(self, store):
        await store.commit(A, batch())
        assert await store.nodes(A, [node.id for node in TREE]) == by_id(TREE)
        known = {address(0): WHOLE, address(1): WHOLE, address(2): EMPTY}
        found = await store.frontiers(A, [address(n) for n in range(5)])
        assert found == {at: IndexedPrefix(each, 10.0) for at, each in known.items()}
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
        await store.commit(A, IndexBatch((other,), {address(0): EMPTY}, 99.0))
        assert await store.nodes(A, [TOP.id]) == {TOP.id: TOP}
        assert await store.frontiers(A, [address(0)]) == {address(0): IndexedPrefix(WHOLE, 99.0)}
        assert {row.key for row in self.rows(store, A)["frontiers"]} == {
            frontier_row(WHOLE).key,
            frontier_row(EMPTY).key,  # of address 2
        }

    async def test_a_frontier_that_comes_with_known_addresses_only_is_not_kept(self, store):
        await store.commit(A, batch())
        other = frontier(LEAVES[:2], 2)
        await store.commit(A, IndexBatch((), {address(0): other, address(1): other}, 99.0))
        assert len(self.rows(store, A)["frontiers"]) == 2
        await store.commit(A, IndexBatch((), {address(0): other, address(7): other}, 99.0))
        assert len(self.rows(store, A)["frontiers"]) == 3

    async def test_an_address_takes_the_later_expiry(self, store):
        for expires, kept in ((10.0, 10.0), (5.0, 10.0), (20.0, 20.0)):
            await store.commit(A, batch(expires))
            assert (await store.frontiers(A, [address(0)]))[address(0)].expires == kept

    @pytest.mark.parametrize("expires", [0.0, 1 / 3, 1_785_012_345.678912, 2e10, math.inf])
    async def test_the_time_of_expiry_is_exact(self, store, expires):
        await store.commit(A, batch(expires))
        assert (await store.frontiers(A, [address(0)]))[address(0)].expires == expires

    async def test_renewing(self, store):
        await store.commit(A, batch(10.0))
        await store.renew(A, [address(0), address(9)], 20.0)
        await store.renew(A, [address(0), address(1)], 15.0)
        found = await store.frontiers(A, [address(n) for n in range(10)])
        assert [found[address(n)].expires for n in range(3)] == [20.0, 15.0, 10.0]
        assert len(found) == 3
        await store.renew(A, [], 99.0)
        await store.renew(B, [address(0)], 99.0)
        assert (await store.frontiers(A, [address(0)]))[address(0)].expires == 20.0

    # -- what a commit names ---------------------------------------------------------------

    async def test_a_batch_may_name_what_is_stored(self, store):
        await store.commit(A, IndexBatch(tuple(LEAVES)))
        await store.commit(A, IndexBatch((*LOW, TOP)))
        await store.commit(A, IndexBatch((), {address(0): WHOLE}))
        assert await store.check() == []

    @pytest.mark.parametrize(
        "names",
        [
            IndexBatch((), {address(0): WHOLE}),
            IndexBatch((TOP,), {}),
            IndexBatch((*LEAVES[1:], *LOW, TOP), {address(0): WHOLE}),
            IndexBatch(TREE[:-1], {address(0): EMPTY, address(1): WHOLE}),
        ],
    )
    async def test_a_batch_that_names_what_is_gone_writes_nothing(self, store, names):
        with pytest.raises(NodesGone):
            await store.commit(A, names)
        assert not any(self.rows(store, A).values())
        await store.commit(B, batch())  # another tenant's do not count
        with pytest.raises(NodesGone):
            await store.commit(A, names)
        assert not any(self.rows(store, A).values())

    async def test_an_address_names_the_one_before_it(self, store):
        await store.commit(A, IndexBatch((), {address(n): EMPTY for n in (0, 1, 2)}))
        await store.commit(
            A, IndexBatch((), {address(n): EMPTY for n in (2, 3)}, previous=address(1))
        )
        await store.commit(A, IndexBatch((), {address(4): EMPTY}, previous=address(2)))
        links = {row.address: row.previous for row in self.rows(store, A)["addresses"]}
        assert links == {
            address(0): b"",
            address(1): address(0),
            address(2): address(1),
            address(3): address(2),
            address(4): address(2),
        }
        assert await store.check() == []

    async def test_no_address_names_one_that_is_not_stored(self, store):
        await store.commit(A, IndexBatch((), {address(1): EMPTY}, previous=address(0)))
        assert {row.previous for row in self.rows(store, A)["addresses"]} == {b""}

    async def test_an_empty_batch_is_nothing(self, store):
        await store.commit(A, IndexBatch())
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
        await store.commit(B, batch())
        for node in (*LOW[:1], *LOW[2:], *LEAVES):
            self.uproot(store, B, "nodes", node.id)
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
        await store.commit(A, IndexBatch((*LEAVES, wide)))
        assert await store.descendants(A, [wide.id]) == by_id([*LEAVES[:12], wide])

    async def test_a_node_below_itself_ends_the_walk(self, store):
        circle = msgspec.structs.replace(TOP, children=(TOP.id, LEAVES[0].id))
        await store.commit(A, IndexBatch((circle, LEAVES[0])))
        assert await store.descendants(A, [TOP.id]) == by_id([circle, LEAVES[0]])

    async def test_many_ids_at_once(self, store):
        many = [leaf(number) for number in range(12_000)]
        await store.commit(A, IndexBatch(tuple(many), {address(n): EMPTY for n in range(300)}))
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
            await store.commit(A, IndexBatch(TREE, {address(0): WHOLE, address(1): unstorable}))
        assert (await store.stats()).nodes == 0
        await store.commit(A, batch())
        assert await store.check() == []

    async def test_twenty_tasks_at_once(self, store):
        async def one(task: int) -> None:
            mine = [leaf(100 * (task % 10) + number) for number in range(8)]
            node = over(mine)
            await store.commit(A, IndexBatch((*mine, node), {address(task): frontier([node], 8)}))
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
        self.plant(store, A, "nodes", node_row(LEAVES[1])._replace(data=b"\xc1"))
        with pytest.raises(StoreCorrupt, match="memtree check"):
            await store.descendants(A, [TOP.id])
        assert await store.nodes(A, [LEAVES[0].id]) == {LEAVES[0].id: LEAVES[0]}
        assert any(LEAVES[1].id.hex() in line for line in await store.check())

    @pytest.mark.parametrize(
        ("table", "row", "message"),
        [
            *(("nodes", node_row(changed(TOP, **damage)), message) for damage, message in (
                ({"tokens": 1}, "says 1 tokens"),
                ({"messages": 1}, "says 1 messages"),
                ({"tail": 99}, "says tail 99"),
                ({"level": 3}, "is on level 1, not 2"),
                ({"children": TOP.children[:3]}, "has 3 children"),
                ({"children": (*TOP.children, b"?" * 16)}, "is missing"),
            )),
            ("nodes", node_row(changed(LEAVES[0], children=(IDS[1],))), "leaf with children"),
            ("nodes", node_row(LEAVES[1])._replace(data=node_row(LEAVES[17]).data),
             f"node {IDS[1].hex()}: holds node {IDS[17].hex()}"),
            *(("frontiers", frontier_row(changed(WHOLE, **damage))._replace(key=KEY), message)
              for damage, message in (
                ({"nodes": (TOP.id, b"?" * 16)}, "is missing"),
                ({"levels": (1, 0, 0)}, "says levels (1, 0, 0), its nodes are on (2, 0, 0)"),
                ({"leaves": 17}, "says 17 leaves, its nodes hold 18"),
                ({"tokens": 1}, "says 1 tokens"),
                ({"messages": 1}, "says 1 messages"),
                ({"tail": 99}, "says tail 99"),
            )),
            ("vectors", VectorRow(RECIPE, leaf(99).id, b"1234"), "no such leaf"),
            ("vectors", VectorRow(RECIPE, TOP.id, b"1234"), "on level 2"),
            ("vectors", VectorRow(RECIPE, IDS[0], b"123"), "3 bytes for 2 passages"),
            ("addresses", AddressRow(address(8), frontier_row(EMPTY).key, 1.0, address(9)),
             "before it"),
            ("addresses", AddressRow(address(8), b"?" * 16, 1.0), "is missing"),
            ("summaries", SummaryRow(leaf(99).id, 1, packed(version(1))), "no such node"),
            ("summaries", SummaryRow(TOP.id, 1, packed(version(2))), "holds version 2"),
            ("summaries", SummaryRow(TOP.id, 1, b"\xc1"), "does not decode"),
            ("claims", ClaimRow(leaf(99).id, "one", 20.0), "no such node"),
            ("claims", ClaimRow(TOP.id, "", 20.0), "no owner"),
            ("claims", ClaimRow(TOP.id, "one", math.inf), "never ends"),
            ("conversations", ConversationRow(address(7), 1.0), "there is no such address"),
        ],
    )  # fmt: skip
    async def test_check_finds_damage(self, store, table, row, message):
        await store.commit(A, batch())
        self.plant(store, A, table, row)
        lines = await store.check()
        named = ("frontier" if table == "frontiers" else row[0].hex()) if row[0] != RECIPE else ""
        assert any(message in line and named in line for line in lines)
        assert all(line.startswith(f"tenant {A[:12]}: ") for line in lines)
        # What is wrong with a node or a tree shows above it as well.
        assert len(lines) == 1 or table in ("nodes", "frontiers")

    # -- what is kept beside the nodes -----------------------------------------------------

    async def test_vectors_are_kept_of_stored_leaves_only(self, store):
        rows = {LEAVES[0].id: b"1234", TOP.id: b"1234", leaf(99).id: b"1234"}
        await store.put_vectors(A, RECIPE, rows)
        assert not any(self.rows(store, A).values())
        await store.commit(A, batch())
        await store.put_vectors(A, RECIPE, rows)
        assert await store.vectors(A, RECIPE, list(rows)) == {LEAVES[0].id: b"1234"}

    async def test_summary_versions(self, store):
        await store.commit(A, batch())
        ids = [TOP.id, LOW[0].id, LEAVES[0].id]
        assert await store.newest_summaries(A, ids) == {}
        for number, nodes in ((1, ids), (3, ids[:2]), (2, ids[:1])):
            await store.put_summaries(A, dict.fromkeys(nodes, version(number)))
        newest = {ids[0]: version(3), ids[1]: version(3), ids[2]: version(1)}
        assert await store.newest_summaries(A, [*ids, LEAVES[1].id, *ids]) == newest
        assert await store.newest_summaries(A, []) == {}
        assert await store.newest_summaries(B, ids) == {}
        wanted = [(ids[0], 2), (ids[0], 1), (ids[1], 1), (ids[1], 2), (ids[2], 0), (ids[0], 2)]
        assert await store.summaries(A, wanted) == {
            (ids[0], 2): version(2),
            (ids[0], 1): version(1),
            (ids[1], 1): version(1),
        }
        assert await store.summaries(A, []) == {}
        assert await store.summaries(B, wanted) == {}
        assert await store.nodes(A, ids[:1]) == {TOP.id: TOP}
        assert await store.check() == []

    async def test_a_sketch_gives_way_in_its_node_and_stays_for_plans(self, store):
        """Nothing is written of nodes that are not stored, or belong to another tenant."""
        sketch = Summary("headline", "so far", (), SKETCH - 7, extraction=SKETCHED)
        nothing = Summary("", "", extraction=SKETCHED)
        sparse = {node.id: changed(node, summary=nothing) for node in TREE}
        sparse[TOP.id] = changed(TOP, summary=sketch)
        await store.commit(A, replace(batch(), nodes=tuple(sparse.values())))
        assert await store.nodes(A, list(sparse)) == sparse
        assert await store.newest_summaries(A, [TOP.id]) == {}, "it is older than version 0"
        await store.complete(A, [TOP, LEAVES[0], leaf(99)])
        await store.complete(B, [LEAVES[1]])
        whole = {**sparse, TOP.id: TOP, LEAVES[0].id: LEAVES[0]}
        assert await store.nodes(A, [*sparse, leaf(99).id]) == whole
        assert await store.nodes(B, [LEAVES[1].id]) == {}
        assert await store.summaries(A, [(TOP.id, SKETCH - 7)]) == {(TOP.id, SKETCH - 7): sketch}
        await store.put_summaries(A, {TOP.id: version(1)})
        assert await store.newest_summaries(A, [TOP.id]) == {TOP.id: version(1)}
        assert await store.check() == []

    async def test_a_summary_is_carried_whole(self, store):
        await store.commit(A, batch())
        written = Summary("headline", "body", ("a",), 1, "model/1", (120, 17), "extract", True)
        await store.put_summaries(A, {TOP.id: written})
        assert await store.newest_summaries(A, [TOP.id]) == {TOP.id: written}
        assert await store.summaries(A, [(TOP.id, 1)]) == {(TOP.id, 1): written}

    async def test_summaries_of_an_older_program_are_read(self, store):
        """Four fields, as they were written before a summary told who wrote it."""
        await store.commit(A, batch())
        old = SummaryRow(TOP.id, 2, b"\x94\xa8headline\xa4body\x91\xa6anchor\x02")
        self.plant(store, A, "summaries", old)
        read = Summary("headline", "body", ("anchor",), 2)
        assert await store.newest_summaries(A, [TOP.id]) == {TOP.id: read}
        assert await store.summaries(A, [(TOP.id, 2)]) == {(TOP.id, 2): read}
        assert (read.by, read.cost, read.extracted, read.settled) == ("", (0, 0), "", False)
        assert await store.check() == []

    async def test_nodes_of_an_older_program_are_read(self, store):
        await store.commit(A, batch())
        data = node_row(TOP).data
        new = msgspec.msgpack.encode(TOP.summary)
        old = msgspec.msgpack.encode(msgspec.to_builtins(TOP.summary)[:4])
        assert data.count(new) == 1
        self.uproot(store, A, "nodes", TOP.id)
        self.plant(store, A, "nodes", node_row(TOP)._replace(data=data.replace(new, old)))
        assert await store.nodes(A, [TOP.id]) == {TOP.id: TOP}
        assert await store.check() == []

    async def test_a_known_version_stays(self, store):
        await store.commit(A, batch())
        await store.put_summaries(A, {TOP.id: version(1)})
        await store.put_summaries(A, {TOP.id: Summary("another", "", (), 1)})
        assert await store.summaries(A, [(TOP.id, 1)]) == {(TOP.id, 1): version(1)}

    async def test_summaries_are_kept_of_stored_nodes_only(self, store):
        await store.put_summaries(A, {TOP.id: version(1)})
        assert not any(self.rows(store, A).values())
        await store.commit(A, batch())
        await store.put_summaries(A, {TOP.id: version(1), leaf(99).id: version(1)})
        assert await store.newest_summaries(A, [TOP.id, leaf(99).id]) == {TOP.id: version(1)}

    async def test_version_0_is_in_the_node(self, store):
        await store.commit(A, batch())
        with pytest.raises(BadRequest):
            await store.put_summaries(A, {TOP.id: version(1), LOW[0].id: Summary("h", "b")})
        assert await store.newest_summaries(A, [TOP.id]) == {}
        await store.put_summaries(A, {})

    async def test_check_holds_each_tenant_to_its_own_rows(self, store):
        await store.commit(A, batch())
        await store.commit(B, IndexBatch(TREE))
        for node in (*LOW, *LEAVES):
            self.uproot(store, B, "nodes", node.id)
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
            store.claim(A, [TOP.id], "one", 1.0, 2.0),
            store.release(A, [TOP.id], "one"),
            store.add(A, 1, {"n": 1}),
            store.tallies(A, 1, 1),
            store.add_requests({A: []}),
            store.requests(A, 1),
        ):
            with pytest.raises(StoreUnavailable, match="closed"):
                await call


class TestMemoryStore(OnMemory, TreeStoreContract):
    pass


class TestPostgresStore(OnPostgres, TreeStoreContract):
    pass


class TestSqliteStore(OnSqlite, TreeStoreContract):
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
        assert await second.frontiers(A, [address(0)]) == {address(0): IndexedPrefix(WHOLE, 10.0)}
        assert (await second.stats()).bytes > 0
        await second.close()


@given(times=st.lists(st.floats(0, 1e18), min_size=1, max_size=50))
def test_no_time_of_expiry_is_rounded(times, tmp_path_factory):
    async def main() -> None:
        store = SqliteStore(tmp_path_factory.mktemp("times") / "store.db")
        for number, expires in enumerate(times):
            await store.commit(A, IndexBatch((), {address(number): EMPTY}, expires))
        asked = [address(number) for number in range(len(times))]
        found = await store.frontiers(A, asked)
        assert [found[each].expires for each in asked] == times
        await store.close()

    asyncio.run(main())
