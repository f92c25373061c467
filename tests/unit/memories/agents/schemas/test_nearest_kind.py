from __future__ import annotations

import pytest

from memtree.memories.agents.schemas.memory_schema import nearest_kind

KINDS = ("Interaction", "Reminder", "ResearchFinding", "UserProfile", "temporal_event")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("userprofile", "UserProfile"),
        ("user_profile", "UserProfile"),
        ("UserProfil", "UserProfile"),
        ("Profile", "UserProfile"),
        ("UserProfiles", "UserProfile"),
        ("TemporalEvent", "temporal_event"),
        ("reminders", "Reminder"),
        ("Rmeinder", "Reminder"),
        ("Event", None),
        ("x", None),
        ("", None),
    ],
)
def test_the_name_that_was_meant(written, meant):
    assert nearest_kind(written, KINDS) == meant


def test_of_equally_near_ones_the_first_by_name():
    assert nearest_kind("Cat", ["Cay", "Car", "Cab"]) == "Cab"
    assert nearest_kind("Cat", {"Cay", "Cab"}) == "Cab"


def test_none_is_known():
    assert nearest_kind("UserProfile", []) is None


def test_letters_alone_do_not_make_a_name_near():
    assert nearest_kind("abcdefgh", ["hgfedcba"]) is None
