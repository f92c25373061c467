"""Check what a request saved: the worked cases of docs/requests.md, and what a provider says."""

from __future__ import annotations

import pytest

from memtree.budget.prices import Prices
from memtree.budget.savings import Prompt, ProviderUsage, as_billed, by_rule, saved

OPENAI = Prices(write=1.0, read=0.1)
CLAUDE = Prices(write=1.25, read=0.1)


@pytest.mark.parametrize(
    ("posted", "sent", "prices", "expected"),
    [
        # A first request: cached on neither side
        (Prompt(100_000), Prompt(20_000), OPENAI, 80_000),
        (Prompt(100_000), Prompt(20_000), CLAUDE, 100_000),
        # The next one, the epoch goes on
        (Prompt(101_000, 100_000), Prompt(21_000, 20_000), OPENAI, 8_000),
        # A new epoch: only system messages and tools are cached of what is sent
        (Prompt(101_000, 100_000), Prompt(20_000, 2_000), OPENAI, -7_200),
        # The cache has expired: as a first request
        (Prompt(101_000), Prompt(20_000), OPENAI, 81_000),
        # More was known than there is: a branch inside of what was sent
        (Prompt(900, 1_000), Prompt(900, 1_000), OPENAI, 0),
    ],
)
def test_the_rule(posted: Prompt, sent: Prompt, prices: Prices, expected: int) -> None:
    assert saved(posted, sent, prices) == expected


def test_what_the_provider_cached_goes_before_the_rule() -> None:
    posted, sent = Prompt(101_000, 100_000), Prompt(21_000, 20_000)
    missed = ProviderUsage(input=21_000, cached=0)
    assert saved(posted, sent, OPENAI, missed) == 11_000 - 21_000
    assert saved(posted, sent, OPENAI, ProviderUsage(input=21_000)) == 8_000  # it does not say


def test_a_provider_counts_in_tokens_of_its_own() -> None:
    """A tenth more than here: on both sides."""
    posted, sent = Prompt(100_000), Prompt(20_000)
    assert saved(posted, sent, OPENAI, ProviderUsage(22_000, 0)) == 88_000


def test_several_prompts_are_not_scaled() -> None:
    usage = ProviderUsage(input=41_000, cached=20_000)
    found = saved(Prompt(100_000), Prompt(20_000), OPENAI, usage, several=True)
    assert found == 100_000 - (2_000 + 21_000)


def test_what_is_written_is_told_apart_where_the_provider_does() -> None:
    assert as_billed(ProviderUsage(10_000, 4_000, 5_000), CLAUDE) == 400 + 6_250 + 1_000
    assert as_billed(ProviderUsage(10_000, 4_000), CLAUDE) == 400 + 7_500


def test_a_prompt_that_is_too_short_is_not_cached() -> None:
    short = Prices(1.25, 0.1, minimum=1_024)
    assert by_rule(Prompt(1_000, 900), short) == 1_000
    assert saved(Prompt(1_000, 900), Prompt(500), short) == 500


def test_an_empty_prompt_costs_nothing() -> None:
    assert by_rule(Prompt(0), CLAUDE) == 0
    assert saved(Prompt(0), Prompt(0), CLAUDE, ProviderUsage(0, 0)) == 0
