"""Whatever a file holds, what is imported of it is a history that the routes take."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from memtree.conversation import history
from memtree.conversation.message import Volatile, read_messages
from memtree_proxy.imports.conversation import FORMATS, raw_message
from memtree_proxy.imports.recognise import ParsedFile, SourceFile, conversations
from memtree_proxy.imports.specstory import Markdown
from tests.foreign import Fields

ids = st.sampled_from(["a", "b", "c", "", "10"])
words = st.text(max_size=8) | st.sampled_from(["", " ", "\ud800", "<user_input>x</user_input>"])
scalars = st.none() | st.booleans() | st.integers() | st.just(10**400) | st.floats() | words
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
blocks = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": words}),
    st.fixed_dictionaries({"type": st.just("tool_use"), "id": ids, "name": words, "input": values}),
    st.fixed_dictionaries(
        {
            "type": st.just("tool_result"),
            "tool_use_id": ids,
            "content": words
            | st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": words})),
        }
    ),
    st.fixed_dictionaries({"type": st.just("image"), "source": values}),
    st.fixed_dictionaries({"type": st.just("tool"), "callID": ids, "tool": words, "state": values}),
    st.fixed_dictionaries({"type": st.just("compaction"), "tail_start_id": ids}),
    st.fixed_dictionaries({"type": values}, optional={"text": values, "id": values}),
    values,
)
roles = st.sampled_from(["user", "assistant", "tool", "system", None])
contents = words | st.lists(blocks, max_size=4) | values
stored = st.fixed_dictionaries(
    {"role": roles, "content": contents},
    optional={
        "isSummary": st.booleans(),
        "condenseId": ids | values,
        "condenseParent": ids | values,
        "truncationId": values,
        "isTruncationMarker": st.booleans(),
        "truncationParent": ids | values,
        "ts": scalars,
    },
)
lines = st.fixed_dictionaries(
    {"type": st.sampled_from(["user", "assistant", "system"]), "uuid": ids, "parentUuid": ids},
    optional={
        "message": stored | values,
        "isSidechain": st.booleans(),
        "logicalParentUuid": ids,
        "timestamp": scalars,
    },
)
items = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            ["message", "function_call", "custom_tool_call", "function_call_output",
             "custom_tool_call_output", "reasoning", "compaction", "tool_search_output", "mcp_call"]
        )
        | values,
    },
    optional={
        "role": roles,
        "content": contents,
        "call_id": ids | values,
        "id": ids | values,
        "name": words | values,
        "arguments": words | values,
        "output": contents,
    },
)  # fmt: skip
rollout = st.fixed_dictionaries(
    {
        "type": st.just("response_item"),
        "payload": items,
    },
    optional={"timestamp": scalars},
) | st.fixed_dictionaries(
    {
        "type": st.sampled_from(["session_meta", "event_msg", "compacted"]),
        "payload": st.fixed_dictionaries(
            {},
            optional={
                "id": scalars,
                "type": st.sampled_from(["thread_rolled_back", "thread_name_updated"]),
                "num_turns": scalars,
                "thread_name": scalars,
                "message": scalars,
                "replacement_history": st.lists(items, max_size=3) | values,
            },
        ),
    }
)
tavern = st.fixed_dictionaries(
    {"name": words, "is_user": st.booleans()},
    optional={
        "mes": scalars,
        "is_system": st.booleans(),
        "swipes": values,
        "swipe_id": scalars,
        "send_date": scalars,
        "extra": values
        | st.fixed_dictionaries({"tool_invocations": st.lists(st.dictionaries(words, words))}),
    },
)
kinds = st.sampled_from(["text", "code", "tether_quote"]) | values
nodes = st.dictionaries(
    ids,
    st.fixed_dictionaries(
        {
            "parent": ids | st.none(),
            "children": st.lists(ids, max_size=2) | values,
            "message": st.none()
            | st.fixed_dictionaries(
                {
                    "author": st.fixed_dictionaries({"role": roles}),
                    "content": st.fixed_dictionaries(
                        {
                            "content_type": st.sampled_from(["text", "code", "tether_quote"])
                            | values
                        },
                        optional={"parts": values, "text": scalars},
                    ),
                    "recipient": st.sampled_from(["all", "python", None]),
                }
            ),
        }
    ),
    max_size=5,
)
sessions = st.lists(
    st.fixed_dictionaries(
        {
            "info": st.fixed_dictionaries({"id": ids, "role": roles}, optional={"summary": values}),
            "parts": st.lists(blocks, max_size=4) | values,
        }
    ),
    max_size=4,
)

said = st.fixed_dictionaries(
    {"sender": st.sampled_from(["human", "assistant"])},
    optional={
        "uuid": ids,
        "parent_message_uuid": ids | values,
        "text": scalars,
        "content": st.lists(blocks, max_size=4) | values,
        "attachments": values | st.lists(st.dictionaries(words, words)),
        "files": st.just([{"file_name": "a"}]) | values,
    },
)
MARKDOWN = ("_**User**_", "_**Agent - sidechain (m)**_", "_**Assistant (a)**_", "---", "```",
            "~~~~", '<tool-use data-tool-type="shell" data-tool-name="Bash">', "`ls`", "text", "",
            "</details></tool-use>", "<think>", "</think>", "<summary>a</summary>")  # fmt: skip

FILES: dict[str, st.SearchStrategy[Any]] = {
    "specstory": st.lists(st.sampled_from(MARKDOWN), max_size=12).map("\n".join),
    "claude-ai": st.fixed_dictionaries({"chat_messages": st.lists(said, max_size=5)})
    | st.fixed_dictionaries({"docs": values | st.just([{}]), "prompt_template": words}),
    "chatgpt": st.fixed_dictionaries({"mapping": nodes, "current_node": ids | st.none()}),
    "cline": st.lists(stored, max_size=6)
    | st.fixed_dictionaries({"sessionId": ids, "messages": st.lists(stored, max_size=6)}),
    "roo": st.lists(stored, max_size=6),
    "kilo": st.lists(stored, max_size=6),
    "opencode": st.fixed_dictionaries({"info": values, "messages": sessions}),
    "sillytavern": st.lists(tavern, max_size=5),
    "claude-code": st.lists(lines, max_size=6),
    "codex": st.lists(rollout, max_size=7),
}


LINED = ("sillytavern", "claude-code", "codex")


def place(format_: str, value: Any) -> SourceFile:
    """A place whose file holds what was drawn."""
    value = Markdown(value) if format_ == "specstory" else value
    held = ParsedFile(value, lines=format_ in LINED)
    return SourceFile("x.json", lambda: held, "x.json", "x", "x")


def test_every_format_is_drawn() -> None:
    assert set(FILES) == set(FORMATS)


@pytest.mark.slow
@pytest.mark.parametrize("format_", FORMATS)
@given(whole=st.booleans(), data=st.data())
def test_every_import_is_a_history(format_: str, whole: bool, data: st.DataObject) -> None:
    value = json.loads(json.dumps(data.draw(FILES[format_])))
    for found in conversations(place(format_, value), format_, whole):
        messages = read_messages([raw_message(fields) for fields in found.messages])
        read = history.read("t", messages, Volatile())
        assert len(read) <= len(messages)
        assert found.title.isprintable()
        event(f"tools: {any(fact.calls for fact in read.facts)}")
        answered(list(found.messages))


def answered(messages: list[Fields]) -> None:
    """Every call has one result behind it, before anything else is said."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
            continue
        assert not waiting
        waiting = [call["id"] for call in message.get("tool_calls", ())]
    assert not waiting
