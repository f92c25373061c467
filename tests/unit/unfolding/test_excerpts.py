"""Check which excerpts stand beside each other, and which lines of them."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

from memtree.history.message import Message
from memtree.ranking.corpus import Corpus
from memtree.text import terms, tokens
from memtree.unfolding import files_in_hand as files_in_hand_module
from memtree.unfolding.excerpt_duplicates import (
    AROUND,
    MOST_SPANS,
    ShownTexts,
    differences,
    equal,
    near_runs,
    runs,
    says_more,
)
from memtree.unfolding.excerpt_units import LEAST, LONGEST, MOST, telling_lines, telling_run
from memtree.unfolding.files_in_hand import (
    FILES,
    NAMED,
    READ,
    TURNS,
    FileInHand,
    files_in_hand,
    hand_rows,
    named_files,
)
from tests.made.trees import places
from tests.properties.strategies import batch, history_of, leaves_of, prose
from tests.unit.unfolding.histories import answering, call, calling, history
from tests.unit.unfolding.test_unfold import Tree, assistant, user

# ------------------------------------------------------------------------------------------------
# Check what says the same, what does not, and what an older version says otherwise.


TEXT = "The server listens on port 8090 and answers slowly when the cache of the proxy is cold."


def near(first: str, second: str) -> bool:
    return near_runs(runs(first), runs(second))


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (TEXT, True),
        (TEXT.replace("8090", "8091"), True),
        (f"They wrote: {TEXT} Then they left.", True),
        ("Something else was said of the weather in the north of the country.", False),
        ("", False),
    ],
)
def test_near_duplicates(other, expected):
    assert near(TEXT, other) is expected
    assert near(other, TEXT) is expected


def test_near_duplicates_in_a_script_without_spaces():
    text = "数据库连接失败，因为密码已经过期，需要重新设置。"
    assert near(text, text.replace("失败", "出错"))
    assert not near(text, "今天天气很好，我们去公园散步，然后回家吃饭。")


def test_equal_is_equal_but_for_white_space():
    assert equal("a  b\nc", "a b c")
    assert not equal("a b c", "a b d")


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (TEXT, False),
        (TEXT.lower(), False),
        (TEXT.replace("8090", "8091"), True),
        (TEXT.replace("slowly", "quickly"), False),
    ],
)
def test_what_tells_two_texts_apart(other, expected):
    assert says_more(TEXT, other) is expected


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("it does not work here", "it does work here"),
        ("das geht nicht so", "das geht so"),
        ("это не работает", "это работает"),
        ("我不喜欢咖啡", "我喜欢咖啡"),
        ("use get_user here", "use it here"),
        ("ask Ingrid now", "ask her now"),
    ],
)
def test_negations_identifiers_and_names_tell_apart(text, other):
    assert says_more(text, other)


def test_what_differs_is_a_line_or_some_words_of_a_long_one():
    newer = "a = 1\npatience = 250\nb = 2"
    older = "a = 1\npatience = 200\nb = 2"
    assert [older[low:high] for low, high in differences(older, newer)] == ["patience = 200"]
    before, behind = "one two three four five six", "seven eight nine ten eleven twelve"
    older = f"{before} 8090 {behind}"
    (span,) = differences(older, f"{before} 8091 {behind}")
    shown = older[span[0] : span[1]].split()
    assert len(shown) == 2 * AROUND + 1
    assert shown[AROUND] == "8090"


def test_what_differs_is_bounded():
    older = "\n".join(f"value {n} stands here" for n in range(100))
    assert len(differences(older, "nothing of it")) == MOST_SPANS


def test_what_is_shown_repeats():
    shown = ShownTexts()
    shown.add(TEXT)
    assert shown.repeats(TEXT)
    assert shown.repeats(TEXT.replace("8090", "8091"))
    assert not shown.repeats("Quite another thing that was told elsewhere.")
    assert not shown.repeats("")


def test_what_is_shown_in_several_texts_repeats_too():
    shown = ShownTexts()
    first, second = TEXT.split(" and ")
    shown.add(f"{first} and answers")
    shown.add(f"8090 and {second}")
    assert shown.repeats(TEXT)


def test_what_is_lacking():
    shown = ShownTexts()
    shown.add(TEXT)
    older = TEXT.replace("8090", "8091")
    ((low, high),) = shown.lacking(older)
    assert "8091" in older[low:high]
    assert shown.lacking(TEXT.replace("slowly", "quickly")) == []


def test_what_stands_within_a_longer_text():
    shown = ShownTexts()
    inner = shown.add("when the cache of the proxy is cold")
    other = shown.add("of the weather in the north of the country")
    assert shown.inside(TEXT) == [inner]
    assert other not in shown.inside(TEXT)
    assert shown.inside("when the cache of the proxy is cold") == []


def test_numbers_of_lines_are_no_part_of_what_a_file_says():
    lines = ["def first(values):", "    return sum(values) / 2", "    # the end of the function"]
    one, other = (
        "\n".join(f"{at + number}\t{line}" for at, line in enumerate(lines)) for number in (10, 99)
    )
    assert near(one, other)
    assert not says_more(one, other)


# ------------------------------------------------------------------------------------------------
# Files that an agent has in hand, and what is quoted of them.


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


# ------------------------------------------------------------------------------------------------
# Check which lines of an answer are shown where the whole has no room.


ANSWER = """Great question! I am happy to help you with the choice of a database today.

