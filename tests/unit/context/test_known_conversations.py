"""Check what is told of conversations from the store alone: the list, and why a plan is what it
is."""

from __future__ import annotations

import math
import struct
from base64 import urlsafe_b64encode

import pytest

from memtree.budget.epoch import EpochReason
from memtree.budget.prices import Prices
from memtree.clock import DAY
from memtree.context.known_conversations import (
    ConversationState,
    StoredPlan,
    made_cursor,
    read_cursor,
)
from memtree.errors import BadRequest, NotFound, StoreUnavailable
from memtree.ports.context_store import ConversationPlace
from memtree.stores import RamStore
from memtree.unfolding.memory_plan import REASONS
from tests.properties.process import QUESTION, World, after, assistant, begins, story, user

pytestmark = pytest.mark.slow  # some seconds in all


@pytest.fixture
def world() -> World:
    return World()


async def plan(world: World, address: bytes | None = None) -> StoredPlan:
    """Return the plan of the conversation that was used last."""
    page = await world.used.conversations.page("t", 1)
    return await world.used.conversations.plan("t", address or page.conversations[0].address)


def store(world: World) -> RamStore:
    held = world.store.store
    assert isinstance(held, RamStore)
    return held


# ---------------------------------------------------------------- the list


async def test_last_used_is_when_its_newest_message_came_or_was_asked_for_again(
    world: World,
) -> None:
    posted = story()
    await world.ask(posted)
    began = world.clock.time
    world.clock.time += 100
    await world.ask(story(seed=2), mode="fresh")
    one, two = (await world.used.conversations.page("t", 9)).conversations
    assert (one.last_used, two.last_used) == (began + 100, began)
    assert (one.state, two.state) == (ConversationState.INDEXED, ConversationState.PACKED)
    assert one.messages == two.messages == len(posted)
    world.clock.time += 100
    await world.ask(posted)
    one, _ = (await world.used.conversations.page("t", 9)).conversations
    assert (one.last_used, one.state) == (began + 200, ConversationState.PACKED)
    world.clock.time += 2 * DAY  # its epoch is gone by then
    await world.used.sweep()
    await world.ask(posted, mode="fresh", expiration_days=60)
    one, _ = (await world.used.conversations.page("t", 9)).conversations
    assert (one.last_used, one.state) == (began + 200 + 2 * DAY, ConversationState.INDEXED)


async def test_the_days_of_its_expiry_are_no_use(world: World) -> None:
    await world.ask(story(), expiration_days=365)
    world.clock.time += 10
    await world.ask(story(seed=2), expiration_days=2)
    one, two = (await world.used.conversations.page("t", 9)).conversations
    assert one.last_used > two.last_used
    world.clock.time += 3 * DAY
    (left,) = (await world.used.conversations.page("t", 9)).conversations
    assert left == two
    with pytest.raises(NotFound):
        await world.used.conversations.tree("t", one.address)
    with pytest.raises(NotFound):
        await world.used.conversations.plan("t", one.address)


async def test_what_is_deleted_while_it_is_read_is_not_found(world: World) -> None:
    await world.ask(story())
    (one,) = (await world.used.conversations.page("t", 9)).conversations
    world.store.lost.add("descendants")
    for read in (world.used.conversations.tree, world.used.conversations.plan):
        with pytest.raises(NotFound):
            await read("t", one.address)


async def test_a_store_that_fails_is_an_error(world: World) -> None:
    await world.ask(story())
    world.store.broken["conversations"] = StoreUnavailable("gone")
    with pytest.raises(StoreUnavailable):
        await world.used.conversations.page("t", 9)


async def test_a_title_is_the_first_request_and_needs_no_tree(world: World) -> None:
    await world.ask([user("Please rename the harbour gate to sea gate."), *story()])
    read = world.store.calls.count("nodes")
    (one,) = (await world.used.conversations.page("t", 9)).conversations
    assert one.title == "Please rename the harbour gate to sea gate."
    assert world.store.calls.count("nodes") == read


async def test_the_same_request_twice_is_told_apart(world: World) -> None:
    begin = [user("Please rename the harbour gate to sea gate.")]
    for seed in range(3):
        await world.ask([*begin, *story(seed=seed)])
    titles = {one.title for one in (await world.used.conversations.page("t", 9)).conversations}
    assert titles == {
        f"Please rename the harbour gate to sea gate.{end}" for end in ("", " (2)", " (3)")
    }


async def test_a_typed_title_is_shown_as_it_was_typed(world: World) -> None:
    answer = await world.ask(story())
    known = world.used.conversations
    (one,) = (await known.page("t", 9)).conversations
    await known.rename("t", one.address, "The sea gate (2)")
    (one,) = (await known.page("t", 9)).conversations
    assert one.title == "The sea gate (2)"
    assert answer.address == one.address
    for tenant, address in (("u", one.address), ("t", bytes(32))):
        with pytest.raises(NotFound):
            await known.rename(tenant, address, "Another")


def test_cursors() -> None:
    place = ConversationPlace(1_700_000_000.123456, bytes(range(32)))
    assert read_cursor(made_cursor(place)) == place
    assert read_cursor(None) is None
    nan = urlsafe_b64encode(struct.pack(">d32s", math.nan, bytes(32))).decode().rstrip("=")
    for bad in ("", "a", made_cursor(place)[:-1], made_cursor(place) + "A", "é" * 54, nan):
        with pytest.raises(BadRequest):
            read_cursor(bad)


