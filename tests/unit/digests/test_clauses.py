"""Clauses of summaries: which lines say something, and how they are cut."""

from __future__ import annotations

import pytest

from memtree.digests import clauses
from memtree.digests.clause import Clause, SourcePassage
from memtree.digests.clauses import results
from memtree.digests.line_judgements import (
    LONGEST,
    ReadLines,
    continues,
    is_boilerplate,
    numbered,
    outcome,
    particular,
    speaker_of,
    without_stamp,
)
from memtree.digests.phrases import is_hollow, leans, listed, readable, whole
from memtree.digests.summarize import leaf_summary
from memtree.digests.titles import HEADLINE
from memtree.text import tokens
from memtree.text.rule_score import RULE
from memtree.text.rule_sentences import read_sentence
from tests.work_counts import counting

# ------------------------------------------------------------------------------------------------
# Check what recurs in every session is told from what somebody said.


@pytest.mark.parametrize(
    "line",
    [
        "/undo",
        "/add src/app.py",
        "continue",
        "Yes please.",
        "Fix any errors below, if possible.",
        "Tokens: 12,566 sent, 84 received.",
        "Sure, here is the new version:",
        'File "/srv/app.py", line 12, in main',
        "Traceback (most recent call last):",
        "platform linux -- Python 3.12.4",
        "Process exited with code 0",
        "Chunk ID: 48a774",
        "The SEARCH section must exactly match an existing block of lines including all comments",
        "Wall time: 0.0000 seconds",
        "Warning: truncated output (original token count: 10100)",
        "l+…100 tokens truncated…6",
        "続けて",
        "weiter",
    ],
)
def test_commands_prompts_and_banners_say_nothing(line):
    assert is_boilerplate(line)


@pytest.mark.parametrize(
    "line",
    [
        "Undo the last commit, it broke the build",
        "Please use pnpm",
        "The file was updated by Ana in March",
        "Models of the old series were sold",
        "We continue with plan B",
        "The process exited with code 3 after the upgrade",
        "Wall time is what the users see",
    ],
)
def test_what_somebody_said_is_no_boilerplate(line):
    assert not is_boilerplate(line)


@pytest.mark.parametrize(
    ("line", "rest"),
    [
        ("[1:56 pm on 8 May, 2023] Hey", "Hey"),
        ("[2024-05-01 12:00] Hey", "Hey"),
        ("2024-05-01T12:00:33Z worker failed", "worker failed"),
        ("5/8/23, 1:56 PM - Ann: hello", "Ann: hello"),
        ("[12:30] ", ""),
        ("3.5 times as much", "3.5 times as much"),
        ("[see below] it works", "[see below] it works"),
        ("10:15 the train leaves", "10:15 the train leaves"),
    ],
)
def test_a_time_in_front_is_taken_off(line, rest):
    assert without_stamp(line) == rest


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Ann: hello", "Ann"),
        ("Mary Ann: hi", "Mary Ann"),
        ("田中：こんにちは", "田中"),
        ("so: yes", ""),
    ],
)
def test_a_name_before_what_was_said_is_found(line, name):
    assert speaker_of(line) == name


# ------------------------------------------------------------------------------------------------
# Lines that say how something ended, and the numbers of lines that a text shows.


@pytest.mark.parametrize(
    ("line", "text", "brief"),
    [
        (
            "Commit f2e9292 fix: Remove unused variable",
            "Remove unused variable (committed as f2e9292)",
            "committed as f2e9292",
        ),
        ("[main 0fdc07f] Add a test", "Add a test (committed as 0fdc07f)", "committed as 0fdc07f"),
        (
            "Removed: b834971 fix: Catch the exception",
            "commit b834971 undone: Catch the exception",
            "commit b834971 undone",
        ),
        ("==== 2 failed, 25 passed in 4.37s ====", "2 failed, 25 passed in 4.37s", ""),
        (
            "src/app.py:22:1: E402 import not at top of file",
            "src/app.py: E402 import not at top of file",
            "E402 import not at top of file",
        ),
        ("E   KeyError: 'price'", "KeyError: 'price'", "KeyError"),
    ],
)
def test_how_it_ended_is_said_in_words(line, text, brief):
    found = outcome(line, "tool")
    assert found is not None
    assert (found.text, found.brief, found.outcome) == (text, brief, True)


@pytest.mark.parametrize(
    "line", ["Commit to the plan", "12 eggs", "The error is gone", "removed deadbeef cafe", "-"]
)
def test_other_lines_are_no_outcome(line):
    assert outcome(line, "tool") is None


def lines(first, last, form="{}: part 004 line {}"):
    return "\n".join(form.format(number, number * 7) for number in range(first, last + 1))


def test_numbered_lines_are_named_with_their_file():
    assert numbered(lines(12, 17)) == "lines 12-17"
    assert numbered(f"<path>src/parts/a.txt</path>\n{lines(1, 9)}") == "src/parts/a.txt lines 1-9"
    assert numbered(lines(1, 3)) == ""
    assert numbered("\n".join(f"{n * 31} eggs" for n in range(9))) == ""
    assert numbered(lines(8, 12), "[File: src/parts/a.txt]") == "src/parts/a.txt lines 8-12"


