"""How a model finds its row in a table: by the longest beginning that ends at a mark."""

from __future__ import annotations

import pytest

from proxy.request.model_names import bare, beginning

TABLE = {"gpt-4", "gpt-4-turbo", "gpt-4.1", "claude", "claude-opus-4.6"}


@pytest.mark.parametrize(
    ("model", "row"),
    [
        ("gpt-4", "gpt-4"),
        ("gpt-4-0613", "gpt-4"),
        ("gpt-4-turbo-2024-04-09", "gpt-4-turbo"),
        ("gpt-4.1-nano-2025-04-14", "gpt-4.1"),
        ("claude-sonnet-4-5@20250929", "claude"),
        ("claude-opus-4.6", "claude-opus-4.6"),
    ],
)
def test_the_longest_beginning_wins(model: str, row: str):
    assert beginning(model, TABLE) == row


@pytest.mark.parametrize(
    "model", ["gpt-4o", "gpt-4o-mini", "gpt-40", "gpt-4.5", "claudette", "gpt"]
)
def test_a_beginning_ends_at_a_mark(model: str):
    assert beginning(model, TABLE) is None


@pytest.mark.parametrize(
    "model",
    [
        "GPT-4.1",
        "openai/gpt-4.1",
        "openrouter/openai/GPT-4.1:online",
        "gpt-4.1:free",
        "gpt-4.1@eu",
    ],
)
def test_routers_and_case_do_not_count(model: str):
    assert beginning(model, TABLE) == "gpt-4.1"


def test_no_name_has_no_row():
    assert beginning("", TABLE) is None


def test_a_name_of_any_length_is_read():
    """A client names the model: a megabyte of it must not cost a megabyte of look-ups."""
    assert beginning("gpt-4-" + "x" * 1_000_000, TABLE) == "gpt-4"
    assert len(bare("x" * 1_000_000)) == 200
