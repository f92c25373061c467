"""Calls joined with their results, and what prose of a client tells."""

from __future__ import annotations

import json

import pytest

from memtree.conversation.history import History
from memtree.digests.tool_calls import results
from memtree.digests.tool_calls.fields import (
    COMMITTED,
    EDITED,
    RAN,
    READ,
    UNDONE,
    WRITTEN,
    Group,
    groups,
)
from memtree.unfolding.work_log.work_events import WorkEvent, WorkText, work_events
from tests.unit.unfolding.histories import answering, call, calling, history

EDIT = json.dumps({"file_path": "a.py", "old_string": "x = 1", "new_string": "x = 2"})
BLOCK = "a.py\n```\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n```"


def events(found: History, cut: int | None = None) -> list[WorkEvent]:
    return list(work_events(found, len(found) if cut is None else cut))


def said(found: History, text: WorkText | None) -> str | None:
    return found.view(text.message).text[text.span.start : text.span.end] if text else None


def test_a_command_has_the_outcome_of_its_result() -> None:
    found = history(
        "Build it.",
        calling(call("Bash", '{"command":"make"}')),
        answering("gcc a.c\nmake: *** [all] Error 2"),
    )
    (event,) = events(found)
    assert (event.action.kind, event.text, event.outcome.bad) == (RAN, "make", True)
    assert said(found, event.name) == "make"
    assert said(found, event.line) == "make: *** [all] Error 2"


def test_each_of_parallel_calls_has_its_own_result() -> None:
    found = history(
        "Go.",
        calling(call("Bash", '{"command":"make"}', "1"), call("Bash", '{"command":"pytest"}', "2")),
        answering("3 passed", "2"),
        answering("make: *** [all] Error 2", "1"),
    )
    assert [(event.text, event.outcome.bad, event.outcome.passed) for event in events(found)] == [
        ("make", True, 0),
        ("pytest", False, 3),
    ]


def test_an_edit_that_was_refused_is_no_edit() -> None:
    found = history(
        "Go.", calling(call("Edit", EDIT)), answering("Error: String not found in file.")
    )
    (event,) = events(found)
    assert event.refused
    assert said(found, event.line) == "Error: String not found in file."


def test_a_commit_that_its_exit_code_refuses_is_no_commit() -> None:
    line = json.dumps({"command": ["git", "commit", "-m", "fix x"]})
    result = json.dumps({"output": "a hook ended it\n", "metadata": {"exit_code": 1}})
    found = history("Go.", calling(call("shell", line)), answering(result))
    assert [event.refused for event in events(found) if event.action.kind == COMMITTED] == [True]


def test_the_file_of_an_edit_may_stand_in_its_result_alone() -> None:
    edit = call("edit", '{"search":"x = 1","replace":"x = 2"}')
    found = history("Go.", calling(edit), answering("Replaced 1\n[File: /w/a.py (9 lines total)]"))
    (event,) = events(found)
    assert (event.text, said(found, event.name)) == ("/w/a.py", "/w/a.py")


def test_a_failed_command_does_not_undo_what_its_line_wrote() -> None:
    line = json.dumps({"command": "rm -rf old && make"})
    found = history("Go.", calling(call("Bash", line)), answering("make: *** [all] Error 2"))
    assert [(event.text, event.refused) for event in events(found)] == [
        ("old", False),
        ("rm -rf old && make", False),
    ]


def test_an_exit_code_may_stand_beside_the_output() -> None:
    result = json.dumps({"output": "no such test\n", "metadata": {"exit_code": 4}})
    found = history("Go.", calling(call("shell", '{"command":["pytest","-q"]}')), answering(result))
    assert [event.outcome.code for event in events(found)] == [4]


def test_several_results_in_one_list_belong_to_their_commands() -> None:
    results = [
        {"query": "make; echo rc=$?", "result": "gcc\nrc=0", "success": True},
        {"query": "pytest", "result": "1 failed, 2 passed", "success": True},
        {"query": "tox", "result": "", "success": False},
    ]
    commands = json.dumps({"commands": ["make; echo rc=$?", "pytest", "tox"]})
    found = history("Go.", calling(call("run", commands)), answering(json.dumps(results)))
    assert [(event.text, event.outcome.bad) for event in events(found)] == [
        ("make", False),
        ("pytest", True),
        ("tox", True),
    ]


