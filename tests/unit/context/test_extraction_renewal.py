"""Summaries of an older extraction are made anew when their history is posted."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from memtree.context.request import CompressRequest
from memtree.conversation.history import History, read
from memtree.conversation.message import Message, Volatile
from memtree.errors import StoreUnavailable
from memtree.extraction.summarize import VERSION
from memtree.ports.store import IndexBatch
from memtree.tree.node import Node, Summary
from memtree.tree.renewal import newest_version
from tests.properties.process import World
from tests.sessions import chat

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
