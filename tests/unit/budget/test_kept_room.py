"""The room of what must stay, beside and within the memory message."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.budget.packing import Packed, TokenLimits, begin
from memtree.context.epochs.kept_parts import KEPT_SHARE, with_kept
from memtree.unfolding.memory_message.memory_text import WRAPPER
from memtree.unfolding.pinned.kept_passages import kept_passages
from tests.unit.unfolding.histories import history

WORDS = " ".join(f"word{number}" for number in range(300))
FOUND = history(*(f"<keep>{number} {WORDS}</keep>" for number in range(30)))
PASSAGES = kept_passages(FOUND)


def limits(target: int, *, hard: bool) -> TokenLimits:
    return TokenLimits.of(target=target, hard=hard, window=200_000, reserve=0)


def test_without_passages_nothing_changes():
    packed = Packed(8, 900, 1_000)
    assert with_kept(packed, [], FOUND, limits(4_000, hard=True), 0) is packed


def test_a_soft_target_has_room_beside_the_memory_message():
    packed = with_kept(Packed(20, 900, 700), PASSAGES, FOUND, limits(4_000, hard=False), 0)
    assert 0.15 * 4_000 < packed.kept.tokens <= KEPT_SHARE * 4_000
    assert packed.memory == 700 + packed.kept.tokens


def test_a_hard_target_pays_with_what_is_spare_and_half_of_what_is_reserved():
    before = Packed(20, 1_200, 1_000, reserved=1_400)
    packed = with_kept(before, PASSAGES, FOUND, limits(4_000, hard=True), 0)
    assert packed.memory == 1_000 + packed.kept.tokens
    assert packed.reserved == 1_400 - (packed.kept.tokens - 400)


def test_an_answer_that_fills_a_soft_target_does_not_grow():
    before = Packed(20, 1_000, 3_000)
    packed = with_kept(before, PASSAGES, FOUND, limits(4_000, hard=False), 0)
    assert (packed.memory, packed.kept.tokens > 0) == (3_000, True)


def test_beside_a_round_larger_than_a_soft_target_there_is_room():
    packed = with_kept(Packed(29, 9_000, 700), PASSAGES, FOUND, limits(4_000, hard=False), 0)
    assert packed.memory == 700 + packed.kept.tokens > 700


def test_without_spare_room_the_memory_message_pays():
    before = Packed(20, 3_000, 1_000)
    packed = with_kept(before, PASSAGES, FOUND, limits(4_000, hard=True), 0)
    assert packed.memory == 1_000
    assert 0 < packed.kept.tokens <= 1_000 - 2 * WRAPPER


@pytest.mark.parametrize("hard", [True, False])
@given(target=st.integers(1_000, 40_000), fixed=st.integers(0, 30_000))
def test_never_more_than_a_fifth_of_the_target_and_never_over_a_hard_one(
    hard: bool, target: int, fixed: int
):
    given = limits(target, hard=hard)
    before = begin(FOUND, given, fixed)
    packed = with_kept(before, PASSAGES, FOUND, given, fixed)
    assert packed.kept.tokens <= KEPT_SHARE * min(target, max(0, given.prompt - fixed))
    assert packed.cut == before.cut
    room = max(0, given.prompt - fixed)
    sent = packed.recent + packed.beside + packed.memory
    assert sent <= max(before.recent + before.beside + before.memory, target if hard else room)
