"""Check what names conversations and documents takes time in proportion to the text's length: the
rest of the table in `test_linear_time.py`."""

from __future__ import annotations

import pytest

from memtree.context.indexing import index_request
from memtree.conversation.message import Message
from memtree.digests import conversation_title, summarize
from memtree.text.pasted import document_names, pasted_documents
from memtree.unfolding.memory_message import call_texts
from tests.hostile_texts import hostile
from tests.hostile_texts.linear_time import Subject, slow


def places(text: str) -> list[str]:
    """Return what the beginning, the middle and the end of a message are called."""
    found = pasted_documents.documents(text)
    return [document.place(text, at) for document in found[:9] for at in (0, len(text) // 2)]


def call_texts_of(text: str) -> object:
    return call_texts.left_out(Message.of({"role": "assistant", "content": text}))


TEXTS = {
    "the title of a conversation": Subject(
        conversation_title.title,
        hostile.as_it_is,
    ),
    "the task behind a label": Subject(
        lambda text: summarize.labelled(f"Task: {text}"), hostile.as_it_is
    ),
    "the project of a conversation": Subject(
        lambda text: index_request.project_of([text, text]), hostile.as_it_is
    ),
    "the texts of a call": Subject(
        call_texts_of, lambda text: f'{{"command": "a b", "thought": "{text}", "a": "b c"}}'
    ),
    "the name of a document": Subject(document_names.document_name, hostile.as_it_is),
    "documents in a message": Subject(places, hostile.as_it_is),
    "documents behind fences": Subject(places, lambda text: f"```\n{text}\n```\n" * 3),
    "a document behind a licence's name": Subject(
        places, lambda text: f"Apache License Version 2.0\n{text}\nwarranties permission {text}"
    ),
    "a log": Subject(places, lambda text: f"2026-11-26 10:00:00 ERROR {text}\n" * 9),
}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", TEXTS)
def test_no_shape_of_a_text_takes_more_than_its_share_of_time(name):
    assert list(slow(TEXTS[name], hostile.shapes(), 1 << 15)) == []
