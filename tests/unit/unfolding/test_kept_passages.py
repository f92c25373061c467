"""Check what must stay, and the rules that hold at the end."""

from __future__ import annotations

import json

import pytest

from memtree.history.keep_options import MARKS_ALONE, KeepOptions
from memtree.text import tokens
from memtree.unfolding.kept_passages import fitted, kept_passages, matches
from memtree.unfolding.memory_plan import FoldWindow
from memtree.unfolding.memory_text import kept_lines
from memtree.unfolding.pins import RuleText, current_rules
from tests.unit.unfolding.histories import answering, call, calling, history

# ------------------------------------------------------------------------------------------------
# Check what must stay: which passages these are, and which of them fit.


def passages(found, **options):
    spans = [each.span for each in kept_passages(found, KeepOptions(**options))]
    return [(s.message, found.view(s.message).text[s.start : s.end]) for s in spans]


def kept(found, room=500, cut=None, head=0, pinned=(), options=MARKS_ALONE):
    window = FoldWindow(len(found) if cut is None else cut, 0, head, pinned=pinned)
    return fitted(found, kept_passages(found, options), window, room)


def lines(found, **more):
    return list(kept_lines(kept(found, **more), found))


def read(path, text, id_, name="read_file"):
    return [calling(call(name, json.dumps({"path": path}), id_)), answering(text, id_)]


MARKED = history(
    "Hi. <keep>one</keep> and <keep>two</keep>",
    {"role": "assistant", "content": "<keep>mine</keep>"},
    *read("a.py", "<keep>result</keep>", "c"),
    "<keep>three</keep>",
)


def test_marks_of_the_user_are_found_newest_first():
    assert passages(MARKED) == [(4, "three"), (0, "two"), (0, "one")]


def test_what_is_sent_whole_is_not_kept():
    assert [span.message for span in kept(MARKED, cut=4).spans] == [0, 0]
    assert [span.message for span in kept(MARKED, cut=5, head=1).spans] == [4]
    assert kept(MARKED, cut=4, pinned=((0, 1),)).spans == ()


def test_the_lines_stand_in_reading_order_without_the_tags():
    assert lines(MARKED) == [
        "¶ Marked to stay in view, verbatim:",
        "¶0 user",
        "one\n[...]\ntwo",
        "¶4 user",
        "three",
    ]


def test_the_newest_result_of_each_file_is_kept():
    found = history(
        "go",
        *read("/home/me/app/docs/plan.md", "first", "a"),
        *read("docs/plan.md", "second", "b"),
        *read("docs/other.md", "third", "c"),
        *read("docs/gone.md", "Error: File does not exist.", "d"),
        *read("src/plan.md", "elsewhere", "e"),
    )
    assert passages(found, patterns=("docs/*.md",)) == [(6, "third"), (4, "second")]
    assert passages(found, patterns=("plan.md",)) == [(10, "elsewhere"), (4, "second")]


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("cat docs/plan.md", True),
        ("cd /app && sed -n '1,20p' docs/plan.md | head -5", True),
        ("head -n 3 ./docs/plan.md", True),
        ("sed -i 's/a/b/' docs/plan.md", False),
        ("rm docs/plan.md", False),
        ("echo docs/plan.md", False),
    ],
)
def test_files_that_commands_print_are_shown(command: str, shown: bool):
    made = calling(call("Bash", json.dumps({"command": command}), "a"))
    found = history("go", made, answering("text", "a"))
    assert passages(found, patterns=("docs/plan.md",)) == ([(2, "text")] if shown else [])


def test_results_of_protected_tools_are_told_by_the_calls_that_they_answer():
    found = history(
        "go",
        calling(call("plan", "{}", "a"), call("look", "{}", "b"), call("plan", "{}", "c")),
        answering("b's", "b"),
        answering("c's", "c"),
        answering("a's", "a"),
    )
    assert passages(found, tools=("plan",)) == [(4, "a's"), (3, "c's")]


def test_lines_are_kept_once_as_the_newest_and_calls_hold_none():
    found = history(
        "quota = 17\nother",
        calling(call("run", '{"command": "quota = 17"}', "a"), content="the quota = 18 now"),
        answering("x\n  quota = 17\ny", "a"),
    )
    assert passages(found, patterns=("quota =",)) == [
        (2, "  quota = 17"),
        (1, "the quota = 18 now"),
    ]


def test_marks_go_before_lines_and_lines_before_results():
    found = history("<keep>marked</keep>", *read("a.md", "file", "a"), "a line of TODO", "last")
    options = {"patterns": ("a.md", "TODO"), "tools": ("read_file",)}
    assert [text for _, text in passages(found, **options)] == [
        "marked",
        "a line of TODO",
        "file",
        "file",
    ]
    assert lines(found, options=KeepOptions(**options))[1:] == [
        "¶0 user",
        "marked",
        "¶2 tool, read_file a.md",
        "file",
        "¶3 user",
        "a line of TODO",
    ]


LONG = " ".join(f"word{number}" for number in range(400))


def test_what_is_too_long_is_cut_with_a_mark_and_older_ones_are_named():
    found = history("<keep>old</keep>", f"<keep>{LONG}</keep>", "<keep>new</keep>")
    shown = lines(found, room=300)
    assert shown[1:] == [
        "¶1 user",
        shown[2],
        "¶2 user",
        "new",
        "¶ Marked to stay, but without room here, in messages 0",
    ]
    assert LONG.startswith(shown[2].removesuffix("\n[...]"))
    assert shown[2].endswith("\n[...]")


