"""No session costs more than the mode says, wherever it stops, as long as the prices are known."""

from __future__ import annotations

import pytest

from memtree.budget.packing import THRESHOLD
from memtree.budget.prices import LOCAL, UNKNOWN, Prices
from memtree_proxy.chat.model_tables import PRICES
from tests.properties.cost_simulation import Moment, Session, played

SHAPES = {
    "short turns": (("user", 100), ("assistant", 400)),
    "a chat": (("user", 200), ("assistant", 800)),
    "long turns": (("user", 500), ("assistant", 2_500)),
    "an agent": (("user", 300), *[("tools", 120, 700)] * 12, ("assistant", 400)),
    "an agent with large results": (
        ("user", 300), *[("tools", 120, 6_000)] * 10, ("assistant", 400)
    ),
}  # fmt: skip
KNOWN = sorted({(row.write, row.read) for row in PRICES.values()})
BOUNDS = {"auto": 1.02, "stable": 1.05}
STEP = 0.001  # a bound is met by an estimate of what follows, not to the last token
# A fold within a tool loop reckons with no recall block. Where the user asks right behind it, the
# block of that question comes on top; with a small target that is as much as the fold itself.
QUESTION_BEHIND = 0.05


def worst(moments: list[Moment]) -> Moment:
    return max(moments, key=lambda moment: moment.ratio)


def first_fold(moments: list[Moment]) -> int:
    return next(moment.tokens for moment in moments if moment.folded)


def test_the_table_has_prices_of_all_kinds():
    assert len(KNOWN) > 8
    assert {read for _, read in KNOWN} >= {0.02, 0.1, 0.25, 0.5, 1.0}


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "stable"])
@pytest.mark.parametrize("target", [4_000, 8_000, 20_000])
@pytest.mark.parametrize("shape", SHAPES)
def test_no_moment_is_dearer_than_the_mode_says(shape: str, target: int, mode: str):
    session = Session(SHAPES[shape], 6_000, target)
    requests = list(session.requests(110_000))
    bound = BOUNDS[mode] + STEP + (QUESTION_BEHIND if "agent" in shape and target < 20_000 else 0)
    for write, read in KNOWN:
        moments = played(requests, session, Prices(write, read), mode)
        assert worst(moments).ratio <= bound, (write, read)


@pytest.mark.parametrize("mode", ["auto", "stable"])
@pytest.mark.parametrize("shape", SHAPES)
def test_at_home_the_first_request_over_the_target_is_folded(shape: str, mode: str):
    for target in (4_000, 20_000):
        session = Session(SHAPES[shape], 6_000, target)
        requests = list(session.requests(1.3 * max(target, THRESHOLD)))
        least = max(target, THRESHOLD)
        over = next(history.tokens for history in requests if history.tokens > least)
        assert first_fold(played(requests, session, LOCAL, mode)) == over


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_guessed_of_an_unknown_model_costs_little_where_it_is_wrong(shape: str):
    """Reads at a tenth, as most providers have them, instead of a quarter; and dearer ones."""
    session = Session(SHAPES[shape], 6_000, 20_000)
    requests = list(session.requests(110_000))
    for write, read, most in ((1.0, 0.10, 1.10), (1.25, 0.10, 1.13), (1.0, 0.25, 1.021), (1, 1, 1)):
        moments = played(requests, session, UNKNOWN, "auto", Prices(write, read))
        assert worst(moments).ratio <= most
        assert moments[-1].ratio < 0.96  # and it pays, by 110,000 tokens at the latest
