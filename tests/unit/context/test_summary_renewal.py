"""Check summaries made behind an answer: left for later, or of an older extraction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from memtree.context import summary_renewal as renewal
from memtree.context.index_lookup import with_summary
from memtree.context.summary_renewal import newest_version
from memtree.context.turn_request import CompressRequest
from memtree.digests.summarize import VERSION
from memtree.errors import StoreUnavailable
from memtree.history.chat_history import History, read
from memtree.history.message import Message, Volatile
from memtree.jobs import growing
from memtree.jobs.growing import StageOne
from memtree.ports.context_store import IndexBatch
from memtree.tree import extraction, growth
from memtree.tree.node import SKETCHED, Node, Summary, decode_node, encode
from tests.hostile_texts import hostile
from tests.programs.sessions import chat
from tests.properties.process import World
from tests.properties.strategies import tail_of

# ------------------------------------------------------------------------------------------------
# Summaries of an older extraction are made anew when their history is posted.


EXPIRES = 2_000_000.0
POSTED = chat(240, seed=3)


def messages(posted: list[dict[str, Any]]) -> tuple[Message, ...]:
    return tuple(map(Message.of, posted))


def history(posted: list[dict[str, Any]]) -> History:
    return read("t", messages(posted), Volatile())


def older(node: Node) -> Node:
    """Return the node as a program stored it whose summaries had no version of extraction."""
    summary = Summary(f"old {node.id.hex()[:6]}", "old body", ())
    return msgspec.structs.replace(node, summary=summary)


async def grown(posted: list[dict[str, Any]]) -> tuple[dict[bytes, Any], dict[bytes, Node]]:
    """Frontiers and nodes as today's program makes them."""
    world = World()
    await world.used.index(CompressRequest("t", messages(posted)))
    found = await world.store.frontiers("t", history(posted).addresses[1:])
    frontiers = {address: prefix.frontier for address, prefix in found.items()}
    tops = [id_ for frontier in frontiers.values() for id_ in frontier.nodes]
    return frontiers, await world.store.descendants("t", tops)


async def stored_by_an_older_program(world: World) -> dict[bytes, Node]:
    """The nodes as they ought to be."""
    frontiers, nodes = await grown(POSTED)
    await world.store.commit("t", IndexBatch(tuple(map(older, nodes.values())), frontiers, EXPIRES))
    return nodes


async def posted_again(world: World, posted: list[dict[str, Any]] = POSTED) -> None:
    memory = world.memory()
    await memory.index(CompressRequest("t", messages(posted)))
    await memory.close()


def texts(summary: Summary) -> tuple[Any, ...]:
    return summary.headline, summary.body, summary.anchors, summary.extraction


@pytest.mark.slow
async def test_each_summary_is_as_extraction_makes_it_today():
    world = World()
    nodes = await stored_by_an_older_program(world)
    assert len({node.level for node in nodes.values()}) > 1
    await posted_again(world)
    stored = await world.store.newest_summaries("t", list(nodes))
    assert {id_: texts(each) for id_, each in stored.items()} == {
        id_: texts(node.summary) for id_, node in nodes.items()
    }
    assert {each.version for each in stored.values()} == {newest_version()}
    assert (await world.store.nodes("t", list(nodes)))[next(iter(nodes))].summary.version == 0


@pytest.mark.slow
async def test_answers_show_the_new_ones_and_plans_under_way_the_old_ones():
    world = World()
    await stored_by_an_older_program(world)
    before = await world.ask(POSTED)
    assert b" old " in b"".join(before.messages)
    await world.used.close()
    assert world.rows["summaries"]
    again = await world.ask(POSTED, world.memory())
    assert again.messages == before.messages, "a live plan keeps the versions that it names"
    fresh = await world.ask(POSTED, world.memory(), mode="fresh")
    assert b" old " not in b"".join(fresh.messages)


