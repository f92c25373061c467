"""Sketches find passages that share nearly all their terms, and few others."""

from __future__ import annotations

import numpy as np

from memtree.ranking.sketches import MOST, NOTHING, SketchIndex, sketches
from memtree.text import terms
from tests.properties.strategies import prose


def made(*leaves):
    return sketches([terms.pack(map(terms.terms, leaf)) for leaf in leaves])


def alike(columns, rows, covered=None):
    """Found through an index of the first passages, the others looked through."""
    index = SketchIndex(columns[:, : columns.shape[1] if covered is None else covered])
    return {row: found for row in rows if (found := index.alike(columns, row))}


def test_what_came_after_the_index_was_made_is_found_too():
    texts = [prose(n, 60) for n in range(20)]
    columns = made(texts, [f"{text} another" for text in texts])
    assert alike(columns, range(40)) == alike(columns, range(40), covered=25)
    assert alike(columns, range(40)) == alike(columns, range(40), covered=0)


def test_equal_passages_have_equal_sketches_wherever_they_stand():
    columns = made([prose(1, 40), prose(2, 40)], [prose(2, 40)])
    assert (columns[:, 1] == columns[:, 2]).all()
    assert (columns[:, 0] != columns[:, 1]).any()


def test_a_changed_word_leaves_passages_alike():
    texts = [prose(n, 60) for n in range(40)]
    changed = [f"{text} another{n}" for n, text in enumerate(texts)]
    columns = made(texts, changed)
    found = alike(columns, range(40))
    assert sum(40 + n in found[n] for n in range(40)) >= 38
    assert all(n in found[n] for n in range(40))


def test_other_passages_are_rarely_alike():
    words = ["".join(chr(97 + (n >> 3 * k) % 8) for k in range(5)) for n in range(8_000)]
    columns = made([" ".join(words[at : at + 40]) for at in range(0, 8_000, 40)])
    found = alike(columns, range(200))
    assert sum(len(rows) - 1 for rows in found.values()) <= 4


def test_a_passage_without_terms_is_like_none():
    columns = made(["the of and", prose(1, 9), ""])
    assert columns[0, 0] == columns[0, 2] == NOTHING
    assert alike(columns, [0, 1, 2]) == {1: [1]}


def test_of_very_many_equal_passages_the_last_are_named():
    columns = np.repeat(made([prose(1, 9)]), 500, axis=1)
    found = alike(columns, [0, 3])
    assert found[3] == [3, *range(500 - MOST, 500)]


def test_nothing_gives_nothing():
    assert made().shape == (4, 0)
    assert alike(made(), []) == {}
