"""Costs as the ledger reckons them, and what a request saved."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtree.budget.first_fold import LaterRequests, costs_little, direct_cost, folds_at
from memtree.budget.prices import (
    CAUTIOUS,
    LEAST_EXPECTED,
    CacheEvidence,
    Prices,
    Prompt,
    ProviderUsage,
    as_billed,
    by_rule,
    evidence_of,
    saved,
)
from tests.properties.sizes import dialogue, sized

# ------------------------------------------------------------------------------------------------
# Costs as the ledger reckons them, against a provider whose cache is played through.


class Provider:
    """Caches each prompt that it is sent; a prompt is a tuple of pieces of one token."""

    def __init__(self, prices, *known):
        self.prices, self.known, self.cost = prices, list(known), 0.0

    def ask(self, prompt):
        cached = max((shared(prompt, one) for one in self.known), default=0)
        self.known.append(prompt)
        self.cost += self.prices.read * cached + self.prices.write * (len(prompt) - cached)

    def forget(self):
        self.known = []


def shared(one, other):
    """Length of the common beginning."""
    if one[: len(other)] == other:
        return len(other)
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))


def pieces(name, size):
    return tuple((name, at) for at in range(size))


def whole(history, fixed, end=None):
    """The prompt that holds the first `end` messages."""
    prompt = pieces("system", fixed)
    for index, fact in enumerate(history.facts[:end]):
        prompt += pieces(index, fact.tokens)
    return prompt


def asked_at(history):
    """Where the client asked for each message of the assistant, and now."""
    spoken = [i for i, fact in enumerate(history.facts) if fact.role == "assistant" and i]
    return [*spoken, len(history)]


def test_a_short_prompt_is_not_cached():
    short = Prices(1.25, 0.1, minimum=1_024)
    assert short.cost(0, 1_023) == 1_023
    assert short.cost(0, 1_024) == 1.25 * 1_024
    assert short.cost(1_023, 500) == 1.25 * 1_523  # the beginning was too short to be kept
    assert short.cost(400, 500) == 900
    assert short.cost(1_024, 10) == pytest.approx(102.4 + 12.5)
    assert Prices(1.25, 0.1).cost(3, 5) == pytest.approx(0.3 + 6.25)


def test_an_hour_costs_more_to_write_where_writing_costs_at_all():
    one = Prices(1.25, 0.05, 300.0, minimum=512)
    assert one.for_an_hour == Prices(2.0, 0.05, 3_600.0, minimum=512)
    assert Prices(1.0, 0.1, 300.0).for_an_hour == Prices(1.0, 0.1, 300.0)
    assert Prices(3.0, 0.1, 7_200.0).for_an_hour == Prices(3.0, 0.1, 7_200.0)


rounds = st.one_of(
    st.tuples(st.sampled_from(["user", "assistant"]), st.integers(5, 60)),
    st.tuples(st.just("tools"), st.integers(20, 60), st.integers(5, 90), st.integers(5, 20)),
)
histories = st.lists(rounds, min_size=1, max_size=8).map(lambda made: sized(*made))
prices = st.builds(Prices, st.sampled_from([1.0, 1.25, 2.0]), st.sampled_from([0.1, 0.25, 0.5]))
fixed_sizes = st.integers(0, 80)


@pytest.mark.slow
@settings(max_examples=25)
@given(histories, fixed_sizes, prices)
def test_sending_everything_costs_what_the_provider_takes(history, fixed, price):
    provider = Provider(price)
    for end in asked_at(history):
        provider.ask(whole(history, fixed, end))
    assert direct_cost(history, fixed, price) == pytest.approx(provider.cost)


def test_an_example_by_hand():
    history = sized(("user", 100), ("assistant", 50), ("user", 10))
    first, second = 1.25 * (20 + 100), 0.1 * 120 + 1.25 * 60
    assert direct_cost(history, 20, CAUTIOUS) == pytest.approx(first + second)


turns = st.tuples(
    st.integers(1, 2),  # how many messages are appended
    st.integers(0, 40),  # tokens of the recall block
    st.booleans(),  # the epoch ends before this turn
    st.booleans(),  # the cache is warm
)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(turns, min_size=1, max_size=8), st.integers(0, 40), prices)
def test_requests_in_epochs_cost_what_the_provider_takes(made, fixed, price):
    """One request a turn, on both sides. Each new memory message differs from all before."""
    length, epochs = 6, 0
    history = dialogue(length, 20, 50)
    folded = pieces("system", fixed) + pieces(("memory", epochs), 30)
    direct, sent = Provider(price), Provider(price)
    saving = 0.0
    direct.ask(whole(history, fixed))
    sent.ask(folded)
    direct.cost = sent.cost = 0.0
    for at, (more, block, ends, warm) in enumerate(made):
        previous, before = fixed + history.tokens, len(folded)
        history = dialogue(length + more, 20, 50)
        if not warm:
            direct.forget()
            sent.forget()
        epochs += ends
        if ends:
            folded = pieces("system", fixed) + pieces(("memory", epochs), 30)
        folded += pieces(("block", at), block)
        for index in range(length, length + more):
            folded += pieces(index, history.facts[index].tokens)
        length += more
        direct.ask(whole(history, fixed))
        sent.ask(folded)
        kept = fixed if ends else before
        posted = Prompt(fixed + history.tokens, previous if warm else 0)
        saving += by_rule(posted, price) - by_rule(Prompt(len(folded), kept if warm else 0), price)
        assert saving == pytest.approx(direct.cost - sent.cost)


@pytest.mark.slow
@settings(max_examples=25)
@given(histories, fixed_sizes, prices, st.integers(0, 900), st.floats(0, 0.2))
def test_whether_a_fold_costs_little(history, fixed, price, size, share):
    """The extra cost against sending the rest from the cache, as a share of what was paid.
    Since the last request the assistant's answer and what follows it are new."""
    *earlier, _ = asked_at(history)
    newest = history.size(earlier[-1] if earlier else 0)
    folding = price.write * size
    going_on = price.read * (history.tokens - newest) + price.write * newest
    found = costs_little(size, history, fixed, price, share)
    extra, limit = folding - going_on, share * direct_cost(history, fixed, price)
    if extra != pytest.approx(limit):
        assert found == (extra <= limit)


