"""Check which prefixes are stored, and that one near a branch is found, wherever that is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memtree.context.indexing.prefix_lookup import (
    LEAVES,
    NEWEST,
    STRIDE,
    TAIL,
    first_probes,
    thinned,
)
from memtree.tree.node import Frontier


def chain(leaves: list[int]) -> dict[bytes, Frontier]:
    """A frontier for each prefix, which gains so many leaves with each message."""
    found, total = {}, 0
    for length, more in enumerate(leaves, 1):
        total += more
        found[length.to_bytes(4)] = Frontier(leaves=total, messages=length)
    return found


lengths = st.integers(1, 3_000)


@given(lengths)
def test_short_messages_keep_every_eighth_and_the_last_ones(length: int) -> None:
    kept = thinned(chain([0] * length), length)
    newest = range(max(1, length - TAIL), length + 1)
    wanted = {*range(STRIDE, length + 1, STRIDE), *newest}
    assert {frontier.messages for frontier in kept.values()} == wanted


@given(st.lists(st.integers(0, 12), min_size=1, max_size=60))
def test_long_messages_are_kept_by_their_leaves(leaves: list[int]) -> None:
    all_, kept = chain(leaves), list(thinned(chain(leaves), len(leaves)).values())
    for frontier in all_.values():
        behind = [one for one in kept if one.messages <= frontier.messages]
        assert frontier.leaves - (behind[-1].leaves if behind else 0) < LEAVES


@given(lengths, st.integers(0, 40))
def test_what_comes_later_is_thinned_by_the_same_lengths(length: int, known: int) -> None:
    known = min(known, length - 1)
    later = dict(list(chain([0] * length).items())[known:])
    newest = range(length - TAIL, length + 1)
    wanted = {n for n in (*range(STRIDE, length, STRIDE), *newest) if n > known}
    assert {frontier.messages for frontier in thinned(later, length).values()} == wanted


@given(lengths)
def test_the_first_read_asks_for_stored_lengths(length: int) -> None:
    """All but the newest, where the end of an earlier request may be."""
    asked = first_probes(length)
    assert all(one % STRIDE == 0 for one in asked if one <= length - NEWEST)
    assert len(asked) <= 64
    assert asked == sorted(set(asked), reverse=True)
