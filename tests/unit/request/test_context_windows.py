"""The table of context windows, and how a model finds its own."""

from __future__ import annotations

import pytest

from proxy.request import context_windows, price_table
from proxy.request.model_names import bare


@pytest.mark.parametrize(
    ("model", "window"),
    [
        # The longest beginning counts, and a beginning ends at a mark.
        ("gpt-4", 8_192),
        ("gpt-4-0613", 8_192),
        ("gpt-4-turbo-2024-04-09", 128_000),
        ("gpt-4o", 128_000),
        ("gpt-4o-mini", 128_000),
        ("gpt-4.1-nano-2025-04-14", 1_047_576),
        ("gpt-5", 272_000),
        ("gpt-5-mini-2025-08-07", 272_000),
        ("gpt-5-chat-latest", 128_000),
        ("gpt-5.1-codex-max", 272_000),
        ("gpt-5.1-chat-latest", 128_000),
        ("gpt-5.4-2026-03-05", 922_000),
        ("gpt-5.4-mini", 272_000),
        ("gpt-5.6-sol", 922_000),
        ("gpt-6.1-terra", 922_000),
        ("gpt-oss-120b", 128_000),
        ("o3-pro", 200_000),
        ("o1-mini-2024-09-12", 128_000),
        ("claude-3-5-sonnet-20241022", 200_000),
        ("claude-opus-4-5-20251101", 200_000),
        ("claude-opus-4-6-20260205", 1_000_000),
        ("claude-opus-4.6", 1_000_000),
        ("claude-opus-5-5", 1_000_000),
        ("claude-sonnet-4-5@20250929", 200_000),
        ("claude-sonnet-5", 1_000_000),
        ("claude-haiku-4-5", 200_000),
        ("claude-haiku-5-5", 1_000_000),
        ("claude-fable-5-1", 1_000_000),
        ("gemini-2.5-pro", 1_048_576),
        ("gemini-3.8-flash", 1_048_576),
        ("gemini-3.1-flash-live-preview", 128_000),
        ("grok-4-0709", 256_000),
        ("grok-4-fast-reasoning", 2_000_000),
        ("grok-4.7", 500_000),
        ("deepseek-chat", 128_000),
        ("deepseek-r1-0528", 65_536),
        ("deepseek-v3.2", 128_000),
        ("deepseek-v4-pro", 1_000_000),
        ("kimi-k2-0711-preview", 128_000),
        ("kimi-k2-thinking-turbo", 262_144),
        ("kimi-k2.7-code-highspeed", 256_000),
        ("qwen3-32b", 40_960),
        ("qwen3-coder-plus-2025-07-22", 997_952),
        ("glm-4.5-air", 128_000),
        ("glm-5.3", 1_000_000),
        ("minimax-m2.5-lightning", 200_000),
        ("mistral-large-2407", 128_000),
        ("mistral-large-2512", 262_144),
        ("codestral-latest", 32_000),
        ("llama-3.3-70b-instruct", 128_000),
        ("llama-4-scout", 128_000),
        ("a-model-of-my-own", 128_000),
        ("", 128_000),
    ],
)
def test_windows_of_models(model: str, window: int):
    assert context_windows.of(model) == window


@pytest.mark.parametrize(
    "model", ["openai/GPT-4.1", "openrouter/openai/gpt-4.1:online", "gpt-4.1:free", "gpt-4.1@x"]
)
def test_routers_and_case_do_not_count(model: str):
    assert context_windows.of(model) == 1_047_576


def test_names_are_written_as_they_are_looked_for():
    assert all(name == bare(name) for name in context_windows.WINDOWS)


def test_no_window_is_smaller_than_a_prompt_or_larger_than_any_model_has():
    assert all(4_096 <= window <= 2_097_152 for window in context_windows.WINDOWS.values())


@pytest.mark.parametrize("model", sorted(set(price_table.PRICES) - {"deepseek-flash"}))
def test_a_model_with_a_price_is_not_overrated(model: str):
    """A name with a price and no window has 128,000: that must be meant."""
    assert context_windows.of(model) >= 128_000 or model in {
        "gpt-3.5-turbo", "gpt-4", "qwen-max", "codestral",
    }  # fmt: skip