def test_a_result_is_parsed_once_for_all_commands_that_it_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed: list[str] = []

    def counted(text: str) -> list[Group]:
        parsed.append(text)
        return groups(text)

    monkeypatch.setattr(results, "groups", counted)
    commands = json.dumps({"commands": ["make", "pytest", "tox"]})
    found = history("Go.", calling(call("run", commands)), answering('{"output": "ok"}'))
    assert (len(events(found)), len(parsed)) == (3, 1)


def test_blocks_that_the_client_did_not_apply_are_proposals() -> None:
    asked = {"role": "assistant", "content": BLOCK}
    applied = {"role": "assistant", "content": f"{BLOCK}\n\n> Applied edit to a.py"}
    assert [event.text for event in events(history("Go.", applied, "More.", asked, "Thanks."))] == [
        "a.py"
    ]
    assert [event.text for event in events(history("Go.", asked, "Thanks."))] == ["a.py"]


def test_a_block_that_failed_to_match_was_not_applied() -> None:
    found = history(
        "Go.",
        {"role": "assistant", "content": BLOCK},
        "# 1 SEARCH/REPLACE block failed to match!",
    )
    assert [event.refused for event in events(found)] == [True]


def test_blocks_beside_a_call_that_edits_nothing_are_edits() -> None:
    found = history("Go.", calling(call("run", "{}"), content=BLOCK), answering("Tokens: 9 sent."))
    assert [(event.text, said(found, event.name)) for event in events(found)] == [("a.py", "a.py")]


def test_a_result_may_report_which_blocks_were_applied() -> None:
    both = f"{BLOCK}\n{BLOCK.replace('a.py', 'src/b.py')}"
    found = history(
        "Go.",
        calling(call("run", "{}"), content=both),
        answering("Applied edit to src\\b.py"),
        calling(call("run", "{}"), content=BLOCK),
        answering("Add a.py to the chat? n"),
    )
    assert [event.text for event in events(found)] == ["src/b.py"]


def test_a_result_may_report_an_edit_that_no_message_shows() -> None:
    found = history(
        "Go.", calling(call("run", "{}"), content="So."), answering("Applied edit to a.py")
    )
    (event,) = events(found)
    assert (event.message, event.action.kind, said(found, event.name)) == (2, EDITED, "a.py")
    calls = calling(call("Edit", EDIT), call("Read", '{"file_path":"b.py"}', "d"))
    found = history(
        "Go.", calls, answering("Applied edit to a.py"), answering("Applied edit to b.py", "d")
    )
    assert [(event.message, event.text) for event in events(found)] == [
        (1, "a.py"),
        (1, "b.py"),
        (3, "b.py"),
    ]


@pytest.mark.parametrize(("before", "count"), [("", 0), ("It prints: ", 1)])
def test_only_a_line_of_its_own_says_that_a_client_reports_edits(before: str, count: int) -> None:
    told = {"role": "assistant", "content": f"{before}Applied edit to b.py"}
    found = history("Go.", told, "More.", {"role": "assistant", "content": BLOCK}, "Thanks.")
    assert [event.text for event in events(found)].count("a.py") == count


def test_whole_files_count_where_the_client_reports_that_it_wrote_them() -> None:
    asked = {"role": "assistant", "content": "src/b.py\n```python\nb = 2\n```\n"}
    found = history("Go.", asked, "I updated the files.")
    assert [(event.action.kind, said(found, event.name)) for event in events(found)] == [
        (WRITTEN, "src/b.py")
    ]
    assert events(history("Go.", asked, "Thanks.")) == []


def test_the_client_tells_of_a_commit_in_the_users_place() -> None:
    found = history("I committed the changes with git hash abcdef1 & commit msg: fix x")
    assert [event.action.kind for event in events(found)] == [COMMITTED]


def test_events_are_clipped_at_the_cut() -> None:
    found = history(
        "Go.",
        calling(call("Read", '{"file_path":"a.py"}')),
        answering("x = 1"),
        calling(call("Edit", EDIT)),
        answering("The file a.py has been updated."),
        calling(call("editor", '{"command":"undo_edit","path":"a.py"}')),
        answering("Last edit undone."),
    )
    assert [event.action.kind for event in events(found)] == [READ, EDITED, UNDONE]
    assert [event.action.kind for event in events(found, 5)] == [READ, EDITED]
    assert [event.action.kind for event in work_events(found, 7, head=3)] == [EDITED, UNDONE]
