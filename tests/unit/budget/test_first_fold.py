"""Check when memory begins, how an epoch is divided, and which rounds stay whole."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.budget.first_fold import FirstFold, in_a_usual_chat
from memtree.budget.packing import (
    FEW,
    LARGE,
    MANY,
    MOST_RESERVED,
    MOST_SPARE,
    PINNED_SHARE,
    THRESHOLD,
    Pass,
    PassReason,
    TokenLimits,
    admit,
    begin,
    epoch_budget,
    least_memory,
    pack,
    pinned_rounds,
)
from memtree.budget.prices import CAUTIOUS, LOCAL, UNKNOWN, Prices
from memtree.history.chat_history import History, read
from memtree.history.message import Message, Volatile
from tests.properties.sizes import sized
from tests.unit.budget.test_packing import sized as pinned_rounds_sized

# ------------------------------------------------------------------------------------------------
# When memory begins, by price, mode and place.


USER, ASSISTANT, WINDOW = 200, 800, 200_000
CHEAP_READS, DEAR_READS = Prices(1.0, 0.10), Prices(1.0, 0.50)


def chat(rounds: int) -> History:
    """An even chat, the user's message last."""
    return sized(*[("user", USER), ("assistant", ASSISTANT)] * rounds, ("user", USER))


@cache
def chats() -> list[History]:
    return [chat(rounds) for rounds in range(1, 90)]


def limits_of(target: int = 20_000, window: int = WINDOW, *, hard: bool = False) -> TokenLimits:
    return TokenLimits.of(target=target, hard=hard, window=window, reserve=4_096)


def fold(
    history: History,
    prices: Prices,
    limits: TokenLimits | None = None,
    mode: str = "auto",
    fixed: int = 0,
) -> FirstFold:
    given = limits or limits_of()
    return FirstFold.of(
        history, given, fixed=fixed, carried=0, window=WINDOW, prices=prices, mode=mode
    )


def due_at(prices: Prices, limits: TokenLimits, mode: str = "auto") -> int:
    """Tokens of the first chat over the target that is folded."""
    least = max(limits.target, THRESHOLD)
    over = (history for history in chats() if history.tokens > least)
    return next(h.tokens for h in over if fold(h, prices, limits, mode).costs_little())


@pytest.mark.parametrize("target", [2_000, 9_000, 20_000, 40_000])
@pytest.mark.parametrize("mode", ["auto", "stable"])
def test_where_nobody_pays_by_the_token_nothing_waits(target: int, mode: str):
    limits = limits_of(target)
    for history in chats()[9:60:5]:
        first = fold(history, LOCAL, limits, mode)
        assert first.costs_little()
        assert first.folds_at() == max(target, THRESHOLD, history.tokens)


def test_the_same_prices_where_somebody_pays_wait():
    """The price by which a local model's epochs are reckoned is no reason to wait."""
    assert (LOCAL.write, LOCAL.read) == (CAUTIOUS.write, CAUTIOUS.read)
    assert not fold(chats()[30], CAUTIOUS).costs_little()
    assert fold(chats()[30], LOCAL).costs_little()


@pytest.mark.parametrize(
    ("prices", "low", "high"),
    [
        (DEAR_READS, 20_000, 21_000),
        (UNKNOWN, 21_000, 25_000),
        (CHEAP_READS, 41_000, 46_000),
        (CAUTIOUS, 48_000, 53_000),
    ],
)
def test_auto_waits_the_longer_the_cheaper_reads_are(prices: Prices, low: int, high: int):
    limits = limits_of()
    found = due_at(prices, limits)
    assert low < found < high
    assert due_at(prices, limits, "stable") <= found


@pytest.mark.parametrize("prices", [UNKNOWN, DEAR_READS, CHEAP_READS, CAUTIOUS])
@pytest.mark.parametrize("mode", ["auto", "stable"])
def test_a_chat_is_told_where_it_will_fold_from_ten_thousand_tokens_on(prices: Prices, mode: str):
    """Below the target, too. The estimate of an even chat is the truth, within half a round."""
    limits = limits_of()
    found = due_at(prices, limits, mode)
    for history in chats()[9:]:
        if history.tokens >= found:
            break
        told = fold(history, prices, limits, mode).folds_at()
        assert told >= limits.target
        assert abs(told - found) <= 2_000


@pytest.mark.slow
def test_between_a_call_and_its_result_a_fold_waits_a_little():
    """Where what a model thought is bound to the prompt: no round, or few, later than in a chat."""
    tools = [("tools", 100, 900)]
    loops = [sized(("user", USER), *tools * rounds) for rounds in range(20, 90)]

    def due(dialect: str) -> int:
        folds = (
            FirstFold.of(
                history,
                limits_of(),
                fixed=0,
                carried=0,
                window=WINDOW,
                prices=CAUTIOUS,
                mode="auto",
                dialect=dialect,
            )
            for history in loops
        )
        return next(one.history.tokens for one in folds if one.costs_little())

    assert due("") < due("messages") <= due("") + 6_000


