"""Scripts, languages, word lists and patterns."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import memtree
import memtree.language
from memtree.language.borders import (
    DENIALS,
    clause_ends,
    clauses,
    denies,
    ends,
    sentences,
    small_stops,
    split,
    units,
)
from memtree.language.languages import differs, language, script, shares
from memtree.language.word_file import (
    LazyPattern,
    WordFile,
    alternation,
    languages_with,
    lazily,
    parsed,
    sections,
)
from memtree.text.rule_score import Scorer, phrases

# ------------------------------------------------------------------------------------------------
# Texts are cut between words and clauses, in scripts with and without spaces.


def test_spaced_text_is_cut_between_words():
    assert units("we keep  SQLite.") == ["we", "keep", "SQLite."]
    assert ends("we keep") == [2, 7]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("上次投资的目的地是上海", ["投资", "目的地", "上海"]),
        ("我们决定把数据库改为PostgreSQL，因为需要查询", ["数据库", "PostgreSQL", "查询"]),
        ("田中さんはプロジェクトを辞めます", ["田中", "プロジェクト", "辞めます"]),
        ("明日の会議は午後三時に変更になりました", ["会議", "午後三時", "変更"]),
    ],
)
def test_unspaced_text_is_never_cut_inside_a_word(text, words):
    found = units(text)
    assert "".join(found) == text
    for word in words:
        assert any(word in unit for unit in found)


@pytest.mark.slow
@given(st.text(st.characters(categories=("L", "N", "P", "Zs")), max_size=60))
def test_units_are_the_text_without_its_spaces(text):
    assert "".join(units(text)) == "".join(text.split())


def test_clauses_end_at_marks_and_before_words_that_begin_one():
    assert list(clauses("We moved to Rust, but the tests, all 1,200 of them, still fail")) == [
        "We moved to Rust",
        "but the tests",
        "all 1,200 of them",
        "still fail",
    ]
    assert list(clauses("我们改用Rust，因为测试失败。")) == ["我们改用Rust", "因为测试失败"]


PIECES = (
    *", ; ! ? . ... - -> : ' ( 2024 1 a A cat dog, And we so that because IF while Aber".split(),
    " ",
)


@example("A. \x1cb. \x1db. \x1eb. \x1fb")  # white space to patterns, but to those for ASCII
@given(st.lists(st.sampled_from(PIECES), max_size=24).map(" ".join))
def test_ascii_is_cut_as_other_text_is(text):
    """It has a pattern of its own, which is the faster one."""
    assert clause_ends(text) == [end - 1 for end in clause_ends(f"é{text}")]


@pytest.mark.parametrize("text", ["Es bleibt ab dem 3. September zu", "Für uns am 12. Mai zu"])
def test_a_german_ordinal_ends_no_clause(text: str) -> None:
    assert list(clauses(text)) == [text]


def test_nobody_but_somebody_is_one_clause():
    assert list(clauses("Nobody but me knows it")) == ["Nobody but me knows it"]


SENTENCES = [
    ["I live in Graz.", "I like tea!", "Do you?"],
    ["Dr. Ito moved to Kobe.", "I stayed."],
    ["I use e.g. Python 3.11 and vim.", "It is fine."],
    ["It costs 3.5 million, i.e. too much.", "I left."],
    ["See https://example.org/a.b?c=d. for it.", "I read it."],
    ["J. R. Ewing called at 5 p.m. yesterday.", "I was out."],
    ["It was me, not I.", "I know."],
    ["Well... maybe.", "I see…", "Then go."],
    ['He said "no."', "I left."],
    ["Am 3. Mai ziehe ich um.", "Es ist z.B. nah.", "Ich freue mich."],
    ["Vivo en Madrid.", "¿Y tú?", "¡Bien!"],
    ["我住在上海。", "我喜欢茶！", "你呢？"],
    ["I have version 2.", "It works."],
    ["I wrapped this line where it was rather long already,\nbut it goes on.", "Yes."],
]


@pytest.mark.parametrize("parts", SENTENCES, ids=lambda parts: parts[0][:20])
@pytest.mark.parametrize("between", [" ", "\n"])
def test_sentences_end_where_they_end(parts, between):
    text = between.join(parts)
    assert [text[a:b] for a, b in sentences(text)] == parts


def test_a_line_is_a_statement_of_its_own():
    text = "Name is Bob\nI live in Graz\nand like tea"
    found = [text[a:b] for a, b in sentences(text)]
    assert found == ["Name is Bob", "I live in Graz", "and like tea"]


def test_only_the_span_is_read():
    text = "I was. I am. I will be."
    assert [text[a:b] for a, b in sentences(text, 7, 12)] == ["I am."]


def test_marks_of_emphasis_and_foreign_full_stops_end_a_sentence():
    text = "**Use tabs.** Always. هل هذا جيد؟ نعم. यह ठीक है। हाँ"
    assert split(text) == ["**Use tabs.**", "Always.", "هل هذا جيد؟", "نعم.", "यह ठीक है।", "हाँ"]


def test_who_types_small_ends_sentences_too():
    text = "we moved to leeds. any tips, e.g. for kids"
    parts = [text[start:end] for start, end in small_stops(text, 0, len(text))]
    assert parts == ["we moved to leeds.", "any tips, e.g. for kids"]


# ------------------------------------------------------------------------------------------------
# Each file of `memtree/language/data` can be read, says what it holds, and is in its place.


DATA = Path(memtree.language.__file__).parent / "data"
FILES = sorted(DATA.glob("*/*.txt"))
SIGN = re.compile(r"[^\w '-]")  # what is more than a plain word may be no pattern


def problems(texts: Mapping[str, str]) -> Iterator[str]:
    """Say what is wrong with the files of one name, by language: one head says for all what they
    hold and what tests it. Entries of other sections, which a reference brings, are looked at
    there."""
    heads = "".join(re.findall(r"\A(?:#[^\n]*\n)*", text)[0] for text in texts.values())
    if "tests/" not in heads and "benchmarks/" not in heads:
        yield "no comment at its top names its test"
    for named in re.findall(r"(?:tests|benchmarks|memtree|proxy)/[\w/]+\.py", heads):
        if not (DATA.parents[2] / named).is_file():
            yield f"its head names {named}, which is not there"
    for spoken, text in texts.items():
        for section, entries in parsed(text).items():
            if not entries:
                yield f"{spoken} [{section}] has no entries"
        for section, entries in parsed(re.sub(r"(?m)^\{\w+\}$", "", text)).items():
            for entry, times in Counter(entries).items():
                if times > 1:
                    yield f"{spoken} [{section}] {entry} twice"


def test_each_list_says_what_it_holds_and_what_tests_it_and_no_entry_twice():
    assert len(FILES) > 100
    by_name: dict[str, dict[str, str]] = {}
    for path in FILES:
        by_name.setdefault(path.stem, {})[path.parent.name] = path.read_text("utf-8")
    wrong = {name: list(problems(texts)) for name, texts in by_name.items()}
    assert {name: found for name, found in wrong.items() if found} == {}


def test_a_planted_problem_is_found():
    sound = "# What it is. Tests: tests/unit/language/test_language.py\n[a]\nb\n"
    assert list(problems({"en": sound, "de": "[a]\nc\n"})) == []
    for other in (sound.replace("tests/", ""), sound.replace("test_language", "test_gone"),
                  sound + "[c]\n", sound + "b\n"):  # fmt: skip
        assert len(list(problems({"en": other}))) == 1, other


def test_each_entry_is_a_pattern():
    """Most are plain words, which are patterns, or stand in many files: each is compiled once."""
    entries = {
        entry.replace("{start}", ""): f"{path.parent.name}/{path.stem} [{section}]"
        for path in FILES
        for section, entries in parsed(path.read_text("utf-8")).items()
        if (path.stem, section) != ("programs", "readers")  # "[" is a program
        for entry in entries
        if SIGN.search(entry)
    }
    broken = []
    for entry, place in entries.items():
        try:
            re.compile(entry)
        except re.error as error:
            broken.append((place, entry, str(error)))
    assert broken == []


def test_each_folder_is_a_language_that_is_listed():
    listed = sections("all", "languages")["languages"]
    assert {path.name for path in DATA.iterdir()} == {*listed, "all"}


@pytest.mark.parametrize("language", languages_with("standing_rules"))
def test_the_phrases_of_standing_rules_are_patterns(language: str):
    assert Scorer(phrases(language)).score("") == 0


def test_no_file_is_read_before_its_words_are_needed():
    read = (
        "import memtree, memtree.digests.summarize, memtree.tree.summary_batches\n"
        "from memtree.language import word_file\n"
        "print(word_file._read.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", read], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"


# ------------------------------------------------------------------------------------------------
# Scripts and languages, and when a summary is in another.


TEXTS = {
    "en": "The test was red because the header is not read, and they have fixed it for this one.",
    "de": "Der Test ist nicht mehr rot, und das ist auch gut so für die Leute mit der Datei.",
    "fr": "Le test est rouge et les données ne sont pas dans la liste, elle est avec des trous.",
    "es": "El test no está bien porque los datos de la lista fueron una cosa y no se ven con el.",
    "ru": "Тест не проходит, потому что заголовок не читается, и это уже исправили.",
    "zh": "测试失败是因为没有读取标题，现在已经修复了这个问题。",
    "ja": "テストが失敗したのは見出しを読まないためで、これは修正しました。",
    "ar": "فشل الاختبار لأن العنوان لم يقرأ وقد تم إصلاحه الآن.",
}


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_differs_from_those_of_other_languages_alone(text):
    for source, written in TEXTS.items():
        assert bool(differs(TEXTS[text], written * 2)) is (text != source), source


@pytest.mark.parametrize("text", ["", "12 + 5", "…", "\ud800", "ok"])
def test_of_what_has_no_language_nothing_is_said(text):
    assert differs(text, TEXTS["en"]) == differs(TEXTS["en"], text if text != "ok" else "") == ""
    assert language(text) == ""


def test_identifiers_in_latin_letters_are_no_other_language():
    assert differs("修复了 docker-compose.yml 里的 ConnectionRefusedError 问题", TEXTS["zh"]) == ""
    assert differs("東京都千代田区で会議を開いた", TEXTS["ja"]) == ""


def test_a_text_in_two_languages_allows_both():
    both = TEXTS["de"] + TEXTS["en"]
    assert differs(TEXTS["de"], both) == differs(TEXTS["en"], both) == ""


def test_shares_add_up():
    assert sum(shares("".join(TEXTS.values())).values()) == pytest.approx(1.0)
    assert script("") == ""


# ------------------------------------------------------------------------------------------------
# A lazy pattern is the compiled one, from its first use on.


def test_it_finds_what_the_pattern_finds():
    text, source = "a1 B22 c333", r"([a-z])(\d+)"
    pattern, compiled = lazily(source, re.IGNORECASE), re.compile(source, re.IGNORECASE)
    for _ in range(2):
        assert pattern.findall(text) == compiled.findall(text)
        assert [m.span() for m in pattern.finditer(text)] == [
            m.span() for m in compiled.finditer(text)
        ]
        assert pattern.sub("-", text) == compiled.sub("-", text)
        assert pattern.split(text) == compiled.split(text)
    assert (pattern.pattern, pattern.flags, pattern.groups) == (source, compiled.flags, 2)


def test_it_is_compiled_once_and_not_before(monkeypatch):
    compiled = []
    real = re.compile
    monkeypatch.setattr(re, "compile", lambda *of: compiled.append(of) or real(*of))
    pattern = lazily("x+")
    assert not compiled
    assert pattern.match("xx")
    assert pattern.search("yx")
    assert len(compiled) == 1


def test_its_words_are_read_at_the_first_use():
    read = []
    pattern = lazily(lambda: read.append("words") or "cat|dog", re.IGNORECASE)
    assert not read
    assert [bool(pattern.search(text)) for text in ("A Cat", "a cow")] == [True, False]
    assert read == ["words"]


def test_a_mistake_is_found_at_the_first_use():
    with pytest.raises(re.error):
        lazily("(").match("")


@pytest.mark.slow
def test_every_lazy_pattern_of_ours_can_be_compiled():
    found = 0
    for module in pkgutil.walk_packages(memtree.__path__, "memtree."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, LazyPattern):
                assert value.pattern is not None
                found += 1
    assert found > 50


# ------------------------------------------------------------------------------------------------
# Lists.


def test_a_reference_alone_in_a_line_stands_for_all_entries():
    text = "# Verbs.\n[manners]\nuse\nwrite\n\n[first]\nnot\n{manners}\n"
    assert parsed(text)["first"] == ("not", "use", "write")


def test_what_no_section_answers_is_left_to_the_caller():
    assert parsed("[order]\n{start}(?:a|b){1,4}")["order"] == ("{start}(?:a|b){1,4}",)


def test_a_group_may_stand_in_several_lines():
    verbs = "[do]\nuse\n"
    text = (
        f"{verbs}[order]\n^(?:\n  {{do}}\n  say (?:\n    it\n    so\n  )s?\n)\\b(?!\n  a\n  b\n)\nx"
    )
    assert parsed(text)["order"] == (r"^(?:use|say (?:it|so)s?)\b(?!a|b)", "x")


def test_spaces_at_the_ends_of_an_entry_are_written_as_signs():
    assert parsed("[order]\n␣now␣\nby␣{start}␣")["order"] == (" now ", "by {start} ")


@pytest.mark.parametrize(
    "text",
    [
        "use\n[manners]\nwrite",
        "[manners]\nuse\n[manners]\nwrite",
        "[manners]\n(?:\nuse\n[tasks]\nwrite",
        "[manners]\n(?:\nuse",
    ],
)
def test_a_damaged_file_is_refused(text: str):
    with pytest.raises(ValueError, match=r"section|group"):
        parsed(text)


def test_the_longest_word_is_matched_in_whatever_order_they_stand():
    words = ["no", "no one", "nobody"]
    assert re.findall(alternation(words), "nobody, no one, no") == ["nobody", "no one", "no"]
    assert alternation(words) == alternation(reversed(words))


# ------------------------------------------------------------------------------------------------
# Negation.


@pytest.mark.parametrize(
    "text",
    [
        "I don’t eat meat",
        "Ich esse kein Fleisch",
        "Não como carne",
        "no como carne, jamás",
        "我不吃肉",
    ],
)
def test_a_denial_is_told_in_each_language(text: str):
    assert denies(text)


def test_a_statement_denies_nothing_and_a_denial_stands_where_it_is_said():
    assert not denies("I know Nora, and eat meat.")
    assert [match.group() for match in DENIALS.finditer("not now, never")] == ["not", "never"]


# ------------------------------------------------------------------------------------------------
# Word file.


WORD_FILE_DATA = files("memtree.language") / "data"
REFERENCE = re.compile(r"\{([a-z]\w*)\}")
FILLED = {  # by code
    "memory_dates": {"month", "any_month", "short_months", "weekdays"},
}


def unknown_references() -> Iterator[str]:
    for folder in WORD_FILE_DATA.iterdir():
        for path in folder.iterdir():
            name = path.name.removesuffix(".txt")
            if name.startswith("memory_"):
                file = WordFile(folder.name, name)
                for section in sections(folder.name, name):
                    for entry in file.entries(section):
                        if set(REFERENCE.findall(entry)) - FILLED.get(name, set()):
                            yield f"{folder.name}/{name} [{section}] {entry}"


def test_all_references_of_files_of_memories_are_known() -> None:
    assert list(unknown_references()) == []


def test_a_pattern_is_compiled_at_its_first_use() -> None:
    missing = WordFile("en", "memory_people").pattern("no_such_section")
    with pytest.raises(KeyError):
        missing.match("")


def test_words_of_several_sections_are_one_set() -> None:
    file = WordFile("en", "memory_value_grounding")
    assert {"profile", "diet"} <= file.words("profile", "of_user")
    assert file.words("profile") & {"profile", "diet"} == {"profile"}


def test_an_entry_may_name_a_section_of_another_language() -> None:
    kin = WordFile("all", "memory_mentions").pattern("kin")
    assert kin.fullmatch("stepfather")
    assert kin.fullmatch("landlord")


def test_a_table_has_a_value_for_each_word() -> None:
    agents = WordFile("en", "memory_wording").table("agents")
    assert agents["teacher"] == "teach"
    assert len(agents) == len(set(agents)) > 10


def test_no_file_is_read_before_its_first_use():
    code = (
        "import importlib, pkgutil, memtree.memories as memories\n"
        "from memtree.language import word_file\n"
        "for each in pkgutil.walk_packages(memories.__path__, 'memtree.memories.'):\n"
        "    importlib.import_module(each.name)\n"
        "assert word_file._read.cache_info().currsize == 0, word_file._read.cache_info()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
