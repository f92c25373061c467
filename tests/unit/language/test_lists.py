from __future__ import annotations

import re

import pytest

from memtree.language.word_file import alternation, parsed


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