@pytest.mark.slow
async def test_once_is_enough_and_nothing_is_embedded_again():
    world = World(embedding=True)
    await stored_by_an_older_program(world)
    await posted_again(world)
    world.store.calls.clear()
    await posted_again(world)
    assert "put_summaries" not in world.store.calls
    assert "put_vectors" not in world.store.calls
    assert world.embedder is not None
    assert not world.embedder.embedded


@pytest.mark.slow
async def test_a_warm_request_asks_for_nothing_more():
    world = World()
    await stored_by_an_older_program(world)
    await world.used.index(CompressRequest("t", messages(POSTED)))
    await world.used.close()
    world.store.calls.clear()
    await world.used.index(CompressRequest("t", messages(POSTED)))
    await world.used.close()
    assert "newest_summaries" not in world.store.calls


@pytest.mark.slow
async def test_what_was_left_by_a_run_that_ended_is_done_by_the_next():
    world = World()
    nodes = await stored_by_an_older_program(world)
    await posted_again(world)
    store = world.store.store
    held = store.database.connection
    keys = held.execute("SELECT id, version FROM summaries ORDER BY id, version").fetchall()
    held.executemany("DELETE FROM summaries WHERE id = ? AND version = ?", keys[::2])
    await posted_again(world)
    assert len(await world.store.newest_summaries("t", list(nodes))) == len(nodes)


@pytest.mark.slow
async def test_a_summary_by_a_model_stays():
    world = World()
    nodes = await stored_by_an_older_program(world)
    model = Summary("by a model", "b", (), 1, "recipe", (9, 9))
    some = next(iter(nodes))
    await world.store.put_summaries("t", {some: model})
    await posted_again(world)
    stored = await world.store.newest_summaries("t", list(nodes))
    assert stored[some] == model
    assert len(stored) == len(nodes)
    assert len(world.rows["summaries"]) == len(nodes)


@pytest.mark.slow
async def test_parents_made_after_an_upgrade_read_the_new_summaries():
    world = World()
    await stored_by_an_older_program(world)
    await posted_again(world)
    longer = chat(340, seed=3)
    assert longer[:240] == POSTED
    await posted_again(world, longer)
    _, nodes = await grown(longer)
    stored = await world.store.nodes("t", list(nodes))
    newest = await world.store.newest_summaries("t", list(nodes))
    assert {id_: texts(newest.get(id_, node.summary)) for id_, node in stored.items()} == {
        id_: texts(node.summary) for id_, node in nodes.items()
    }
    assert {node.summary.extraction for node in stored.values()} == {0, VERSION}


@pytest.mark.slow
async def test_nothing_is_written_for_a_tenant_that_was_forgotten():
    world = World()
    await stored_by_an_older_program(world)
    began, go = world.store.hold("newest_summaries")
    await world.used.index(CompressRequest("t", messages(POSTED)))
    await began.wait()
    await world.used.forget_tenant("t")
    go.set()
    await world.used.close()
    assert not world.rows["summaries"]


@pytest.mark.slow
async def test_a_store_that_fails_ends_the_renewal_and_no_answer():
    world = World()
    await stored_by_an_older_program(world)
    world.store.broken["put_summaries"] = StoreUnavailable("locked")
    answer = await world.ask(POSTED)
    await world.used.close()
    assert answer.messages
    assert not world.rows["summaries"]


# ------------------------------------------------------------------------------------------------
# A long cold history is answered with few summaries; the others are made behind the answer.


@pytest.fixture
def long_from(monkeypatch):
    """Have histories of this test count as long."""
    monkeypatch.setattr(growing, "FULL_TOKENS", 1_000)


def whole_tree() -> dict[bytes, Node]:
    return {node.id: node for node in growth.grow(tail_of(history(POSTED))).nodes}


async def stored_nodes(world, nodes):
    return await world.store.nodes("t", list(nodes))


