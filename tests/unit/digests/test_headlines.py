"""Headlines, titles, topics and labels of tasks."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.digests.clause import SourcePassage
from memtree.digests.summarize import READ, Extract, labelled, leaf_summary, node_summary
from memtree.digests.titles import HEADLINE, LONGEST, ROOT, TOPIC, root_summary, title, topic
from memtree.language.borders import units
from memtree.text import tokens
from tests.hostile_texts import hostile

# ------------------------------------------------------------------------------------------------
# Headlines are whole: who asked what, how it ended; never a torn clause, never a child's line.


def user(text):
    return SourcePassage("user", text, "text")


def assistant(text):
    return SourcePassage("assistant", text, "text")


def headline(*sources):
    return leaf_summary(sources).headline


def test_the_ask_and_the_commit_are_told():
    line = headline(
        user("#### make the pager optional"),
        assistant(
            "I'll change the option.\n\n> Applied edit to app/args.py\n"
            "> Commit 82474a0 feat: Make the pager optional\n> You can use /undo to revert it."
        ),
    )
    assert line == "make the pager optional -> committed as 82474a0 (args.py)"


def test_an_undone_attempt_is_told_as_such():
    line = headline(
        user("/undo"), assistant("> Removed: 82474a0 feat: Make the pager optional in args")
    )
    assert line.startswith("commit 82474a0 undone: Make the pager optional")


def test_commands_and_prompts_are_no_headline():
    line = headline(
        user("/undo"),
        user("Fix any errors below, if possible."),
        assistant("The flag --lint is read twice."),
    )
    assert line.startswith("The flag --lint is read twice")


def test_times_and_names_do_not_eat_the_headline():
    line = headline(
        user("[3:19 pm on 28 August, 2023]\nIda: I sold the boat to Henrik last week."),
        assistant("Jonas: Wow!"),
        user("Ida: He paid 900 euros."),
    )
    assert line.startswith("Ida: I sold the boat to Henrik last week")


def test_a_leaf_of_code_alone_names_what_it_holds():
    block = "```python\n        self.assert_rates(load_rates('eur'), io.get_input)\n```"
    assert headline(SourcePassage("assistant", block, "code")).startswith("code: ")


def test_a_leaf_of_numbered_lines_names_file_and_lines():
    text = "<path>src/rates.py</path>\n" + "\n".join(f"{n}: x = {n * 7}" for n in range(40, 60))
    line = headline(SourcePassage("tool", text, "result"))
    assert line.startswith("lines 40-59 of src/rates.py")


CHILDREN = [
    Extract(
        "make the pager optional -> committed as 82474a0",
        "user: make the pager optional",
        ("args.py",),
    ),
    Extract("scraping needs playwright -> tests pass", "user: scrape", ("scrape.py", "args.py")),
    Extract("the release notes are written", "assistant: notes", ("NOTES.md", "args.py")),
]


def test_a_parent_tells_its_children_apart_and_how_it_ended():
    line = node_summary(CHILDREN, 1).headline
    assert line not in {child.headline for child in CHILDREN}
    assert "make the pager optional" in line
    assert "release notes are written" in line
    assert tokens.count(line) <= HEADLINE


def test_children_that_say_the_same_are_told_once():
    line = node_summary([CHILDREN[0], CHILDREN[0], CHILDREN[1]], 1).headline
    assert Counter(line.split("; ")).most_common(1)[0][1] == 1


def test_talk_is_told_by_what_is_particular_in_it():
    line = headline(
        user("Mara: I guess I would have to think about that some more"),
        assistant("Jon: Who knows what will happen in the end"),
        user("Mara: The beekeeper gave us honey"),
        assistant("Jon: I'll let you know how it works tomorrow"),
    )
    assert line == "Mara: The beekeeper gave us honey"


def test_a_short_line_of_talk_names_what_it_comes_back_to_and_not_who_speaks():
    line = headline(
        user("Mara: My kayak is blue"),
        assistant("Jon: A kayak would be too slow for me though"),
        user("Mara: Its not that bad lol"),
    )
    assert "kayak" in line
    assert "(Jon" not in line


def parent(*children):
    return node_summary(children, 1).headline


def test_a_parent_says_what_the_user_wanted_before_what_an_answer_lists():
    ask = "trim the cost function of the ambulance routes"
    children = [
        Extract(f"{ask}; Define the Variables First", f"user: {ask}. assistant: Define it.", ()),
        Extract("Apply the Second Derivative Test", "assistant: Apply the Second Test.", ()),
        Extract("Collect and Organize the Data", "assistant: Collect the Data.", ()),
    ]
    assert parent(*children).startswith(ask)


def test_a_parent_of_talk_tells_its_topics_in_order():
    children = [
        Extract("Ida: we met at the Harbour Cafe", "Ida: we met at the Harbour Cafe", ()),
        Extract("Ben: my mom is a hairdresser", "Ben: my mom is a hairdresser", ()),
        Extract("Ida: no way", "Ida: no way", ()),
        Extract("Ben: the Met Gala mixes fashion", "Ben: the Met Gala mixes fashion", ()),
    ]
    line = parent(*children)
    assert "Harbour Cafe" in line
    assert line.index("Harbour Cafe") < line.index("Met Gala")
    assert "Ida:" not in line


def test_the_task_behind_a_label_is_what_is_wanted():
    task = user(
        "You work in a repository. Do not ask questions, and take one step at a time. "
        + "A command that failed once will fail again. " * 12
        + "\n\nISSUE:\nTimeDelta serialization loses precision\n\nSteps to reproduce: run it."
    )
    assert headline(task).startswith("TimeDelta serialization loses precision")
    shown = user("Here is a demonstration of a task. " + task.text)
    assert not headline(shown).startswith("TimeDelta")


def test_advice_is_told_by_what_it_is_about():
    line = headline(
        assistant("Weekly Reflections: Set aside time each week to reflect on your progress."),
        assistant("Use the Eisenhower Box and a Gantt chart for it."),
    )
    assert "Eisenhower Box" in line


def test_what_a_client_or_a_task_always_says_is_no_headline():
    line = headline(
        user("I've uploaded a repository in the folder shop."),
        assistant("I'm here to help with any task you have in mind."),
        assistant("It seems there was a misunderstanding."),
        assistant("The importer rounds prices twice."),
    )
    assert line.startswith("The importer rounds prices twice")


def test_a_line_is_not_torn_at_a_formula_or_before_a_time():
    line = headline(user("Plot \\( f(x) \\) of the pump and estimate its slope"))
    assert not line.endswith("\\")
    assert headline(user("Next week I meet the council of Graz")).startswith("Next week")


def test_a_parent_of_a_paste_lists_its_files():
    children = [
        Extract("code: app/__init__.py, app/ask.py", "user: code", ()),
        Extract("code: app/io.py, app/lint.py", "user: code", ()),
        Extract("Set defaults from the settings", "user: Set defaults from the settings.", ()),
        Extract("code: app/dump.py, app/gui.py", "user: code", ()),
        Extract("code: app/send.py, app/args.py", "user: code", ()),
    ]
    assert parent(*children).startswith("code: app/__init__.py, app/ask.py, app/io.py")


def test_parts_of_a_long_read_are_told_apart():
    read = "read 8 files in parts/, last p047.txt"
    body = "tool: read 8 files in parts/, last `p047.txt`"
    children = [
        Extract(read, body, ()),
        Extract("lines 12-41 of parts/p040.txt", "tool: lines 12-41 of `parts/p040.txt`", ()),
        Extract("lines 42-83 of parts/p041.txt", "tool: lines 42-83 of `parts/p041.txt`", ()),
    ]
    assert parent(*children) == "read 8 files in parts/; lines to p041.txt"


def test_a_parent_passes_over_moods_rules_headings_and_what_recurs():
    ask = "optimize the SQLite queries for faster lookups"
    scene = "The rope creaks, and a guard laughs without joy"
    children = [
        Extract(text, f"user: {text}.", ())
        for text in (
            "I'm kinda worried",
            "Always include version numbers",
            "my mentor, Wendy",
        )
    ]
    children += [Extract("Handle Errors and Edge Cases", "assistant: Handle them.", ())]
    children += [Extract(scene, f"assistant: {scene}.", ()) for _ in range(3)]
    children += [Extract(ask, f"user: {ask}.", ())]
    line = parent(*children)
    assert line.startswith(ask)
    assert not any(word in line for word in ("worried", "Always", "Wendy", "Handle", "creaks"))


def test_points_of_a_list_are_no_speakers():
    children = [
        Extract(text, f"user: {text}", ())
        for text in ("Friday: reflect on the week", "Friday: reflect on the week", "plan a budget")
    ]
    assert parent(*children) != "reflect on the week"
    assert "plan a budget" in parent(*children)


def test_words_of_others_are_quoted_and_the_question_about_them_comes_first():
    chat = "[10:02] Tom: where is it?\n[10:03] Ana: I moved to Oslo last week"
    extract = leaf_summary([user(f"{chat}\n\nWhat did Tom want to know?")])
    assert extract.headline.startswith("What did Tom want to know?")
    assert "“Ana: I moved to Oslo last week”" in extract.body


def test_a_play_is_told_in_quotation_marks():
    play = user("Let's do a role-play. You are Captain Mirelle. I am allergic to dust on Deck 9.")
    extract = leaf_summary([play])
    assert extract.headline.startswith("“I am allergic to dust on Deck 9”")
    above = node_summary([extract, leaf_summary([assistant("*She smiles.*")])], 1)
    assert "“I am allergic to dust on Deck 9”" in above.headline
    assert "“I am allergic to dust on Deck 9”" in above.body


# ------------------------------------------------------------------------------------------------
# Titles of conversations: the first own words of the user's first request, clipped.


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


# ------------------------------------------------------------------------------------------------
# Tasks behind labels, in messages that begin with instructions.


ISSUE = """We're currently working on the following issue. Here's the issue text:
ISSUE:
Pagination drops the last page
When I ask for page 3 of 3 with a size of 20 the answer is empty. ...
"""
UPLOADED = """I've uploaded a repository in the directory shop. Consider the following issue:

