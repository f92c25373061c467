"""Check when an epoch ends, its stored form, and which requests continue it."""

from __future__ import annotations

import math
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.budget import epoch, packing
from memtree.budget.epoch import (
    BEFORE_ASK,
    BEFORE_RESULT,
    BLOCK_LEAST,
    BLOCK_MOST,
    BLOCK_SHARE,
    CEILING,
    GROWTH,
    LARGE_SHARE,
    REFILL,
    REFILL_LEAST,
    RESERVE,
    SMALL_GROWTH,
    Epoch,
    EpochTerms,
    EpochTurn,
    block_room,
    block_size,
    fits,
    high_water,
    mark_of,
    serves,
    stays,
)
from memtree.budget.packing import TokenLimits, epoch_budget
from memtree.budget.prices import Prices
from memtree.text.memory_lines import MemoryVersion
from memtree.tree.node import NodePlace
from memtree.unfolding.memory_plan import OutlineNode, Plan, TextSpan
from tests.properties.sizes import dialogue, sized

# ------------------------------------------------------------------------------------------------
# When an epoch ends, what a recall block may take, and the stored form of both.


PLAN = Plan(
    10,
    (OutlineNode(b"n" * 16, 2, 1, NodePlace(0, 0, 3, 0), True),),
    (TextSpan(1, 0, 9),),
    (TextSpan(2, 3, 7),),
)


def terms(target=20_000, hard=False, room=100_000, window=128_000, prices=None):
    return EpochTerms(target, hard, room, window, prices or Prices())


def begun(cut=0, start=None, size=8_000, memory=3_000):
    return Epoch(b"e" * 12, cut if start is None else start, size, memory, Plan(cut), 1_000.0)


def test_epochs_are_named_by_all_that_makes_them():
    named = [
        epoch.name(b"k", b"a", PLAN, 1.0),
        epoch.name(b"l", b"a", PLAN, 1.0),
        epoch.name(b"k", b"b", PLAN, 1.0),
        epoch.name(b"k", b"a", Plan(10), 1.0),
        epoch.name(b"k", b"a", PLAN, 2.0),
    ]
    assert len(set(named)) == len(named)
    assert epoch.name(b"k", b"a", PLAN, 1.0) == named[0]
    assert {len(one) for one in named} == {epoch.ID_BYTES}


spans = st.builds(TextSpan, st.integers(0, 2**40), st.integers(0, 2**31), st.integers(0, 2**31))
shown = st.builds(
    OutlineNode,
    st.binary(min_size=1, max_size=32),
    st.integers(0, 99),
    st.integers(0, 9),
    st.builds(NodePlace, *[st.integers(0, 2**31)] * 4),
    st.booleans(),
)
several = st.lists(spans, max_size=4).map(tuple)
plans = st.builds(
    Plan, st.integers(0, 10**6), st.lists(shown, max_size=4).map(tuple), several, several
)
moments = st.floats(0, 2e10)


@pytest.mark.slow
@given(st.builds(Epoch, st.binary(), *[st.integers(0, 10**7)] * 3, plans, moments))
def test_an_epoch_is_read_as_it_was_written(one):
    assert epoch.decode_epoch(epoch.encode(one)) == one


@given(st.builds(EpochTurn, st.binary(), several, st.integers(0, 9_999), moments))
def test_a_turn_is_read_as_it_was_written(one):
    assert epoch.decode_turn(epoch.encode(one)) == one


memories = st.lists(st.builds(MemoryVersion, st.text(), st.integers(1, 99)), max_size=5).map(tuple)


@pytest.mark.slow
@given(memories)
def test_what_was_shown_is_read_as_it_was_written(shown):
    begun = Epoch(b"e", 1, 2, 3, Plan(1), 0.0, shown)
    assert epoch.decode_epoch(epoch.encode(begun)) == begun
    turn = EpochTurn(b"e", memories=shown)
    assert epoch.decode_turn(epoch.encode(turn)) == turn
    assert turn.shows == bool(shown)


def test_rows_of_a_later_version_are_read():
    """A process of an older version meets them while both run."""
    begun = Epoch(b"e", 1, 2, 3, Plan(1, reasons=b"\1\xff"), 0.0, reason=200)
    row = msgspec.msgpack.decode(epoch.encode(begun))
    assert epoch.decode_epoch(msgspec.msgpack.encode([*row, "more"])) == begun