def test_a_hard_target_and_the_mode_fresh_ask_no_price():
    history = chats()[15]
    assert fold(history, CHEAP_READS, limits_of(hard=True)).folds_at() == 20_000
    assert fold(history, CHEAP_READS, mode="fresh").folds_at() == 20_000
    assert fold(history, CHEAP_READS).folds_at() > 40_000


def test_where_it_does_not_fit_the_model_any_more_it_folds():
    narrow = limits_of(window=32_768)
    assert narrow.prompt < 28_000
    assert fold(chats()[15], CHEAP_READS, narrow).folds_at() == narrow.prompt
    assert fold(chats()[15], CHEAP_READS, narrow, fixed=3_000).folds_at() == narrow.prompt - 3_000
    assert fold(chats()[30], CHEAP_READS, narrow).costs_little()


@pytest.mark.parametrize("rounds", [1, 2, 9])
def test_where_system_messages_fill_the_window_there_is_no_room_and_no_error(rounds: int):
    """The model takes a little more than is packed for it: that is a margin, no promise."""
    narrow = limits_of(window=10_000)
    fixed = narrow.prompt + 100
    history = sized(*[("user", 40)] * rounds)
    assert admit(history, narrow, fixed) == Pass(PassReason.ONE_ROUND) or rounds > 1
    assert fold(history, CHEAP_READS, narrow, fixed=fixed).folds_at() == history.tokens
    assert pack(history, narrow, fixed).memory == begin(history, narrow, fixed).memory == 0


def test_one_long_message_is_told_of_a_usual_chat():
    """Nothing can be left out yet, and one request does not tell what the next ones add."""
    first = fold(sized(("user", 25_000)), CHEAP_READS)
    assert 25_000 < first.folds_at() < 60_000
    assert fold(sized(("user", 25_000)), LOCAL).folds_at() == 25_000


@pytest.mark.parametrize("target", [8_000, 20_000])
@pytest.mark.parametrize("mode", ["auto", "stable"])
@pytest.mark.parametrize("prices", [UNKNOWN, DEAR_READS, CHEAP_READS, CAUTIOUS, Prices(1.0, 0.16)])
def test_the_example_is_near_the_truth(target: int, mode: str, prices: Prices):
    limits = limits_of(target)
    found = due_at(prices, limits, mode)
    assert abs(in_a_usual_chat(limits, prices, mode) - found) <= max(1_000, 0.12 * found)


def test_the_example_where_no_price_is_asked():
    assert in_a_usual_chat(limits_of(), LOCAL, "auto") == 20_000
    assert in_a_usual_chat(limits_of(2_000), LOCAL, "auto") == THRESHOLD
    assert in_a_usual_chat(limits_of(), CHEAP_READS, "fresh") == 20_000
    narrow = limits_of(window=8_192)
    assert in_a_usual_chat(narrow, LOCAL, "auto") == narrow.prompt
    assert in_a_usual_chat(narrow, CHEAP_READS, "auto") <= narrow.prompt


# ------------------------------------------------------------------------------------------------
# How an epoch under a hard target is divided, as a function of three numbers.


GROWTHS = st.one_of(st.floats(0, 400), st.floats(0, 5_000), st.floats(0, 70_000))
RECENT = st.one_of(st.integers(0, 2_000), st.integers(0, 70_000))


@given(GROWTHS, RECENT, st.integers(1_000, 1_099))
def test_memory_never_falls_when_the_target_grows(growth, recent, first):
    made = [epoch_budget(target, growth, recent) for target in range(first, 64_001, 100)]
    assert all(one.memory <= other.memory for one, other in pairwise(made))


@pytest.mark.slow
@given(GROWTHS, RECENT, st.integers(1_000, 63_000))
def test_no_token_more_of_a_target_changes_much(growth, recent, start):
    """It is continuous: 1,000 targets in a row."""
    made = [epoch_budget(target, growth, recent) for target in range(start, start + 1_000)]
    for one, other in pairwise(made):
        assert 0 <= other.memory - one.memory <= 2
        assert abs(other.reserved - one.reserved) <= 2


@given(GROWTHS, RECENT, st.integers(1_000, 64_000))
def test_all_is_spent_or_reserved_but_what_is_spare(growth, recent, target):
    made = epoch_budget(target, growth, recent)
    assert 0 <= made.reserved <= MOST_RESERVED * target
    if recent + made.memory <= target:
        assert recent + made.memory + made.reserved <= target
    assert recent + made.memory + made.reserved >= (1 - MOST_SPARE) * target - 2
    assert made.memory >= least_memory(min(target, recent))
    assert 0 <= made.alike <= 1


@pytest.mark.parametrize(
    ("target", "requests"),
    [(1_000, FEW), (8_000, FEW), (14_000, 5.5), (LARGE, MANY), (64_000, MANY)],
)
def test_an_epoch_reserves_for_more_requests_the_larger_its_target(target, requests):
    assert epoch_budget(target, 50, 0).requests == pytest.approx(requests, rel=0.01) or (
        epoch_budget(target, 50, 0).reserved == int(MOST_RESERVED * target)
    )


