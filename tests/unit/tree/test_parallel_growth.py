"""Stage 1 in several stretches gives what one run gives, or says how far they agree."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from memtree.conversation.message import Message
from memtree.tree import growth
from memtree.tree.growth import GrownTree
from memtree.tree.node import EMPTY
from tests.properties.strategies import conversation, history_of, prose, tail_of

OVERLAP = 8_000  # bytes: test histories are small


def in_stretches(tail, parts: int, overlap: int = OVERLAP) -> tuple[GrownTree, int]:
    stretches = growth.split(tail, parts, overlap)
    return join(tail, stretches, [growth.grow(one.tail) for one in stretches])


def join(tail, stretches, grown) -> tuple[GrownTree, int]:
    """Join the trees of the stretches as far as they agree."""
    whole, end = grown[0], stretches[0].end
    for stretch, next_tree in zip(stretches[1:], grown[1:], strict=True):
        added = growth.join_next(tail, whole, end, stretch, next_tree)
        if added is None:
            break
        whole, end = growth.concat([whole, added]), stretch.end
    return whole, end


def finished(tail, grown: GrownTree, end: int) -> GrownTree:
    if end == len(tail.messages):
        return grown
    return growth.concat([grown, growth.grow(growth.rest(tail, grown, end))])


def test_stretches_follow_each_other_and_overlap():
    tail = tail_of(history_of(conversation(1, 20_000)))
    stretches = growth.split(tail, 3, OVERLAP)
    assert (stretches[0].start, stretches[-1].end) == (0, len(tail.messages))
    for one, other in pairwise(stretches):
        assert one.start < other.start < one.end <= other.end
        shared = tail.messages[other.start : one.end]
        assert sum(map(len, shared)) >= OVERLAP > sum(map(len, shared[:-1]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "parts",
    [1, pytest.param(2, marks=pytest.mark.long), 3, pytest.param(5, marks=pytest.mark.long)],
)
def test_together_they_find_what_one_run_finds(parts):
    tail = tail_of(history_of(conversation(2, 30_000)))
    assert in_stretches(tail, parts) == (growth.grow(tail), len(tail.messages))


@given(
    seed=st.integers(0, 10_000),
    parts=st.integers(2, 4),
    size=st.integers(2_000, 20_000),
    overlap=st.integers(1, OVERLAP),
)
@pytest.mark.slow
def test_in_step_or_not_the_result_is_that_of_one_run(seed, parts, size, overlap):
    tail = tail_of(history_of(conversation(seed, size)))
    grown, end = in_stretches(tail, parts, overlap)
    event(f"in step: {end == len(tail.messages)}")
    assert finished(tail, grown, end) == growth.grow(tail)


@pytest.mark.slow
def test_a_tail_may_go_on_from_a_frontier_and_a_longer_known_prefix():
    history = history_of(conversation(3, 30_000))
    whole = growth.grow(tail_of(history))
    known = {node.id: node for node in whole.nodes}
    length = len(history) // 4
    frontier = whole.frontiers[history.addresses[length]]
    assert frontier.messages < length
    tail = tail_of(history, frontier, {id_: known[id_] for id_ in frontier.nodes}, length)
    assert in_stretches(tail, 3) == (growth.grow(tail), len(tail.messages))


@pytest.mark.slow
def test_where_borders_do_not_agree_it_says_so():
    """Nothing to fall in step in: the first stretch ends where the second begins."""
    history = history_of(
        [Message.of({"role": "user", "content": prose(n, 150)}) for n in range(90)]
    )
    tail = tail_of(history)
    grown, end = in_stretches(tail, 2, overlap=1)
    assert 0 < end < len(tail.messages)
    assert finished(tail, grown, end) == growth.grow(tail)


@pytest.mark.slow
def test_one_message_is_one_stretch():
    tail = tail_of(history_of([Message.of({"role": "user", "content": prose(1, 9_000)})]))
    assert [(one.start, one.end) for one in growth.split(tail, 4)] == [(0, 1)]
    assert in_stretches(tail, 4) == (growth.grow(tail), 1)


@pytest.mark.slow
def test_what_a_stretch_has_sealed_is_not_sealed_again(monkeypatch):
    tail = tail_of(history_of(conversation(4, 150_000)))
    stretches = growth.split(tail, 2)
    grown = [growth.grow(one.tail) for one in stretches]
    made = []
    summarise = growth.summarise
    monkeypatch.setattr(growth, "summarise", lambda *given: made.append(given) or summarise(*given))
    whole, _ = join(tail, stretches, grown)
    new = len([n for n in whole.nodes if n.level]) - len([n for n in grown[0].nodes if n.level])
    assert 0 < len(made) < new / 2


def test_a_part_is_a_history_of_its_own():
    tail = tail_of(history_of(conversation(5, 12_000)))
    _, second = growth.split(tail, 2)
    assert second.tail.frontier == EMPTY
    assert second.tail.addresses[-1] == tail.addresses[-1]
    assert len(second.tail.messages) == len(second.tail.digests) == len(second.tail.addresses)


# ---------------------------------------------------------------- in steps


@pytest.mark.slow
@given(
    seed=st.integers(0, 10_000),
    size=st.integers(500, 12_000),
    step=st.integers(1, 30_000),
    known=st.floats(0, 1),
    stopped=st.integers(0, 20),
)
def test_in_steps_the_result_is_that_of_one_run(seed, size, step, known, stopped):
    """From any known prefix on, and where a run is cut off and another one goes on from there."""
    history = history_of(conversation(seed, size))
    before = growth.grow(tail_of(history))
    length = int(known * len(history))
    frontier = before.frontiers.get(history.addresses[length], EMPTY)
    if not frontier.nodes:
        length = 0
    nodes = {node.id: node for node in before.nodes}
    tail = tail_of(history, frontier, {id_: nodes[id_] for id_ in frontier.nodes}, length)
    steps = list(growth.in_steps(tail, step))
    event(f"steps: {min(len(steps), 3)}")
    assert growth.concat(steps) == growth.grow(tail)
    done = steps[: 1 + stopped]
    rest = growth.rest_after(tail, growth.concat(done))
    assert growth.concat([*done, growth.grow(rest)]) == growth.grow(tail)


def test_nothing_new_is_one_step():
    tail = tail_of(history_of(conversation(1, 3_000)))
    left = growth.rest(tail, growth.grow(tail), len(tail.messages))
    (step,) = growth.in_steps(left)
    assert step == growth.grow(left)


def test_steps_are_of_about_equal_size():
    tail = tail_of(history_of(conversation(5, 30_000)))
    size = sum(map(len, tail.messages))
    longest = max(map(len, tail.messages))
    end = growth.reach(tail, size // 3 + 1)
    assert abs(sum(map(len, tail.messages[:end])) - size / 3) <= longest
    assert growth.reach(tail, 1) == 1
    assert growth.reach(tail, size) == len(tail.messages)
