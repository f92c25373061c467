"""Headlines are whole: who asked what, how it ended; never a torn clause, never a child's line."""

from __future__ import annotations

from collections import Counter

from memtree.digests.clauses.clause import SourcePassage
from memtree.digests.summarize import Extract, leaf_summary, node_summary
from memtree.digests.topics import HEADLINE
from memtree.text import tokens


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