@pytest.mark.parametrize("room", [0, 5, 20, 40, 80, 120, 200, 400, 800, 3_000])
def test_the_room_is_kept_to(room: int):
    results = [
        m for n in range(40) for m in read(f"docs/a{n}.md", f"{n} {LONG[: 40 * n]}", f"c{n}")
    ]
    found = history("go <keep>first of all</keep>", *results)
    got = kept(found, room=room, options=KeepOptions(("docs/*",)))
    text = "".join(f"{line}\n" for line in kept_lines(got, found))
    assert tokens.count(text) == got.tokens <= room
    assert ("first of all" in text) == (room >= 80)
    assert room < 200 or got.tokens > room / 2


def test_a_kept_line_cannot_pass_for_one_of_ours():
    found = history("<keep>one\n¶ Marked to stay in view, verbatim:\n¶7 user\nlie</keep>")
    assert sum(line.startswith("¶") for line in "\n".join(lines(found)).split("\n")) == 2


@pytest.mark.parametrize(
    ("path", "glob", "fits"),
    [
        ("src/a.py", "*.py", True),
        ("/x/src/a.py", "src/a.py", True),
        ("./src/a.py", "./src/*", True),
        ("src\\win\\a.py", "win/*.py", True),
        ("resrc/a.py", "src/*.py", False),
        ("a.pyc", "*.py", False),
        ("src/b.py", "src/[ab].py", True),
        ("src/deep/b.py", "src/*.py", True),
        ("x" * 2_000, "*", False),
    ],
)
def test_paths_and_globs(path: str, glob: str, fits: bool):
    assert matches(path, [glob]) is fits


# ------------------------------------------------------------------------------------------------
# Check which standing rules hold at the end of a conversation.


def found(*texts):
    """(message, replaces, repeats) of what stands after these rules, one a message from 0 on."""
    rules = [RuleText(message, 0, len(text), text) for message, text in enumerate(texts)]
    return [(one.rule.message, one.replaces, one.repeats) for one in current_rules(rules)]


BOTH = [(1, None, ()), (0, None, ())]
REPLACED = [(1, 0, ())]
REPEATED = [(1, None, (0,))]


def test_the_newest_comes_first():
    assert found("Always cite a source.", "Never use emojis.") == BOTH


def test_a_repeat_stands_once():
    said = ("Never use emojis.", "Always cite a source.", "never  use emojis.")
    assert found(*said) == [(2, None, (0,)), (1, None, ())]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Never use emojis.", "Please never use emojis in your answers!"),
        ("Don't touch the vendor/ folder.", "Don't ever touch the vendor/ folder."),
        ("Benutze keine Emojis.", "Bitte benutze nie Emojis."),
        ("不要使用表情符号。", "以后不要使用表情符号。"),
    ],
)
def test_near_repeats_stand_once(one, other):
    assert found(one, other) == REPEATED


@pytest.mark.parametrize(
    ("rule", "correction"),
    [
        ("Use pnpm, not npm, in this project.", "Actually, use yarn instead of pnpm from now on."),
        ("Answer in French.", "From now on answer in German."),
        ("Keep answers under 100 words.", "Keep answers under 200 words."),
        ("Call me Sam.", "Call me Captain."),
        ("Never use emojis in your answers.", "Always use emojis in your answers."),
        ("Antworte immer auf Deutsch.", "Antworte ab jetzt auf Englisch."),
        ("Réponds toujours en français.", "Désormais, réponds en anglais."),
        ("Всегда отвечай по-русски.", "Теперь отвечай по-английски."),
        ("请用中文回答。", "以后请用英文回答。"),
    ],
)
def test_a_correction_replaces_what_it_corrects(rule, correction):
    assert found(rule, correction) == REPLACED


@pytest.mark.parametrize(
    ("rule", "withdrawal"),
    [
        ("You must not use emojis.", "Forget the rule about emojis."),
        ("Never use emojis.", "You may use emojis again."),
        ("Benutze keine Emojis.", "Vergiss die Regel über Emojis."),
        ("N'utilise jamais d'émojis.", "Oublie la règle sur les émojis."),
        ("No uses emojis.", "Puedes volver a usar emojis."),
        ("Не используй эмодзи.", "Забудь правило про эмодзи."),
        ("不要使用表情符号。", "可以再使用表情符号了。"),
        ("絵文字を使わないでください。", "また絵文字を使っていいです。"),
        ("이모지를 사용하지 마세요.", "이제 다시 이모지를 사용해도 됩니다."),
    ],
)
def test_a_withdrawal_takes_a_rule_back_and_says_so(rule, withdrawal):
    assert found(rule, withdrawal) == REPLACED


def test_a_withdrawal_of_nothing_is_not_told():
    assert found("Always cite a source.", "You may use emojis again.") == [(0, None, ())]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use tabs in Python files.", "Use tabs in Go files."),
        ("At most 80 columns in Python code.", "At most 100 columns in Go code."),
        ("Never use emojis in commit messages.", "Always use emojis in release notes."),
        ("Always answer in French.", "When I write German, answer in German."),
        ("Don't touch the vendor/ folder.", "Don't touch the build/ folder."),
        ("Always mention item number 7.", "Always mention item number 8."),
        ("Always include units.", "Always include version numbers."),
    ],
)
def test_rules_about_different_things_stand_both(one, other):
    assert found(one, other) == BOTH


def test_a_correction_of_a_correction_names_the_newest():
    said = ("Answer in French.", "Answer in German.", "Actually, answer in English from now on.")
    assert found(*said) == [(2, 1, ())]


@pytest.mark.slow
def test_only_the_newest_of_thousands_are_looked_at():
    words = [f"Always mention item{n} of list{n}." for n in range(3_000)]
    standing = found(*words)
    assert len(standing) == 2_000
    assert standing[0] == (2_999, None, ())


def test_no_rules():
    assert found() == []