def test_following_lines_become_one_range():
    before = Clause("tool", "a.txt lines 1-9: part 004", 1.0, brief="a.txt lines 1-9")
    assert continues(before, Clause("tool", "lines 10-15", 1.0, brief="lines 10-15"))
    assert (before.text, before.brief) == ("a.txt lines 1-15: part 004", "a.txt lines 1-15")
    assert not continues(before, Clause("tool", "x", 1.0, brief="lines 40-45"))


# ------------------------------------------------------------------------------------------------
# Summary lines that say something of their range.


@pytest.mark.parametrize(
    "line",
    [
        "Mara: I guess",
        "Mara: Who knows",
        "Its weird",
        "Mara: lol idk tbh",
        "Mara: I'll let you know (Mara)"[:26],
        "each image",
        "the latter will not be called",
        "mean its not that big of a deal",
        "output lines 18-53",
        "Mara: Dont think so; Jon: Yeah me neither",
        "Jan: naja, weiß ich auch nicht",
        "嗯，我也不知道",
        "...",
        "",
    ],
)
def test_what_could_stand_anywhere_is_not_particular(line):
    assert not particular(line)


@pytest.mark.parametrize(
    "line",
    [
        "Mara: My rabbit bit the vet",
        "Mara: I have to be there at 4",
        "Jon: I love LA",
        "rename parse_row",
        "KeyError: 'x'",
        "output lines 18-53: tokenizer",
        "Jan: Der Mietvertrag läuft aus",
        "我们搬到杭州去了",
        "Its the gym (Ida)",
    ],
)
def test_a_name_number_identifier_or_content_word_is(line):
    assert particular(line)


def test_a_word_that_many_siblings_hold_tells_nothing():
    siblings = ["run the tests", "tests again", "fix the tests (conftest.py)", "more tests"]
    assert not particular("the tests", ("tests",), siblings)
    assert particular("the tests of the parser", ("tests",), siblings)


def test_a_name_in_every_line_is_no_mark_of_one():
    siblings = [f"Jon: I walked the dog {day} (Mara)" for day in range(4)]
    assert not particular("Jon: I think so too (Mara)", ("Mara",), siblings)


# ------------------------------------------------------------------------------------------------
# A phrase of a sentence is whole, or there is none.


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("Could you please rename the importer?", "rename the importer?"),
        (
            "We keep SQLite for the installers of the desktop edition, because they must work "
            "offline even where no administrator has ever opened a port for them.",
            "We keep SQLite for the installers of the desktop edition",
        ),
        (
            "If the cache is cold and nobody has asked for the page before in this session, "
            "we read the file again.",
            "we read the file again",
        ),
        (
            "我们决定把数据库从MySQL改为PostgreSQL，因为新的报表需要支持JSON查询，而且旧版本的许可证明年到期。",
            "我们决定把数据库从MySQL改为PostgreSQL",
        ),
    ],
)
def test_a_phrase_ends_where_a_clause_ends(text, phrase):
    assert whole(text, HEADLINE)[0] == phrase


def test_a_text_without_any_border_gives_no_phrase():
    assert whole("a_b" * 200, HEADLINE) == ("", 0.0)


@pytest.mark.parametrize(
    "text",
    [
        "The plan for the harbour (which nobody had seen before the vote, of course) was dropped "
        "and the money went to the school instead of the pier",
        "I keep the spare key of the boathouse in the blue teapot on the shelf above the stove",
        "明日の会議は午後三時に変更になりましたので、資料は前日の正午までに全員へ送っておいてください。",
    ],
)
@pytest.mark.parametrize("cap", [6, 11, 18])
def test_a_phrase_fits_and_has_no_open_bracket(text, cap):
    phrase, _ = whole(text, cap)
    assert tokens.count(phrase) <= cap
    assert phrase.count("(") == phrase.count(")")


def test_words_are_told_from_code_and_data():
    assert readable("the importer skips rows without a price")
    assert readable("数据库改为PostgreSQL")
    for text in ("return jsonify({'a': 1}), 409", "x_1, y_2, z_3", ")), Row(a=b", "aider/io.py"):
        assert not readable(text)


def test_what_says_nothing_or_leans_on_another_phrase_is_told():
    assert is_hollow("implement these changes")
    assert is_hollow("fix the error")
    assert not is_hollow("fix the importer")
    assert leans("because it saved time")
    assert leans("such as Mondays")
    assert not leans("we met on Monday")


def test_names_are_listed_as_far_as_they_fit():
    assert listed(["parser.py", "parser.py", "cache.py"], 9) == "parser.py, cache.py"
    assert tokens.count(listed([f"module_{n}.py" for n in range(40)], 18)) <= 18


def test_a_phrase_is_not_cut_before_the_verb_of_its_last_clause():
    text = "understand how my belief in free will, which I had since April, shapes what I decide"
    assert "how my belief" not in whole(text, 8)[0]
    assert whole("I'm torn between saving money and having a collectible edition of it", 7)[0] != (
        "I'm torn between saving money"
    )


