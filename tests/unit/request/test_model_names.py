"""How a model finds its row in a table: by the longest beginning that ends at a mark."""

from __future__ import annotations

import pytest

from memtree_proxy.request.model_names import bare, beginning

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


CLAUDE = {"claude", "claude-opus-4-6", "claude-opus-4.6"}


@pytest.mark.parametrize(
    "model",
    [
        "claude-opus-4-6", "claude-opus-4-6-20260205", "claude-opus-4-6-latest",
        "anthropic/claude-opus-4-6", "anthropic:claude-opus-4-6", "anthropic.claude-opus-4-6-v1:0",
        "us.anthropic.claude-opus-4-6-v1:0", "us-gov.anthropic.claude-opus-4-6-v1:0",
        "bedrock/us.anthropic.claude-opus-4-6-v1:0", "bedrock:eu.anthropic.claude-opus-4-6-v1:0",
        "bedrock/converse/global.anthropic.claude-opus-4-6-v1",
        "arn:aws:bedrock:us-east-1:1:inference-profile/apac.anthropic.claude-opus-4-6-v1:0",
        "vertex_ai/claude-opus-4-6@20260205",
        "projects/p/locations/eu/publishers/anthropic/models/claude-opus-4-6@20260205",
        "databricks-claude-opus-4-6", "anthropic--claude-opus-4-6",
        "github_copilot/claude-opus-4-6",
        "openrouter/anthropic/claude-opus-4-6:beta", "~anthropic/claude-opus-4-6:thinking",
        " Claude-Opus-4-6 ", "anthropic/claude-opus-4-6/",
    ],
)  # fmt: skip
def test_what_routers_and_clouds_write_around_a_name_does_not_count(model: str):
    assert beginning(model, CLAUDE) == "claude-opus-4-6"


@pytest.mark.parametrize(
    ("model", "row"),
    [
        ("openai:gpt-4-turbo", "gpt-4-turbo"),
        ("openai:chat:gpt-4.1", "gpt-4.1"),
        ("azure/openai-gpt-4.1", "gpt-4.1"),
        ("ft:gpt-4-0613:my-org:name:id", "gpt-4"),
        ("models/gpt-4.1", "gpt-4.1"),
        ("google-gla:models/gpt-4.1", "gpt-4.1"),
        ("openai/gpt-4.1:memory-90:free", "gpt-4.1"),
    ],
)
def test_routes_before_a_colon(model: str, row: str):
    assert beginning(model, TABLE) == row


@pytest.mark.parametrize(
    "model",
    [
        "my-model:gpt-4",  # a tag, as Ollama has it: only known routes are skipped
        "my-gpt-4",
        "us.my.gpt-4",
        "notopenai/my-gpt-4",
        "openai",
        "openai/",
        "openai:",
        "us.anthropic.",
        "openai-gpt-oss-20b",
        "ft:",
        ":",
        "/",
        "  ",
    ],
)
def test_only_what_is_known_is_taken_off(model: str):
    assert beginning(model, TABLE) is None


def test_a_whole_name_goes_before_its_parts():
    """`mistral-large` is a model, though `mistral-` is a vendor in `mistral-codestral`."""
    table = {"mistral-large", "large", "mistral", "codestral"}
    assert beginning("mistral-large-2411", table) == "mistral-large"
    assert beginning("mistral.mistral-large-2402-v1:0", {"mistral-large"}) == "mistral-large"
    assert beginning("mistral:7b", table) == "mistral"
    assert beginning("mistral-codestral", {"codestral"}) == "codestral"


def test_no_name_has_no_row():
    assert beginning("", TABLE) is None


def test_a_name_of_any_length_is_read():
    """A client names the model: a megabyte of it must not cost a megabyte of look-ups."""
    assert beginning("gpt-4-" + "x" * 1_000_000, TABLE) == "gpt-4"
    assert len(bare("x" * 1_000_000)) == 200
    assert beginning("us." * 400_000 + "gpt-4", TABLE) is None
