import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files

import pytest

from memtree.language.word_file import WordFile, sections

DATA = files("memtree.language") / "data"
REFERENCE = re.compile(r"\{([a-z]\w*)\}")
FILLED = {  # by code
    "memory_dates": {"month", "any_month", "short_months", "weekdays"},
}


def memory_files() -> Iterator[tuple[str, str]]:
    for language in DATA.iterdir():
        for file in language.iterdir():
            if file.name.startswith("memory_"):
                yield language.name, file.name.removesuffix(".txt")


@pytest.mark.parametrize(("language", "name"), sorted(memory_files()))
def test_all_references_of_a_file_are_known(language: str, name: str) -> None:
    file = WordFile(language, name)
    for section in sections(language, name):
        for entry in file.entries(section):
            assert set(REFERENCE.findall(entry)) <= FILLED.get(name, set()), f"{section}: {entry}"


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