@pytest.mark.parametrize(
    "phrase",
    ["My mentor, Wendy", "I've got a close friend", "I'm kinda worried", "excited that Jo"],
)
def test_a_phrase_that_ends_before_what_it_says_is_hollow(phrase: str) -> None:
    assert is_hollow(phrase)


def test_how_somebody_feels_about_a_thing_is_left_out():
    assert whole("I'm kinda worried about the April deadline", 18)[0] == "the April deadline"


# ------------------------------------------------------------------------------------------------
# Check what was found in a line is found again without reading it, and takes bounded memory.


LINES = [
    "We decided to keep SQLite, because the installers must work offline. Why not PostgreSQL?",
    "    def parse_row(line):",
    "[main 1a2b3c4] fix: the parser accepts a trailing comma",
    "Traceback (most recent call last):",
    "Immer auf Deutsch antworten! 因为安装程序必须离线工作。",
    "ok",
]


def counted(most: int = 1_000) -> tuple[ReadLines, list[str]]:
    read: list[str] = []

    def split(line: str) -> tuple[str, ...]:
        read.append(line)
        return (line,)

    return ReadLines(split, clauses.judgement, most), read


def test_a_line_is_read_once():
    lines, read = counted()
    for _ in range(3):
        assert lines.sentences("a line") == ("a line",)
    assert read == ["a line"]


def test_what_is_told_of_rules_is_read_once():
    lines = clauses.read_lines()
    first = lines.rule("Always answer in German.")
    assert first.score >= RULE
    assert lines.rule("Always answer in German.") is first
    assert lines.rule("It rained.").score < RULE


def test_what_asks_for_something_is_looked_at_once():
    """A mail that is quoted again costs no second look at its sentences."""
    lines = clauses.read_lines()
    mail = SourcePassage("user", "> Never call Ann.\n> Ann moved in May.\n", "text")
    looks = []
    for _ in range(2):
        with counting() as work:
            clauses.spoken(mail, chat=False, lines=lines)
        looks.append(work.functions["memtree/text/request_words.py:asks"])
    assert looks[0] > 0 == looks[1]
    assert lines.asks("Never call Ann.")
    assert not lines.asks("Ann moved in May.")


def test_what_was_read_before_changes_no_summary():
    """Whoever says it, in a chat or not: a judgement is of the sentence alone."""
    lines = clauses.read_lines()
    for role in ("user", "assistant", "tool"):
        for first in range(len(LINES)):
            text = "\n".join(LINES[first:] + LINES[:first])
            sources = [SourcePassage(role, text, "text"), SourcePassage("user", text[:200], "text")]
            assert leaf_summary(sources, lines) == leaf_summary(sources)
    assert lines.size < 20 * sum(map(len, LINES))


@pytest.mark.slow
def test_too_many_are_dropped():
    lines, read = counted(most=100)
    for number in range(1_000):
        assert lines.sentences(f"line {number:04}")
        assert lines.rule(f"rule {number:04}") == read_sentence(f"rule {number:04}")
        assert lines.size <= 100
    assert lines.sentences("line 0999")
    assert len(read) == 1_000
    lines.sentences("line 0000")
    assert len(read) == 1_001


def test_a_long_line_is_not_kept():
    lines, _ = counted()
    lines.sentences("x" * (LONGEST + 1))
    assert lines.size == 0


def test_a_judgement_is_kept_too():
    lines = clauses.read_lines()
    assert lines.judgement("We fixed 3 tests.") is lines.judgement("We fixed 3 tests.")


# ------------------------------------------------------------------------------------------------
# Results and code in words.


def test_lines_of_a_file_are_named_by_the_head_of_their_message():
    text = "\n".join(f"{number}| def step_{number}(x):" for number in range(20, 30))
    (clause,) = results(text, head="<path>src/steps.py</path>")
    assert clause.brief == "src/steps.py lines 20-29"
    assert "def step_20" in clause.text


@pytest.mark.parametrize(
    "line",
    [
        "TypeError: no field",
        "4 errors: ERROR",
        "Access is Denied",
        "the panic came late",
        "NOT FOUND here",
        "Unable to open it",
        "it timed out again",
    ],
)
def test_a_line_of_trouble_is_told_in_any_case_of_its_words(line):
    (clause,) = results(f"alpha\nbeta\n{line}\ngamma")
    assert clause.text == line
    assert clause.outcome


@pytest.mark.parametrize(
    "line",
    [
        "I will use a tool.",
        "Step 4: I will use a tool",
        "# 1 SEARCH/REPLACE block failed to match!",
        "ERROR: Cannot install sentence-transformers",
        "Running command: make -n build",
    ],
)
def test_what_clients_say_in_every_session_is_boilerplate(line):
    assert is_boilerplate(line)


def test_what_is_done_with_a_mutex_is_no_boilerplate():
    assert not is_boilerplate("I will use a mutex around the queue")
    assert not is_boilerplate("Error budgets are spent by the gateway")
