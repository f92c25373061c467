"""Titles of conversations: what the first real request is about."""

from __future__ import annotations

import pytest

from memtree.digests.conversation_title import LONGEST, title
from tests.hostile_texts import hostile

ISSUE = """We're currently working on the following issue. Here's the issue text:
ISSUE:
Pagination drops the last page
When I ask for page 3 of 3 with a size of 20 the answer is empty. ...
"""
UPLOADED = """<uploaded_files>
/workspace/shop
</uploaded_files>
I've uploaded a Go code repository in the directory shop. Consider the following issue description:

<issue_description>
Cart total ignores discounts above ten percent
Steps to reproduce: ...
</issue_description>
"""
MAIL = """Please summarise this mail:

From: Max Berger <max@example.org>
Subject: Rent for the cellar

Dear tenants,

from May on the rent for the cellar goes up by ten euros, since the lift had to be repaired.
"""


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (["hi", "Please rename `parse_row` to read_row."], "Rename parse_row to read_row"),
        (["/model gpt-5", "#### add a test for the /drop command"],
         "Add a test for the /drop command"),
        (
            ["I'm Ann, I'm 42, and I'm kinda worried about my pension savings, can you help me?"],
            "My pension savings",
        ),
        (
            ["Can you help me plan a garden with raised beds, since my soil is heavy clay?"],
            "Plan a garden with raised beds",
        ),
        (["# Fix any errors below, if possible.\n\nE501 line too long",
         "Sort the imports of io.py"],
         "Sort the imports of io.py"),
        ([ISSUE], "Pagination drops the last page"),
        ([UPLOADED], "Cart total ignores discounts above ten percent"),
        ([MAIL], "Summarise: mail from Max Berger: Rent for the cellar"),
        (["Here is an example of how it is done.\nISSUE:\nAnother bug", "Mend the pump's valve"],
         "Mend the pump's valve"),
        (["The puzzle below is a logic riddle named \"Five houses\": who owns the fish?"],
         "Logic riddle Five houses"),
        (["Kannst du mir helfen, die Heizung im Keller zu entlüften? Sie ist kalt."],
         "Die Heizung im Keller zu entlüften"),
        (["你能帮我检查一下仓库系统的备份吗？"], "检查一下仓库系统的备份吗"),
        (["Можешь помочь мне починить велосипедный насос? Он сломан."],
         "Починить велосипедный насос"),
        (["hello", "/run make lint"], "/run make lint"),
        (["hi", "hi"], "Hi"),
        ([""], ""),
        ([], ""),
    ],
)  # fmt: skip
def test_a_title_is_the_first_real_request(asked: list[str], expected: str) -> None:
    turns = [turn for text in asked for turn in (("user", text), ("assistant", "Sure!"))]
    assert title(turns) == expected


def test_people_who_talk_are_named_with_what_they_talk_about() -> None:
    said = [
        ("user", "[1:56 pm on 8 May, 2023]\nAnn: Hey Bo! How was the sailing regatta?"),
        ("assistant", "Bo: Great! The regatta was windy. Do you still bake bread?"),
        ("user", "Ann: Yes, sourdough bread, every Friday."),
        ("assistant", "Bo: Bring some bread to the next regatta!"),
    ]
    assert title(said).startswith("Ann and Bo: ")
    assert {"bread", "regatta"} <= set(title(said).replace(",", "").split())


def test_a_title_stays_while_the_conversation_grows() -> None:
    turns = [("user", "Plan the harbour fair"), ("assistant", "Gladly.")]
    later = [*turns, ("user", "Translate the poster into French, and check the tide tables twice.")]
    assert title(turns) == title(later * 30) == "Plan the harbour fair"


def test_no_secret_stands_in_a_title() -> None:
    key = "ghp_" + "a1B2c3" * 6
    assert key not in title([("user", f"Deploy the harbour site with {key}")])


def test_a_title_is_one_short_line_whatever_is_posted() -> None:
    for unit in hostile.shapes().values():
        text = (unit * 3_000)[:3_000]
        line = title([("user", text), ("assistant", text)])
        assert len(line) <= LONGEST, unit
        assert "\n" not in line, unit
