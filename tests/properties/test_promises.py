"""The promises of DESIGN section 2, for any walk of a client through its history."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from memtree.budget import packing
from memtree.context.context_memory import CompressRequest
from memtree.history.message import SYSTEM_ROLES, Message
from memtree.unfolding.explain import TreeView
from tests.answered import Answered, compressed
from tests.properties.examined import OPENING, broken_addresses, examine
from tests.properties.strategies import (
    Turn,
    a_world,
    batch,
    conversation,
    history_of,
    leaves_of,
    open_world,
    rewritten,
    turns,
)

seeds = st.integers(0, 9_999)
# Around the history's size, from a tenth of it to a little more; sometimes anything.
shares = st.one_of(st.floats(0.05, 1.3), st.integers(1_000, 200_000))


# How an answer is put together; cache markers among the tools.
forms = st.fixed_dictionaries(
    {"alternate": st.booleans(), "keep_first": st.booleans(), "markers": st.sampled_from([0, 1, 4])}
)


def first_is_whole(answer: Answered) -> bool:
    """Return True if a message of the client stands before the memory message."""
    talk = [raw for raw in answer.messages if Message(raw).role not in SYSTEM_ROLES]
    return any(OPENING in raw[:80] for raw in talk[1:3])


def target_of(share: float | int, size: int) -> int:
    wanted = int(share * size) if isinstance(share, float) else share
    return min(200_000, max(1_000, wanted))


def cut_at(messages: Sequence[Message], share: float) -> int:
    """A place where a client may cut or edit: never inside a round."""
    history = history_of(messages)
    index = history.rounds[int(share * (len(history.rounds) - 1))]
    return history.posted[index]


class Client(RuleBasedStateMachine):
    """One client that appends, branches, reverts, edits and clones on one memory."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.world = self.runner.run(self.opened())
        self.posted: list[Message] = []
        self.past: list[list[Message]] = []

    async def opened(self):
        return open_world()

    @initialize(
        seed=seeds,
        size=st.sampled_from([300, 8_000, 12_000, 12_000, 25_000]),
        share=shares,
        form=forms,
    )
    def begin(self, seed, size, share, form):
        self.form = form
        self.turn(conversation(seed, size) + Turn("user", seed, 9).messages(), share)

    @rule(more=st.lists(turns, min_size=1, max_size=4), share=shares, hard=st.booleans())
    def append(self, more, share, hard):
        self.turn([*self.posted, *(m for one in more for m in one.messages())], share, hard)

    @rule(seed=seeds, share=shares)
    def append_much(self, seed, share):
        self.turn([*self.posted, *conversation(seed, 4_000)], share)

    @rule(at=st.floats(0, 1), more=turns, share=shares)
    def branch(self, at, more, share):
        self.turn([*self.posted[: cut_at(self.posted, at)], *more.messages()], share)

    @rule(at=st.floats(0, 1), seed=seeds, share=shares)
    def edit(self, at, seed, share):
        """Put other words into a user message; what follows stays as it was."""
        history = history_of(self.posted)
        asked = [i for i, fact in enumerate(history.facts) if fact.role == "user"]
        if not asked:
            return
        place = asked[int(at * (len(asked) - 1))]
        index = history.posted[place]
        words = f"EDIT {seed}{' again' * (seed % 90)}"
        if words == self.posted[index].text:
            return
        changed = Message.of({"role": "user", "content": words})
        edited = [*self.posted[:index], changed, *self.posted[index + 1 :]]
        before, after = history.addresses, history_of(edited).addresses
        assert before[: place + 1] == after[: place + 1]
        assert not set(before[place + 1 :]) & set(after[place + 1 :])
        self.turn(edited, share)

    @precondition(lambda self: self.past)
    @rule(at=st.floats(0, 1), share=shares)
    def revert(self, at, share):
        self.turn(list(self.past[int(at * (len(self.past) - 1))]), share)

    @rule(share=shares)
    def clone(self, share):
        """Another session re-sends the history with new ids and volatile blocks."""
        self.turn(rewritten(self.posted), share)

    @rule()
    def finish_indexing(self):
        self.runner.run(asyncio.wait_for(self.world.settle(), 60))

    @rule(share=shares)
    def ask_twice(self, share):
        """Same store contents, same bytes."""
        self.finish_indexing()
        ask = self.ask(share)
        first = self.runner.run(compressed(self.world.memory, ask))
        self.finish_indexing()
        second = self.runner.run(compressed(self.world.memory, ask))
        third = self.runner.run(compressed(self.world.memory, ask))
        assert second.messages == third.messages
        assert first.address == second.address

    def ask(self, share: float | int, hard: bool = True) -> CompressRequest:
        size = history_of(self.posted).tokens
        target = target_of(share, size)
        return CompressRequest("t", tuple(self.posted), target=target, hard=hard, **self.form)

    def turn(self, messages: list[Message], share: float | int, hard: bool = True) -> None:
        if not any(message.role not in SYSTEM_ROLES for message in messages):
            return
        before, self.posted = self.posted, messages
        self.past.append(messages)
        old, new = history_of(before).addresses if before else (), history_of(messages).addresses
        if before and len(messages) > len(before) and messages[: len(before)] == before:
            assert new[: len(old)] == old, "append changed an earlier address"
        answer, problems = self.runner.run(examine(self.world, self.ask(share, hard)))
        event(f"state: {answer.state}")
        event(f"first message whole: {first_is_whole(answer)}")
        event(f"memory message: {answer.cached_tokens > 0}")
        event(f"more than 10k tokens: {answer.raw_tokens >= packing.THRESHOLD}")
        assert problems == []

    def teardown(self) -> None:
        self.runner.run(self.world.close())
        self.runner.close()


