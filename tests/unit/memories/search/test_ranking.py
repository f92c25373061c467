"""Ranks of hits, and the terms, segments and vectors they come from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.memories.memory_store import ScopeState, SearchRow, SearchRows
from memtree.memories.search.block_rows import NOTHING, RowBlock, ScopeIndex
from memtree.memories.search.query import REACH, Query, common, without
from memtree.memories.search.ranking import FIRST, LOOKED_AT, Candidate, newest_first, ranked
from memtree.memories.search.scope_search import packed, unpacked
from memtree.memories.search.vector_bytes import (
    memory_terms,
    pack_vector,
    packed_terms,
    spoken_by,
    unpack_terms,
    unpack_vector,
)
from memtree.ranking.relevance_scale import RelevanceScale
from memtree.text.terms import terms

# ------------------------------------------------------------------------------------------------
# Ranking.


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


# ------------------------------------------------------------------------------------------------
# Hit order.


def order(*found: Candidate, query: str = "staging port", weight=1.0) -> list[int]:
    return newest_first(found, terms(query), lambda held: [weight] * len(held))


def said(text: str, at: int, score: float = 1.0) -> Candidate:
    return Candidate(text, (float(at), at), score)


OLD, NEW = "The staging port is 8090", "The staging port is 8091"


def test_the_newer_version_goes_before_the_older():
    assert order(said(OLD, 1), said("Likes tea", 2, 0.95), said(NEW, 3, 0.9)) == [2, 0, 1]


def test_the_newest_of_three_goes_first_and_the_next_follows():
    assert order(said(OLD, 1), said(NEW, 2), said("The staging port is 9000", 3)) == [2, 1, 0]


def test_what_is_in_order_stays():
    assert order(said(NEW, 3), said(OLD, 1)) == [0, 1]


def test_another_fact_stays_behind():
    assert order(said(OLD, 1), said("Likes green tea in the morning", 3)) == [0, 1]


def test_a_newer_one_that_answers_much_less_stays_behind():
    assert order(said(OLD, 1), said(NEW, 3, score=0.6)) == [0, 1]


def test_one_about_another_thing_stays_behind():
    """The newer lacks the word of the query that weighs most."""
    rare = terms("airport").keys()
    found = [
        said("The car is parked in row A at the airport", 1),
        said("The car is parked in row B at the station", 2),
    ]

    def weigh(held):
        return [3.0 if term in rare else 1.0 for term in held]

    assert newest_first(found, terms("Where is the car at the airport?"), weigh) == [0, 1]
    assert newest_first(found, terms("Where is the car parked?"), weigh) == [1, 0]


def test_only_the_first_are_looked_at():
    many = [said(OLD, 1)] * FIRST
    assert order(*many, said(NEW, 3))[-1] == FIRST
    assert order(*many[1:], said(NEW, 3))[0] == FIRST - 1


def test_words_that_tell_nothing_apart_make_no_versions():
    tea, rain = said("User likes tea", 1), said("User likes rain", 2)
    assert order(tea, rain, query="likes") == [1, 0]
    nothing = order(tea, rain, query="likes", weight=0.0)
    assert nothing == [0, 1]


def test_no_text_shows():
    assert "staging" not in repr(said(OLD, 1))


@given(
    st.lists(
        st.builds(
            said,
            st.sampled_from([OLD, NEW, "tea", "the port", ""]),
            st.integers(0, 5),
            st.floats(0, 3),
        ),
        max_size=8,
    )
)
def test_each_candidate_is_there_once(found):
    assert sorted(order(*found)) == list(range(len(found)))


# ------------------------------------------------------------------------------------------------
# Query.


def test_common_is_what_a_tenth_of_many_memories_hold():
    assert common({1: 11, 2: 10, 3: 0}, 100) == {1}


def test_in_few_memories_nothing_is_common():
    assert common({1: 9}, 10) == set()


@pytest.mark.parametrize(
    ("text", "dropped", "left"),
    [
        ("What does Ada like?", "Ada", "What does like?"),
        ("What does Ada like?", "Grace", ""),
        ("Ada?", "Ada", ""),
        ("Who is Ada", "Ada", ""),
        ("adasTea or Ada's tea", "Ada", "adasTea or 's tea"),
        ("", "Ada", ""),
    ],
)
def test_without_common_words(text, dropped, left):
    assert without(text, terms(dropped).keys()) == left


@given(st.text(), st.sets(st.sampled_from(["tea", "port", "Ada"])))
def test_no_dropped_word_is_left(text, words):
    dropped = {term for word in words for term in terms(word)}
    left = without(f"{text} tea port", dropped)
    assert not [term for term in terms(left) if term in dropped] or not left


def test_only_the_start_of_a_long_text_is_looked_at():
    assert len(without("tea port " * 10_000, terms("tea").keys())) < REACH


def test_the_particular_weighs_more_than_the_whole():
    whole, particular = np.array([1, 0], np.float32), np.array([0, 1], np.float32)
    moved = Query.of("tea", whole).with_particular(particular).moved
    assert moved[1] > moved[0] > 0
    assert abs(np.linalg.norm(moved) - 1) < 1e-6


def test_opposite_vectors_leave_the_query_as_it_is():
    query = Query.of("tea", np.array([0.7, 0], np.float32))
    assert query.with_particular(np.array([-0.3, 0], np.float32)) is query


def test_without_a_vector_there_is_nothing_to_move():
    assert Query.of("tea").with_particular(np.ones(2, np.float32)).moved is None


# ------------------------------------------------------------------------------------------------
# Segment.


rows = st.builds(
    SearchRow,
    st.integers(1, 1 << 30),
    st.just(True),
    st.none() | st.floats(1, 1e12),
    st.text("abc ", max_size=20).map(packed_terms),
    st.none() | st.binary(min_size=4, max_size=4),
    st.none() | st.text(max_size=5),
)
BLOCK = RowBlock.of(
    [SearchRow(n, True, None, packed_terms(f"port {n}"), bytes([n] * 8)) for n in range(1, 9)]
)


def same(one: RowBlock, other: RowBlock) -> bool:
    pairs = [(getattr(one, name), getattr(other, name)) for name in RowBlock.__slots__[:-1]]
    postings = one.postings, other.postings
    pairs += [tuple(getattr(part, name) for part in postings) for name in postings[0].__slots__]
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)


@pytest.mark.slow
@given(st.lists(rows, max_size=8))
def test_a_block_comes_back(given_rows):
    block = RowBlock.of(given_rows)
    back = unpacked(packed(block, "key"), "key")
    assert back is not None
    assert same(block, back)
    query = np.array([0.5, 0.5, 0.5, 0.5], np.float32)
    assert np.array_equal(block.cosines(query), back.cosines(query))


@pytest.mark.parametrize("size", [0, 3, 27, 28, 100])
def test_a_part_of_a_segment_is_none(size):
    assert unpacked(packed(BLOCK, "key")[:size], "key") is None


def test_a_longer_one_is_none():
    assert unpacked(packed(BLOCK, "key") + b"\0", "key") is None


def test_the_segment_of_another_key_is_none():
    assert unpacked(packed(BLOCK, "key"), "other") is None


def test_one_changed_byte_makes_it_none():
    data = packed(BLOCK, "key")
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 1
        assert unpacked(bytes(changed), "key") is None


# ------------------------------------------------------------------------------------------------
# Text terms.


@given(st.text())
def test_packed_terms_come_back(text):
    hashes, counts = unpack_terms(packed_terms(text))
    found = dict(zip(hashes.tolist(), counts.tolist(), strict=True))
    counted = {term: count for term, count in found.items() if count}
    assert counted == {term: min(count, 255) for term, count in memory_terms(text).items()}
    assert list(found) == sorted(found)


def test_who_speaks_is_a_term_that_counts_nothing():
    (ada,) = terms("Ada")
    hashes, counts = unpack_terms(packed_terms("[10:02] Ada Lovelace: I had tea"))
    assert counts[hashes == spoken_by(ada)].tolist() == [0]
    assert spoken_by(ada) not in unpack_terms(packed_terms("I met Ada Lovelace"))[0]


def test_what_is_no_packed_terms_holds_none():
    hashes, counts = unpack_terms(b"1234567")
    assert len(hashes) == len(counts) == 0


def test_a_term_counts_255_times_at_most():
    _, counts = unpack_terms(packed_terms("port " * 300))
    assert counts.tolist() == [255]


def test_inflections_meet_where_they_are_not_ascii() -> None:
    """The terms of context memory know English inflections alone."""
    for text, other in (("бабушка", "бабушке"), ("강아지가", "강아지는"), ("الكتاب", "كتاب")):
        assert memory_terms(text).keys() & memory_terms(other).keys()
        assert not terms(text).keys() & terms(other).keys()
    assert memory_terms("The port is 8090") == terms("The port is 8090")


# ------------------------------------------------------------------------------------------------
# Vector bytes.


@pytest.mark.parametrize("size", [8, 384, 1024, 3072])
def test_a_vector_comes_back_in_its_direction(size):
    rows = np.random.default_rng(size).normal(size=(50, size)).astype(np.float32)
    for row in rows:
        back = unpack_vector(pack_vector(row))
        assert back @ row / np.linalg.norm(row) > 0.999
        assert abs(np.linalg.norm(back) - 1) < 1e-5


def test_rows_without_outliers_have_one_length():
    """Only then do inner products with the bytes order rows as cosines do."""
    rows = np.random.default_rng(1).normal(size=(200, 384)).astype(np.float32)
    rows *= np.random.default_rng(2).uniform(0.1, 9, (200, 1)).astype(np.float32)
    norms = [np.linalg.norm(np.frombuffer(pack_vector(row), np.int8)) for row in rows]
    assert max(norms) / min(norms) < 1.01


def test_one_large_number_is_not_cut_off():
    row = np.full(384, 0.01, np.float32)
    row[7] = 5
    assert unpack_vector(pack_vector(row)) @ row / np.linalg.norm(row) > 0.999


@pytest.mark.parametrize("factor", [1e-30, 1e30])
def test_only_directions_count(factor):
    row = np.random.default_rng(3).normal(size=64).astype(np.float32)
    assert pack_vector(row * np.float32(factor)) == pack_vector(row)


def test_a_zero_row_stays_zero():
    assert not unpack_vector(pack_vector(np.zeros(16, np.float32))).any()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_none_are_refused(bad):
    with pytest.raises(ValueError, match="finite"):
        pack_vector(np.array([0.0, bad], np.float32))
