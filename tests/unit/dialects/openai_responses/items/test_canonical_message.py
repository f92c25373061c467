"""A canonical message is made again as it was made first."""

from __future__ import annotations

import json

from memtree.dialects.openai_responses import conversation
from memtree.dialects.openai_responses.input_item import read_item
from memtree.dialects.openai_responses.translation import Beginning
from tests.unit.dialects.openai_responses.test_conversation import call, output, said, thought, user

LOADED = {"type": "mcp_list_tools", "server_label": "s", "tools": [{"name": "a"}]}
MARKED = [{"type": "input_text", "text": "x", "prompt_cache_breakpoint": {"mode": "explicit"}}]
ITEMS = [
    user("before"), said("before"), {"role": "user", "content": "no type"},
    {"type": "compaction", "encrypted_content": "x"}, user("a"), thought(), said("b", id="m"),
    {**call("1"), "type": "local_shell_call", "action": {}}, call("2"), call("3"), output("2"),
    {"type": "local_shell_call_output", "id": "fc_1", "output": "x"}, LOADED, user(MARKED),
    {"type": "function_call_output", "call_id": "3", "output": MARKED},
]  # fmt: skip


def test_every_message_is_made_again_as_it_was():
    raws = [json.dumps(item).encode() for item in ITEMS]
    items = [read_item(raw, f"input[{at}]") for at, raw in enumerate(raws)]
    made = conversation.read_on(raws, items, Beginning())
    assert any(message.loads for message in made.messages)
    assert any(message.joined for message in made.messages)
    assert made.translated.other_ids
    assert made.translated.sealed == 4
    again = [
        conversation.message(made.translated, raws, items, index)
        for index in range(len(made.messages))
    ]
    assert [facts(message) for message in again] == [facts(message) for message in made.messages]


def facts(message):
    return message.raw, message.joined, message.loads, message.aside
