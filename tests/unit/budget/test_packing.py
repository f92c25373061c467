"""Check who gets how many tokens, and the room of what must stay."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from memtree.budget import packing
from memtree.budget.packing import (
    THRESHOLD,
    Packed,
    Pass,
    PassReason,
    Refuse,
    TokenLimits,
    admit,
    begin,
    epoch_budget,
    pack,
)
from memtree.context.kept_parts import KEPT_SHARE, with_kept
from memtree.history.chat_history import History, read
from memtree.history.message import MESSAGE_OVERHEAD, Message, Volatile
from memtree.unfolding.kept_passages import KeptPassage, kept_passages
from memtree.unfolding.memory_text import WRAPPER
from tests.unit.unfolding.histories import history

# ------------------------------------------------------------------------------------------------
# Who gets how many tokens: pass, pack or refuse.


def sized(*rounds):
    """A history whose messages have the given sizes: ("user", 500), ("tools", 9, 500, 500)."""
    made = []
    for role, size, *results in rounds:
        own = {
            "role": role if role == "user" else "assistant",
            "content": str(size - MESSAGE_OVERHEAD),
        }
        if results:  # a call costs its overhead too; its name and arguments are counted as 0
            own["content"] = str(size - (1 + len(results)) * MESSAGE_OVERHEAD)
            own["tool_calls"] = [
                {"id": str(n), "type": "function", "function": {"name": "0", "arguments": "0"}}
                for n in range(len(results))
            ]
        made.append(own)
        made += [
            {"role": "tool", "tool_call_id": str(n), "content": str(result - MESSAGE_OVERHEAD)}
            for n, result in enumerate(results)
        ]
    return read(
        "t", [Message.of(one) for one in made], Volatile(), count=lambda text: int(text or 0)
    )


def limits(target=20_000, hard=True, prompt=100_000):
    return TokenLimits(target, hard, prompt)


def decided(history, limits, fixed=0):
    """Return what an answer for the present question does with a history."""
    found = admit(history, limits, fixed) or pack(history, limits, fixed)
    return replace(found, ask=0) if isinstance(found, Packed) else found


def test_a_tenth_of_the_target_is_for_the_ask_of_a_cut_loop():
    history = sized(*CHAT)
    assert pack(history, limits(20_000), 0).ask == 2_000
    assert packing.begin(history, limits(8_000), 0).ask == 800


def test_a_cut_never_parts_what_is_joined():
    """The newest round goes from the last cut on."""
    apart = sized(*CHAT[:60], ("tools", 9, 500), ("user", 100))
    messages = list(apart.messages)
    messages[-1] = Message(messages[-1].raw, joined=True)
    together = read("t", messages, Volatile(), count=lambda text: int(text or 0))
    tight = limits(1_000, prompt=2_000)
    assert pack(apart, tight, 0).cut == len(apart) - 1
    assert pack(together, tight, 0).cut == len(apart) - 3
    assert packing.begin(together, tight, 0).cut == len(apart) - 3


CHAT = [("user", 100), ("assistant", 900)] * 40  # 40,000 tokens


def test_limits_of_a_window():
    assert (
        TokenLimits.of(target=1, hard=True, window=100_000, reserve=4_096).prompt == 95_000 - 4_096
    )
    assert TokenLimits.of(target=1, hard=True, window=1_000, reserve=4_096).prompt == 0


def test_the_margin_bounds_what_is_packed_and_refuses_nothing():
    taken = TokenLimits.of(target=20_000, hard=False, window=20_000, reserve=1_000)
    assert (taken.prompt, taken.largest) == (18_000, 19_000)
    assert admit(sized(("user", 18_400)), taken, 600) == Pass(PassReason.ONE_ROUND)
    assert admit(sized(("user", 18_401)), taken, 600) == Refuse(19_000, 19_001)
    older = [("user", 20), ("assistant", 80)]
    large = admit(sized(*older, ("user", 18_000)), taken, 400)
    assert large == Pass(PassReason.LARGE_ROUND, folds_at=18_600)
    assert decided(sized(*older, ("user", 18_550)), taken, 400) == Packed(2, 18_550, 0)
    assert admit(sized(*older * 150, ("user", 5_000)), taken, 400) is None


def test_a_history_that_fits_its_target_passes():
    assert decided(sized(*CHAT), limits(40_000)) == Pass()
    assert isinstance(decided(sized(*CHAT), limits(39_999)), Packed)


def test_a_history_under_the_threshold_passes_whatever_the_target():
    assert decided(sized(("user", THRESHOLD - 1)), limits(1_000)) == Pass()
    assert isinstance(decided(sized(*CHAT[:20]), limits(1_000)), Packed)


def test_a_short_history_is_packed_where_the_window_is_smaller():
    found = decided(sized(*CHAT[:18]), limits(20_000, prompt=5_000), 1_000)
    assert isinstance(found, Packed)
    assert found.recent + found.memory <= 4_000


def test_a_window_smaller_than_the_system_prompt_refuses():
    found = decided(sized(("user", 50)), limits(prompt=8_000), 9_000)
    assert found == Refuse(8_000, 9_050)


def test_a_newest_round_over_the_window_refuses():
    history = sized(*CHAT, ("tools", 100, 60_000, 60_000))
    assert admit(history, limits(), 500) == Refuse(100_000, 120_600)


def test_the_recent_part_is_small_and_the_memory_takes_the_rest():
    found = decided(sized(*CHAT), limits(20_000))
    assert isinstance(found, Packed)
    assert found.recent + found.memory == 20_000
    assert found.recent <= 2 * packing.RECENT_SHARE * 20_000 + 900


def test_an_assistant_message_follows_the_memory_message_where_one_can():
    for end in (79, 80):
        history = sized(*CHAT[:end])
        found = decided(history, limits(20_000))
        assert history.facts[found.cut].role == "assistant"


# ---------------------------------------------------------------- the start of an epoch


def test_growth_is_what_a_request_adds_on_average_over_the_newest():
    assert packing.mean_growth(sized(("user", 300))) == 300
    assert packing.mean_growth(sized(*[("user", 300)] * 20)) == 300
    assert packing.mean_growth(sized(("user", 300), ("assistant", 900), ("user", 200))) == 1_400
    old = [("user", 5_000), ("assistant", 5_000)] * 9
    assert packing.mean_growth(sized(*old, *CHAT[:16], ("user", 100))) == 1_000
    tools = [("tools", 90, 500, 600)] * 20
    assert packing.mean_growth(sized(("user", 9_000), *tools)) == 1_190


def test_where_rounds_are_large_the_memory_message_is_smaller():
    """It is written anew after a few of them."""
    usual = int(packing.LASTING_MEMORY * 20_000)
    for size, memory in ((1_000, usual), (5_000, usual), (8_000, 2_766), (15_000, 2_450)):
        history = sized(("user", 900), *[("tools", 100, size - 100)] * 12)
        packed = packing.begin(history, limits(20_000, hard=False), 0)
        assert packed.memory == memory


def test_a_tool_loop_begins_with_more_recent_rounds_than_a_chat():
    chat = packing.begin(sized(*CHAT), limits(20_000, hard=False), 0)
    loop = packing.begin(sized(*CHAT, *[("tools", 50, 450)] * 30), limits(20_000, hard=False), 0)
    assert (chat.memory, loop.memory) == (3_500, 3_500)
    assert 500 < chat.recent <= packing.START * 20_000 - chat.memory
    assert loop.recent == packing.LOOP_START * 20_000 - loop.memory


@pytest.mark.parametrize("target", [2_000, 4_000, 8_000, 12_000, 20_000])
def test_a_hard_target_is_divided_by_one_rule(target):
    history = sized(*[("user", 30), ("assistant", 40)] * 1_000)
    first = packing.begin(history, limits(target), 0)
    spent = epoch_budget(target, packing.mean_growth(history), first.recent)
    assert (first.memory, first.reserved) == (spent.memory, spent.reserved)
    assert first.recent <= 0.1 * target
    assert 0.9 * target <= first.recent + first.memory + first.reserved <= target


def test_the_log_of_work_has_a_share_of_the_target_and_an_end():
    targets = (1_000, 2_000, 3_000, 4_000, 10_000, 40_000)
    assert [packing.work_tokens(target) for target in targets] == [0, 0, 300, 600, 1_500, 1_500]


def test_a_round_that_nearly_fills_a_hard_target_leaves_memory_its_least():
    over = packing.begin(sized(*CHAT, ("user", 7_500)), limits(8_000), 0)
    assert over.memory == packing.LEAST_MEMORY  # over the target


def test_a_soft_target_reserves_nothing():
    for own in (limits(20_000, hard=False), limits(8_000, hard=False)):
        first = packing.begin(sized(*CHAT), own, 0)
        assert (first.memory, first.reserved) == (int(packing.LASTING_MEMORY * own.target), 0)


def test_a_tool_loop_keeps_its_last_rounds():
    loop = [("tools", 100, 1_000, 800)] * 20
    history = sized(("user", 500), *loop)
    found = decided(history, limits(20_000))
    kept = [first for first in history.rounds if first >= found.cut]
    assert len(kept) == 3
    assert found.cut in history.rounds
    assert found.recent == 3 * 1_900


def test_a_tool_loop_of_small_rounds_keeps_its_newest_text():
    history = sized(("user", 500), *[("tools", 100, 200)] * 90)
    found = decided(history, limits(20_000))
    assert found.recent == packing.LOOP_SHARE * 20_000
    assert found.tail == 0
    whole = sized(("user", 500), *[("tools", 100, 900)] * 30)
    found = decided(whole, limits(20_000, hard=True))
    assert found.recent + found.tail == packing.LOOP_SHARE * 20_000


def test_calls_written_into_the_text_are_a_tool_loop_too():
    block = "a.py\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE"
    for text, share in ((block, packing.LOOP_SHARE), ("x = 1", packing.RECENT_SHARE)):
        said = [("user", 100), ("assistant", 100)] * 120
        history = sized(*said)
        raw = Message.of({"role": "assistant", "content": text})
        history = replace(history, messages=(*history.messages[:-1], raw))
        found = decided(history, limits(20_000))
        assert share * 20_000 - 200 <= found.recent <= share * 20_000 + 200


@pytest.mark.parametrize("hard", [True, False])
def test_a_newest_round_over_the_target_leaves_memory_its_least(hard):
    """A quarter of a soft target, a thousand tokens, or what the model's window leaves."""
    history = sized(*CHAT, ("user", 25_000))
    assert decided(history, limits(20_000, hard=hard)) == Packed(
        80, 25_000, 1_000 if hard else 5_000
    )
    near = decided(history, limits(20_000, hard=hard, prompt=25_600))
    assert near == Packed(80, 25_000, 600)
    full = decided(history, limits(20_000, hard=hard, prompt=25_010))
    assert full == Packed(80, 25_000, 0)