1. **PostgreSQL**: you should use version 16, since it keeps 500 connections with a pool.
2. **Backups**: run them each night at two, and keep thirty days of them in another region.
- short
- tiny

Let me know if you have any other questions, and good luck with the project!"""


def shown(text, question=""):
    run = telling_run(text, terms.terms(question).keys())
    return text[run.start : run.end] if run else None


def test_entries_with_numbers_and_decisions_come_before_politeness():
    assert shown(ANSWER) == ANSWER.split("\n")[2]


def test_what_was_asked_for_decides_between_them():
    assert shown(ANSWER, "When do the backups run at night?") == ANSWER.split("\n")[3]


def test_short_lines_are_shown_together():
    lines = [f"- step {n} of the whole plan for the move" for n in range(9)]
    run = telling_run("\n".join(lines), ())
    assert LEAST <= run.tokens <= MOST
    assert shown("\n".join(lines)).count("\n") >= 1


def test_of_long_paragraphs_the_shortest_is_shown_unless_it_is_too_long():
    long, longer = prose(1, 18).strip(), prose(2, 60).replace("\n", " ")
    assert MOST < tokens.count(long) <= LONGEST < tokens.count(longer)
    assert shown(f"{longer}\n\n{long}\n") == long
    assert shown(longer) is None


@pytest.mark.parametrize("text", ["", "\n\n", "ok", "ok\nyes\nno"])
def test_nothing_to_tell(text):
    assert shown(text) is None


class Past:
    """Requests and long answers, each with a line of its own."""

    def __init__(self):
        self.turns = []
        for n in range(20):
            line = f"{n}. Decision number {n}: use the {prose(n + 500, 2)} library from now on."
            self.turns += [
                ("user", f"Request about topic {prose(n + 900, 6)}"),
                ("assistant", "\n\n".join([prose(n, 90), line, prose(n + 50, 90)])),
            ]
        made = [Message.of({"role": role, "content": text}) for role, text in self.turns]
        self.history = history_of(made)
        grown = batch(self.history)
        leaves = leaves_of(grown.frontier, {node.id: node for node in grown.nodes})
        leaves += [grown.open] if grown.open else []
        self.corpus = Corpus(1).extended(leaves, places(leaves))

    def lines(self, scores, quoted=(), cut=None):
        fused = np.zeros(len(self.corpus), np.float32)
        for message, score in scores.items():
            fused[self.corpus.message == message] = score
        allowed = self.corpus.message < (len(self.history) if cut is None else cut)
        found = telling_lines(self.history, self.corpus, fused, allowed, (), quoted)
        return [(line, self.text(line.span)) for line in found]

    def text(self, span):
        return self.history.view(span.message).text[span.start : span.end]


@pytest.fixture(scope="module")
def past():
    return Past()


def test_answers_come_by_their_score_and_by_that_of_their_request(past):
    found = past.lines({5: 0.1, 8: 0.3, 13: 0.2})
    assert [line.span.message for line, _ in found] == [13, 9, 5]
    for line, text in found:
        assert tokens.count(text) == line.tokens
        assert past.corpus.message[line.row] == line.span.message
        assert past.corpus.start[line.row] <= line.span.start < past.corpus.end[line.row]


def test_they_are_whole_lines(past):
    for line, text in past.lines(dict.fromkeys(range(1, 40, 2), 0.1)):
        assert set(text.split("\n")) <= set(past.turns[line.span.message][1].split("\n"))


def test_requests_and_what_is_shown_already_give_none(past):
    assert [line.span.message for line, _ in past.lines({4: 0.3})] == [5]
    assert past.lines({4: 0.3}, quoted={5}) == []
    assert past.lines({}) == []


def test_an_answer_behind_the_cut_gives_none_whatever_its_request_scores(past):
    scores = {4: 0.3, 5: 0.2, 8: 0.1}
    assert [line.span.message for line, _ in past.lines(scores, cut=6)] == [5]
    assert past.lines(scores, cut=5) == []
