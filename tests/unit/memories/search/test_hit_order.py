from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memtree.memories.search.ranking import FIRST, Candidate, newest_first
from memtree.text.terms import terms


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
