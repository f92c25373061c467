"""Epochs and histories that are lost, forgotten or out of date, on a whole `Memory`."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from memtree.clock import DAY
from memtree.errors import NodesGone, NotFound, StoreUnavailable
from memtree.stores import RamStore
from memtree.tree.node import Summary
from tests.answered import Answered
from tests.contracts.backends import garbage
from tests.properties.process import (
    NEEDLE,
    QUESTION,
    Held,
    World,
    after,
    an_ask,
    assistant,
    begins,
    story,
    text_of,
    user,
)

pytestmark = pytest.mark.slow  # some seconds in all


@pytest.fixture
def world() -> World:
    return World()


# ---------------------------------------------------------------- what is lost


async def a_second_answer(world: World) -> tuple[Answered, Answered]:
    posted = story()
    first = await world.ask(posted)
    memory = world.memory()  # nothing is at hand
    return first, await world.ask(after(posted, 1), memory)


async def test_without_a_loss_the_epoch_goes_on_in_another_process(world: World) -> None:
    first, second = await a_second_answer(world)
    assert first.epoch == second.epoch
    assert begins(second, first)


@pytest.mark.parametrize("what", ["epochs", "turns"])
async def test_a_lost_record_means_a_new_epoch(world: World, what: str) -> None:
    first = await world.ask(story())
    store = world.store.store
    assert isinstance(store, RamStore)
    assert store.database.connection.execute(f"DELETE FROM {what}").rowcount
    second = await world.ask(after(story(), 1))
    assert second.epoch not in (None, first.epoch)
    assert second.state == "packed"


async def test_a_lost_node_is_built_again_and_its_epoch_goes_on(world: World) -> None:
    first = await world.ask(story())
    named = {row["id"] for row in first.explain()["nodes"]}
    store = world.store.store
    assert isinstance(store, RamStore)
    held = store.database.connection
    lost = [(bytes.fromhex(id_),) for id_ in named]
    assert held.executemany("DELETE FROM nodes WHERE id = ?", lost).rowcount
    second = await world.ask(after(story(), 1), world.memory())
    assert (second.epoch, second.state) == (first.epoch, "packed")
    assert begins(second, first)


def version(number: int, node: bytes) -> Summary:
    """Return a version of its own for each node: a line that says what its siblings say is left
    out."""
    return Summary(f"HEADLINE {number} {node.hex()[:6]}", f"BODY {number}", (), number)


async def put_versions(world: World, posted: list[dict[str, Any]], number: int) -> None:
    _, _, nodes = await world.used.outline(an_ask(posted))
    await world.store.put_summaries("t", {id_: version(number, id_) for id_ in nodes})


async def test_a_lost_summary_means_a_new_epoch(world: World) -> None:
    await world.used.index(an_ask(story()))
    await put_versions(world, story(), 1)
    first = await world.ask(story())
    assert "HEADLINE 1" in text_of(first)
    world.store.lost = {"summaries"}
    second = await world.ask(after(story(), 1))
    assert second.epoch not in (None, first.epoch)


async def test_a_new_summary_changes_nothing_within_an_epoch_and_shows_in_the_next(
    world: World,
) -> None:
    posted = story()
    first = await world.ask(posted)
    for number in (1, 2):
        await put_versions(world, posted, number)
        posted = after(posted, number)
        later = await world.ask(posted, world.memory())
        assert later.epoch == first.epoch
        assert begins(later, first)
        assert "HEADLINE" not in text_of(later)
    world.clock.time += 4_000
    third = await world.ask(posted)
    assert "HEADLINE 2" in text_of(third)
    await put_versions(world, posted, 3)
    fourth = await world.ask(after(posted, 3), world.memory())
    assert fourth.epoch == third.epoch
    assert begins(fourth, third)


@pytest.mark.parametrize("method", ["latest", "put_turn"])
async def test_a_store_that_fails_costs_the_epoch_and_not_the_answer(
    world: World, method: str
) -> None:
    posted = story()
    await world.ask(posted)
    world.store.broken[method] = StoreUnavailable("gone")
    answer = await world.ask([*posted, assistant("Well."), user(QUESTION)])
    assert answer.changed
    assert answer.epoch is None
    assert NEEDLE in text_of(answer)
    assert answer.state == "degraded:store"
    world.store.broken.clear()
    assert (await world.ask(after(posted, 1))).epoch


async def test_an_epoch_that_is_forgotten_before_its_turn_is_kept_costs_no_answer(
    world: World,
) -> None:
    await world.ask(story())
    world.store.broken["put_turn"] = NodesGone("gone")
    answer = await world.ask([*story(), assistant("Well."), user(QUESTION)])
    assert answer.epoch is None
    assert NEEDLE in text_of(answer)


async def test_a_store_that_fails_altogether_costs_no_answer(world: World) -> None:
    for name in ("latest", "frontiers", "commit", "put_turn", "nodes", "descendants", "vectors"):
        world.store.broken[name] = StoreUnavailable("gone")
    answer = await world.ask([*story()[:-1], user(QUESTION)])
    assert answer.state == "degraded:store"
    assert answer.epoch is None
    assert NEEDLE in text_of(answer)


async def test_what_was_forgotten_under_way_is_built_again(world: World) -> None:
    """Another process deletes the history between this one's reading and its writing."""
    posted = story()
    await world.ask(posted)
    began, go = world.store.hold("frontiers")
    longer = [*posted, *story(41, 5), user("And then.")]
    request = asyncio.create_task(world.ask(longer, world.memory()))
    await began.wait()
    await world.store.store.forget("t", None)  # type: ignore[attr-defined]
    go.set()
    answer = await request
    assert answer.state == "packed"
    assert answer.epoch
    assert answer.indexed_messages > 100
    assert await world.store.check() == []


