"""An index refreshed step by step against one made of all rows at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.memories.memory_store import ScopeState, SearchRow, SearchRows
from memtree.memories.search.block_rows import NOTHING, ScopeIndex
from memtree.memories.search.vector_bytes import pack_vector, packed_terms
from memtree.text.terms import terms

WORDS = ("port", "staging", "tea", "Paris", "8090")
rows = st.builds(
    lambda number, live, expires, words, vector: SearchRow(
        number,
        live,
        expires,
        packed_terms(" ".join(words)),
        None if vector is None else pack_vector(np.array(vector, np.float32)),
    ),
    st.integers(1, 12),
    st.booleans(),
    st.none() | st.sampled_from([5.0, 50.0]),
    st.lists(st.sampled_from(WORDS), max_size=6),
    st.none() | st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), min_size=4, max_size=4),
)


def by_number(index: ScopeIndex, values, now: float):
    live = index.live(now)
    return {
        int(number): float(value)
        for number, value, lives in zip(index.numbers, values, live, strict=True)
        if lives
    }


@pytest.mark.slow
@given(st.lists(st.lists(rows, max_size=6, unique_by=lambda row: row.number), max_size=6))
def test_refreshed_step_by_step_or_made_at_once(batches):
    index, last = NOTHING, {}
    for count, batch in enumerate(batches, start=1):
        last |= {row.number: row for row in batch}
        index = index.refreshed(SearchRows(ScopeState(count), tuple(batch)))
    once = ScopeIndex.of(SearchRows(ScopeState(99), tuple(last.values())))
    query = np.array([0.5, 0.5, 0.5, 0.5], np.float32)
    for now in (0.0, 10.0):
        alive = {n for n, row in last.items() if row.live and (row.expires or 99) > now}
        assert set(by_number(index, index.numbers, now)) == alive
        words = index.words(terms("staging port Paris"), index.live(now))
        at_once = once.words(terms("staging port Paris"), once.live(now))
        assert words.most == at_once.most
        assert by_number(index, words.scores, now) == by_number(once, at_once.scores, now)
        assert by_number(index, words.covered, now) == by_number(once, at_once.covered, now)
        cosines = index.cosines(query)
        assert by_number(index, cosines, now) == by_number(once, once.cosines(query), now)
        some = np.arange(len(index))[::-2]
        assert np.array_equal(index.cosines(query, some), cosines[some])
        assert by_number(index, index.embedded, now) == by_number(once, once.embedded, now)


def test_a_rare_word_weighs_more_than_a_common_one():
    texts = ["staging port", "port", "port", "tea"]
    index = ScopeIndex.of(
        SearchRows(
            ScopeState(1),
            tuple(SearchRow(i, True, None, packed_terms(t), None) for i, t in enumerate(texts)),
        )
    )
    found = index.words(terms("staging port"), index.live(0))
    scores, covered = found.scores, found.covered
    assert scores[0] > scores[1] > scores[3] == 0
    assert covered[0] == 1
    assert covered[1] < 0.5
    assert covered[3] == 0


def test_rows_that_died_do_not_weigh_on_the_others():
    living = tuple(SearchRow(i, True, None, packed_terms("port tea"), None) for i in range(3))
    dead = tuple(SearchRow(i, True, None, packed_terms("port " * 9), None) for i in range(3, 9))
    index = ScopeIndex.of(SearchRows(ScopeState(1), living + dead))
    index = index.refreshed(
        SearchRows(ScopeState(2), tuple(row._replace(live=False) for row in dead))
    )
    alone = ScopeIndex.of(SearchRows(ScopeState(1), living))
    assert by_number(index, index.words(terms("port"), index.live(0)).scores, 0) == by_number(
        alone, alone.words(terms("port"), alone.live(0)).scores, 0
    )


def test_a_vector_of_another_length_is_as_good_as_none():
    made = [pack_vector(np.ones(size, np.float32)) for size in (4, 8)]
    index = ScopeIndex.of(
        SearchRows(
            ScopeState(1), tuple(SearchRow(i, True, None, b"", v) for i, v in enumerate(made))
        )
    )
    assert index.embedded.tolist() == [True, False]
