"""The form of tags."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.errors import BadRequest
from memtree.memories.fields.tags import MAX_TAG, canonical_tags
from memtree.memories.memory import MAX_TAGS


def test_trimmed_lower_case_hyphens_and_none_twice():
    given = [
        "  Home Office ",
        "home-office",
        "HOME\t\nOFFICE",
        "Käse",
        "KA\u0308SE",
        "c++",
        "",
        " ",
    ]
    assert canonical_tags(given) == ("home-office", "käse", "c++")


def test_none_are_none():
    assert canonical_tags(None) == canonical_tags([]) == ()


def test_control_and_bidi_characters_are_taken_out():
    assert canonical_tags(["a\u202eb\x00c\u200b", "\ud800"]) == ("abc",)


@pytest.mark.parametrize("value", ["work", b"work", 5, True, {"a": 1}, {"a"}])
def test_what_is_no_list_is_refused(value):
    with pytest.raises(BadRequest, match="tags must be an array") as refused:
        canonical_tags(value)
    assert refused.value.param == "tags"


@pytest.mark.parametrize("value", [5, None, ["a"], b"a", True])
def test_what_is_no_text_is_refused_by_its_place(value):
    with pytest.raises(BadRequest, match="must be a string") as refused:
        canonical_tags(["ok", value], "labels")
    assert refused.value.param == "labels[1]"


def test_too_long_and_too_many():
    assert canonical_tags(["x" * MAX_TAG + "  "])
    for long in ("x" * (MAX_TAG + 1), " " * 2_000 + "x"):
        with pytest.raises(BadRequest, match="at most 32 characters"):
            canonical_tags([long])
    many = [f"tag {at}" for at in range(MAX_TAGS)]
    assert len(canonical_tags(many)) == MAX_TAGS
    for beyond in ([*many, "one more"], ["same"] * 33, [""] * 5_000):
        with pytest.raises(BadRequest, match="at most 32 tags"):
            canonical_tags(beyond)


@given(st.lists(st.text(max_size=12), max_size=8))
def test_the_form_of_the_form_is_the_form(values):
    try:
        tags = canonical_tags(values)
    except BadRequest:  # a few letters grow when they are made small
        return
    assert canonical_tags(tags) == tags
    assert all(tag == tag.lower() and not any(char.isspace() for char in tag) for tag in tags)
