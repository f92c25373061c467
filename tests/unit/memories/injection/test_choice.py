"""Check which memories stand beside a conversation, and when what is known of that has to be
stored."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.days import DAY
from memtree.memories.injection.choice import Choice, chosen
from memtree.memories.memory import Memory, PossibleUpdate
from memtree.memories.ports import ShownMemory
from memtree.text.memory_lines import MOST

NOW = 1_000_000.0


def memory(number: int, version: int = 1, **more) -> Memory:
    named = {"version": version, **more}
    return Memory(f"mem_{number}", number, f"fact number {number}", 0.0, 0.0, **named)


def shown(number: int, hit: float, version: int = 1) -> ShownMemory:
    return ShownMemory(f"mem_{number}", version, hit)


def live(*numbers: int) -> dict[str, Memory]:
    return {f"mem_{number}": memory(number) for number in numbers}


def numbers(choice: Choice) -> list[int]:
    return [one.number for one in choice.memories]


def test_hits_stand_in_the_order_in_which_they_were_saved():
    choice = chosen([memory(3), memory(1), memory(2)], (), {}, NOW)
    assert numbers(choice) == [1, 2, 3]
    assert choice.shown == (shown(1, NOW), shown(2, NOW), shown(3, NOW))
    assert choice.changed


@pytest.mark.parametrize(
    ("newer_tainted", "older_tainted", "left"),
    [(False, False, [2]), (False, True, [2]), (True, True, [2]), (True, False, [1, 2])],
)
def test_a_changed_value_takes_the_place_of_what_is_no_more_trusted(
    newer_tainted: bool, older_tainted: bool, left: list[int]
):
    updates = (PossibleUpdate("mem_1", "", ("8090 -> 8091",)),)
    hits = [memory(1, tainted=older_tainted), memory(2, tainted=newer_tainted, updates=updates)]
    assert numbers(chosen(hits, (), {}, NOW)) == left


def test_no_hit_and_nothing_shown_before_is_nothing():
    assert chosen((), (), {}, NOW) == Choice((), (), False)


def test_what_was_shown_stays_without_being_hit_again():
    before = (shown(1, NOW - 50), shown(4, NOW - 9))
    choice = chosen((), before, live(1, 4), NOW)
    assert numbers(choice) == [1, 4]
    assert choice.shown == before
    assert not choice.changed


def test_what_is_gone_is_shown_no_more():
    choice = chosen((), (shown(1, NOW - 50), shown(4, NOW - 9)), live(4), NOW)
    assert numbers(choice) == [4]
    assert choice.changed


def test_new_hits_crowd_out_those_whose_last_hit_is_oldest():
    before = tuple(shown(number, NOW - 10 * number) for number in range(1, 6))
    choice = chosen([memory(9), memory(8)], before, live(1, 2, 3, 4, 5), NOW)
    assert numbers(choice) == [1, 2, 3, 8, 9]
    assert choice.shown == (*before[:3], shown(8, NOW), shown(9, NOW))


def test_of_too_many_hits_the_best_are_taken():
    choice = chosen([memory(number) for number in (9, 2, 8, 3, 7, 1)], (), {}, NOW)
    assert numbers(choice) == [2, 3, 7, 8, 9]


def test_a_hit_that_is_shown_already_changes_nothing_but_the_time():
    before = (shown(1, NOW - 10), shown(2, NOW - 5))
    choice = chosen([memory(2)], before, live(1, 2), NOW)
    assert numbers(choice) == [1, 2]
    assert not choice.changed  # the next one to be crowded out is the same
    other = chosen([memory(1)], before, live(1, 2), NOW)
    assert other.changed
    assert other.shown == (shown(1, NOW), shown(2, NOW - 5))


def test_a_hit_after_a_day_is_stored_so_that_the_set_does_not_expire():
    before = (shown(1, NOW - DAY - 1),)
    assert chosen([memory(1)], before, live(1), NOW).changed
    assert not chosen((), before, live(1), NOW).changed


def test_an_edited_memory_is_shown_as_it_is_now():
    edited = memory(1, version=3)
    choice = chosen((), (shown(1, NOW - 5),), {"mem_1": edited}, NOW)
    assert choice.memories == (edited,)
    assert choice.shown == (shown(1, NOW - 5, version=3),)
    assert choice.changed


def test_of_memories_that_read_the_same_one_is_shown():
    twin = replace(memory(7), text="fact  number 2")
    assert numbers(chosen([memory(2), twin], (), {}, NOW)) == [2]


def test_a_snapshot_is_never_shown():
    assert numbers(chosen([memory(2, kind="snapshot"), memory(3)], (), {}, NOW)) == [3]


def test_what_is_of_another_branch_is_not_shown_and_not_forgotten():
    before = (shown(1, NOW - 50), shown(4, NOW - 9))
    there = live(1, 4, 7)
    choice = chosen([memory(7), memory(4)], before, there, NOW, away={"mem_4"})
    assert numbers(choice) == [1, 7]
    assert choice.shown == (shown(1, NOW - 50), shown(4, NOW - 9), shown(7, NOW))
    back = chosen((), choice.shown, there, NOW + 1)
    assert numbers(back) == [1, 4, 7]
    assert not back.changed


def test_what_is_remembered_for_other_branches_is_bounded():
    shown_before: tuple[ShownMemory, ...] = ()
    for number in range(1, 40):
        there = live(*range(1, 40))
        away = {f"mem_{other}" for other in range(1, 40) if other != number}
        choice = chosen([memory(number)], shown_before, there, NOW + number, 3, away=away)
        assert numbers(choice) == [number]
        shown_before = choice.shown
    assert len(shown_before) <= 6


def test_a_form_of_its_own_tells_which_read_the_same():
    twins = [memory(1), memory(2)]
    assert numbers(chosen(twins, (), {}, NOW, line=lambda one: "alike")) == [1]
    assert numbers(chosen(twins, (), {}, NOW, line=lambda one: "")) == []


moments = st.lists(st.tuples(st.lists(st.integers(1, 9), unique=True), st.sets(st.integers(1, 9))))


@pytest.mark.slow
@given(moments)
def test_a_walk_of_hits_and_deletions(steps):
    """Storing only when it has to be leads to the same sets as storing each time."""
    rarely: tuple[ShownMemory, ...] = ()
    always: tuple[ShownMemory, ...] = ()
    for step, (hits, gone) in enumerate(steps):
        there = live(*(set(range(1, 10)) - gone))
        found = [there[f"mem_{number}"] for number in hits if number not in gone]
        one = chosen(found, rarely, there, NOW + step)
        other = chosen(found, always, there, NOW + step)
        assert one.memories == other.memories
        assert len(one.memories) <= MOST
        assert numbers(one) == sorted(numbers(one))
        assert {memory.id for memory in found[:MOST]} <= {memory.id for memory in one.memories}
        assert not {f"mem_{number}" for number in gone} & {known.id for known in one.shown}
        again = chosen(found, one.shown, there, NOW + step)
        assert again.memories == one.memories  # a retry
        assert not again.changed
        rarely = one.shown if one.changed else rarely
        always = other.shown
