"""Check what a request saved: the worked cases of docs/usage.md, and what a provider says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.budget.prices import Prices
from memtree.budget.savings import (
    LEAST_EXPECTED,
    CacheEvidence,
    Prompt,
    ProviderUsage,
    as_billed,
    by_rule,
    evidence_of,
    saved,
)

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


PROMPTS = st.builds(Prompt, st.integers(1, 10**6), st.integers(0, 10**6))


@given(PROMPTS, PROMPTS, st.sampled_from([OPENAI, CLAUDE]), st.sampled_from([None, 0]))
def test_a_provider_that_never_caches_saves_what_was_not_sent(
    posted: Prompt, sent: Prompt, prices: Prices, written: int | None
) -> None:
    usage = ProviderUsage(sent.tokens, 0, written)
    assert saved(posted, sent, prices, usage, share=0.0) == posted.tokens - sent.tokens
    assert saved(posted, sent, prices, share=0.0) == posted.tokens - sent.tokens


def test_what_is_written_and_never_read_is_written_on_both_sides() -> None:
    usage = ProviderUsage(20_000, 0, written=20_000)
    posted = Prompt(100_000, 90_000)
    assert saved(posted, Prompt(20_000, 19_000), CLAUDE, usage, share=0.0) == 125_000 - 25_000


@given(PROMPTS, PROMPTS, st.integers(0, 10**6), st.tuples(st.floats(0.01, 1), st.floats(0.01, 1)))
def test_the_more_counts_as_cached_the_less_is_saved(
    posted: Prompt, sent: Prompt, cached: int, shares: tuple[float, float]
) -> None:
    usage = ProviderUsage(sent.tokens, min(cached, sent.tokens))
    less, more = (saved(posted, sent, OPENAI, usage, share=share) for share in sorted(shares))
    assert less >= more


def test_hardly_any_cache_is_reckoned_like_none() -> None:
    posted, sent, usage = Prompt(100_000, 90_000), Prompt(20_000), ProviderUsage(20_000, 0)
    nearly = saved(posted, sent, CLAUDE, usage, share=0.001)
    assert nearly == pytest.approx(saved(posted, sent, CLAUDE, usage, share=0.0), rel=0.01)


def test_the_evidence_of_an_answer() -> None:
    sent = Prompt(20_000, 10_000)
    assert evidence_of(sent, ProviderUsage(22_000, 5_500)) == (11_000, 5_500)
    assert evidence_of(sent, ProviderUsage(20_000, 19_000)) == (10_000, 10_000)
    assert evidence_of(sent, ProviderUsage(60_000, 0), several=True) == (10_000, 0)
    for silent in (None, ProviderUsage(20_000)):
        assert evidence_of(sent, silent) == CacheEvidence()
    assert evidence_of(Prompt(20_000, LEAST_EXPECTED - 1), ProviderUsage(20_000, 0)) == (0, 0)


def test_the_share_is_the_larger_one_and_the_newest_weighs_most() -> None:
    nothing, misses, hits = CacheEvidence(), CacheEvidence(10_000, 0), CacheEvidence(10_000, 9_000)
    assert nothing.share(nothing) == 1.0
    assert nothing.share(misses) == misses.share(nothing) == misses.share(misses) == 0.0
    assert hits.share(misses) == misses.share(hits) == 0.9
    assert hits.followed_by(nothing) == hits
    later = hits
    for _ in range(50):
        later = later.followed_by(misses)
    assert later.share(misses) < 0.01
