"""Names behind `losses` and `midepoch` choose their data sets."""

from __future__ import annotations

import pytest

from benchmarks import __main__ as program


@pytest.mark.parametrize(
    ("typed", "names", "sets"),
    [
        ([], list(program.ALL), ()),
        (["losses"], ["losses"], ()),
        (["losses", "realtalk", "beam"], ["losses"], ("realtalk", "beam")),
        (["midepoch", "locomo"], ["midepoch"], ("locomo",)),
        (["losses", "cost"], ["losses", "cost"], ()),
        (["realtalk", "losses"], ["realtalk", "losses"], ()),
    ],
)
def test_names_behind_a_benchmark_choose_its_sets(typed, names, sets):
    assert program.chosen(typed) == (names, sets)


def test_each_set_is_a_name_that_can_be_typed():
    assert all(set(sets) <= set(program.ALL) for sets in program.SETS.values())
