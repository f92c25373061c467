"""Single sentences written by hand: stored or skipped no worse than they were."""

import pytest

from benchmarks.extraction.conversations import conversations
from benchmarks.extraction.sentences import FILES, PRECISION, RIGHT, UNKNOWN, score
from memtree.text.statements.skips import SkipReason


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_nine_of_ten_sentences_are_right(name):
    cases = conversations(f"{name}.txt")
    assert score(cases).precision >= PRECISION, score(cases).errors
    known = score(case for case in cases if case.kind not in UNKNOWN)
    assert 100 * known.right / known.messages >= RIGHT, known.errors


def test_each_sentence_has_a_label_or_known_reasons():
    for name in FILES:
        for case in conversations(f"{name}.txt"):
            for said in case.messages:
                assert bool(said.labels) != bool(said.reasons), said.text
                assert set(said.reasons) <= {str(reason) for reason in SkipReason}
