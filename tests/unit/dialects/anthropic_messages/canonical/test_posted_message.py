"""A posted message of the Messages API as the core's."""

from __future__ import annotations

import msgspec
import pytest

from memtree.conversation.address_chain import digest
from memtree.conversation.history import price
from memtree.conversation.message import Message, Volatile
from memtree.conversation.posted_json import encode
from memtree.dialects.anthropic_messages import posted_message
from memtree.errors import BadRequest
from memtree.text import tokens
from tests.wire.messages.messages_shorthand import (
    assistant,
    called,
    result,
    server_call,
    text,
    thinking,
    user,
)


def canonical(message: dict) -> list[dict]:
    raw = msgspec.json.encode(message)
    read = posted_message.read(raw, "messages[0]")
    return [msgspec.json.decode(one.raw or raw) for one in read.messages]


def digests(*messages: dict) -> list[bytes]:
    return [digest(Message.of(one), Volatile()) for one in messages]


def read(message: dict) -> posted_message.PostedMessage:
    return posted_message.read(msgspec.json.encode(message), "messages[0]")


def test_words_of_the_user_are_the_posted_bytes():
    assert read(user("hello")).messages == (posted_message.CanonicalMessage(),)
    assert read(user([text("a"), text("b")])).messages == (posted_message.CanonicalMessage(),)
    assert canonical({**user("hello"), "name": "x"}) == [user("hello")]


def test_a_turn_of_an_agent_has_the_digests_that_it_has_on_chat():
    made = canonical(
        assistant(
            thinking("Let me see.", "c2ln"),
            text("I "),
            text("look."),
            called("toolu_1", "Read", {"file_path": "/a", "limit": 1.0}),
            called("toolu_2", "Bash", {"command": "ls"}),
        )
    )
    made += canonical(user([result("toolu_1", "1\thello"), result("toolu_2", [text("a.txt")])]))
    call = {"type": "function"}
    arguments = ('{"file_path":"/a","limit":1}', '{ "command": "ls" }')
    chat = [
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"id": "call_9", **call, "function": {"name": "Read", "arguments": arguments[0]}},
                {"id": "call_8", **call, "function": {"name": "Bash", "arguments": arguments[1]}},
            ],
        },
        {"role": "tool", "tool_call_id": "call_9", "content": "1\thello"},
        {"role": "tool", "tool_call_id": "call_8", "content": "a.txt"},
    ]
    assert digests(*made) == digests(*chat)


def test_arguments_are_a_quotable_string_of_their_own():
    (made,) = canonical(assistant(called("toolu_1", "Write", {"content": "line one\nline two"})))
    segment = Message.of(made).segments[-1]
    assert segment.quotable
    assert Message.of(made).text.endswith('{"content":"line one\\nline two"}')


def test_input_that_names_a_key_twice_is_not_read_as_if_it_did_not():
    raw = (
        b'{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n",'
        b'"input":{"k":1,"k":2}}]}'
    )
    made = posted_message.read(raw, "messages[0]").messages[0].raw
    assert msgspec.json.decode(made)["tool_calls"][0]["function"]["arguments"] == '{"k":1,"k":2}'


def test_thinking_counts_and_is_no_text():
    told = "I think about it for a while. " * 20
    message = assistant(thinking(told, "s" * 900), text("Yes."))
    (made,) = canonical(message)
    assert Message.of(made).text == "Yes."
    assert digests(made) == digests({"role": "assistant", "content": "Yes."})
    assert price(Message.of(made), tokens.count) >= tokens.count(told)
    assert read(message).thinking == (0,)


def test_thinking_without_text_counts_by_the_length_of_its_signature():
    (short,) = canonical(assistant(thinking("", "a" * 300), text("Yes.")))
    (long,) = canonical(assistant(thinking("", "a" * 3_000), text("Yes.")))
    sizes = [price(Message.of(one), tokens.count) for one in (short, long)]
    assert sizes[1] - sizes[0] == 3_000 // 5 - 300 // 5


def test_results_stand_before_the_words_of_the_same_message():
    image = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    message = user([result("toolu_1", [text("seen"), image]), text("Go on."), image])
    made = canonical(message)
    assert [one["role"] for one in made] == ["tool", "user"]
    assert made[0]["content"] == [text("seen"), image]
    assert made[1]["content"] == [text("Go on."), image]
    parts = read(message).messages
    assert parts[1].blocks == (1, 2)
    assert read(message).results == 1


def test_results_that_stand_behind_words_are_read_all_the_same():
    assert [one["role"] for one in canonical(user([text("so"), result("a", "r")]))] == [
        "tool",
        "user",
    ]


def test_cache_markers_stay_where_the_core_counts_them():
    mark = {"cache_control": {"type": "ephemeral"}}
    assert canonical(user([{**result("a", "r"), **mark}]))[0]["cache_control"]
    made = canonical(assistant({**text("hm"), **mark}, {**called("b", "n", {}), **mark}))[0]
    assert made["content"][0]["cache_control"]
    assert made["tool_calls"][0]["cache_control"]


