"""Check what is extracted by rule from conversations written by hand: no worse than it was."""

import pytest

from benchmarks.extraction.conversations import FILES, conversations, score


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_most_of_what_is_found_is_right_and_half_of_it_is_found(name):
    total = score(conversations(name))
    assert total.precision >= 90, total.wrong
    assert total.recall >= 50, total.missed


def test_the_conversations():
    cases = [case for name in FILES for case in conversations(name)]
    empty = [case for case in cases if not any(said.labels for said in case.messages)]
    assert len(cases) >= 270
    assert len(empty) >= 0.4 * len(cases)
    assert sum(not case.kind.startswith("en ") for case in cases) >= 0.15 * len(cases)