@pytest.mark.slow
@settings(max_examples=25)
@given(
    histories,
    fixed_sizes,
    prices,
    st.tuples(st.integers(0, 900), st.integers(0, 900)).map(sorted),
    st.tuples(st.floats(0, 0.2), st.floats(0, 0.2)).map(sorted),
)
def test_a_smaller_fold_and_a_larger_share_cost_no_more(history, fixed, price, sizes, shares):
    (small, large), (low, high) = sizes, shares
    if costs_little(large, history, fixed, price, low):
        assert costs_little(small, history, fixed, price, low)
        assert costs_little(large, history, fixed, price, high)


@pytest.mark.slow
def test_in_a_growing_chat_folding_costs_little_from_some_turn_on():
    found = [
        costs_little(8_000, dialogue(turns, 100, 400), 1_000, CAUTIOUS, 0.026)
        for turns in range(1, 400, 6)
    ]
    assert found == sorted(found)
    assert not found[3]
    assert found[-1]


@pytest.mark.slow
@pytest.mark.parametrize("price", [CAUTIOUS, Prices(1.0, 0.5), Prices(1.0, 0.1)])
def test_a_growing_chat_is_told_where_it_will_fold(price):
    """An even chat: the estimate is the truth, rounded up."""
    size, fixed, share = 8_000, 1_000, 0.02
    before = []
    for turns in range(3, 600, 2):
        first = dialogue(turns, 100, 400)
        if costs_little(size, first, fixed, price, share):
            break
        before.append(first)
    assert costs_little(size, first, fixed, price, share)
    for history in before:
        told = folds_at(size, history, fixed, price, share, 10**9)
        assert told % 1_000 == 0
        assert 0 <= told - first.tokens < 1_000


@pytest.mark.slow
def test_a_single_request_tells_nothing_of_the_next_ones():
    """They are taken to add as much as a usual one, not nothing at all."""
    first = ("user", 12_000)
    told = folds_at(8_000, sized(first), 0, CAUTIOUS, 0.02, 10**9)
    grown = [sized(first, *[("assistant", 800), ("user", 200)] * turns) for turns in range(1, 60)]
    due = next(h for h in grown if costs_little(8_000, h, 0, CAUTIOUS, 0.02))
    assert 0 <= told - due.tokens < 1_000


def later(*, step: float = 1_000, block: float = 0, most: float = 16_000) -> LaterRequests:
    return LaterRequests(step=step, block=block, start=6_000, first_block=block, most=most)


@pytest.mark.slow
def test_a_fold_waits_where_the_requests_after_it_would_be_dearer():
    """Cached reads so cheap that a recall block in each request costs more than the history."""
    price, share = Prices(1.0, 0.02), 0.02
    history = next(
        h
        for h in (dialogue(turns, 200, 800) for turns in range(21, 201, 2))
        if costs_little(6_000, h, 0, price, share)
    )
    assert costs_little(6_000, history, 0, price, share, later=later())
    assert not costs_little(6_000, history, 0, price, share, later=later(block=2_000))
    # An epoch that ends with each request is written anew each time.
    assert not costs_little(6_000, history, 0, price, share, later=later(most=6_500))


def test_where_reads_are_dear_later_requests_do_not_matter():
    history = dialogue(101, 200, 800)
    assert costs_little(6_000, history, 0, Prices(1.0, 1.0), 0.0, later=later(block=2_000))


@pytest.mark.slow
def test_a_chat_is_told_of_what_the_requests_after_the_fold_cost():
    price, share, dear = Prices(1.0, 0.02), 0.02, later(block=2_000)
    before = []
    for turns in range(21, 401, 2):
        first = dialogue(turns, 200, 800)
        if costs_little(6_000, first, 0, price, share, later=dear):
            break
        before.append(first)
    assert costs_little(6_000, first, 0, price, share, later=dear)
    for history in before:
        told = folds_at(6_000, history, 0, price, share, 10**9, later=dear)
        assert 0 <= told - first.tokens < 1_000


def test_where_it_does_not_fit_any_more_it_folds_whatever_that_costs():
    history = dialogue(41, 100, 400)
    assert folds_at(8_000, history, 1_000, CAUTIOUS, 0.0, 12_345) == 12_345
    assert folds_at(8_000, history, 1_000, CAUTIOUS, 0.0, history.tokens) == history.tokens


# ------------------------------------------------------------------------------------------------
# Check what a request saved: the worked cases of docs/usage.md, and what a provider says.


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
