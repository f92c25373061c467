"""Terms: words that mean the same meet, function words are none, identifiers open up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.text import terms


def named(*words):
    return {terms.hashed(word) for word in words}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("parse", "parsing"),
        ("index", "indexed"),
        ("query", "queries"),
        ("run", "running"),
        ("Failure", "failures"),
        ("quick", "quickly"),
        ("CONFIG", "config"),
    ],
)
def test_inflections_meet(one, other):
    assert terms.terms(one) == terms.terms(other)


def test_function_words_are_no_terms():
    assert terms.terms("What is it that you would do with the") == {}


@pytest.mark.parametrize(
    "name", ["getUserName", "get_user_name", "GET_USER_NAME", "__get_user_name"]
)
def test_identifiers_give_their_parts(name):
    assert named("get", "user", "name"[:-1]) <= set(terms.terms(name))


def test_an_identifier_is_found_whole():
    whole = named("parse_config")
    assert whole <= set(terms.terms("call parse_config()"))
    assert not whole & set(terms.terms("parse the config"))


def test_numbers_and_foreign_words():
    assert terms.terms("8787") == {terms.hashed("8787"): 1}
    assert terms.terms("Übung übung") == {terms.hashed("übung"): 2}


def test_scripts_without_spaces_give_pairs():
    assert set(terms.terms("数据库")) == named("数据", "据库")
    assert set(terms.terms("数")) == named("数")
    assert set(terms.terms("连接数据库失败")) >= set(terms.terms("数据库"))


def test_counts_and_merge():
    one, other = terms.terms("cache cache miss"), terms.terms("cache hit")
    assert one == {terms.hashed("cach"): 2, terms.hashed(terms.stem("miss")): 1}
    assert terms.merge([one, other])[terms.hashed("cach")] == 3


def test_similarity():
    one = terms.terms("the cache missed the disk")
    assert terms.similarity(one, one) == pytest.approx(1)
    assert terms.similarity(one, terms.terms("romantic poetry")) == 0
    assert terms.similarity({}, one) == terms.similarity({}, {}) == 0
    near, far = terms.terms("disk cache full"), terms.terms("disk of vinyl music")
    assert terms.similarity(one, near) > terms.similarity(one, far) > 0
    assert terms.similarity(one, near) == terms.similarity(near, one)


def test_profiles_keep_the_most_frequent_terms_and_come_back():
    counts = {n: (300 if n == 7 else n % 5 + 1) for n in range(100)}
    packed = terms.profile(counts)
    back = terms.unprofile(packed)
    assert len(back) == terms.PROFILE_TERMS
    assert back[7] == 255
    assert min(back.values()) == 5 or set(back) <= {n for n in counts if counts[n] >= 4}
    assert packed == terms.profile(dict(reversed(counts.items())))
    assert terms.unprofile(terms.profile({})) == {}


def test_packed_statistics():
    packed = terms.pack([{1: 2, 3: 999}, {}, {2**32 - 1: 1}])
    assert packed.ends == (2, 2, 3)
    assert packed.counts == bytes([2, 255, 1])
    assert packed.hashes == b"\1\0\0\0\3\0\0\0\xff\xff\xff\xff"


@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_ascii_has_the_words_that_other_text_has(text):
    """They are found in another way, which is the faster one."""
    assert terms.words(text) == terms.words(f"{text} é")[:-1]


def test_the_most_frequent_terms_are_a_profile():
    often = dict.fromkeys(range(100, 100 + terms.PROFILE_TERMS), 2)
    once = dict.fromkeys(range(50), 1)
    assert terms.unprofile(terms.profile({**once, **often})) == often
    often.pop(100)  # one is missing: the smallest of those that stand there once
    assert terms.unprofile(terms.profile({**once, **often})) == {**often, 0: 1}