@pytest.mark.parametrize("data", [b"", b"\xc0", b"garbage", epoch.encode(EpochTurn(b"e"))[:-1]])
def test_damage_is_an_error_that_the_store_knows(data):
    for decode in (epoch.decode_epoch, epoch.decode_turn):
        with pytest.raises(msgspec.DecodeError):
            decode(data)


# ---------------------------------------------------------------- terms


def test_system_messages_and_tools_take_their_part_of_the_window():
    limits = TokenLimits(20_000, True, 50_000)
    found = EpochTerms.of(limits, 10_000, 60_000, Prices())
    assert (found.target, found.room, found.hard, found.window) == (20_000, 40_000, True, 60_000)
    assert EpochTerms.of(limits, 35_000, 60_000, Prices()).target == 15_000
    assert EpochTerms.of(limits, 55_000, 60_000, Prices()).target == 0


# ---------------------------------------------------------------- how far an epoch grows


def test_with_small_rounds_it_grows_to_a_share_of_the_target():
    history = dialogue(20, 1, 1)
    assert high_water(begun(), history, terms()) == GROWTH * 20_000
    assert high_water(begun(memory=700, size=1_000), history, terms(4_000)) == SMALL_GROWTH * 4_000
    assert high_water(begun(memory=700), history, terms(8_000)) != SMALL_GROWTH * 8_000
    assert packing.SMALL_TARGET == 8_000


def test_with_large_rounds_it_grows_by_more_than_one():
    """Rewriting all of it for each round would cost more than sending everything."""
    history = dialogue(21, 1_000, 11_000)
    found = high_water(begun(size=27_000), history, terms())
    assert found == pytest.approx(27_000 + math.sqrt(2 * 11.5 * 3_000 * 12_000))
    assert found > 27_000 + 2 * 12_000


def test_it_grows_from_what_it_began_with_or_from_one_round_if_that_is_more():
    history = dialogue(21, 500, 4_500)
    slack = math.sqrt(2 * 11.5 * 3_000 * 5_000)
    assert high_water(begun(size=9_000), history, terms()) == pytest.approx(9_000 + slack)
    assert high_water(begun(size=4_000), history, terms()) == pytest.approx(8_000 + slack)


def test_the_dearer_a_rewrite_the_further_it_grows():
    history = dialogue(21, 1_000, 11_000)
    marks = [
        high_water(begun(), history, terms(prices=Prices(1.25, read)))
        for read in (0.1, 0.25, 0.5, 1.0)
    ]
    assert all(one > other for one, other in pairwise(marks))
    assert Prices(1.0, 1.0).rewrite == 0
    assert Prices(0.5, 1.0).rewrite == 0


def test_it_never_grows_over_its_ceiling():
    history = dialogue(20, 90_000, 90_000)
    assert high_water(begun(), history, terms()) == 64_000  # half the window
    wide = terms(window=1_000_000, room=900_000)
    assert high_water(begun(), history, wide) == CEILING * 20_000
    assert high_water(begun(), history, terms(room=30_000)) == 30_000


def test_large_rounds_do_not_end_an_epoch_each_turn():
    """Rounds of a half to four fifths of the target, one appended in each turn."""
    for size in (9_000, 12_000, 16_000):
        history = dialogue(12, size, size)
        first = packing.begin(history, TokenLimits(20_000, False, 100_000), 0)
        one = begun(first.cut, len(history), first.memory + first.recent, first.memory)
        taken = 0
        while stays(one, dialogue(13 + taken, size, size), terms(), 0):
            taken += 1
        assert 2 <= taken <= 4


def test_it_stays_up_to_its_high_water_mark_and_no_further():
    one = begun(cut=1, memory=3_000)
    assert stays(one, sized(("user", 50), *[("user", 100)] * 130), terms(), 0)
    assert not stays(one, sized(("user", 50), *[("user", 100)] * 131), terms(), 0)


def test_where_thoughts_are_bound_to_the_prompt_it_rather_ends_at_a_question():
    """Between a call and its result it lasts a little longer."""
    asked = sized(("user", 50), *[("user", 100)] * 120)
    looping = sized(("user", 50), *[("user", 100)] * 120, ("tools", 10, 90))
    assert mark_of(asked, "") == mark_of(looping, "") == 1.0
    assert mark_of(asked, "messages") < 1.0 < mark_of(looping, "messages")
    one = begun(cut=1, memory=3_000)
    for rounds in (115, 118, 131, 149):
        history = sized(("user", 50), *[("user", 100)] * rounds)
        size = 3_000 + 100 * rounds
        for mark in (BEFORE_ASK, 1.0, BEFORE_RESULT):
            assert stays(one, history, terms(), 0, mark) == (size <= mark * GROWTH * 20_000)
    # What may not be sent at all, or a hard target, knows no such patience.
    assert not stays(one, asked, terms(room=14_999), 0, BEFORE_RESULT)
    assert stays(one, asked, terms(20_000, hard=True), 5_000, BEFORE_ASK)