<issue_description>
Cart total ignores discounts above ten percent
Steps to reproduce: ...
</issue_description>
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ISSUE, "Pagination drops the last page"),
        (UPLOADED, "Cart total ignores discounts above ten percent"),
        ("Here is an example of how it is done.\n" + ISSUE, ""),
        ("Task:\n- -\n\nGoal: mend the harbour's crane", "mend the harbour's crane"),
        ("a " * READ + ISSUE, ""),
        ("Mend the harbour's crane", ""),
    ],
)
def test_the_line_behind_a_label_is_the_task(text: str, expected: str) -> None:
    assert labelled(text) == expected


# ------------------------------------------------------------------------------------------------
# Topics and the line for a whole conversation: short, whole words, no text of their own.


def summary(headline, *anchors):
    return Extract(headline, headline, anchors)


@pytest.mark.parametrize(
    ("headline", "anchors", "short"),
    [
        (
            "make the importer skip rows without a price -> 1 failed, 13 passed",
            ("importer",),
            "make the importer skip rows without a price",
        ),
        ("(empty)", ("src/app.py", "KeyError"), "src/app.py, KeyError"),
        ("what about it", (), ""),
        ("Мы решили перенести запуск на 12 июня", ("12 июня",), "перенести запуск на 12 июня"),
    ],
)
def test_a_topic_is_what_tells_a_summary_from_others(headline, anchors, short):
    if headline == "(empty)":
        headline = ""
    assert topic(summary(headline, *anchors)) == short


