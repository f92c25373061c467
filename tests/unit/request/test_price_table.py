"""The built-in prices, how a model finds its own, and what the setting changes."""

from __future__ import annotations

import pytest

from memtree.budget.prices import LOCAL, UNKNOWN, Prices
from memtree_proxy.request import price_table


def test_anthropic_charges_for_writes_and_keeps_them_five_minutes():
    """$3.00 in, $3.75 written, $0.30 read."""
    assert price_table.of("claude-sonnet-4-20250514") == Prices(1.25, 0.1, 300)


def test_anthropic_keeps_them_an_hour_for_twice_the_price():
    asked = price_table.of("claude-opus-5-5").for_an_hour
    assert (asked.write, asked.read, asked.lifetime) == (2.0, 0.05, 3_600)


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("claude-fable-5-2", 512),
        ("claude-mythos-5-1", 512),
        ("claude-opus-5", 512),
        ("claude-opus-5-5", 512),
        ("claude-sonnet-5.5", 512),
        ("claude-haiku-5-5", 512),
        ("claude-sonnet-5", 1_024),
        ("claude-sonnet-4-5-20250929", 1_024),
        ("claude-opus-4-8", 1_024),
        ("claude-opus-4.7", 2_048),
        ("anthropic/claude-opus-4.6", 4_096),
        ("claude-haiku-4-5-20251001", 4_096),
        ("gpt-5.5", 1_024),
        ("gpt-6.1", 1_024),
        ("gemini-3", 0),
        ("", 0),
    ],
)
def test_the_shortest_prompt_that_is_cached(model: str, tokens: int):
    assert price_table.shortest_cached(model) == tokens


@pytest.mark.parametrize("name", ["fable", "mythos"])
@pytest.mark.parametrize("version", ["5-1", "5.1", "5-2", "5.2", "5-2-20261109"])
def test_the_newest_of_anthropic_read_their_cache_at_a_fortieth(name: str, version: str):
    """$8.00 in and $0.20 read: a tenth, the default, would end their epochs far too early."""
    assert price_table.of(f"claude-{name}-{version}").read == pytest.approx(0.20 / 8)
    assert price_table.of(f"claude-{name}-5").read == pytest.approx(1.00 / 10)


def test_openai_charges_for_writes_from_gpt_5_6_on():
    assert price_table.of("gpt-5.5").write == 1.0
    assert price_table.of("gpt-5.6-sol").write == 1.25
    assert price_table.of("gpt-6.1-terra").write == 1.25


@pytest.mark.parametrize(
    "model",
    [
        "gpt-4o",
        "gpt-4o-2024-08-06",
        "GPT-4o-mini",
        "openai/gpt-4o",
        "openrouter/openai/gpt-4o:free",
    ],
)
def test_routers_dates_and_case_do_not_count(model: str):
    """$2.50 in and $1.25 read."""
    assert price_table.of(model).read == 0.5


def test_before_caching_every_token_costs_the_same():
    assert price_table.of("gpt-4-0613").rewrite == 0


@pytest.mark.parametrize(
    "model", ["", "llama-3-70b", "gpt-4.5-preview", "gpt-50", "gemini-2.0-flash", "claudette", "*"]
)
def test_any_other_model_is_unknown(model: str):
    assert price_table.of(model) == UNKNOWN


@pytest.mark.parametrize("model", ["", "llama-3-70b", "my-model:7b", "gpt-oss-120b"])
def test_an_unknown_model_has_no_price_at_home_and_a_middling_one_elsewhere(model: str):
    assert price_table.known(model) is None
    assert price_table.of(model, local=True) == LOCAL
    assert (UNKNOWN.write, UNKNOWN.read, UNKNOWN.lifetime, UNKNOWN.metered) == (
        1,
        0.25,
        3_600,
        True,
    )
    # Epochs go on as with reads at a tenth, and what was kept before goes on with them.
    assert (LOCAL.write, LOCAL.read, LOCAL.lifetime, LOCAL.metered) == (1.25, 0.10, 3_600, False)


@pytest.mark.parametrize("local", [False, True])
def test_a_name_goes_before_the_place(local: bool):
    """A gateway on localhost sells what it names; the operator's own words go before both."""
    assert price_table.of("gpt-4o-mini", local=local).read == 0.5
    assert price_table.of("us.anthropic.claude-sonnet-4-20250514-v1:0", local=local).write == 1.25
    assert price_table.of("gpt-4o-mini", ("gpt-4o=1/0.3",), local=local).read == 0.3
    assert price_table.of("mine", ("mine=1/0.3",), local=local) == Prices(1.0, 0.3)
    assert price_table.of("mine", ("*=1/0.4",), local=local) == Prices(1.0, 0.4)


def test_every_row_can_be_found_and_makes_sense():
    for name, row in price_table.PRICES.items():
        assert price_table.of(name) == row, name
        assert 0 < row.read <= row.write <= 1.25
        assert 60 <= row.lifetime <= 3_600


def test_the_setting_wins_by_its_longest_beginning():
    setting = ("gpt-5=1/0.3", "gpt-5-mini=1/0.4/60", "My/Model=2/1")
    assert price_table.of("gpt-5-nano", setting) == Prices(1.0, 0.3)
    assert price_table.of("openai/gpt-5-mini-2026", setting) == Prices(1.0, 0.4, 60)
    assert price_table.of("model-large", setting) == Prices(2.0, 1.0)
    assert price_table.of("gpt-4o", setting) == price_table.PRICES["gpt-4o"]
    assert price_table.of("llama", setting) == UNKNOWN


def test_a_name_of_the_setting_wins_over_a_longer_one_of_the_table():
    assert price_table.of("claude-opus-5-5", ("claude=1/0.5",)) == Prices(1.0, 0.5)


def test_a_star_is_for_models_that_nothing_else_names():
    setting = ("*=1/0.5/10", "llama=1/1")
    assert price_table.of("mystery", setting) == Prices(1.0, 0.5, 10)
    assert price_table.of("", setting) == Prices(1.0, 0.5, 10)
    assert price_table.of("llama-3", setting) == Prices(1.0, 1.0)
    assert price_table.of("gpt-4o", setting) == price_table.PRICES["gpt-4o"]


def test_money_is_what_the_setting_says_and_nothing_else():
    setting = ("gpt-5=1.25", "gpt-5-mini=0.25")
    for model, cost in (
        ("openai/gpt-5.6", None), ("GPT-5-mini-2026", 0.25), ("gpt-5", 1.25), ("", None),
    ):  # fmt: skip
        assert price_table.input_price_of(model, setting) == cost
    assert price_table.input_price_of("claude", ("gpt-5=1",)) is None
    assert price_table.input_price_of("gpt-5", ()) is None
