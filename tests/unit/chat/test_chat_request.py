"""The body that goes to the upstream."""

from __future__ import annotations

from memtree.config import Settings
from memtree.context.answer import Answer, KeptMessage
from memtree.context.answer_state import State
from memtree.context.turn_request import CompressRequest
from memtree.history import json_body
from memtree.history.message import Message
from memtree_proxy.chat.chat_request import ChatRequest
from memtree_proxy.dialects.chat_dialect import ChatDialect, ChatHistory

CHAT = ChatDialect(Settings())


def test_fields_that_were_not_posted_go_to_the_end():
    body = json_body.split(b'{"model": "m", "messages": [1], "memory": true }')
    ask = CompressRequest("t", (Message(b"1"), Message(b"2")))
    history = ChatHistory(body, ask.messages)
    chat = ChatRequest(CHAT, body.raw, body.raw, body=body, ask=ask, history=history)
    kept = Answer(State.PACKED, True, (KeptMessage(1),), b"", 0, 0, 0)
    raw = chat.with_messages(kept, [b"3", b"4"], {"tools": b"[5]"})
    assert raw == b'{"model": "m", "messages": [2,3,4],"tools":[5] }'
    assert chat.with_messages(kept) == b'{"model": "m", "messages": [2] }'