def test_little_is_reserved_for_requests_that_do_not_fit():
    reserved = [epoch_budget(8_000, growth, 0).reserved for growth in (3_360, 5_040, 10_080)]
    assert reserved == [3_360, 2_520, 0]


@pytest.mark.parametrize(
    ("target", "least"),
    [(1_000, 500), (1_600, 800), (2_000, 1_000), (4_000, 1_000), (8_000, 2_000)],
)
def test_the_least_that_memory_may_have(target, least):
    assert least_memory(target) == least
    assert epoch_budget(target, 100, target).memory == least


# ------------------------------------------------------------------------------------------------
# Check which rounds stay whole because they load tools.


def loading(history, loads, joined=()):
    """Return the history with rounds that load tools; `loads`: names of tools by message."""
    messages = [
        Message(one.raw, at in joined, frozenset(loads.get(at, ())))
        for at, one in enumerate(history.messages)
    ]
    return read("t", messages, Volatile(), count=lambda text: int(text or 0))


# Messages 0, then 1-2, 3-4 and so on: calls with one result each, then a long chat.
ROUNDS = [("user", 100), *[("tools", 20, 200)] * 4, *[("user", 100), ("assistant", 900)] * 40]


def test_of_each_tool_the_latest_round_before_the_cut_stays():
    history = loading(pinned_rounds_sized(*ROUNDS), {2: ["Edit"], 4: ["Edit", "Grep"], 6: ["Edit"]})
    assert pinned_rounds(history, 9, 10_000) == ((3, 5), (5, 7))
    assert pinned_rounds(history, 7, 10_000) == ((3, 5), (5, 7))
    assert pinned_rounds(history, 5, 10_000) == ((3, 5),)
    assert pinned_rounds(history, 3, 10_000) == ((1, 3),)
    assert pinned_rounds(history, 1, 10_000) == ()


def test_what_follows_the_cut_changes_nothing():
    """Else what is sent would not only grow at its end."""
    shorter = loading(pinned_rounds_sized(*ROUNDS[:20]), {2: ["Edit"]})
    longer = loading(pinned_rounds_sized(*ROUNDS), {2: ["Edit"], 30: ["Edit"]})
    assert pinned_rounds(shorter, 9, 1_000) == pinned_rounds(longer, 9, 1_000) == ((1, 3),)


def test_a_round_stays_with_what_is_joined_to_it():
    rounds = [("user", 100), ("tools", 20, 200), ("user", 5), ("user", 5), *ROUNDS[5:]]
    history = loading(pinned_rounds_sized(*rounds), {2: ["Edit"]}, joined={3, 4})
    assert history.cuts[:3] == (0, 1, 5)
    assert pinned_rounds(history, 5, 1_000) == ((1, 5),)
    named_there = loading(pinned_rounds_sized(*rounds), {3: ["Edit"]}, joined={3, 4})
    assert pinned_rounds(named_there, 5, 1_000) == ((1, 5),)


def test_what_does_not_fit_leaves_its_place_to_an_older_one():
    rounds = [("user", 9), ("tools", 20, 50), ("tools", 20, 500), *ROUNDS[5:]]
    history = loading(pinned_rounds_sized(*rounds), {2: ["Edit"], 4: ["Edit", "Grep"]})
    assert pinned_rounds(history, 5, 600) == ((3, 5),)
    assert pinned_rounds(history, 5, 519) == ((1, 3),)
    assert pinned_rounds(history, 5, 69) == ()


def test_the_first_message_is_never_pinned():
    assert pinned_rounds(loading(pinned_rounds_sized(*ROUNDS), {0: ["Edit"]}), 9, 10_000) == ()


def test_they_stand_beside_memory_and_count():
    plain = pinned_rounds_sized(*ROUNDS)
    history = loading(plain, {2: ["Edit"]})
    limits = TokenLimits(20_000, hard=True, prompt=100_000)
    for packs in (pack, begin):
        without, found = packs(plain, limits, 0), packs(history, limits, 0)
        assert without.pinned == ()
        assert found.pinned == ((1, 3),)
        assert found.beside == without.beside + 220
        assert found.recent + found.memory + found.beside <= 20_000
    assert pack(history, limits, 0).memory == pack(plain, limits, 0).memory - 220


def test_memory_comes_first_where_there_is_no_room_for_both():
    """A target whose newest round takes all but the least memory."""
    history = loading(pinned_rounds_sized(*ROUNDS, ("user", 3_000)), {2: ["Edit"]})
    limits = TokenLimits(4_000, hard=True, prompt=100_000)
    assert int(PINNED_SHARE * 4_000) >= 220
    for packs in (pack, begin):
        found = packs(history, limits, 0)
        assert found.pinned == ()
        assert found.memory >= least_memory(4_000)