def test_rounds_before_a_large_one_give_way_to_memory():
    """Eight files read at once fill the target nearly: the round before them is folded."""
    history = sized(*CHAT, ("user", 300), ("assistant", 400), ("user", 50), ("tools", 100, 7_000))
    found = decided(history, limits(8_000))
    assert found == Packed(history.rounds[-1], 7_100, 1_000)
    first = packing.begin(history, limits(8_000), 0)
    assert (first.cut, first.recent) == (history.rounds[-1], 7_100)
    assert first.memory == 1_000


rounds = st.one_of(
    st.tuples(st.sampled_from(["user", "assistant"]), st.integers(10, 3_000)),
    st.tuples(st.just("tools"), st.integers(50, 400), st.integers(10, 5_000), st.integers(10, 900)),
)


@pytest.mark.slow
@given(
    st.lists(rounds, min_size=1, max_size=60),
    st.integers(1_000, 60_000),
    st.booleans(),
    st.integers(0, 60_000),
    st.integers(0, 9_000),
)
def test_decisions_keep_to_the_limits(made, target, hard, prompt, fixed):
    history = sized(*made)
    found = decided(history, limits(target, hard, prompt), fixed)
    event(type(found).__name__)
    newest = sum(fact.tokens for fact in history.facts[history.rounds[-1] :])
    room = prompt - fixed
    if isinstance(found, Refuse):
        assert newest > room
        return
    if isinstance(found, Pass):
        assert history.tokens <= room
        return
    assert isinstance(found, Packed)
    assert found.cut in history.rounds
    assert found.recent == sum(fact.tokens for fact in history.facts[found.cut :])
    assert found.recent + found.memory <= room
    assert found.memory == 0 or found.memory >= 2 * WRAPPER
    if hard:
        bound = packing.most_sent(history, min(target, room))
        assert found.recent + found.memory <= min(room, bound)


