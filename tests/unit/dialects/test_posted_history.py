"""A posted history reads the same in the three dialects."""

from __future__ import annotations

import msgspec
import pytest

from memtree.conversation.address_chain import digest
from memtree.conversation.message import Message, Volatile
from memtree.dialects import posted_history
from memtree.wire import json_body

THOUGHT, ANSWER = "<think>\n51? No.\n</think>\n\n", "The limit is 521."
VOLATILE = Volatile()


def text(words, kind="text"):
    return {"type": kind, "text": words}


def chat(content):
    return {
        "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": content}]
    }


def blocks(content):
    return {**chat(content), "dialect": "messages"}


def items(content):
    return {"input": [{"role": "user", "content": "a"}, {"role": "assistant", "content": content}]}


@pytest.mark.parametrize(
    "posted",
    [
        chat(THOUGHT + ANSWER),
        chat([text(THOUGHT + ANSWER)]),
        chat([text(THOUGHT), text(ANSWER)]),
        chat([text("<think>51?"), text("No.\n</think>\n"), text(ANSWER)]),
        blocks(THOUGHT + ANSWER),
        blocks([text(THOUGHT), text(ANSWER)]),
        blocks([{"type": "thinking", "thinking": "Hm.", "signature": "s"}, text(THOUGHT + ANSWER)]),
        items(THOUGHT + ANSWER),
        items([text(THOUGHT, "output_text"), text(ANSWER, "output_text")]),
    ],
)
def test_thoughts_among_the_words_are_neither_hashed_nor_indexed(posted):
    body = json_body.split(msgspec.json.encode(posted))
    message = posted_history.read(body, "t").messages[-1]
    view = message.view(VOLATILE)
    assert view.text == ANSWER
    assert [message.text[start:end] for start, end in view.posted(0, len(ANSWER))] == [ANSWER]
    assert digest(message, VOLATILE) == digest(
        Message.of({"role": "assistant", "content": ANSWER}), VOLATILE
    )


@pytest.mark.parametrize("role", ["user", "tool"])
def test_only_a_model_has_thoughts(role):
    assert Message.of({"role": role, "content": THOUGHT}).view(VOLATILE).text == THOUGHT
