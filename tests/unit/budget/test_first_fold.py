"""When memory begins, by price, mode and place."""

from __future__ import annotations

import pytest

from memtree.budget.first_fold import FirstFold, in_a_usual_chat
from memtree.budget.packing import THRESHOLD, Pass, PassReason, TokenLimits, admit, begin, pack
from memtree.budget.prices import CAUTIOUS, LOCAL, UNKNOWN, Prices
from memtree.conversation.history import History
from tests.properties.sizes import sized

USER, ASSISTANT, WINDOW = 200, 800, 200_000
CHEAP_READS, DEAR_READS = Prices(1.0, 0.10), Prices(1.0, 0.50)


def chat(rounds: int) -> History:
    """An even chat, the user's message last."""
    return sized(*[("user", USER), ("assistant", ASSISTANT)] * rounds, ("user", USER))


CHATS = [chat(rounds) for rounds in range(1, 90)]


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
    over = (history for history in CHATS if history.tokens > least)
    return next(h.tokens for h in over if fold(h, prices, limits, mode).costs_little())


@pytest.mark.parametrize("target", [2_000, 9_000, 20_000, 40_000])
@pytest.mark.parametrize("mode", ["auto", "stable"])
def test_where_nobody_pays_by_the_token_nothing_waits(target: int, mode: str):
    limits = limits_of(target)
    for history in CHATS[9:60:5]:
        first = fold(history, LOCAL, limits, mode)
        assert first.costs_little()
        assert first.folds_at() == max(target, THRESHOLD, history.tokens)


def test_the_same_prices_where_somebody_pays_wait():
    """The price by which a local model's epochs are reckoned is no reason to wait."""
    assert (LOCAL.write, LOCAL.read) == (CAUTIOUS.write, CAUTIOUS.read)
    assert not fold(CHATS[30], CAUTIOUS).costs_little()
    assert fold(CHATS[30], LOCAL).costs_little()


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
    for history in CHATS[9:]:
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
    history = CHATS[15]
    assert fold(history, CHEAP_READS, limits_of(hard=True)).folds_at() == 20_000
    assert fold(history, CHEAP_READS, mode="fresh").folds_at() == 20_000
    assert fold(history, CHEAP_READS).folds_at() > 40_000


def test_where_it_does_not_fit_the_model_any_more_it_folds():
    narrow = limits_of(window=32_768)
    assert narrow.prompt < 28_000
    assert fold(CHATS[15], CHEAP_READS, narrow).folds_at() == narrow.prompt
    assert fold(CHATS[15], CHEAP_READS, narrow, fixed=3_000).folds_at() == narrow.prompt - 3_000
    assert fold(CHATS[30], CHEAP_READS, narrow).costs_little()


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
