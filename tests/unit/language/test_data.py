"""Each file of `memtree/language/data` can be read, says what it holds, and is in its place."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import memtree.language
from memtree.language.word_file import languages_with, parsed, sections
from memtree.text.rule_score import Scorer, phrases

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
    for language, text in texts.items():
        for section, entries in parsed(text).items():
            if not entries:
                yield f"{language} [{section}] has no entries"
        for section, entries in parsed(re.sub(r"(?m)^\{\w+\}$", "", text)).items():
            for entry, times in Counter(entries).items():
                if times > 1:
                    yield f"{language} [{section}] {entry} twice"


def test_each_list_says_what_it_holds_and_what_tests_it_and_no_entry_twice():
    assert len(FILES) > 100
    by_name: dict[str, dict[str, str]] = {}
    for path in FILES:
        by_name.setdefault(path.stem, {})[path.parent.name] = path.read_text("utf-8")
    wrong = {name: list(problems(texts)) for name, texts in by_name.items()}
    assert {name: found for name, found in wrong.items() if found} == {}


def test_a_planted_problem_is_found():
    sound = "# What it is. Tests: tests/unit/language/test_data.py\n[a]\nb\n"
    assert list(problems({"en": sound, "de": "[a]\nc\n"})) == []
    for other in (sound.replace("tests/", ""), sound.replace("test_data", "test_gone"),
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
        "import memtree, memtree.digests.summarize, memtree.summaries.batching\n"
        "from memtree.language import word_file\n"
        "print(word_file._read.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", read], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"