# ---------------------------------------------------------------- decay


def words(*sizes):
    made = [
        {"role": ("user", "assistant")[n % 2], "content": "x" * size}
        for n, size in enumerate(sizes)
    ]
    return read("t", [Message.of(one) for one in made], Volatile(), count=len)


def kept(history, budget, first=0, cut=None):
    spans = packing.decay(history, first, len(history) if cut is None else cut, budget)
    found: dict[int, int] = {}
    for span in spans:
        found[span.message] = found.get(span.message, 0) + span.end - span.start
    return spans, found


def test_each_older_round_gets_half_of_the_next():
    _, found = kept(words(*[5_000] * 8), 4_000)
    assert list(found) == [3, 4, 5, 6, 7]
    for message, share in zip((7, 6, 5, 4, 3), (2_000, 1_000, 500, 250, 125), strict=True):
        assert share * 0.98 <= found[message] <= share


def test_a_round_over_its_share_is_cut_in_the_middle():
    spans, _ = kept(words(9_000), 1_000)
    head, tail = spans
    assert (head.start, tail.end) == (0, 9_000)
    assert head.end - head.start == tail.end - tail.start


def test_short_rounds_stay_whole_and_leave_their_share_to_older_ones():
    _, found = kept(words(*[100] * 30), 2_000)
    assert list(found) == list(range(30 - len(found), 30))
    assert all(found[message] == 100 for message in range(16, 30))
    assert len(found) > 12