# ---------------------------------------------------------------- forgetting


def all_of(world: World, how: str) -> Any:
    if how == "tenant":
        return world.used.forget_tenant("t")
    return world.used.forget_history(an_ask(story()))


@pytest.mark.parametrize("how", ["history", "tenant"])
async def test_forgetting_takes_all_of_it(world: World, how: str) -> None:
    await world.ask(story())
    await world.ask(story()[:-2])
    receipt = await all_of(world, how)
    assert receipt.turns >= 1
    assert receipt.epochs >= 1
    assert world.empty
    assert (await world.ask(story())).epoch


@pytest.mark.parametrize("how", ["history", "tenant"])
@pytest.mark.parametrize("mode", ["stable", "fresh"])
async def test_forgetting_while_stage_one_runs(world: World, how: str, mode: str) -> None:
    builder = Held()
    world.used = world.memory(builder)
    request = asyncio.create_task(world.ask(story(), mode=mode))
    await builder.began.wait()
    await all_of(world, how)
    builder.go.set()
    assert (await request).changed
    await world.used.close()
    assert world.empty


async def test_forgetting_an_address_while_stage_one_runs(world: World) -> None:
    first = await world.ask(story())
    builder = Held()
    world.used = world.memory(builder)
    request = asyncio.create_task(world.ask([*story(), *story(60, 5), user("And then.")]))
    await builder.began.wait()
    receipt = await world.used.forget_address("t", first.address)
    assert (receipt.epochs, receipt.turns) == (1, 3)  # two of them at beginnings of the history
    builder.go.set()
    assert (await request).changed
    assert world.empty


async def test_an_unknown_address_cannot_be_forgotten(world: World) -> None:
    first = await world.ask(story())
    with pytest.raises(NotFound):
        await world.used.forget_address("u", first.address)
    with pytest.raises(NotFound):
        await world.used.forget_address("t", first.address[::-1])
    assert not world.empty


@pytest.mark.parametrize("how", ["history", "tenant"])
@pytest.mark.parametrize("method", ["latest", "frontiers"])
async def test_forgetting_while_a_request_reads(world: World, how: str, method: str) -> None:
    began, go = world.store.hold(method)
    request = asyncio.create_task(world.ask(story()))
    await began.wait()
    world.store.waiting.clear()
    await all_of(world, how)
    go.set()
    assert (await request).changed
    assert world.empty


async def test_forgetting_what_is_still_to_be_indexed_in_the_background(world: World) -> None:
    answer = await world.ask(story(), target=60_000)
    assert not answer.changed
    await world.used.forget_history(an_ask(story()))
    await world.used.close()
    assert world.empty


async def test_forgetting_one_history_leaves_another(world: World) -> None:
    other = await world.ask(story(seed=2))
    await world.ask(story())
    await world.used.forget_history(an_ask(story()))
    again = await world.ask(after(story(seed=2), 1))
    assert again.epoch == other.epoch
    assert begins(again, other)


# ---------------------------------------------------------------- keeping


async def test_use_keeps_alive_and_is_written_at_most_once_a_day(world: World) -> None:
    renewed = []
    for hours in (0, 1, 22, 2, 1, 30):
        world.clock.time += hours * 3_600
        await world.ask(story())
        renewed.append(world.store.calls.count("renew"))
    assert renewed == [0, 0, 0, 1, 1, 2]
    soonest = min(row.expires for row in world.rows["addresses"])
    assert soonest == world.clock.time + 30 * DAY


async def test_a_shorter_time_to_keep_shortens_nothing(world: World) -> None:
    await world.ask(story(), expiration_days=30)
    world.clock.time += 2 * DAY
    await world.ask(story(), expiration_days=5)
    soonest = min(row.expires for row in world.rows["addresses"])
    assert soonest == 1_000_000 + 30 * DAY


async def test_sweeping_takes_epochs_after_a_day_and_histories_after_their_time(
    world: World,
) -> None:
    await world.ask(story(), expiration_days=3)
    world.clock.time += 0.9 * DAY
    assert not any(await world.used.sweep())
    world.clock.time += 0.2 * DAY
    receipt = await world.used.sweep()
    assert (receipt.epochs, receipt.turns, receipt.addresses) == (1, 3, 0)
    assert (await world.ask(story(), expiration_days=3)).epoch
    world.clock.time += 3.1 * DAY
    assert (await world.used.sweep()).addresses
    assert world.empty


async def test_nothing_is_stored_that_nothing_needs(world: World) -> None:
    posted = story()
    for number in range(3):
        await world.ask(posted)
        assert garbage(world.rows) == []
        posted = after(posted, number)
        world.clock.time += 4_000
