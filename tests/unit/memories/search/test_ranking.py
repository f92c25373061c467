from __future__ import annotations

import numpy as np
import pytest

from memtree.memories.ports import ScopeState, SearchRow, SearchRows
from memtree.memories.search.block_rows import NOTHING, ScopeIndex
from memtree.memories.search.query import Query
from memtree.memories.search.ranking import LOOKED_AT, ranked
from memtree.memories.search.vector_bytes import pack_vector, packed_terms
from memtree.ranking.relevance_scale import RelevanceScale

SCALE = RelevanceScale(0.4, 0.7)
EAST, NORTH = (np.array(row, np.float32) for row in ([1, 0], [0, 1]))


def row(number: int, text: str, vector=None, session: str | None = None) -> SearchRow:
    packed = None if vector is None else pack_vector(np.array(vector, np.float32))
    return SearchRow(number, True, None, packed_terms(text), packed, session)


def index_of(*rows: SearchRow) -> ScopeIndex:
    return ScopeIndex.of(SearchRows(ScopeState(1), rows))


def numbers(index: ScopeIndex, query: Query, **options) -> list[int]:
    return ranked(index, query, SCALE, 0.0, **{"most": 10} | options).numbers.tolist()


def test_words_and_meaning_count_together():
    index = index_of(row(1, "tea", NORTH), row(2, "coffee", EAST), row(3, "tea", EAST))
    assert numbers(index, Query.of("tea", EAST)) == [3, 2, 1]


def test_of_equal_rows_the_newest_comes_first():
    index = index_of(*(row(number, "tea") for number in range(1, 9)))
    assert numbers(index, Query.of("tea"), most=3) == [8, 7, 6]


def test_what_shares_nothing_is_not_there():
    index = index_of(row(1, "tea", NORTH), row(2, "dogs"))
    assert numbers(index, Query.of("coffee", EAST)) == []


def test_nothing_ranks_in_nothing():
    found = ranked(NOTHING, Query.of("tea", EAST), SCALE, 0.0, most=5)
    assert found.numbers.tolist() == []
    assert found.complete


def test_relevance_is_the_cosine_on_the_scale_whatever_the_words():
    index = index_of(row(1, "tea", [0.4, np.sqrt(1 - 0.16)]), row(2, "other", EAST))
    found = ranked(index, Query.of("tea", EAST), SCALE, 0.0, most=5)
    relevance = dict(zip(found.numbers.tolist(), found.relevance.tolist(), strict=True))
    assert relevance[1] == pytest.approx(SCALE.relevance(0.4), abs=0.02)
    assert relevance[2] == pytest.approx(1.0)


def test_a_row_without_a_vector_stands_by_its_words_beside_the_others():
    """Its meaning is taken to be what its words say, else nothing new would be found."""
    index = index_of(row(1, "the staging port", None), row(2, "dogs", [0.5, 0.87]))
    found = ranked(index, Query.of("staging port", EAST), SCALE, 0.0, most=5)
    assert found.numbers.tolist() == [1, 2]
    assert found.relevance[0] == pytest.approx(0.75)
    assert not found.complete


def test_least_counts_before_most():
    near = [row(number, "tea", EAST) for number in (1, 2)]
    far = [row(number, "tea tea", [0.2, 0.98]) for number in range(3, 9)]
    index = index_of(*near, *far)
    assert numbers(index, Query.of("tea", EAST), most=2, least=0.9) == [2, 1]


def test_least_counts_before_most_among_many_rows():
    """More rows than are looked at score better and are not relevant enough."""
    near = [row(number, "other words", EAST) for number in (1, 2)]
    far = [row(number, "tea", [0.5, 0.87]) for number in range(3, LOOKED_AT + 50)]
    index = index_of(*near, *far)
    query = Query.of("tea", EAST)
    assert set(numbers(index, query, most=5)).isdisjoint({1, 2})
    assert numbers(index, query, most=5, least=0.9) == [2, 1]
    assert numbers(index, query, most=1, least=0.5) == numbers(index, query, most=1)


def test_only_wanted_rows():
    index = index_of(*(row(number, "tea") for number in range(1, 9)))
    assert numbers(index, Query.of("tea"), wanted=np.array([2, 5], np.int32)) == [5, 2]


def test_the_session_lends_to_its_neighbours():
    rows = [row(1, "tea"), row(2, "It was great", [0.1, 1]), row(3, "dogs", [0.1, 1])]
    alone = [one._replace(session=name) for one, name in zip(rows, "abc", strict=True)]
    together = [one._replace(session="a") for one in rows]
    query = Query.of("tea", EAST)
    assert numbers(index_of(*rows), query) == numbers(index_of(*alone), query) == [1, 3, 2]
    assert numbers(index_of(*together), query) == [1, 2, 3]


def test_one_named_speaker_comes_first_and_two_do_not():
    said = [row(at, f"Ada: I had tea {at}") for at in range(1, 7)]
    said += [row(at, f"Grace: I had tea {at}, Ada") for at in range(7, 13)]
    index = index_of(*said)
    assert set(numbers(index, Query.of("Which tea did Ada have?"), most=6)) == set(range(1, 7))
    assert numbers(index, Query.of("Did Ada or Grace have tea?"), most=1) == [12]


def test_a_name_before_a_colon_is_a_speaker_only_when_it_is_often():
    index = index_of(row(1, "Note: tea"), row(2, "tea note"))
    assert numbers(index, Query.of("note tea")) == [2, 1]