def test_what_a_tool_of_the_provider_found_is_the_result_of_a_tool():
    found = {
        "type": "web_search_tool_result",
        "tool_use_id": "srvtoolu_1",
        "content": [
            {"type": "web_search_result", "title": "Ports", "url": "u", "encrypted_content": "e"}
        ],
    }
    message = assistant(text("I search."), server_call("srvtoolu_1"), found, text("It is 8787."))
    made = canonical(message)
    assert [one["role"] for one in made] == ["assistant", "tool"]
    assert Message.of(made[0]).words == "I search.It is 8787."
    assert made[0]["tool_calls"][0]["function"]["name"] == "web_search"
    assert Message.of(made[1]).text == "Ports\nu"
    assert next(one.part for one in Message.of(made[1]).segments if one.quotable) == "content[0]"
    assert not read(message).waits


def test_a_call_of_the_provider_without_its_result_waits_and_the_result_is_loose():
    assert read(assistant(server_call("s"))).waits
    later = read(assistant({"type": "web_search_tool_result", "tool_use_id": "s", "content": []}))
    assert later.messages[0].joined
    assert not later.waits
    assert [msgspec.json.decode(one.raw)["role"] for one in later.messages] == ["assistant", "tool"]


def test_the_tools_that_a_result_loads_are_told():
    reference = {"type": "tool_reference", "tool_name": "WebFetch"}
    assert read(user([result("a", [reference])])).messages[0].loads == {"WebFetch"}


def test_search_results_of_the_client_are_text_in_a_result_of_a_tool():
    passage = {
        "type": "search_result",
        "source": "https://example.com",
        "title": "Ports",
        "content": [text("It listens on 8787.")],
    }
    made = canonical(user([result("a", [passage])]))
    assert Message.of(made[0]).text == "Ports\nhttps://example.com\nIt listens on 8787."
    assert canonical(user([passage])) == [user([passage])]  # no words of the user


def test_blocks_of_unknown_types_stay_whole():
    odd = {"type": "hologram", "depth": {"of": [1, 2]}}
    assert canonical(user([odd, text("See?")])) == [user([odd, text("See?")])]
    (made,) = canonical(assistant(odd, text("I see.")))
    assert made["content"] == [odd, text("I see.")]
    assert canonical(user([result("a", [odd])]))[0]["content"] == [odd]


def test_system_messages_tell_text_or_are_carried():
    told = read({"role": "system", "content": "The list is empty."})
    assert not told.carries
    assert msgspec.json.decode(told.messages[0].raw) == user("The list is empty.")
    tool = {"type": "tool_addition", "tool": {"name": "x"}}
    assert read({"role": "system", "content": [tool]}).carries
    assert read({"role": "system", "content": "e", "output_config": {"effort": "low"}}).carries


def test_a_compaction_block_is_noticed():
    assert read(assistant({"type": "compaction", "content": "so far"})).compacted
    assert read(user([{"type": "compaction", "content": "so far"}, text("go on")])).compacted
    assert not read(assistant(text("so far"))).compacted
    assert not read(user("compaction")).compacted


@pytest.mark.parametrize("first", [b'"x"', b"7", b"[1]", b'[{"type":"text","text":"x"}]'])
def test_of_two_contents_the_last_one_counts(first):
    call = called("toolu_1", "Read", {"b": 1, "a": 2})
    sent = b'"content":' + first + b',"content":[' + msgspec.json.encode(call) + b"]"
    known = posted_message.read(b'{"role":"assistant",' + sent + b"}", "messages[0]")
    assert known.messages == read(assistant(call)).messages


@pytest.mark.parametrize(
    ("message", "role", "texts"),
    [
        ("hello", "other", ["hello"]),
        ({"role": "human", "content": "hello"}, "other", ["hello"]),
        ({"role": "user", "content": {"a": 1}}, "user", ['{"a":1}']),
        ({"role": "user", "content": ["a", {"text": "b"}, 5]}, "user", ["ab5"]),
        (user([result("t", {"temp": 4})]), "user", ['{"temp":4}']),
        (user([result("t", ["a", {"k": 4}]), "go"]), "user", ['a{"k":4}', "go"]),
        (user([{"type": "tool_result", "content": "r"}]), "user", ["r"]),
        (user([{"type": "tool_result", "tool_use_id": 5, "content": 7}]), "user", ["7"]),
        (assistant({"type": "tool_use", "input": "x"}), "assistant", ['\nunknown "x"']),
        (assistant({"type": "tool_use", "id": 7, "name": "a"}), "assistant", ["\na "]),
        (
            assistant({"type": "web_search_tool_result", "content": [{"title": "T"}]}),
            "assistant",
            ["\nweb_search ", "T"],
        ),
        (assistant(result("t", "r"), text("x")), "assistant", ["x\ntool_result ", "r"]),
        ({"role": "user", "content": "a", "seed": 1 << 70}, "user", ["a"]),
        (assistant(called("t", "n", {"a": 1 << 70})), "assistant", [f'\nn {{"a":{1 << 70}}}']),
    ],
)
def test_what_some_server_accepts_is_read(message, role, texts):
    raw = encode(message)
    made = posted_message.read(raw, "messages[0]")
    assert made.role == role
    assert [Message(one.raw or raw).text for one in made.messages] == texts


@pytest.mark.parametrize(
    "raw",
    [
        b'{"role":"user","content":"\xff"}',
        b'{"role":"user","content":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
    ids=["not UTF-8", "nested"],
)
def test_what_is_no_sound_json_is_refused(raw):
    with pytest.raises(BadRequest):
        posted_message.read(raw, "messages[0]")


@pytest.mark.parametrize("content", [None, "", []])
def test_messages_without_content_are_read(content):
    for role in ("user", "assistant", "system"):
        assert len(read({"role": role, "content": content}).messages) == 1
