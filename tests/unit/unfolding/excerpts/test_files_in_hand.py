"""Files that an agent has in hand, and what is quoted of them."""

from __future__ import annotations

import json
import time

import numpy as np

from memtree.unfolding.excerpts import files_in_hand as files_in_hand_module
from memtree.unfolding.excerpts.files_in_hand import (
    FILES,
    NAMED,
    READ,
    TURNS,
    FileInHand,
    files_in_hand,
    hand_rows,
    named_files,
)
from tests.unit.unfolding.histories import answering, call, calling, history
from tests.unit.unfolding.test_unfold import Tree, assistant, user

BLOCK = "src/b.py\n```\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n```"


def reading(path, number):
    id_ = f"c{number}"
    return [
        calling(call("read_file", json.dumps({"path": path}), id_)),
        answering(f"the text of {path}", id_),
    ]


def said(files):
    return [(file.path, file.age, file.messages) for file in files]


def test_a_read_file_is_held_by_its_result_and_an_edit_by_its_call():
    edit = json.dumps({"path": "/w/src/a.py", "old_string": "x = 1", "new_string": "x = 2"})
    found = history(
        "Go.", *reading("src/a.py", 1), calling(call("edit", edit, "c2")), answering("ok", "c2")
    )
    assert said(files_in_hand(found)) == [("/w/src/a.py", 0, [3, 2])]


def test_files_shown_by_a_command_line_and_edits_in_text_are_in_hand():
    shown = calling(call("bash", '{"command": "cd web && cat src/a.py | head -20"}', "c1"))
    found = history("Go.", shown, answering("x = 1", "c1"), assistant(BLOCK))
    assert said(files_in_hand(found)) == [("src/b.py", 0, [3]), ("src/a.py", 1, [2])]


def test_older_texts_of_a_file_in_hand_are_found_and_other_old_files_are_not():
    talk = [message for n in range(TURNS + 5) for message in reading(f"src/f{n}.py", n)]
    found = history("Go.", *reading("src/old.py", 90), *reading("src/f9.py", 91), *talk)
    files = files_in_hand(found)
    assert [file.path for file in files] == [f"src/f{n}.py" for n in range(TURNS + 4, 4, -1)]
    again = next(file for file in files if file.path == "src/f9.py")
    assert again.messages == [4 + 2 * 9 + 2, 4]


def test_a_name_is_looked_for_by_what_json_never_escapes():
    others = [message for n in range(TURNS) for message in reading(f"f{n}.py", 100 + n)]
    posted = history("Go.", *reading("src/größe.py", 1), *others, *reading("src/größe.py", 2))
    found = next(file for file in files_in_hand(posted) if file.path == "src/größe.py")
    assert found.messages[-1] == 2


def test_names_without_a_letter_and_half_characters_are_no_error():
    calls = [call("read_file", json.dumps({"path": path}), path) for path in ("..", "\ud83d", "/")]
    for each in calls:
        each["id"] = "c"
        found = history("Go.", calling(each), answering("text", "c"), *reading("a.py", 1))
        assert [file.path for file in files_in_hand(found)] == ["a.py"]


def test_no_more_messages_are_looked_at_than_the_reach(monkeypatch):
    monkeypatch.setattr(files_in_hand_module, "REACH", TURNS + 2)
    others = [message for n in range(TURNS + 1) for message in reading(f"f{n}.py", 100 + n)]
    posted = history("Go.", *reading("a.py", 1), *others, *reading("a.py", 2))
    found = next(file for file in files_in_hand(posted) if file.path == "a.py")
    assert len(found.messages) == 1


def test_a_turn_of_many_calls_has_a_bound():
    calls = [call("read_file", json.dumps({"path": f"f{n}.py"}), f"c{n}") for n in range(300)]
    found = history("Go.", calling(*calls), *(answering("text", f"c{n}") for n in range(300)))
    assert len(files_in_hand(found)) == FILES


