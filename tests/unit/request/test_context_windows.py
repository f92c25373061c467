"""The table of context windows: its rows make sense, and its rules for families hold."""

from __future__ import annotations

import pytest

from memtree_proxy.request import context_windows, price_table
from memtree_proxy.request.model_names import bare


@pytest.mark.parametrize("model", ["a-model-of-my-own", "gpt-4o-mini", "gpt-oss-120b", ""])
def test_a_model_that_is_not_listed_has_128_000(model: str):
    assert context_windows.of(model) == 128_000


def test_routers_and_dates_do_not_count():
    """Clients write names from the vendor, dated, through one router, through two."""
    names = ["claude-opus-4-6", "claude-opus-4-6-20260205", "anthropic/claude-opus-4.6",
             "openrouter/anthropic/claude-opus-4.6:online"]  # fmt: skip
    assert {context_windows.of(name) for name in names} == {1_000_000}


def test_the_limit_on_input_is_listed_where_a_vendor_names_one():
    """OpenAI: 400,000 and 1,050,000 with 128,000 of output in them."""
    assert context_windows.of("gpt-5-mini-2025-08-07") == 400_000 - 128_000
    assert context_windows.of("gpt-6.1-terra") == 1_050_000 - 128_000


def test_a_smaller_sibling_is_listed_where_its_window_is_smaller():
    """Without a row of its own it would take the window of the longer name's beginning."""
    for small, large in [("gpt-5-chat-latest", "gpt-5"), ("gpt-5.4-mini", "gpt-5.4"),
                         ("o1-mini", "o1"), ("gemini-3.1-flash-live-preview", "gemini-3.1-flash"),
                         ("qwen3-32b", "qwen3-max")]:  # fmt: skip
        assert context_windows.of(small) < context_windows.of(large)


@pytest.mark.parametrize(
    "model",
    ["claude-fable-5-2", "claude-mythos-5-2", "claude-fable-6", "gemini-4-argon", "qwen4-max"],
)
def test_the_newest_models_are_not_held_to_the_default(model: str):
    """A family whose models all have a million is one row, so that its next one is right too."""
    assert context_windows.of(model) > 900_000


def test_the_setting_wins_by_its_longest_beginning():
    setting = ("gpt-4.1=50000", "My/Model=20000", "my/model-large=30000")
    assert context_windows.of("openai/gpt-4.1-mini", setting) == 50_000
    assert context_windows.of("model:7b", setting) == 20_000
    assert context_windows.of("model-large-2", setting) == 30_000
    assert context_windows.of("gpt-4", setting) == 8_192
    assert context_windows.of("models", setting) == context_windows.DEFAULT


def test_a_star_is_for_models_that_nothing_else_names():
    setting = ("*=32768", "llama3.2=8192")
    assert context_windows.of("mystery", setting) == context_windows.of("", setting) == 32_768
    assert context_windows.of("llama3.2:3b", setting) == 8_192
    assert context_windows.of("gpt-4", setting) == 8_192
    assert context_windows.assumed(setting) == 32_768
    assert context_windows.known("mystery", setting) is None


def test_a_star_changes_no_model_with_a_price():
    for model in price_table.PRICES:
        assert context_windows.of(model, ("*=1000",)) == context_windows.of(model), model


def test_every_row_can_be_found():
    for name, window in context_windows.WINDOWS.items():
        assert name == bare(name)
        assert context_windows.of(name) == window


def test_no_window_is_smaller_than_a_prompt_or_larger_than_any_model_has():
    assert all(4_096 <= window <= 2_097_152 for window in context_windows.WINDOWS.values())


def test_a_model_with_a_price_is_not_overrated():
    """A name with a price and no window has 128,000: that must be meant."""
    small = {"gpt-3.5-turbo", "gpt-4", "qwen-max", "codestral"}
    for model in price_table.PRICES:
        assert context_windows.of(model) >= 128_000 or model in small, model
