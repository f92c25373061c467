"""Tables of models: windows, names, prices."""

from __future__ import annotations

import pytest

from memtree.budget.prices import LOCAL, UNKNOWN, Prices
from memtree_proxy.chat import model_tables
from memtree_proxy.chat.model_tables import bare, beginning

# ------------------------------------------------------------------------------------------------
# How a model finds its row in a table: by the longest beginning that ends at a mark.


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


# ------------------------------------------------------------------------------------------------
# The table of context windows: its rows make sense, and its rules for families hold.


@pytest.mark.parametrize("model", ["a-model-of-my-own", "gpt-4o-mini", "gpt-oss-120b", ""])
def test_a_model_that_is_not_listed_has_128_000(model: str):
    assert model_tables.window_of(model) == 128_000


def test_routers_and_dates_do_not_count():
    """Clients write names from the vendor, dated, through one router, through two."""
    names = ["claude-opus-4-6", "claude-opus-4-6-20260205", "anthropic/claude-opus-4.6",
             "openrouter/anthropic/claude-opus-4.6:online"]  # fmt: skip
    assert {model_tables.window_of(name) for name in names} == {1_000_000}


def test_the_limit_on_input_is_listed_where_a_vendor_names_one():
    """OpenAI: 400,000 and 1,050,000 with 128,000 of output in them."""
    assert model_tables.window_of("gpt-5-mini-2025-08-07") == 400_000 - 128_000
    assert model_tables.window_of("gpt-6.1-terra") == 1_050_000 - 128_000


def test_a_smaller_sibling_is_listed_where_its_window_is_smaller():
    """Without a row of its own it would take the window of the longer name's beginning."""
    for small, large in [("gpt-5-chat-latest", "gpt-5"), ("gpt-5.4-mini", "gpt-5.4"),
                         ("o1-mini", "o1"), ("gemini-3.1-flash-live-preview", "gemini-3.1-flash"),
                         ("qwen3-32b", "qwen3-max")]:  # fmt: skip
        assert model_tables.window_of(small) < model_tables.window_of(large)


@pytest.mark.parametrize(
    "model",
    ["claude-fable-5-2", "claude-mythos-5-2", "claude-fable-6", "gemini-4-argon", "qwen4-max"],
)
def test_the_newest_models_are_not_held_to_the_default(model: str):
    """A family whose models all have a million is one row, so that its next one is right too."""
    assert model_tables.window_of(model) > 900_000


def test_the_setting_wins_by_its_longest_beginning():
    setting = ("gpt-4.1=50000", "My/Model=20000", "my/model-large=30000")
    assert model_tables.window_of("openai/gpt-4.1-mini", setting) == 50_000
    assert model_tables.window_of("model:7b", setting) == 20_000
    assert model_tables.window_of("model-large-2", setting) == 30_000
    assert model_tables.window_of("gpt-4", setting) == 8_192
    assert model_tables.window_of("models", setting) == model_tables.DEFAULT


def test_a_star_is_for_models_that_nothing_else_names():
    setting = ("*=32768", "llama3.2=8192")
    assert (
        model_tables.window_of("mystery", setting) == model_tables.window_of("", setting) == 32_768
    )
    assert model_tables.window_of("llama3.2:3b", setting) == 8_192
    assert model_tables.window_of("gpt-4", setting) == 8_192
    assert model_tables.assumed_window(setting) == 32_768
    assert model_tables.known_window("mystery", setting) is None


def test_a_star_changes_no_model_with_a_price():
    for model in model_tables.PRICES:
        assert model_tables.window_of(model, ("*=1000",)) == model_tables.window_of(model), model


def test_every_row_can_be_found():
    for name, window in model_tables.WINDOWS.items():
        assert name == bare(name)
        assert model_tables.window_of(name) == window


def test_no_window_is_smaller_than_a_prompt_or_larger_than_any_model_has():
    assert all(4_096 <= window <= 2_097_152 for window in model_tables.WINDOWS.values())


def test_a_model_with_a_price_is_not_overrated():
    """A name with a price and no window has 128,000: that must be meant."""
    small = {"gpt-3.5-turbo", "gpt-4", "qwen-max", "codestral"}
    for model in model_tables.PRICES:
        assert model_tables.window_of(model) >= 128_000 or model in small, model


# ------------------------------------------------------------------------------------------------
# The built-in prices, how a model finds its own, and what the setting changes.


def test_anthropic_charges_for_writes_and_keeps_them_five_minutes():
    """$3.00 in, $3.75 written, $0.30 read."""
    assert model_tables.prices_of("claude-sonnet-4-20250514") == Prices(1.25, 0.1, 300)