def test_recall_blocks_end_an_epoch_only_where_a_limit_is_hard():
    one, history = begun(memory=3_000), sized(*[("user", 100)] * 100)  # 13,000 with memory
    assert stays(one, history, terms(20_000), 80_000)
    assert stays(one, history, terms(20_000), 87_000)
    assert not stays(one, history, terms(20_000), 87_001)  # over the model's window
    hard = terms(20_000, hard=True)
    assert stays(one, history, hard, 7_000)
    assert not stays(one, history, hard, 7_001)


def test_under_a_hard_target_an_epoch_grows_until_it_is_full():
    history = sized(*[("user", 10)] * 690)
    one, hard = begun(memory=1_000, size=1_500), terms(8_000, hard=True)
    assert stays(one, history, hard, 100)
    assert not stays(one, history, hard, 101)
    soft = terms(8_000)
    assert stays(one, history, soft, 50_000) == (high_water(one, history, soft) >= 7_900)


@pytest.mark.parametrize("target", [4_000, 8_000, 12_000])
def test_a_question_ends_an_epoch_where_another_one_would_give_it_much_more(target):
    """Short rounds: the next epoch costs little more than its memory message does."""
    history, hard = dialogue(260, 30, 40), terms(target, hard=True)
    one = begun(240, 258, size=1_700, memory=1_000)
    planned = epoch_budget(target, packing.mean_growth(history), 700)
    assert 0.3 * planned.memory < planned.wanted < 0.61 * planned.memory

    def served(used):
        blocks = {250: EpochTurn(b"e", (), used)}
        enough = room(history, blocks, limit=hard, one=one) + 1 > planned.wanted
        assert serves(one, history, hard, blocks, True) == enough
        assert serves(one, history, hard, blocks, False)
        assert serves(one, history, terms(target), blocks, True)
        return enough

    most = target - 1_000 - history.size(240)
    offered = (0, most // 10, most - 300, most)
    assert [served(used) for used in offered] == [True, True, False, False]


@pytest.mark.parametrize(("target", "growth"), [(4_000, 700), (8_000, 1_000), (20_000, 100)])
def test_a_question_never_ends_an_epoch_of_long_rounds_or_a_large_target(target, growth):
    history = dialogue(61, growth // 4, growth - growth // 4)
    full = begun(60, 61, size=target, memory=target - history.size(60))
    assert serves(full, history, terms(target, hard=True), {}, True)


@pytest.mark.slow
@pytest.mark.parametrize(("target", "least"), [(8_000, 4), (4_000, 2)])
@pytest.mark.parametrize("user", [40, 200, 600])
def test_long_rounds_do_not_end_an_epoch_with_each_question(target, least, user):
    """Requests that add 1,200 tokens: each is a question and takes all that it may."""
    limits = TokenLimits(target, True, 100_000)
    hard = terms(target, hard=True)
    taken: list[int] = []
    one, blocks = None, {}
    for turn in range(20, 60):
        history = dialogue(2 * turn + 1, user, 1_200 - user)
        if (
            one is None
            or not stays(one, history, hard, sum(b.block_tokens for b in blocks.values()))
            or not serves(one, history, hard, blocks, True)
        ):
            packed = packing.begin(history, limits, 0)
            size = packed.memory + packed.recent
            one, blocks = begun(packed.cut, len(history), size, packed.memory), {}
            taken.append(0)
        taken[-1] += 1
        found = block_room(one, history, hard, blocks, True)
        assert found >= 0.015 * target if taken[-1] > 1 else not found
        blocks[len(history) - 1] = EpochTurn(b"e", (), found)
        assert fits(one, history, hard, sum(b.block_tokens for b in blocks.values()))
    assert min(taken[:-1]) >= least


@pytest.mark.parametrize(
    ("user", "assistant", "share"), [(200, 1_000, 0.35), (60, 300, 0.9), (30, 40, 1)]
)
def test_a_question_leaves_room_for_the_next_requests(user, assistant, share):
    """Long rounds: their questions share alike; short ones: nearly all goes to this one."""
    hard, begins = terms(8_000, hard=True), dialogue(201, user, assistant)
    packed = packing.begin(begins, TokenLimits(8_000, True, 100_000), 0)
    one = begun(packed.cut, 201, packed.memory + packed.recent, packed.memory)
    assert room(begins, limit=hard, one=one) == 0  # its memory message is the answer
    history = dialogue(203, user, assistant)
    growth = user + assistant
    planned = epoch_budget(8_000, growth, packed.recent)
    free = 8_000 - one.size - planned.requests * growth
    found = room(history, limit=hard, one=one)
    assert (share - 0.2) * free - 1 <= found <= share * free


@pytest.mark.parametrize("hard", [False, True])
def test_what_may_be_sent_at_all(hard):
    one, history = begun(cut=2, memory=1_000), sized(*[("user", 500)] * 12)  # 6,000 with memory
    limit = terms(7_000, hard, room=9_000)
    most = 1_000 if hard else 3_000
    assert fits(one, history, limit, most)
    assert not fits(one, history, limit, most + 1)


# ---------------------------------------------------------------- recall blocks


@pytest.mark.parametrize(
    ("target", "size"),
    [
        (1_000, BLOCK_LEAST),
        (2_000, BLOCK_LEAST),
        (4_000, int(BLOCK_SHARE * 4_000)),
        (8_000, BLOCK_MOST),
        (20_000, BLOCK_MOST),
        (60_000, int(LARGE_SHARE * 60_000)),
    ],
)
def test_sizes_of_blocks(target, size):
    assert block_size(target) == size


FULL = block_size(20_000)


def asked(*tokens):
    """Blocks of those sizes at messages 0, 2, 4 ..., where the user speaks."""
    return {2 * at: EpochTurn(b"e", (), size) for at, size in enumerate(tokens)}


def room(history, blocks=None, *, start=1, wants=True, limit=None, memory=1_000, one=None):
    one = one or begun(0, start, memory=memory)
    return block_room(one, history, limit or terms(), blocks or {}, wants)


def test_a_bucket_is_full_when_its_epoch_begins():
    assert room(dialogue(1)) == FULL
    assert room(dialogue(21), start=21) == FULL


def test_a_bucket_is_emptied_by_blocks_and_filled_by_what_is_appended():
    drained = asked(FULL)
    assert room(dialogue(1), drained) == 0
    assert room(dialogue(3, 100, 2_900), drained) == int(REFILL * 3_000)
    assert room(dialogue(3, 1_100, 2_900), drained) == int(REFILL * 4_000)
    assert room(dialogue(3, 1_100, 9_000), drained) == FULL  # never more than full


def test_each_message_of_the_user_fills_it_a_little_however_short():
    drained = asked(FULL)
    assert room(dialogue(3, 10, 10), drained) == REFILL_LEAST
    assert room(dialogue(5, 10, 10), drained) == 2 * REFILL_LEAST
    tools = sized(("user", 9), *[("tools", 10, 10)] * 3)
    assert room(tools, drained) == int(REFILL * 60)


def test_what_was_filled_before_a_block_is_not_filled_again():
    history = dialogue(5, 100, 500)
    after_first = FULL - 1_500 + REFILL_LEAST
    assert room(history, asked(1_500, 800)) == after_first - 800 + REFILL_LEAST
    assert room(history, {2: EpochTurn(b"e", (), 800)}) == FULL - 800 + REFILL_LEAST


def test_blocks_count_in_the_order_of_their_messages():
    history = dialogue(7, 100, 500)
    blocks = asked(FULL, 100, 300)
    backwards = dict(reversed(blocks.items()))
    assert room(history, backwards) == room(history, blocks)


def test_a_full_bucket_does_not_save_up():
    history = dialogue(11, 100, 2_900)
    assert room(history, {8: EpochTurn(b"e", (), FULL)}) == int(REFILL * 3_000)


def test_a_remark_leaves_the_reserve_to_questions():
    assert room(dialogue(1), wants=False) == int((1 - RESERVE) * FULL)
    assert room(dialogue(3, 10, 10), asked(FULL), wants=False) < 0


def test_what_was_posted_before_the_epoch_began_fills_nothing():
    history = dialogue(11, 1_000, 2_000)
    drained = {10: EpochTurn(b"e", (), FULL)}
    assert room(history, drained, start=11) == 0


@pytest.mark.parametrize("wants", [True, False])
def test_a_hard_target_bounds_memory_history_and_all_blocks(wants):
    history = sized(("user", 100), ("assistant", 10_000), ("user", 100))
    hard = terms(12_000, hard=True)
    assert room(history, limit=hard, memory=1_000, wants=True) == 800
    assert room(history, asked(500), limit=hard, memory=1_000) == 300
    assert room(history, limit=hard, memory=1_795) == 5
    assert room(history, limit=hard, memory=2_000, wants=wants) <= 0
    small = sized(("user", 100), ("assistant", 2_000), ("user", 100))
    assert room(small, limit=terms(4_000, hard=True), memory=1_800, wants=wants) <= 0


def test_a_soft_target_bounds_blocks_by_growth_and_window():
    history = sized(("user", 100), ("assistant", 18_000), ("user", 100))
    assert room(history, limit=terms(), memory=3_000) == FULL  # high water is over 30,000
    assert room(history, limit=terms(room=21_500), memory=3_000) == 300
    small = sized(*[("user", 100)] * 190)
    free = terms(prices=Prices(1.0, 1.0))  # rewriting is free: no growth over the target
    assert room(small, limit=free, memory=500, start=190) == 500


@pytest.mark.slow
@given(st.lists(st.integers(0, 3_000), max_size=9), st.integers(4, 900), st.booleans())
def test_blocks_never_take_more_than_was_filled(wanted, size, wants):
    """Whatever is asked for, all blocks together stay within one full bucket and the refills."""
    blocks: dict[int, EpochTurn] = {}
    for at, one in enumerate(wanted):
        history = dialogue(2 * at + 1, size, size)
        granted = max(0, min(one, room(history, blocks, wants=wants)))
        assert granted <= FULL
        blocks[2 * at] = EpochTurn(b"e", (), granted)
    filled = sum(max(REFILL * 2 * size, REFILL_LEAST) for _ in wanted[1:])
    assert sum(turn.block_tokens for turn in blocks.values()) <= FULL + filled


# ------------------------------------------------------------------------------------------------
# Check which requests may continue each other's epochs.


KEYED = {
    "limits": TokenLimits(20_000, False, 100_000),
    "window": 128_000,
    "prices": Prices(1.25, 0.1, 3_600.0),
    "recipe": "minilm/1",
    "query": None,
}


@pytest.mark.parametrize(
    "other",
    [
        {"limits": TokenLimits(20_001, False, 100_000)},
        {"limits": TokenLimits(20_000, True, 100_000)},
        {"limits": TokenLimits(20_000, False, 100_000, alternate=True)},
        {"limits": TokenLimits(20_000, False, 100_000, keep_first=True)},
        {"window": 127_999},
        {"prices": Prices(1.0, 0.1, 3_600.0)},
        {"prices": Prices(1.25, 0.5, 3_600.0)},
        {"recipe": "minilm/2"},
        {"query": ""},
        {"query": "None"},
        {"recipe": "minilm/1', 'x", "query": None},
        {"memories": "messages"},
        {"dialect": "messages"},
    ],
    ids=str,
)
def test_requests_of_another_kind_have_another_key(other):
    assert epoch.key(**KEYED) == epoch.key(**dict(KEYED))
    assert epoch.key(**KEYED) != epoch.key(**{**KEYED, **other})


def test_a_dialect_is_no_scope_of_memories():
    one, two = {"memories": "messages"}, {"dialect": "messages"}
    assert epoch.key(**{**KEYED, **one}) != epoch.key(**{**KEYED, **two})
    assert epoch.key(**{**KEYED, **two}) != epoch.key(**{**KEYED, "dialect": "responses"})


def test_the_key_of_a_chat_is_that_of_stored_epochs():
    """Another value would end all epochs that are stored."""
    assert epoch.key(**KEYED, dialect="").hex() == "f70dc0474e7452acb5652758"


def test_what_does_not_make_bytes_is_not_in_the_key():
    """A reply of another length, or another lifetime of the cache, ends no epoch."""
    other = {"limits": TokenLimits(20_000, False, 90_000), "prices": Prices(1.25, 0.1, 300.0)}
    assert epoch.key(**KEYED) == epoch.key(**{**KEYED, **other})


def test_another_version_of_plans_has_another_key(monkeypatch):
    before = epoch.key(**KEYED)
    monkeypatch.setattr(epoch, "PLAN_VERSION", epoch.PLAN_VERSION + 1)
    assert epoch.key(**KEYED) != before
