from __future__ import annotations

from datetime import date

import pytest

from memtree.memories.rule_extraction import extract
from memtree.statements.calendar_dates import is_event

SAID = date(2026, 3, 2)


@pytest.mark.parametrize(
    "text",
    [
        "I adopted a puppy last week.",
        "We went to Rome last summer.",
        "Yesterday I met my new landlord.",
        "My wife and I got married on June 12, 2019.",
        "My daughter was born on 12 August 2020.",
        "I just finished my first marathon on Sunday.",
        "I quit smoking 3 weeks ago.",
        "I've been to Japan in May 2024.",
        "We finally bought a house in March.",
        "My team won the cup last Saturday.",
    ],
)
def test_what_happened_to_people_on_a_day_of_theirs(text):
    assert is_event(text, SAID)


@pytest.mark.parametrize(
    "text",
    [
        "I adopted a puppy.",
        "I tried it yesterday and it failed.",
        "I updated Node last week.",
        "I ran the script yesterday.",
        "I got this error on Friday.",
        "I pushed the branch on Monday.",
        "I had three meetings today.",
        "The log was written on March 1.",
        "They won the cup last year.",
        "Rome fell in May 455.",
        "I go to Rome next week.",
        "I have yoga every Tuesday.",
        "You said so yesterday.",
    ],
)
def test_what_has_no_day_or_was_done_to_a_machine_or_by_others(text):
    assert not is_event(text, SAID)


def test_it_is_kept_with_the_day_it_was_said():
    (found,) = extract("We went to Lisbon last summer and loved it.", SAID).candidates
    assert "last summer" in found.text
    assert found.text.endswith("(said 2026-03-02)")
    assert found.category in ("fact", "general")