@pytest.mark.parametrize("size", [10, 300, 4_000])
@pytest.mark.parametrize("budget", [0, 100, 1_000, 20_000])
def test_decay_keeps_to_its_budget(size, budget):
    spans, found = kept(words(*[size] * 40), budget)
    assert sum(found.values()) <= budget
    assert list(spans) == sorted(spans)


def test_decay_stays_between_its_ends():
    _, found = kept(words(*[50] * 20), 2_000, first=5, cut=12)
    assert set(found) == set(range(5, 12))


# ------------------------------------------------------------------------------------------------
# The room of what must stay, beside and within the memory message.


WORDS = " ".join(f"word{number}" for number in range(300))


@cache
def marked() -> History:
    return history(*(f"<keep>{number} {WORDS}</keep>" for number in range(30)))


@cache
def passages() -> list[KeptPassage]:
    return kept_passages(marked())


def kept_room_limits(target: int, *, hard: bool) -> TokenLimits:
    return TokenLimits.of(target=target, hard=hard, window=200_000, reserve=0)


def test_without_passages_nothing_changes():
    packed = Packed(8, 900, 1_000)
    assert with_kept(packed, [], marked(), kept_room_limits(4_000, hard=True), 0) is packed


def test_a_soft_target_has_room_beside_the_memory_message():
    packed = with_kept(
        Packed(20, 900, 700), passages(), marked(), kept_room_limits(4_000, hard=False), 0
    )
    assert 0.15 * 4_000 < packed.kept.tokens <= KEPT_SHARE * 4_000
    assert packed.memory == 700 + packed.kept.tokens


def test_a_hard_target_pays_with_what_is_spare_and_half_of_what_is_reserved():
    before = Packed(20, 1_200, 1_000, reserved=1_400)
    packed = with_kept(before, passages(), marked(), kept_room_limits(4_000, hard=True), 0)
    assert packed.memory == 1_000 + packed.kept.tokens
    assert packed.reserved == 1_400 - (packed.kept.tokens - 400)


def test_an_answer_that_fills_a_soft_target_does_not_grow():
    before = Packed(20, 1_000, 3_000)
    packed = with_kept(before, passages(), marked(), kept_room_limits(4_000, hard=False), 0)
    assert (packed.memory, packed.kept.tokens > 0) == (3_000, True)


def test_beside_a_round_larger_than_a_soft_target_there_is_room():
    packed = with_kept(
        Packed(29, 9_000, 700), passages(), marked(), kept_room_limits(4_000, hard=False), 0
    )
    assert packed.memory == 700 + packed.kept.tokens > 700


def test_without_spare_room_the_memory_message_pays():
    before = Packed(20, 3_000, 1_000)
    packed = with_kept(before, passages(), marked(), kept_room_limits(4_000, hard=True), 0)
    assert packed.memory == 1_000
    assert 0 < packed.kept.tokens <= 1_000 - 2 * WRAPPER


@pytest.mark.parametrize("hard", [True, False])
@given(target=st.integers(1_000, 40_000), fixed=st.integers(0, 30_000))
def test_never_more_than_a_fifth_of_the_target_and_never_over_a_hard_one(
    hard: bool, target: int, fixed: int
):
    given = kept_room_limits(target, hard=hard)
    before = begin(marked(), given, fixed)
    packed = with_kept(before, passages(), marked(), given, fixed)
    assert packed.kept.tokens <= KEPT_SHARE * min(target, max(0, given.prompt - fixed))
    assert packed.cut == before.cut
    room = max(0, given.prompt - fixed)
    sent = packed.recent + packed.beside + packed.memory
    assert sent <= max(before.recent + before.beside + before.memory, target if hard else room)