# ---------------------------------------------------------------- the plan


async def test_a_plan_keeps_why_its_excerpts_are_shown(world: World) -> None:
    """In later turns of the epoch it says what the first one said."""
    posted = [*story()[:-1], user(QUESTION)]
    first = await world.ask(posted)
    told = await plan(world)
    assert told.epoch is not None
    assert told.epoch.id.hex() == first.epoch
    assert {one.reason for one in told.excerpts} <= set(REASONS[1:])
    ranks = [one.rank for one in told.excerpts if one.rank]
    assert min(ranks) == 1
    assert len(set(ranks)) > 1
    explained = {
        (one["message"], one["start"], one["end"]): (one["reason"], one["rank"])
        for one in first.explain()["excerpts"]
    }
    for one in told.excerpts:
        assert explained[one.message, one.start, one.end] == (one.reason, one.rank)
    posted = after(posted, 1)
    second = await world.ask(posted)
    assert begins(second, first)
    again = {
        (one["message"], one["start"], one["end"]): (one["reason"], one["rank"])
        for one in second.explain()["excerpts"]
    }
    assert again == explained
    later = await plan(world)
    assert later == told


async def test_a_recall_block_keeps_it_too(world: World) -> None:
    posted = after(story(), 1)
    await world.ask(posted)
    asked = [*posted, assistant("Well."), user(QUESTION)]
    answer = await world.ask(asked)
    assert answer.recall_tokens
    (block,) = (await plan(world)).recall
    assert block.message == len(asked) - 1
    assert {one.reason for one in block.excerpts} <= {"excerpt", "user"}
    assert min(one.rank or 0 for one in block.excerpts) >= 1
    told = [one for one in answer.explain()["excerpts"] if one["reason"] == "recalled"]
    assert sorted(one["rank"] for one in told) == sorted(one.rank or 0 for one in block.excerpts)
    await world.ask(after(asked, 2))
    assert (await plan(world)).recall == (block,)


async def test_blocks_of_another_branch_are_left_out(world: World) -> None:
    posted = after(story(), 1)
    await world.ask(posted)
    asked = [*posted, assistant("Well."), user(QUESTION)]
    await world.ask(asked)
    world.clock.time += 1
    await world.ask([*posted, assistant("Well."), user("It was so, 7.")])
    assert (await plan(world)).recall == ()
    pages = (await world.used.conversations.page("t", 9)).conversations
    assert len(pages) == 2
    assert len((await plan(world, pages[1].address)).recall) == 1


async def test_an_address_before_the_newest_one_has_the_plan_of_its_time(world: World) -> None:
    posted = story()
    first = await world.ask(posted)
    told = await plan(world)
    world.clock.time += 4_000
    await world.ask(after(posted, 1))
    assert (await plan(world)).epoch != told.epoch
    assert (await plan(world, first.address)).epoch == told.epoch


# ---------------------------------------------------------------- why an epoch began


async def reason(world: World) -> str | None:
    epoch = (await plan(world)).epoch
    assert epoch is not None
    return epoch.reason


async def test_why_an_epoch_began(world: World) -> None:
    posted = story()
    await world.ask(posted)
    assert await reason(world) == "first"
    posted = after(posted, 1)
    await world.ask(posted)
    assert await reason(world) == "first"
    world.clock.time += 301
    posted = after(posted, 2)
    await world.ask(posted, prices=Prices(lifetime=300.0))
    assert await reason(world) == "idle"
    posted = after(posted, 3)
    await world.ask(posted, target=3_000)
    assert await reason(world) == "first"  # under these settings


async def test_one_that_is_full_ends(world: World) -> None:
    posted = story()
    first = (await world.ask(posted)).epoch
    for number in range(60):
        posted = after(posted, number, "many words of all kinds about the long summer " * 5)
        world.clock.time += 1
        if (await world.ask(posted)).epoch != first:
            break
    assert await reason(world) == "full"


async def test_one_that_leaves_a_question_no_room_ends(world: World) -> None:
    posted = story()
    reasons = set()
    for number in range(40):
        world.clock.time += 1
        await world.ask(posted, hard=True)
        reasons.add(await reason(world))
        posted = [*after(posted, number, "many words about the summer " * 8), assistant("Well."),
                  user(QUESTION)]  # fmt: skip
    assert reasons == {"first", "question"}


async def test_one_that_lost_a_block_ends(world: World) -> None:
    posted = after(story(), 1)
    await world.ask(posted)
    asked = [*posted, assistant("Well."), user(QUESTION)]
    answer = await world.ask(asked)
    assert answer.recall_tokens
    posted = after(asked, 2)
    world.clock.time += 1
    await world.ask(posted)
    held = store(world).database.connection
    assert held.execute("DELETE FROM turns WHERE address = ?", (answer.address,)).rowcount
    world.clock.time += 1
    await world.ask(after(posted, 3))
    assert await reason(world) == "lost"


def test_each_reason_has_a_number_of_its_own() -> None:
    """They are stored."""
    assert [(each.name, each.value) for each in EpochReason] == [
        ("FIRST", 1), ("FULL", 2), ("IDLE", 3), ("QUESTION", 4), ("LOST", 5),
        ("MEMORY_DELETED", 6),
    ]  # fmt: skip
    shown = ("", "excerpt", "user", "line", "ask", "card", "trail", "step", "rule", "file", "tail")
    assert shown == REASONS
