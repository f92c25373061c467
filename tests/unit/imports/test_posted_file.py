"""Posted files, and whatever they may hold."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from memtree.errors import BadRequest
from memtree.history import chat_history
from memtree.history.message import Message, Volatile, read_messages
from memtree_proxy.imports.conversation import FORMATS, raw_message
from memtree_proxy.imports.posted_file import PrefixQuery, parsed, posted_file, request_messages
from memtree_proxy.imports.recognise import ParsedFile, SourceFile, conversations
from memtree_proxy.imports.specstory import Markdown
from tests.foreign import (
    CLAUDE_SIMPLE,
    TAVERN_SIMPLE,
    Fields,
    assistant,
    chatgpt_conversation,
    chatgpt_node,
    claude_ai_conversation,
    result,
    use,
    user,
)
from tests.wire.conversations import as_chat, as_messages, as_responses, conversation

# ------------------------------------------------------------------------------------------------
# A posted file is told by what stands in it, and by which address it has.


CHATGPT = [
    chatgpt_conversation(
        [
            chatgpt_node("1", "root", "user", ["Where to?"]),
            chatgpt_node("2", "1", "assistant", ["N"]),
        ]
    )
]
CLINE = [user("go"), assistant(use("a", "f")), user(result("a", "ok"))]
PLAIN = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Where to?"},
    {"role": "assistant", "content": "North."},
    {"role": "user", "content": "Why?"},
]


def lines(*values: Any) -> bytes:
    return b"\n".join(json.dumps(value).encode() for value in values)


def found(data: bytes, name: str = "the file", **wanted: Any) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(
        parsed(posted_file(data, name), PrefixQuery(**wanted))
    )["conversations"]
    return listed


@pytest.mark.parametrize(
    ("data", "format_", "count"),
    [
        (json.dumps(CHATGPT).encode(), "chatgpt", 2),
        (json.dumps(CHATGPT[0]).encode(), "chatgpt", 2),
        (lines(*TAVERN_SIMPLE), "sillytavern", None),
        (lines(*CLAUDE_SIMPLE), "claude-code", None),
        (json.dumps(CLINE).encode(), "cline", 3),
        (json.dumps(PLAIN).encode(), "messages", 4),
        (json.dumps({"model": "m", "messages": PLAIN}).encode(), "messages", 4),
        (b"\xef\xbb\xbf" + lines(*PLAIN), "messages", 4),
        (lines(*PLAIN).decode().encode("utf-16"), "messages", 4),
        (lines(claude_ai_conversation()), "claude-ai", 5),
        (b"_**User (2026-03-06 19:16:40Z)**_\r\n\r\nHi\r\n", "specstory", 1),
    ],
)  # fmt: skip
def test_what_a_file_is(data: bytes, format_: str, count: int | None) -> None:
    (one,) = found(data)
    assert one["format"] == format_
    assert set(one) == {"title", "format", "messages", "belongs", "notes"}
    assert one["notes"] == []
    assert one["belongs"] is None
    assert one["messages"]
    assert count in (None, len(one["messages"]))
    read_messages([raw_message(message) for message in one["messages"]])


def test_many_conversations_and_their_titles() -> None:
    listed = found(json.dumps([*CHATGPT, *CHATGPT]).encode())
    assert [one["title"] for one in listed] == ["Trip", "Trip"]
    assert found(json.dumps(PLAIN).encode())[0]["title"] == "Where to?"
    assert found(lines(*TAVERN_SIMPLE), "May.jsonl")[0]["title"].endswith("May")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"PK\x03\x04rest", "is a zip"),
        (b"SQLite format 3\x00rest", "is a database"),
        (b"\x1f\x8b\x08", "compressed by gzip"),
        (b"%PDF-1.7", "is a PDF"),
        (b"\xfe\xff\x00", "broken text in UTF-16"),
        (b"\xff{}", "not text in UTF-8, byte 0"),
        (b'{"a": ', "line 1, column"),
        (b'{"a": 1}\n{"secret": x}', "line 2, column"),
        (b'{"secret": 1}', "an object in JSON, and not a conversation"),
        (b'{"messages": [{"role": 5}]}', "an object in JSON"),
        (b"[]", "a list in JSON"),
        (b'["secret"]', "a list in JSON"),
        (b'"secret"', "a string in JSON"),
        (b"12", "a number in JSON"),
        (b"null", "null in JSON"),
        (b'{"secret": 1}\n{"b": 2}', "2 lines of JSON objects"),
        (b"1\n2", "must be an object"),
        (b"[" * 200_000, "^the file: nested too deeply$|not valid JSON"),
        (b'{"mes":' * 50_000, "^the file: nested too deeply$|not valid JSON"),
        (b"9" * 50_000, "^the file: a number has too many digits$"),
        (json.dumps([{"mapping": {}}]).encode(), "no messages in it"),
    ],
)
def test_what_is_wrong_is_said_without_its_words(data: bytes, said: str) -> None:
    with pytest.raises(BadRequest, match=said) as caught:
        found(data)
    assert "secret" not in caught.value.message


def test_a_conversation_has_a_limit() -> None:
    assert len(found(json.dumps(PLAIN).encode(), most=4)[0]["messages"]) == 4
    with pytest.raises(BadRequest, match="4 messages, over the limit of 3"):
        found(json.dumps(PLAIN).encode(), most=3)


def test_to_which_address_it_belongs() -> None:
    messages = read_messages([raw_message(message) for message in PLAIN])
    addresses = chat_history.read("t", messages, Volatile()).addresses
    data = json.dumps(PLAIN).encode()
    for length, address in enumerate(addresses[1:], 2):  # the system message is one of them
        (one,) = found(data, address=address, tenant="t")
        assert one["belongs"] == length
        assert found(data, address=address, tenant="other")[0]["belongs"] is None
    assert found(data, address=addresses[0], tenant="t")[0]["belongs"] is None
    assert found(data, address=b"x" * 32, tenant="t")[0]["belongs"] is None


def test_what_is_broken_is_noted_by_its_lines() -> None:
    one, two, three, four = (json.dumps(message) for message in PLAIN)
    data = "\n".join([one, two + three, '{"role": "us' + four, four[:20]]).encode()
    (shown,) = found(data)
    assert shown["messages"] == PLAIN
    assert [note.partition(":")[0] for note in shown["notes"]] == [
        "line 2", "line 3, column 15", "line 4, column 18",
    ]  # fmt: skip
    assert "Why" not in "".join(shown["notes"])


def test_a_large_result_comes_once_whoever_names_it() -> None:
    large = {"type": "tool_result", "tool_use_id": "1", "content": "<" + "large " * 1_000}
    call = {"type": "tool_use", "id": "1", "name": "f", "input": {}}
    said = [{"role": "user", "content": [large]}]
    said += [{"role": "assistant", "id": f"m{at}", "content": [call]} for at in range(100)]
    data = lines(*(
        {"type": one["role"], "uuid": f"{at}", "parentUuid": f"{at - 1}", "message": one}
        for at, one in enumerate(said)
    ))  # fmt: skip
    shown = parsed(posted_file(data), PrefixQuery())
    assert shown.count(b"<large") == 1
    assert len(shown) < 3 * len(data)


def test_requests_of_the_other_dialects_are_read_as_these_are() -> None:
    talk = conversation(5, turns=4, size=200)
    chat = as_chat(talk)
    for body in (as_messages(talk), as_responses(talk)):
        made = request_messages(posted_file(json.dumps(body).encode(), "b.json").load())
        assert made is not None
        shown = json.loads(parsed(posted_file(json.dumps(body).encode(), "b.json"), PrefixQuery()))
        assert len(shown["conversations"]) == 1
        assert addresses(made) == addresses(chat)
    plain = posted_file(json.dumps({"messages": chat}).encode(), "c.json").load()
    assert request_messages(plain) is None


def addresses(messages: list[dict[str, Any]]) -> tuple[bytes, ...]:
    return chat_history.read("t", [Message.of(one) for one in messages], Volatile()).addresses


# ------------------------------------------------------------------------------------------------
# Whatever a file holds, what is imported of it is a history that the routes take.


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
property_lines = st.fixed_dictionaries(
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
    "claude-code": st.lists(property_lines, max_size=6),
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
        read = chat_history.read("t", messages, Volatile())
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