@pytest.mark.slow
async def test_summaries_that_were_left_for_later_are_made_behind_the_answer(
    long_from, monkeypatch
):
    whole = whole_tree()
    world = World()
    began, go = world.store.hold("complete")
    answer = await world.ask(POSTED)
    await began.wait()
    sketched = await stored_nodes(world, whole)
    assert sketched.keys() == whole.keys()
    left = [node for node in sketched.values() if node.summary.extraction == SKETCHED]
    assert left, "one piece is made"
    pending = await world.used.pending("t")
    assert 0 < pending.tokens < sum(node.tokens for node in whole.values())
    assert pending.jobs == 1
    go.set()
    await world.used.close()
    assert await stored_nodes(world, whole) == whole
    assert (await world.used.pending("t")).tokens == 0
    # The plan under way shows what it has shown, a new one the summaries of today.
    assert (await world.ask(POSTED)).messages == answer.messages
    assert (await world.ask(POSTED, world.memory())).messages == answer.messages
    monkeypatch.undo()
    plain = await World().ask(POSTED, mode="fresh")
    assert (await world.ask(POSTED, mode="fresh")).messages == plain.messages


@pytest.mark.slow
async def test_summaries_that_a_run_did_not_reach_are_made_by_the_next(long_from):
    whole = whole_tree()
    world = World()
    world.store.broken["complete"] = StoreUnavailable("locked")
    answer = await world.ask(POSTED)
    await world.used.close()
    del world.store.broken["complete"]
    stored = await stored_nodes(world, whole)
    assert sum(node.summary.extraction == SKETCHED for node in stored.values()) > len(whole) // 2
    longer = chat(244, seed=3)
    assert longer[:240] == POSTED
    memory = world.memory()
    assert (await world.ask(longer, memory)).messages[0] == answer.messages[0]
    await memory.close()
    assert await stored_nodes(world, whole) == whole


class Counted(StageOne):
    """Counts the nodes whose summaries it makes."""

    def __init__(self) -> None:
        super().__init__(child=False)
        self.made = 0

    async def summaries(self, nodes: extraction.Unsummarised) -> list[Summary]:
        made = await super().summaries(nodes)
        self.made += len(made)
        return made


@pytest.mark.slow
async def test_what_another_history_shares_is_not_summarised_again(long_from):
    """An edit near the beginning lets all be grown anew, by a process that knows nothing of it."""
    posted = chat(960, seed=3)
    edited = [*posted[:2], {**posted[2], "content": "Edited."}, *posted[3:]]
    world, first, second = World(), Counted(), Counted()
    for each, builder in ((posted, first), (edited, second)):
        memory = world.memory(builder)
        await world.ask(each, memory)
        await memory.close()
    assert 0 < second.made < first.made // 3
    tree = {node.id: node for node in growth.grow(tail_of(history(edited))).nodes}
    assert await stored_nodes(world, tree) == tree


# -- Which summaries are old, and in which order they are made anew.


def grown_tree():
    texts = [
        hostile.fields("user" if n % 2 else "assistant", f"Part {n} of Oslo. " * 90)
        for n in range(70)
    ]
    tail = hostile.tail(texts)
    return tail, growth.grow(tail)


@pytest.mark.slow
def test_a_summary_of_today_is_current_and_one_without_a_version_is_not():
    _, tree = grown_tree()
    assert renewal.outdated(tree.nodes) == []
    assert renewal.is_outdated(Summary("h", "b"))
    assert not renewal.is_outdated(Summary("h", "b", extraction=VERSION))
    assert not renewal.is_outdated(Summary("h", "b", (), 1, "model"))


@pytest.mark.slow
def test_a_node_that_was_stored_before_is_read_as_outdated():
    _, tree = grown_tree()
    stored = msgspec.msgpack.decode(encode(tree.nodes[0]))
    stored[5] = stored[5][:8]  # the fields of a summary as they were
    assert renewal.outdated([decode_node(msgspec.msgpack.encode(stored))]) == [tree.nodes[0].id]


