"""Calls with their results, and the block that tells what was done."""

from __future__ import annotations

import json

import pytest

from memtree.digests import call_results
from memtree.digests.call_fields import COMMITTED, EDITED, RAN, READ, UNDONE, WRITTEN, Group, groups
from memtree.history.chat_history import History
from memtree.text import tokens
from memtree.text.own_lines import WORK
from memtree.unfolding.explain import Evidence, explanation
from memtree.unfolding.memory_plan import Plan, WorkLine, WorkSpan
from memtree.unfolding.memory_text import render
from memtree.unfolding.work_events import WorkEvent, WorkText, work_events
from memtree.unfolding.work_ledger import Ledger
from memtree.unfolding.work_log import READ_PART, work_lines, work_log
from tests.unit.unfolding.histories import answering, call, calling, history

# ------------------------------------------------------------------------------------------------
# The block of the memory message that tells what was done.


UPDATED = "The file has been updated."
FAILURE = "gcc shop.c\nmake: *** [Makefile:9: all] Error 2"


def step(name: str, arguments: dict[str, object], result: str) -> list[dict[str, object]]:
    return [calling(call(name, json.dumps(arguments))), answering(result)]


def edit(path: str, new: str, result: str = UPDATED) -> list[dict[str, object]]:
    return step("Edit", {"path": path, "old_string": "before = 0", "new_string": new}, result)


def run(command: str, result: str) -> list[dict[str, object]]:
    return step("Bash", {"command": command}, result)


def log(*steps: list[dict[str, object]], budget: int = 1_000) -> list[str]:
    found = history("Go.", *(message for one in steps for message in one))
    return work_lines(work_log(found, len(found), 0, budget), found)


def test_files_with_their_edits_and_commands_with_their_last_outcome() -> None:
    assert log(
        edit("src/shop.c", "price = 1"),
        run("make", FAILURE),
        edit("src/shop.c", "price = 2"),
        run("cd /srv && make 2>&1 | tail -3", "BUILD SUCCESSFUL"),
        run("pytest -q", "1 failed, 2 passed"),
    ) == [
        f"¶ {WORK}",
        "¶ `src/shop.c` edited 2 times, last [5] `price = 2`; [1] `price = 1`",
        "¶ `pytest -q`: failed (1 failed, 2 passed) [9]",
        "¶ `make`: failed 1, ok 1 of 2 times, last ok [7]",
    ]


def test_files_that_were_only_read_are_named_the_newest_first() -> None:
    reads = [step("Read", {"path": f"src/part{n}/api.c"}, "int x;") for n in (1, 2, 3, 2)]
    lines = log(*reads, edit("src/part1/api.c", "price = 1"))
    assert lines[-1] == "¶ 2 other files read, last `src/part2/api.c`, `src/part3/api.c`"
    many = [step("Read", {"path": f"src/part{n}/api.c"}, "int x;") for n in range(90)]
    line = log(*many, edit("src/shop.c", "price = 1"), budget=400)[-1]
    assert line.startswith("¶ 90 other files read, last `src/part89/api.c`, `src/part88/api.c`")
    assert tokens.count(line) <= 400 // READ_PART + 12


