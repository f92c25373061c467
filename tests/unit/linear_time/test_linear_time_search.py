"""Check what searches over agents' memories read takes time in proportion to its length, too: the
rest of the table in `test_linear_time.py`."""

from __future__ import annotations

from contextlib import suppress

import pytest

from memtree.errors import BadRequest
from memtree.language.everyday_sentences import language_of
from memtree.memories.agents.search import answers, clusters, mentions
from memtree.memories.injection.language_rules import is_general
from memtree.memories.memory import Memory
from memtree.memories.search.vector_bytes import memory_terms
from memtree.memories.transfer.memory_file import read_memory_file
from memtree.text import telling_words, terms
from memtree_proxy.imports.conversation import tool_call
from memtree_proxy.sessions.passages import passages, quotation
from memtree_proxy.sessions.transcripts import WORKING_FOLDER
from tests.hostile_texts import hostile
from tests.hostile_texts.linear_time import Subject, slow


def _read(text: str) -> None:
    with suppress(BadRequest):
        read_memory_file(text.encode("utf-8", "replace"))


TEXTS = {
    "mentions of a memory": Subject(
        lambda text: mentions.mentions({text[:90]: text, "list": [text]}, 1 << 30),
        hostile.as_it_is,
    ),
    "the time of a memory": Subject(
        lambda text: mentions.when(None, {text: text, "date": text}), hostile.as_it_is
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
    "telling words": Subject(
        lambda text: telling_words.sharing(text, [text] * 5, 100), hostile.as_it_is
    ),
    "a question about the world": Subject(is_general, hostile.as_it_is),
    "the language of a message": Subject(language_of, hostile.as_it_is),
    "terms of a memory": Subject(memory_terms, lambda text: text + "é"),
    "passages of a session": Subject(
        lambda messages: [
            quotation(found, at, terms.terms("a key"))
            for found in [passages(messages)]
            for at in range(min(2, len(found)))
        ],
        lambda text: [
            {"role": "user", "content": text},
            {"role": "assistant", "content": "", "tool_calls": [tool_call("c", text, text)]},
            {"role": "tool", "tool_call_id": "c", "content": text},
        ],
    ),
    "the folder that a task names": Subject(WORKING_FOLDER.search, hostile.as_it_is),
    "a file that may be damaged": Subject(_read, lambda text: f'"{text}"\n{text}'),
}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", TEXTS)
def test_no_shape_of_a_text_takes_more_than_its_share_of_time(name):
    assert list(slow(TEXTS[name], hostile.shapes(), 1 << 15)) == []
