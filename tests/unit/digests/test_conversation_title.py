"""Titles of conversations: the first own words of the user's first request, clipped."""

from __future__ import annotations

import pytest

from memtree.digests.conversation_title import LONGEST, title
from tests.hostile_texts import hostile

MAIL = """Please summarise this mail:

From: Max Berger <max@example.org>
Subject: Rent for the cellar

Dear tenants,

from May on the rent for the cellar goes up by ten euros, since the lift had to be repaired.
"""
CODE = "```python\ndef tide(harbour):\n    return harbour.tides[0]\n```"


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("Please rename `parse_row` to read_row.", "Please rename `parse_row` to read_row."),
        ("## Add a test\nfor the /drop command", "Add a test"),
        ("I have an old boat, and now its engine no longer starts when it is cold, so help me.",
         "I have an old boat, and now its engine no longer starts"),
        (MAIL, "Please summarise this mail:"),
        (f"{CODE}\n\nWhy does it fail?", "Why does it fail?"),
        (CODE, "pasted text, 5 words"),
        ("```\nx\n```", "pasted text, 1 word"),
        ("你能帮我检查一下仓库系统的备份吗？", "你能帮我检查一下仓库系统的备份吗？"),
        ("检" * 100, "检" * LONGEST),
        ("hi", "hi"),
        (" \n", ""),
    ],
)  # fmt: skip
def test_a_title_is_the_first_own_words(request_text: str, expected: str) -> None:
    assert title(request_text) == expected


def test_no_secret_stands_in_a_title() -> None:
    key = "ghp_" + "a1B2c3" * 6
    for before in ("Deploy with ", "Deploy the harbour site for all of us, at once, with "):
        assert "ghp_a1" not in title(before + key)


def test_a_title_is_one_short_line_whatever_is_posted() -> None:
    for unit in hostile.shapes().values():
        line = title((unit * 3_000)[:3_000])
        assert len(line) <= LONGEST, unit
        assert "\n" not in line, unit
