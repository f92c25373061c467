"""What searches over agents' memories read takes time in proportion to its length, too: the rest of
the table in `test_linear_time.py`."""

from __future__ import annotations

import pytest

from memtree.memories.agents.search import answers, clusters, event_time, mentions
from memtree.memories.memory import Memory
from tests import hostile
from tests.linear_time import Subject, slow

TEXTS = {
    "mentions of a memory": Subject(
        lambda text: mentions.mentions({text[:90]: text, "list": [text]}, 1 << 30),
        hostile.as_it_is,
    ),
    "the time of a memory": Subject(
        lambda text: event_time.when(None, {text: text, "date": text}), hostile.as_it_is
    ),
    "a map of memories": Subject(
        lambda said: clusters.clusters(said, None),
        lambda text: [
            clusters.ClusteredMemory(str(at), clusters.said({"a": [text]}, "")) for at in range(3)
        ],
    ),
    "a question about memories": Subject(
        lambda memory: answers.prompt(memory.text, [memory]),
        lambda text: Memory("m", 1, text, 0.0, 0.0, kind=text, data={text: text}),
    ),
    "an answer from memories": Subject(
        lambda said: answers.grounded(said, said, []),
        lambda text: f'{{"answer": {text} {{"answer": "{text}", "sources": [1]}}',
    ),
}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", TEXTS)
def test_no_shape_of_a_text_takes_more_than_its_share_of_time(name):
    assert list(slow(TEXTS[name], hostile.shapes(), 1 << 15)) == []
