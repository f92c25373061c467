"""Where needles are planted in a long session."""

from __future__ import annotations

import random

from benchmarks.data import Needle
from benchmarks.recall.needles import LONG, as_messages, as_sentences
from memtree.conversation.message import Message

NEEDLES = [
    Needle("user", "The mooring fee is nine marks.", "What does it cost to stay?"),
    Needle("assistant", "I chose the blue sail.", "Which canvas is up?"),
    Needle("tool", "E42: the anchor is stuck", "What is jammed?"),
]
SESSION = [
    Message.of(
        {
            "role": role,
            "content": f"Round {number}.\n" + "The wind is fair, the sea is calm.\n" * 40,
        }
    )
    for number in range(20)
    for role in ("user", "assistant")
]


def test_short_messages_have_the_role_of_their_needle():
    planted = as_messages(SESSION, NEEDLES, random.Random(1))
    roles = {m.text: m.role for m in planted if m.text in {needle.text for needle in NEEDLES}}
    assert roles == {needle.text: needle.role for needle in NEEDLES}
    assert [m for m in planted if m in SESSION] == SESSION


def test_a_tool_message_follows_its_call():
    planted = as_messages(SESSION, NEEDLES, random.Random(1))
    (at,) = (number for number, message in enumerate(planted) if message.role == "tool")
    assert [call.id for call in planted[at - 1].calls] == [planted[at].fields["tool_call_id"]]


def test_sentences_stand_inside_longer_texts():
    planted = as_sentences(SESSION, NEEDLES, random.Random(1))
    for needle in NEEDLES:
        (host,) = (message for message in planted if needle.text in message.text)
        assert host.role == needle.role
        assert len(host.text) > LONG
        assert not host.text.startswith(needle.text)
