from __future__ import annotations

import re

import pytest

from memtree.language.lists import alternation, parsed


def test_a_reference_alone_in_a_line_stands_for_all_entries():
    text = "# Verbs.\n[manners]\nuse\nwrite\n\n[first]\nnot\n{manners}\n"
    assert parsed(text)["first"] == ("not", "use", "write")


def test_what_no_section_answers_is_left_to_the_caller():
    assert parsed("[order]\n{start}(?:a|b){1,4}")["order"] == ("{start}(?:a|b){1,4}",)


@pytest.mark.parametrize("text", ["use\n[manners]\nwrite", "[manners]\nuse\n[manners]\nwrite"])
def test_a_damaged_file_is_refused(text: str):
    with pytest.raises(ValueError, match="section"):
        parsed(text)


def test_the_longest_word_is_matched_in_whatever_order_they_stand():
    words = ["no", "no one", "nobody"]
    assert re.findall(alternation(words), "nobody, no one, no") == ["nobody", "no one", "no"]
    assert alternation(words) == alternation(reversed(words))
