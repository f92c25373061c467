from __future__ import annotations

import pytest

from memtree.language.borders import DENIALS, denies


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