LINES = st.text(st.characters(categories=("L", "N", "P", "Zs")), max_size=80)


@pytest.mark.slow
@given(LINES, st.lists(st.text(max_size=20), max_size=3))
def test_a_topic_is_short_and_made_of_whole_words(headline, anchors):
    found = topic(summary(headline, *anchors))
    assert tokens.count(found) <= TOPIC
    # Phrases of scripts without spaces are joined without one, whatever stands between them.
    known = (headline, "".join(units(headline)), *anchors)
    assert all(any(word.strip(",") in text for text in known) for word in units(found))


def test_a_conversation_is_told_by_its_themes_its_parts_and_its_end():
    tops = [
        summary("add retries to the gateway -> tests pass", "gateway", "retries.py"),
        summary("Gateway logs too much", "gateway", "logging"),
        summary("release 2.1 of the gateway -> published", "gateway", "2.1"),
    ]
    line = root_summary(tops)
    assert line.startswith("add retries to the gateway; ")
    assert "retries" in line
    assert "last release 2.1" in line
    assert tokens.count(line) <= ROOT


def test_a_conversation_of_many_parts_stays_one_short_line():
    tops = [
        summary(f"work on part{number} of the engine", "engine", f"part{number}")
        for number in range(60)
    ]
    line = root_summary(tops)
    assert "part0" in line
    assert "part59" in line
    assert tokens.count(line) <= ROOT
    assert root_summary(tops[:1]) == "work on part0 of the engine"
    assert root_summary([]) == ""


def test_a_conversation_with_a_title_begins_with_it():
    tops = [
        summary("add retries to the gateway -> tests pass", "gateway", "retries.py"),
        summary("the release notes are missing", "release"),
    ]
    line = root_summary(tops, "Harden the gateway against timeouts")
    assert line.startswith("Harden the gateway against timeouts; add retries to the gateway")
    assert root_summary(tops[:1], "Add retries to the gateway") == "Add retries to the gateway"
    assert tokens.count(root_summary(tops * 9, "word " * 12)) <= ROOT


def test_a_topic_holds_no_torn_bracket():
    assert "]" not in topic(summary("make: [Makefile:192: build] Error 1 in the release", "build"))


def test_a_topic_cuts_no_work_between_its_words():
    done = Extract("Write NOTES.md then read it; ran head dev/urandom 21 times", "", ("urandom",))
    assert topic(done, 4) != "urandom 21 times"
    assert "21" not in topic(Extract("ran head dev/urandom 21 times", "", ("urandom",)), 7)


def test_a_topic_from_a_quotation_keeps_its_marks():
    said = Extract("Can you sum it up?; “I am allergic to dust on Deck 9”", "", ("Deck",))
    assert topic(said) == "“dust on Deck 9”"
