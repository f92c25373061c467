"""Check what memories are looked for: the newest words of the user, in histories that nobody
checked."""

from __future__ import annotations

import json

import pytest

from memtree.conversation.message import Message, Volatile
from memtree.ranking.query_text import REACH
from memtree_proxy.chat.memories.user_query import user_query


def query(*messages) -> str:
    raws = [Message(json.dumps(message).encode()) for message in messages]
    return user_query(raws, Volatile())


def user(content):
    return {"role": "user", "content": content}


@pytest.mark.parametrize(
    ("messages", "asked"),
    [
        ([user("old"), {"role": "assistant", "content": "a"}, user("new")], "new"),
        ([user("asked"), {"role": "tool", "content": "42"}], "asked"),
        ([user([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}])], "one\ntwo"),
        ([user("Go on.<system-reminder>12:00</system-reminder>")], "Go on."),
        ([user([{"type": "image_url", "image_url": {"url": "x"}}])], ""),
        ([user(None)], ""),
        ([user([7, {"text": 7}, {"type": "text"}])], ""),
        ([{"role": "user"}], ""),
        ([{"role": "assistant", "content": "a"}], ""),
        ([7], ""),
        ([user("a"), "b"], ""),
    ],
)
def test_the_newest_words_of_the_user(messages, asked):
    assert query(*messages) == asked


def test_a_word_of_the_client_s_program_is_no_question():
    asked = Message.of(user("Which port?"))
    result = Message.of({"role": "tool", "content": "42"})
    reminder = Message(Message.of(user("<system-reminder>12:00</system-reminder>")).raw, True)
    aside = Message(Message.of(user("3,000 tokens are left.")).raw, True, aside=True)
    said = Message(Message.of(user("Stop.")).raw, True)
    assert user_query([asked, result, reminder, aside], Volatile()) == "Which port?"
    assert user_query([asked, result, said, aside], Volatile()) == "Stop."


def test_of_a_long_message_its_ends():
    asked = query(user(f"Why this? {'x' * 1_000_000} So why?"))
    assert len(asked) == REACH + 1
    assert asked.startswith("Why this?")
    assert asked.endswith("So why?")