def test_anthropic_keeps_them_an_hour_for_twice_the_price():
    asked = model_tables.prices_of("claude-opus-5-5").for_an_hour
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
    assert model_tables.shortest_cached(model) == tokens


@pytest.mark.parametrize("name", ["fable", "mythos"])
@pytest.mark.parametrize("version", ["5-1", "5.1", "5-2", "5.2", "5-2-20261109"])
def test_the_newest_of_anthropic_read_their_cache_at_a_fortieth(name: str, version: str):
    """$8.00 in and $0.20 read: a tenth, the default, would end their epochs far too early."""
    assert model_tables.prices_of(f"claude-{name}-{version}").read == pytest.approx(0.20 / 8)
    assert model_tables.prices_of(f"claude-{name}-5").read == pytest.approx(1.00 / 10)


def test_openai_charges_for_writes_from_gpt_5_6_on():
    assert model_tables.prices_of("gpt-5.5").write == 1.0
    assert model_tables.prices_of("gpt-5.6-sol").write == 1.25
    assert model_tables.prices_of("gpt-6.1-terra").write == 1.25


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
    assert model_tables.prices_of(model).read == 0.5


def test_before_caching_every_token_costs_the_same():
    assert model_tables.prices_of("gpt-4-0613").rewrite == 0


@pytest.mark.parametrize(
    "model", ["", "llama-3-70b", "gpt-4.5-preview", "gpt-50", "gemini-2.0-flash", "claudette", "*"]
)
def test_any_other_model_is_unknown(model: str):
    assert model_tables.prices_of(model) == UNKNOWN


@pytest.mark.parametrize("model", ["", "llama-3-70b", "my-model:7b", "gpt-oss-120b"])
def test_an_unknown_model_has_no_price_at_home_and_a_middling_one_elsewhere(model: str):
    assert model_tables.known_prices(model) is None
    assert model_tables.prices_of(model, local=True) == LOCAL
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
    assert model_tables.prices_of("gpt-4o-mini", local=local).read == 0.5
    assert (
        model_tables.prices_of("us.anthropic.claude-sonnet-4-20250514-v1:0", local=local).write
        == 1.25
    )
    assert model_tables.prices_of("gpt-4o-mini", ("gpt-4o=1/0.3",), local=local).read == 0.3
    assert model_tables.prices_of("mine", ("mine=1/0.3",), local=local) == Prices(1.0, 0.3)
    assert model_tables.prices_of("mine", ("*=1/0.4",), local=local) == Prices(1.0, 0.4)


def test_every_row_can_be_found_and_makes_sense():
    for name, row in model_tables.PRICES.items():
        assert model_tables.prices_of(name) == row, name
        assert 0 < row.read <= row.write <= 1.25
        assert 60 <= row.lifetime <= 3_600


def test_the_setting_wins_by_its_longest_beginning_of_price_table():
    setting = ("gpt-5=1/0.3", "gpt-5-mini=1/0.4/60", "My/Model=2/1")
    assert model_tables.prices_of("gpt-5-nano", setting) == Prices(1.0, 0.3)
    assert model_tables.prices_of("openai/gpt-5-mini-2026", setting) == Prices(1.0, 0.4, 60)
    assert model_tables.prices_of("model-large", setting) == Prices(2.0, 1.0)
    assert model_tables.prices_of("gpt-4o", setting) == model_tables.PRICES["gpt-4o"]
    assert model_tables.prices_of("llama", setting) == UNKNOWN


def test_a_name_of_the_setting_wins_over_a_longer_one_of_the_table():
    assert model_tables.prices_of("claude-opus-5-5", ("claude=1/0.5",)) == Prices(1.0, 0.5)


def test_a_star_is_for_models_that_nothing_else_names_of_price_table():
    setting = ("*=1/0.5/10", "llama=1/1")
    assert model_tables.prices_of("mystery", setting) == Prices(1.0, 0.5, 10)
    assert model_tables.prices_of("", setting) == Prices(1.0, 0.5, 10)
    assert model_tables.prices_of("llama-3", setting) == Prices(1.0, 1.0)
    assert model_tables.prices_of("gpt-4o", setting) == model_tables.PRICES["gpt-4o"]


def test_money_is_what_the_setting_says_and_nothing_else():
    setting = ("gpt-5=1.25", "gpt-5-mini=0.25")
    for model, cost in (
        ("openai/gpt-5.6", None), ("GPT-5-mini-2026", 0.25), ("gpt-5", 1.25), ("", None),
    ):  # fmt: skip
        assert model_tables.input_price_of(model, setting) == cost
    assert model_tables.input_price_of("claude", ("gpt-5=1",)) is None
    assert model_tables.input_price_of("gpt-5", ()) is None