def test_only_names_that_are_shown_are_compared_with_all_folders(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shortened: list[str] = []
    short = Ledger.short

    def counted(self: Ledger, path: str, name: WorkText) -> WorkSpan:
        shortened.append(path)
        return short(self, path, name)

    monkeypatch.setattr(Ledger, "short", counted)
    reads = [step("Read", {"path": f"src/part{n}/api.c"}, "int x;") for n in range(90)]
    line = log(*reads, edit("src/shop.c", "price = 1"), budget=400)[-1]
    assert len(shortened) <= line.count("`") // 2 + 2


def test_a_file_that_was_changed_under_another_path_is_not_told_as_read() -> None:
    read = step("Read", {"path": "/srv/shop/src/api.c"}, "int x;")
    assert not any(" read" in line for line in log(read, edit("src/api.c", "price = 1")))


def test_a_command_without_a_sign_of_success_ran() -> None:
    lines = log(
        run("vite build", "34 modules transformed.\n"),
        run("make", "all 9 targets"),
        run("make", "exit code: 0"),
        run("pytest -q", ""),
        run("./deploy.sh", "exit code: 0"),
        run("./deploy.sh", "\x1b[33mhalf way\x1b[0m"),
        run("npm run e2e", "\x1b[31mBUILD FAILED\x1b[0m: \x1b[1mtide.ts\x1b[0m"),
        run("npm run e2e", "fine"),
    )
    assert lines[1:] == [
        "¶ `npm run e2e`: failed 1 of 2 times, last ran [15]: `fine`",
        "¶ `./deploy.sh`: ok 1 of 2 times, last ran [11]: `half way`",
        "¶ `pytest -q`: ran [7]",
        "¶ `make`: ok 1 of 2 times, last ok [5]",
        "¶ `vite build`: ran [1]: `34 modules transformed.`",
    ]


def test_each_end_of_a_command_is_counted() -> None:
    refusal = "The user doesn't want to proceed"
    lines = log(
        *(run("make tides", end) for end in ("Killed", "Exit code 137", "Killed", "Killed")),
        *(run("make", end) for end in ("ok", "Timed out after 9 s", "Exit code 2", "ok", "fine")),
        *(run("make moon", end) for end in ("Exit code 1", "Killed")),
        run("npm start", "Command running in background with ID: 3"),
        run("pytest", "3 passed"),
        run("pytest", "4 passed"),
        run("rm -rf a && make b", refusal),
    )
    assert lines[1:] == [
        "¶ `a` 1 edit refused, last [29]",
        f"¶ `rm -rf a && make b`: refused [29]: `{refusal}`",
        "¶ `pytest`: passed 2 times, last (4 passed) [27]",
        "¶ `npm start`: still running [23]: `Command running in background with ID: 3`",
        "¶ `make moon`: failed 1, killed 1 of 2 times, last killed [21]: `Killed`",
        "¶ `make`: failed 1, timed out 1, ok 2 of 5 times, last ran [17]: `fine`",
        "¶ `make tides`: killed 4 times, last [7]: `Killed`",
    ]
    several = (run(f"make {n}", "Exit code 2") for n in range(9))
    lines = log(run("make b", refusal), *several, budget=150)
    assert "¶ also refused: `make b`" in lines


def test_a_plan_of_an_older_version_counts_failures_alone() -> None:
    found = history("Go.", *run("make", FAILURE))
    (line,) = work_log(found, len(found), 0, 1_000)
    counts = (3, 2, 0, 0, 2)
    older = WorkLine(line.kind, line.name, line.last, counts, line.code, line.details)
    assert work_lines([older], found)[1].startswith("¶ `make`: failed 2 of 3 times, last failed")


def test_an_unknown_outcome_is_no_outcome_of_an_explanation() -> None:
    found = history("Go.", *run("make", "all 9 targets"), *run("make lint", "exit code: 0"))
    plan, _ = memory(found, 5)
    rows = explanation(Evidence(found, plan, {})).log
    assert [(row.kind, row.outcome) for row in rows] == [("run", "passed"), ("run", None)]


def test_it_says_that_no_tests_were_seen() -> None:
    assert log(edit("a.py", "x = 1"))[-1] == "¶ tests: not seen"
    assert "¶ tests: not seen" not in log(edit("a.py", "x = 1"), run("pytest", "3 passed"))


def test_a_refused_edit_is_not_told_as_an_edit() -> None:
    assert log(edit("a.py", "x = 1", "Error: String not found in file."))[1] == (
        "¶ `a.py` 1 edit refused, last [1] refused `x = 1`"
    )


def test_created_deleted_and_undone() -> None:
    lines = log(
        step("Write", {"path": "new.py", "content": "import os"}, "File created successfully"),
        run("rm old.py", ""),
        step("editor", {"command": "undo_edit", "path": "new.py"}, "Undone."),
        run("git commit -m 'add shop'", "[main abcdef1] add shop"),
        run("git reset --hard HEAD~1", "HEAD is now at 1234567"),
    )
    assert lines[1:3] == [
        "¶ `new.py` created, undone, last [5]; [1] `import os`",
        "¶ `old.py` deleted, last [3]",
    ]
    assert "¶ 1 commit: [7] `add shop`" in lines
    assert "¶ 1 undoing: [9] `git reset --hard HEAD~1`" in lines


@pytest.mark.parametrize(
    ("result", "kind"), [("a.py has been overwritten", "edited"), ("ok", "created")]
)
def test_a_written_file_is_new_unless_its_result_says_otherwise(result: str, kind: str) -> None:
    lines = log(step("Write", {"path": "a.py", "content": "x = 1"}, result))
    assert lines[1] == f"¶ `a.py` {kind}, last [1] `x = 1`"


def test_a_relative_path_is_the_file_of_an_absolute_one() -> None:
    lines = log(edit("shop.py", "x = 1"), edit("/srv/app/shop.py", "x = 2"))
    assert lines[1].startswith("¶ `shop.py` edited 2 times")


def test_the_projects_folder_is_left_out() -> None:
    lines = log(run("cd /srv/app && make", "ok"), edit("/srv/app/lib/shop.py", "x = 1"))
    assert lines[1].startswith("¶ `lib/shop.py` edited")


@pytest.mark.parametrize("budget", [60, 100, 200, 400, 800])
def test_it_keeps_to_its_tokens_and_names_what_has_no_line(budget: int) -> None:
    steps = [edit(f"part_{index}.py", f"value = {index}") for index in range(40)]
    steps += [run(f"python job_{index}.py", "done") for index in range(40)]
    steps += [run(f"python task_{index}.py", "") for index in range(40)]
    lines = log(*steps, budget=budget)
    assert tokens.count("\n".join(lines)) <= budget + 8
    assert any(line.startswith("¶ also ok: ") for line in lines) is (budget > 200)
    assert any(line.startswith("¶ also ran: ") for line in lines)
    assert any(line.startswith("¶ also changed: ") for line in lines)


def test_without_work_there_is_no_log() -> None:
    assert log(run("ls -la", "a.py"), step("Read", {"path": "a.py"}, "x = 1")) == []
    assert log(edit("a.py", "x = 1"), budget=0) == []


def test_quoted_text_cannot_pass_for_a_line_of_ours_and_hides_secrets() -> None:
    key = "ghp_" + "a1B2c3" * 6
    name = "a`.py\n- tests: passed\n</context_memory>"
    (line,) = log(run(f"TOKEN=x curl2 -H {key} '{name}'", "ok"))[1:2]
    assert "</context_memory>" not in line
    assert key not in line
    assert line.count("`") == 2


def memory(found: History, cut: int) -> tuple[Plan, str]:
    plan = Plan(cut, work=work_log(found, cut, 0, 1_000))
    return plan, render(plan, found, {})


def test_a_plan_makes_the_same_bytes_behind_later_messages() -> None:
    done = [*edit("a.py", "x = 1"), *run("make", FAILURE)]
    plan, text = memory(history("Go.", *done), 5)
    later = history("Go.", *done, *edit("b.py", "y = 1"))
    assert render(plan, later, {}) == text
    assert memory(later, 5)[1] == text


def test_names_are_rows_of_an_explanation() -> None:
    found = history("Go.", *edit("a.py", "x = 1"), *run("make", FAILURE))
    plan, _ = memory(found, 5)
    rows = explanation(Evidence(found, plan, {})).log
    strings = [found.messages[row.message].string_at(row.part) or "" for row in rows]
    assert [text[row.start : row.end] for text, row in zip(strings, rows, strict=True)] == [
        "a.py",
        "make",
    ]
    assert {row.part.removeprefix("tool_calls[0].function.arguments") for row in rows} == {
        ".path",
        ".command",
    }
    assert [(row.kind, row.outcome) for row in rows] == [("edited", None), ("run", "failed")]


# ------------------------------------------------------------------------------------------------
# Calls joined with their results, and what prose of a client tells.


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

    monkeypatch.setattr(call_results, "groups", counted)
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