def test_passages_of_the_newest_text_and_of_the_best_rank_come_first():
    tree = Tree([user(f"message {n} " + "word " * 30) for n in range(8)])
    rows = len(tree.corpus)
    fused = np.zeros(rows, np.float32)
    fused[tree.corpus.message == 2] = 1.0
    allowed = np.ones(rows, np.bool_)
    files = [FileInHand("a.py", 0, messages=[6, 2]), FileInHand("b.py", 9, messages=[4])]
    order = [int(tree.corpus.message[row]) for row in hand_rows(files, tree.corpus, fused, allowed)]
    assert order == [2, 6, 4]
    allowed[tree.corpus.message == 2] = False
    order = [int(tree.corpus.message[row]) for row in hand_rows(files, tree.corpus, fused, allowed)]
    assert order == [6, 4]


def code(name, lines=80):
    return "\n".join(f"{name}_{line} = compute_{name}({line}) + offset" for line in range(lines))


def session(rounds=40):
    """An agent reads a file and runs commands; its last words name no line of the file."""
    made = [user("Make the lamp of the pier work.")]
    for n in range(rounds):
        lamp = n == rounds - 8
        function = {"name": "bash", "arguments": json.dumps({"command": f"make part{n}"})}
        if lamp:
            function = {"name": "read_file", "arguments": json.dumps({"path": "src/lamp.py"})}
        made.append(assistant(None, tool_calls=[{"id": f"c{n}", "function": function}]))
        text = code("lamp" if lamp else f"other{n}")
        made.append({"role": "tool", "tool_call_id": f"c{n}", "content": text})
    return made


def test_a_file_in_hand_is_quoted_though_nothing_asks_for_it():
    tree = Tree(session())
    cut = len(tree.history) - 4
    found = tree.unfold("What remains to be done?", 5_000, cut=cut)
    assert "src/lamp.py" in found.text
    assert found.text.count("compute_lamp(") > 50
    assert "file" in {choice.reason for choice in found.chosen}


def named(*result, cut=None, shown=None):
    talk = [message for n in range(30) for message in reading(f"src/f{n}.py", n)]
    made = history("Go.", *talk, calling(call("run", "{}", "c")), answering("".join(result), "c"))
    files = named_files(made, len(made) - 2 if cut is None else cut, shown or {})
    return [(file.path, file.messages) for file in files]


def test_files_that_a_result_names_are_found_in_the_order_of_their_names():
    failed = "FAILED src/f3.py::test - src/f12.py:7 in <module>, 'src/f3.py' none.py f.5 a..b"
    assert named(failed) == [("src/f3.py", [8]), ("src/f12.py", [26])]


def test_a_file_whose_newest_text_is_sent_anyway_is_not_looked_for():
    assert named("src/f3.py src/f28.py", cut=40) == [("src/f3.py", [8])]


def test_a_file_of_which_most_is_shown_is_not_looked_for():
    size = len("the text of src/f3.py")
    assert named("src/f3.py", shown={8: size // 2}) == [("src/f3.py", [8])]
    assert named("src/f3.py", shown={8: size // 2 + 1}) == []


def test_names_in_a_call_come_first_and_both_are_bounded():
    talk = [message for n in range(30) for message in reading(f"src/f{n}.py", n)]
    check = call("check", '{"target": "src/f9.py"}', "c")
    every = " ".join(f"src/f{n}.py" for n in range(30))
    made = history("Go.", *talk, calling(check), answering(every, "c"))
    files = named_files(made, len(made) - 2, {})
    assert [file.path for file in files] == [f"src/f{n}.py" for n in (9, *range(NAMED - 1))]
    assert named("x " * READ, "src/f3.py") == []


def test_a_name_costs_time_linear_in_its_length():
    started = time.perf_counter()
    for text in ("a" * 10**6, "a." * 10**6, "a/" * 10**6, "." * 10**6, "é." * 10**6):
        named(text)
    assert time.perf_counter() - started < 5
