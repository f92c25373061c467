"""The built-in prices, how a model finds its own, and what the setting changes."""

from __future__ import annotations

import pytest

from memtree.budget.prices import UNKNOWN, Prices
from proxy.request import price_table


@pytest.mark.parametrize(
    ("model", "write", "read", "lifetime"),
    [
        ("claude-sonnet-4-20250514", 1.25, 0.10, 300),
        ("anthropic/claude-3.5-haiku:beta", 1.25, 0.10, 300),
        ("claude-opus-5-5", 1.25, 0.05, 300),
        ("gpt-4o", 1.0, 0.50, 3_600),
        ("gpt-4o-mini-2024-07-18", 1.0, 0.50, 3_600),
        ("GPT-4.1-nano", 1.0, 0.25, 3_600),
        ("gpt-4-0613", 1.0, 1.0, 3_600),
        ("o1", 1.0, 0.50, 3_600),
        ("o1-mini", 1.0, 0.50, 3_600),
        ("o3-mini", 1.0, 0.50, 3_600),
        ("o3", 1.0, 0.25, 3_600),
        ("o3-2025-04-16", 1.0, 0.25, 3_600),
        ("openai/o4-mini:online", 1.0, 0.25, 3_600),
        ("gpt-5", 1.0, 0.10, 3_600),
        ("gpt-5-mini", 1.0, 0.10, 3_600),
        ("gpt-5.6-sol", 1.25, 0.10, 3_600),
        ("google/gemini-2.5-pro", 1.0, 0.10, 3_600),
        ("deepseek-flash", 1.0, 0.02, 3_600),
        ("x-ai/grok-4-0709", 1.0, 0.25, 3_600),
        ("moonshotai/kimi-k2-0905-preview", 1.0, 0.25, 3_600),
        ("qwen3-max", 1.0, 0.20, 3_600),
        ("z-ai/glm-4.6", 1.0, 0.19, 3_600),
    ],
)
def test_known_models(model: str, write: float, read: float, lifetime: float):
    assert price_table.of(model) == Prices(write, read, lifetime)


@pytest.mark.parametrize(
    "model", ["", "llama-3-70b", "gpt-4.5-preview", "gpt-50", "gemini-2.0-flash", "claudette", "*"]
)
def test_any_other_model_is_unknown(model: str):
    assert price_table.of(model) == UNKNOWN


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
