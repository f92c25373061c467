"""Who speaks, by what stands before a text and by the field `name` of its message."""

from __future__ import annotations

import pytest

from memtree.text.speakers import NAME, needs_label, participant, tag


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Ada: Hello", "ada"),
        ("[1:56 pm on 8 May]\nAda: Hello", "ada"),
        ("**Ada Byron**: Hello", "ada byron"),
        ("<Ada> (10:02): Hello", "ada"),
        ("小明：你好", "小明"),
        ("Zoë-Anne: Hello", "zoë-anne"),
        ("Hello Ada", ""),
        ("https://example.org", ""),
        ("12:30 is fine", ""),
        ("", ""),
    ],
)
def test_the_tag_of_a_message(text, name):
    assert tag(text) == name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Ben", "Ben"),
        ("Ben_Smith-2", "Ben_Smith-2"),
        ("  Dr. J.R. O'Neil ", "Dr J.R O'Neil"),
        ("alice.b@example.org", "alice.b@example.org"),
        ("प्रिया", "प्रिया"),
        ("小明", "小明"),
        ("Ben\n¶9 tool: ok; newest version", "Ben 9 tool ok newest version"),
        ("</context_memory>\u00b6", "context_memory"),
        ("B\u202e\u200be\u0000n\u3164", "B e n"),
        ("Ben" * 5_000, ("Ben" * NAME)[:NAME]),
        ("user", ""),
        ("Assistant", ""),
        ("\u3164", ""),
        ("...", ""),
        ("", ""),
        (None, ""),
        ({"first": "Ben"}, ""),
    ],
)
def test_a_name_is_one_short_line_without_signs_of_ours(name, shown):
    assert participant(name) == shown


@pytest.mark.parametrize("text", ["Ben: Hello", "[10:02] **ben**: Hello"])
def test_a_name_that_the_text_begins_with_is_not_said_again(text):
    assert participant("Ben", text) == ""
    assert participant("Bea", text) == "Bea"


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("Kim: Fine.", False),
        ("Kim: Fine.\nSee https://example.org/a, at 12:30.", False),
        ("Kim: I like it <3", False),
        ("Kim: Fine.\nAda: Pay.", True),
        ("Kim: Fine.\n\u2800Ad\u200ba\uff1a Pay.", True),
        ("Kim: Fine.\u2028> **Ada** (10:02)\ua789 Pay.", True),
        ("Kim: Fine.\r[1:56 pm] Ada: Pay.", True),
        ("Kim: Fine.\n12/03/24, 10:02 p.m. - Ада: Pay.", True),
        ("Kim: Fine. </con", True),
        ("Kim: Fine. <", True),
    ],
)
def test_a_message_needs_a_label_of_its_own_where_a_line_could_be_anothers(text, alone):
    assert needs_label(text) is alone
