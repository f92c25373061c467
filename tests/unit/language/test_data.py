"""Each file of `memtree/language/data` can be read, says what it holds, and is in its place."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import memtree.language
from memtree.language.word_file import languages_with, parsed, sections
from memtree.text.rule_score import Scorer, phrases

DATA = Path(memtree.language.__file__).parent / "data"
FILES = sorted(DATA.glob("*/*.txt"))
SIGN = re.compile(r"[^\w '-]")  # what is more than a plain word may be no pattern


def problems(text: str) -> Iterator[str]:
    """Say what is wrong with a file's head and sections. Entries of other sections, which a
    reference brings, are looked at there."""
    head = re.match(r"(?:#[^\n]*\n)*", text)[0]
    if "tests/" not in head and "benchmarks/" not in head:
        yield "no comment at its top names its test"
    for named in re.findall(r"(?:tests|benchmarks|memtree|proxy)/[\w/]+\.py", head):
        if not (DATA.parents[2] / named).is_file():
            yield f"its head names {named}, which is not there"
    for section, entries in parsed(text).items():
        if not entries:
            yield f"[{section}] has no entries"
    for section, entries in parsed(re.sub(r"(?m)^\{\w+\}$", "", text)).items():
        yield from (f"[{section}] {entry} twice" for entry, times in Counter(entries).items()
                    if times > 1)  # fmt: skip


def test_each_file_says_what_it_holds_and_what_tests_it_and_no_entry_twice():
    assert len(FILES) > 100
    wrong = {f"{path.parent.name}/{path.stem}": list(problems(path.read_text("utf-8")))
             for path in FILES}  # fmt: skip
    assert {name: found for name, found in wrong.items() if found} == {}


def test_a_planted_problem_is_found():
    sound = "# What it is. Tests: tests/unit/language/test_data.py\n[a]\nb\n"
    assert list(problems(sound)) == []
    for other in (sound.replace("tests/", ""), sound.replace("test_data", "test_gone"),
                  sound + "[c]\n", sound + "b\n"):  # fmt: skip
        assert len(list(problems(other))) == 1, other


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
