"""Check what summaries cost: reserved, settled, limited by tenant and day."""

from __future__ import annotations

import pytest

from memtree.background.spending import (
    MICROS,
    TOKENS,
    DailyLimits,
    Spending,
    SummaryPrices,
)
from memtree.config import Settings
from memtree.errors import StoreUnavailable
from memtree.ports.models import Usage
from memtree.stores import RamStore
from tests.unit.background.refined import T0, Hands

DAY = int(T0 // 86_400)


async def test_a_call_is_reserved_at_its_most_and_settled_at_what_it_was():
    store, clock = RamStore(), Hands()
    spending = Spending(store, clock, SummaryPrices(2, 1, 10))
    reserved = await spending.reserve("t", 1_000, 300)
    assert reserved is not None
    assert await store.tallies("t", DAY, DAY) == {TOKENS: 1_300, MICROS: 5_000}
    usage = Usage(900, 100, 400)
    micros = await spending.settle(reserved, usage, {"calls": 1, "nodes": 4})
    assert micros == 500 * 2 + 400 * 1 + 100 * 10
    assert await store.tallies("t", DAY, DAY) == {
        TOKENS: 1_000,
        MICROS: micros,
        "summary.input_tokens": 900,
        "summary.cached_tokens": 400,
        "summary.output_tokens": 100,
        "summary.calls": 1,
        "summary.nodes": 4,
    }
    assert await spending.spent("t") == {
        "calls": 1,
        "input_tokens": 900,
        "cached_tokens": 400,
        "output_tokens": 100,
        "micros": micros,
    }
    assert not any((await spending.spent("u")).values())


@pytest.mark.parametrize(
    ("limits", "prices"),
    [
        (DailyLimits(tokens=2_000), SummaryPrices()),
        (DailyLimits(micros=10_000), SummaryPrices(5, 5, 5)),
    ],
)
async def test_a_limit_is_of_a_tenant_and_a_day(limits: DailyLimits, prices: SummaryPrices):
    clock = Hands()
    spending = Spending(RamStore(), clock, prices, limits)
    first = await spending.reserve("t", 900, 100)
    assert first is not None
    assert await spending.reserve("t", 900, 100) is not None, "up to the limit"
    assert await spending.reserve("t", 1, 0) is None
    assert await spending.reserve("u", 900, 100) is not None
    await spending.settle(first, Usage(500, 100))
    assert await spending.reserve("t", 401, 0) is None
    assert await spending.reserve("t", 400, 0) is not None, "what was not needed is free again"
    clock.seconds += 86_400
    assert await spending.reserve("t", 900, 100) is not None


async def test_a_call_over_midnight_is_settled_on_its_own_day():
    store, clock = RamStore(), Hands()
    spending = Spending(store, clock)
    reserved = await spending.reserve("t", 1_000, 300)
    assert reserved is not None
    clock.seconds += 86_400
    await spending.settle(reserved, Usage(10, 20))
    assert (await store.tallies("t", DAY, DAY))[TOKENS] == 30
    assert await store.tallies("t", DAY + 1, DAY + 1) == {}


async def test_a_store_that_fails_leaves_the_reservation():
    class Failing(RamStore):
        broken = False

        async def add(self, *given):
            if self.broken:
                raise StoreUnavailable("locked")
            return await super().add(*given)

    store = Failing()
    spending = Spending(store, Hands())
    reserved = await spending.reserve("t", 1_000, 300)
    assert reserved is not None
    store.broken = True
    await spending.settle(reserved, Usage(10, 20))
    assert (await store.tallies("t", DAY, DAY))[TOKENS] == 1_300


def test_prices_and_limits_of_the_settings():
    settings = Settings(
        summary_input_price=0.25,
        summary_output_price=2.0,
        summary_money_per_day=1.5,
        summary_tokens_per_day=7,
    )
    assert SummaryPrices.of(settings) == SummaryPrices(0.25, 0.25, 2.0)
    assert DailyLimits.of(settings) == DailyLimits(7, 1_500_000)
    assert SummaryPrices(0.25, 0.025, 2.0).micros(Usage(1_000_000, 0, 1_000_000)) == 25_000
    assert SummaryPrices(0.25, 0.025, 2.0).micros(Usage(1, 0)) == 1, "a started millionth counts"
    assert SummaryPrices(1, 1, 1).micros(Usage(100, 0, 300)) == 100, (
        "no more is cached than was read"
    )