LOOKS = settings().max_examples  # of the profile that was chosen


class TestClient(Client.TestCase):  # type: ignore[misc, valid-type]
    settings = settings(max_examples=LOOKS // 5, stateful_step_count=8, deadline=None)


@pytest.mark.long
@pytest.mark.slow
class TestClientAtLength(Client.TestCase):  # type: ignore[misc, valid-type]
    settings = settings(max_examples=LOOKS // 7, stateful_step_count=20, deadline=None)


@settings(max_examples=LOOKS // 4)
@given(seed=seeds, size=st.sampled_from([11_000, 18_000]), share=st.floats(0.1, 0.9))
def test_a_cold_answer_and_a_warm_one_name_the_same_leaves(seed, size, share):
    async def both() -> tuple[Answered, Answered, TreeView, TreeView]:
        posted = tuple(conversation(seed, size))
        ask = CompressRequest("t", posted, target=target_of(share, size), hard=True)
        async with a_world(embedding=True) as world:
            cold = await compressed(world.memory, ask)
            early = await world.memory.tree(ask)
            await world.settle()
            warm = await compressed(world.memory, ask)
            return cold, warm, early, await world.memory.tree(ask)

    cold, warm, early, late = asyncio.run(both())
    event(f"states: {cold.state}, {warm.state}")
    assert early == late
    known = {node.id.hex() for node in early.nodes}
    for answer in (cold, warm):
        assert {node["id"] for node in answer.explain()["nodes"]} <= known


@settings(max_examples=LOOKS // 4)
@given(seed=seeds, share=st.floats(0.1, 0.9))
def test_without_embeddings_the_cold_answer_is_the_warm_one(seed, share):
    async def both() -> tuple[Answered, Answered, Answered]:
        ask = CompressRequest(
            "t", tuple(conversation(seed, 12_000)), target=target_of(share, 12_000), hard=True
        )
        async with a_world(embedding=False) as world, a_world(embedding=False) as other:
            cold = await compressed(world.memory, ask)
            return cold, await compressed(world.memory, ask), await compressed(other.memory, ask)

    cold, warm, elsewhere = asyncio.run(both())
    assert cold.messages == warm.messages == elsewhere.messages
    assert cold.explain() == warm.explain()


@settings(max_examples=LOOKS // 4)
@given(seed=seeds)
@example(seed=204)  # the newest answer's request lies before the cut, and scores
def test_two_tenants_share_nothing(seed):
    async def run() -> None:
        posted = tuple(conversation(seed, 11_000))
        async with a_world() as world:
            ask = CompressRequest("one", posted, target=3_000, hard=True)
            _, problems = await examine(world, ask)
            history, frontier, nodes = await world.memory.outline(ask)
            store = world.store
            assert nodes
            for tenant in ("two", "", "one "):
                other = history_of(posted, tenant)
                assert not set(other.addresses) & set(history.addresses)
                assert await store.frontiers(tenant, history.addresses) == {}
                assert await store.frontiers(tenant, other.addresses) == {}
                assert await store.nodes(tenant, list(nodes)) == {}
                assert await store.descendants(tenant, frontier.nodes) == {}
            await world.settle()
            ids = [leaf.id for leaf in leaves_of(frontier, nodes)]
            assert await store.vectors("one", "hashing/1", ids)
            assert await store.vectors("two", "hashing/1", ids) == {}
            _, more = await examine(world, replace(ask, tenant="two"))
            assert problems + more == []

    asyncio.run(run())


@pytest.mark.slow
@settings(max_examples=LOOKS // 4)
@given(seed=seeds, at=st.floats(0, 0.9))
def test_after_an_edit_most_leaves_are_the_old_ones(seed, at):
    """Borders fall in step again, so content behind an edit keeps its leaves and nodes."""
    posted = conversation(seed, 14_000)
    place = cut_at(posted, at)
    added = Turn("user", seed, 12).messages()
    before, after = (
        batch(history_of(posted)),
        batch(history_of([*posted[:place], *added, *posted[place:]])),
    )
    old = {node.id for node in before.nodes if node.is_leaf}
    new = {node.id for node in after.nodes if node.is_leaf}
    event(f"new leaves: {min(len(new - old), 8)}")
    # Falling in step takes 1-4 leaves, 9 in the worst of 120 seeds; without it all would be new.
    assert len(new - old) <= 20
    assert before.frontier.leaves < 25 or len(new & old) > len(old) // 3


@settings(max_examples=LOOKS // 2)
@given(seed=seeds, size=st.sampled_from([200, 3_000]))
def test_addresses_name_content(seed, size):
    assert list(broken_addresses(conversation(seed, size))) == []


@pytest.mark.slow
@settings(max_examples=LOOKS // 4)
@given(seed=seeds, size=st.sampled_from([2_000, 9_000]))
def test_growing_message_by_message_is_growing_at_once(seed, size):
    """On pure stage 1, without a store: every prefix has the frontier that it alone would have."""
    posted = conversation(seed, size)
    history = history_of(posted)
    whole = batch(history)
    for end in range(1, len(history) + 1, max(1, len(history) // 12)):
        part = batch(history_of(posted[: history.posted[end - 1] + 1]))
        assert part.frontier == whole.frontiers.get(history.addresses[end], part.frontier)
        assert (history.addresses[end] in whole.frontiers) == bool(part.frontier.nodes)
        made = {node.id: node for node in whole.nodes}
        assert all(made[node.id] == node for node in part.nodes)
