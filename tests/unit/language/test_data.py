"""Each file of `memtree/language/data` can be read, says what it holds, and is in its place."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import memtree.language
from memtree.language.word_file import languages_with, parsed, sections
from memtree.text.rule_score import Scorer, phrases

DATA = Path(memtree.language.__file__).parent / "data"
FILES = sorted(DATA.glob("*/*.txt"))


@pytest.mark.parametrize("stem", sorted({path.stem for path in FILES}))
def test_a_list_says_what_it_holds_and_what_tests_it(stem: str):
    """In the file of one language, for all."""
    texts = [path.read_text("utf-8") for path in FILES if path.stem == stem]
    heads = "".join(re.findall(r"\A(?:#[^\n]*\n)+", text)[0] for text in texts if text[0] == "#")
    assert "tests/" in heads or "benchmarks/" in heads
    for named in re.findall(r"(?:tests|benchmarks|memtree|proxy)/[\w/]+\.py", heads):
        assert (DATA.parents[2] / named).is_file(), named
    assert all(all(parsed(text).values()) for text in texts), "a section has no entries"


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_no_entry_stands_twice_in_a_section_and_each_is_a_pattern(path: Path):
    """Entries of other sections, which a reference brings, are looked at there."""
    own = re.sub(r"(?m)^\{\w+\}$", "", path.read_text("utf-8"))
    for section, entries in parsed(own).items():
        twice = {entry for entry in entries if entries.count(entry) > 1}
        assert not twice, (section, twice)
    for section, entries in parsed(path.read_text("utf-8")).items():
        if (path.stem, section) != ("programs", "readers"):  # "[" is a program
            for entry in entries:
                re.compile(entry.replace("{start}", ""))


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
