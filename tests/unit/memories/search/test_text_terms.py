from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memtree.memories.search.vector_bytes import memory_terms, packed_terms, spoken_by, unpack_terms
from memtree.text.terms import terms


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
