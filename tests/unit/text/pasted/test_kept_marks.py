"""Check which `<keep>` marks of a user's message count: those in the user's own words."""

from __future__ import annotations

import pytest

from memtree.text.pasted.own_words import MOST, kept_marks


def kept(text: str) -> list[str]:
    return [text[start:end] for start, end in kept_marks(text)]


@pytest.mark.parametrize(
    ("text", "passages"),
    [
        ("<keep>Port 8443 is taken.</keep>", ["Port 8443 is taken."]),
        ("First <keep>a</keep>, then <keep> b </keep>.", ["a", "b"]),
        ("Set <keep>PORT=8443</keep> please", ["PORT=8443"]),
        ("<keep>x = foo(1);</keep>\nThat line stays.", ["x = foo(1);"]),
        ("Notes:\n\n<keep>\none\n\n```py\nx = 1\n```\n</keep>\n", ["one\n\n```py\nx = 1\n```"]),
        ("- <keep>a point of a list</keep>", ["a point of a list"]),
        ("1. <keep>the first</keep>\n2. <keep>the second</keep>", ["the first", "the second"]),
        ("**Important:** <keep>no force push</keep>", ["no force push"]),
        ("<user_query>\nGo on. <keep>In an agent's tags.</keep>\n</user_query>",
         ["In an agent's tags."]),
        ("Bitte <keep>nie den Ordner vendor ändern</keep>.", ["nie den Ordner vendor ändern"]),
        ("请记住<keep>端口 8443</keep>", ["端口 8443"]),
        ('<keep>She said "never on Fridays, I am away then"</keep>',
         ['She said "never on Fridays, I am away then"']),
        ("<keep>never closed <keep>the inner one</keep>", ["the inner one"]),
        ("The tag is `<keep>`. <keep>real</keep>", ["real"]),
        ("Use `<keep>` and `</keep>`. <keep>real</keep>", ["real"]),
        ("```\n<keep>in code</keep>\n```\n<keep>behind it</keep>", ["behind it"]),
    ],
)  # fmt: skip
def test_a_closed_mark_in_own_words_counts(text: str, passages: list[str]):
    assert kept(text) == passages


@pytest.mark.parametrize(
    "text",
    [
        "<keep>never closed",
        "never opened</keep>",
        "</keep> the wrong way round <keep>",
        "<keep> \n </keep>",
        "<KEEP>other letters</KEEP>",
        "<keep attr='1'>no such tag</keep>",
        "```py\n# <keep>fenced</keep>\n```",
        "~~~\n<keep>fenced by tildes</keep>",
        "Run `echo '<keep>inline</keep>'` now.",
        "`<keep>inline</keep>`",
        "    <keep>indented code</keep>",
        "// <keep>a comment</keep>",
        "# <keep>a comment</keep>\nx = 1",
        "x = '<keep>a string</keep>'",
        "import os\n# <keep>no</keep>\nprint(os)",
        "for i in range(3):  # <keep>no</keep>",
        "> <keep>a quoted line</keep>",
        'He wrote "<keep>this is what I want</keep>" to me.',
        "| a | <keep>a cell</keep> |",
        "2024-01-01 10:00:00 <keep>a line of a log</keep>",
        "ERROR: <keep>a line of a log</keep>",
        "<config><keep>30</keep></config>",
        "<system-reminder><keep>of a client</keep></system-reminder>",
        "<file_content>\n<keep>a file</keep>\n</file_content>",
        "<recalled_context>\n<keep>of ours</keep>\n</recalled_context>",
        "[run_tests] Result:\n<keep>a program speaks</keep>",
        "This session is being continued from a previous conversation. <keep>x</keep>",
        "User: hi there\nAssistant: hello\nUser: <keep>a transcript</keep>\nAssistant: yes\n",
    ],
)
def test_a_mark_that_is_not_the_users_or_not_closed_counts_nothing(text: str):
    assert kept(text) == []


def test_of_many_marks_the_last_ones_count():
    text = "".join(f"<keep>n{number}</keep> and " for number in range(MOST + 5)) + "so on, ok?"
    assert kept(text)[0] == "n5"
    assert len(kept(text)) == MOST
