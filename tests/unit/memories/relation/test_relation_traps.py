"""Small differences that a reader of words could overlook."""

from __future__ import annotations

import pytest

from memtree.memories.relation.relation import Relation, compare

TRAPS = [
    ("User has an old car.", "User has a car."),
    ("User has a cat.", "User has cats."),
    ("User likes his dog.", "User likes her dog."),
    ("The boss is Mr. Peters.", "The boss is Mr. Peter."),
    ("Tests must pass.", "Tests should pass."),
    ("User would work on Sundays.", "User works on Sundays."),
    ("User lives on Oak Street.", "User lives on Oak Road."),
    ("The temperature is -5.", "The temperature is 5."),
    ("Alert if score > 5.", "Alert if score < 5."),
    ("Alert if a != b.", "Alert if a == b."),
    ("User uses C++.", "User uses C."),
    ("The deadline is 3/4/2026.", "The deadline is 4/3/2026."),
    ("User has a plan.", "User has a plane."),
    ("User's teacher is Ana.", "User teaches Ana."),
    ("User is paid.", "User is paying."),
    ("User works for Ben.", "User works with Ben."),
    ("The key is in the box.", "The key is on the box."),
    ("User is never not late.", "User is not late."),
    ("Invoices are paid by card.", "Invoices are paid by Carl."),
    ("Files of 5 GB.", "Files of 5 MB."),
    ("User's gift is for Ann.", "User's gift is from Ann."),
    ("User drinks chocolate milk.", "User drinks milk chocolate."),
    ("Mia and Tom's dog is Rex.", "Mia's dog is Rex."),
    ("User will marry Eva.", "User has married Eva."),
    ("I have moved to Spain.", "I move to Spain."),
    ("A portrait by Anna.", "A portrait of Anna."),
    ("Meet at 6.", "Meet at 7."),
    ("User may travel.", "User can travel."),
    ("Some tests fail.", "All tests fail."),
    ("mi hermano vive en Lima", "mi hermana vive en Lima"),
]


@pytest.mark.parametrize(("one", "other"), TRAPS)
def test_no_trap_is_a_duplicate(one, other):
    for new, old in ((one, other), (other, one)):
        for relevance in (1.0, None):
            found = compare(new, old, relevance)
            assert found.relation not in (Relation.SAME, Relation.DUPLICATE)
        assert compare(new, old, 1.0).differs


SAME = [
    ("The beta starts at 3 pm.", "Beta starts at 15:00."),
    ("User runs on Tuesdays.", "On Tuesdays user runs."),
    ("The team is led by Mark.", "Mark leads the team."),
    ("Never email after 8 pm.", "Do not email after 20:00."),
    ("Names should be short.", "Keep names short."),
    ("I eat neither fish nor meat.", "The user doesn't eat fish or meat."),
    ("The brother of Ann is ill.", "Ann's brother is ill."),
    ("User likes tea, milk and juice.", "User likes juice, tea and milk."),
    ("Green is my favourite colour.", "User's favorite color is green."),
    ("Meet at 10.", "Meet at 10:00."),
    ("The son is 4 years old.", "A four-year-old son."),
    ("User is employed in the finance team.", "The user works in the finance team."),
    ("Luna, my cat, is 5 years old.", "My cat Luna is five."),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_says_the_same_is_a_duplicate_where_the_embedder_agrees(one, other):
    for new, old in ((one, other), (other, one)):
        assert compare(new, old, 0.9) == (Relation.DUPLICATE, ())
        assert compare(new, old, 0.69).relation is Relation.OTHER