def test_a_parent_is_as_old_as_its_oldest_child():
    new, old = Summary("h", "b", ("a",), extraction=VERSION), Summary("h", "b", ("a",))
    assert extraction.summarise([new, old], 1).extraction == 0
    assert extraction.summarise([new, new], 1).extraction == VERSION


def made_again(tail, tree, wanted, size=7):
    """Return the summaries of these nodes by id, made in pieces as the renewal makes them."""
    nodes = {node.id: node for node in tree.nodes}
    known, levels = {}, []
    for piece in renewal.in_pieces(tree.frontier, nodes, wanted, size):
        assert len(piece) <= size
        levels += [node.level for node, _ in piece]
        work = renewal.unsummarised(piece, nodes, known, tail.messages.__getitem__, Volatile(()))
        summaries = extraction.summaries_of(work)
        known |= {node.id: each for (node, _), each in zip(piece, summaries, strict=True)}
    assert levels == sorted(levels)
    return known


@pytest.mark.slow
def test_pieces_hold_children_before_parents_and_give_what_growth_gives():
    tail, tree = grown_tree()
    known = made_again(tail, tree, {node.id for node in tree.nodes})
    assert any(node.level for node in tree.nodes)
    assert known == {
        node.id: msgspec.structs.replace(node.summary, rules=None if node.level else node.rules)
        for node in tree.nodes
    }


def test_a_long_message_is_not_read_again_for_each_piece():
    """Reading it each time would take the square of its length."""
    raw = hostile.fields("tool", "The boats were out in the bay. " * 20_000)
    tail = hostile.tail([raw])
    tree = growth.grow(replace(tail, sparse=True))
    nodes = {node.id: node for node in tree.nodes}
    pieces = list(renewal.in_pieces(tree.frontier, nodes, set(nodes), 7))
    leaves = [piece for piece in pieces if piece[0][0].is_leaf]
    assert sum(map(len, pieces)) == len(nodes) > 200
    assert len(leaves) < len(nodes) // 4
    assert all(len(piece) <= 7 for piece in pieces if piece != leaves[-1])


@pytest.mark.slow
def test_a_sparse_tail_becomes_the_same_tree():
    tail, tree = grown_tree()
    sparse = growth.grow(replace(tail, sparse=True))
    sketches = {node.id for node in sparse.nodes if node.summary.extraction == SKETCHED}
    assert len(sketches) > len(sparse.nodes) // 2
    assert any(node.level and node.summary.headline for node in sparse.nodes)
    made = made_again(tail, sparse, sketches)
    complete = tuple(
        msgspec.structs.replace(
            node, summary=msgspec.structs.replace(made.get(node.id, node.summary), rules=None)
        )
        for node in sparse.nodes
    )
    assert replace(sparse, nodes=complete) == tree


def test_what_stands_over_a_sketch_is_one_until_all_below_is_made():
    words = Summary("Oslo", "They met in Oslo.", ("Oslo",), extraction=VERSION)
    over = extraction.summarise([words, extraction.NOT_YET], 1)
    assert over.extraction == SKETCHED
    assert over.headline == "Oslo"
    assert over.version < renewal.newest_version() < 0
    assert extraction.summarise([words, words], 1).extraction == VERSION
    assert extraction.summarise([over, extraction.NOT_YET], 2).extraction == SKETCHED
    assert extraction.summarise([extraction.NOT_YET], 1) == extraction.NOT_YET


def test_the_rules_of_a_leaf_are_found_anew_as_well():
    said = "Never use emojis."
    raw = hostile.fields("user", f"{said} Right? {'The boats were out. ' * 600}")
    tail = hostile.tail([raw])
    tree = growth.grow(tail)
    leaf = tree.nodes[0]
    assert leaf.rules == ((0, 0, len(said)),)
    stored = msgspec.structs.replace(leaf, rules=())
    summary = made_again(tail, tree, {leaf.id})[leaf.id]
    assert with_summary(stored, summary).rules == leaf.rules
    assert with_summary(stored, Summary("h", "b")).rules == ()
