"""Posted messages and requests of the Messages API as the core's."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest

from memtree.dialects import messages_blocks, messages_history, messages_request
from memtree.dialects.messages_history import MessagesHistory
from memtree.dialects.messages_request import ASIDE, JOINED, Cache, KnownRequests, TranslatedList
from memtree.dialects.translated_messages import RawItems, raw_items
from memtree.errors import BadRequest
from memtree.history import json_body
from memtree.history.address_chain import digest
from memtree.history.chat_history import price
from memtree.history.message import Message, Volatile
from memtree.history.message_list import EarlierList
from memtree.history.posted_json import encode
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

# ------------------------------------------------------------------------------------------------
# A posted message of the Messages API as the core's.


def canonical(message: dict) -> list[dict]:
    raw = msgspec.json.encode(message)
    read = messages_blocks.read(raw, "messages[0]")
    return [msgspec.json.decode(one.raw or raw) for one in read.messages]


def digests(*messages: dict) -> list[bytes]:
    return [digest(Message.of(one), Volatile()) for one in messages]


def read(message: dict) -> messages_blocks.PostedMessage:
    return messages_blocks.read(msgspec.json.encode(message), "messages[0]")


def test_words_of_the_user_are_the_posted_bytes():
    assert read(user("hello")).messages == (messages_blocks.CanonicalMessage(),)
    assert read(user([text("a"), text("b")])).messages == (messages_blocks.CanonicalMessage(),)
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
    made = messages_blocks.read(raw, "messages[0]").messages[0].raw
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
    known = messages_blocks.read(b'{"role":"assistant",' + sent + b"}", "messages[0]")
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
    made = messages_blocks.read(raw, "messages[0]")
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
        messages_blocks.read(raw, "messages[0]")


@pytest.mark.parametrize("content", [None, "", []])
def test_messages_without_content_are_read(content):
    for role in ("user", "assistant", "system"):
        assert len(read({"role": role, "content": content}).messages) == 1


# ------------------------------------------------------------------------------------------------
# A request, its canonical messages, and what it begins with.


TALK = [user("a"), assistant(called("t", "n", {})), user([result("t", "r")]), assistant(text("b"))]


class Client:
    """Posts requests one after the other, each with a beginning that is known."""

    def __init__(self) -> None:
        self.cache, self.known = Cache(1), KnownRequests()
        self.number = 0

    def posts(self, talk: list[dict], common: int, tenant: str = "t", **more) -> MessagesHistory:
        body = json_body.split(msgspec.json.encode({"messages": talk, **more}))
        raws = raw_items(body, "messages")
        assert raws is not None
        raws = dataclasses.replace(raws, earlier=EarlierList(self.number, common))
        self.number = raws.number
        return messages_history.read_items(body, raws, tenant, self.cache, self.known)


def test_a_longer_history_begins_with_the_one_before():
    client = Client()
    first = client.posts(TALK[:3], 0, system="s")
    assert first.messages.earlier is None
    second = client.posts(TALK, 3, system="s")
    assert second.messages.earlier == EarlierList(first.messages.number, 4)
    again = client.posts(TALK, 4, system="s")
    assert again.messages.number == second.messages.number
    longer = client.posts([*TALK, user("c")], 4, system="s")
    assert longer.messages.earlier == EarlierList(second.messages.number, 5)


def test_with_another_system_prompt_it_begins_otherwise():
    client = Client()
    client.posts(TALK[:3], 0, system="s")
    assert client.posts(TALK, 3, system="t").messages.earlier is None
    assert client.posts(TALK, 3).messages.earlier is None


def test_where_messages_get_tied_to_those_before_the_beginning_ends():
    client = Client()
    enabled = {"thinking": {"type": "enabled"}}
    first = client.posts(TALK[:3], 0, **enabled)
    assert [message.joined for message in first.messages] == [False, True, False]
    second = client.posts([*TALK, user("c")], 3, **enabled)
    assert second.messages.earlier == EarlierList(first.messages.number, 1)
    assert not any(message.joined for message in second.messages)


def test_nothing_is_known_of_another_tenant_or_after_a_deletion():
    client = Client()
    client.posts(TALK, 0)
    assert client.posts(TALK, 4, "other").messages.earlier is None
    client.posts(TALK, 0)
    client.known.forget()
    assert client.posts(TALK, 4).messages.earlier is None
    assert client.posts(TALK, 4, thread={"id": "x"}).messages.earlier is None


def test_parts_are_found_where_they_were_posted():
    request = Client().posts([*TALK, user([text("c"), text("d")])], 0, system="s").request
    assert [request.place(index) for index in range(len(request))] == [-1, 0, 1, 2, 3, 4]
    assert request.part(0).place == -1
    assert request.part(5).blocks == ()
    assert request.first_of(4) == 5


# ------------------------------------------------------------------------------------------------
# Positions and marks of the canonical messages of a posted list. What is read from a known
# beginning on is what is read anew: `tests/properties/dialects/test_translating_on.py`.


NOTE = {"role": "system", "content": "n"}
TRANSLATION_TALK = [
    user("a"),
    NOTE,
    assistant(text("b"), called("t", "n", {})),
    user([result("t", "r"), text("c")]),
    NOTE,
    assistant(server_call("s")),
    user("d"),
]


class Posted:
    """Record of which posted messages were looked at."""

    def __init__(self, talk: list[dict]) -> None:
        body = json_body.split(msgspec.json.encode({"messages": talk}))
        raws = raw_items(body, "messages")
        assert raws is not None
        self.raws: RawItems = raws
        self.looked: list[int] = []

    def __getitem__(self, place: int) -> messages_blocks.PostedMessage:
        self.looked.append(place)
        return messages_blocks.read(self.raws[place], f"messages[{place}]")


def translated(
    talk: list[dict], known: TranslatedList = messages_request.NOTHING, start: int = 0
) -> tuple[TranslatedList, list[int]]:
    posted = Posted(talk)
    made = messages_request.extended(known, start, posted.raws, posted)
    return made, posted.looked


def test_where_each_canonical_message_stands():
    made, _ = translated(TRANSLATION_TALK)
    assert list(made.firsts) == [0, 1, 2, 3, 5, 6, 7, 8]
    assert [made.place(index) for index in range(8)] == [0, 1, 2, 3, 3, 4, 5, 6]
    assert list(made.joined) == [0, 0, 0, 0, JOINED, JOINED | ASIDE, 0, 0]
    assert len(made.sizes) == len(made.firsts)
    assert made.newest_words() is None  # a tool of the provider is at work
    assert translated(TRANSLATION_TALK[:5])[0].newest_words() == 3
    assert translated(TRANSLATION_TALK[2:3])[0].newest_words() is None


def test_the_turn_that_is_open():
    assert translated(TRANSLATION_TALK[:3])[0].open_turn() == 3
    working = [*TRANSLATION_TALK[:3], user([result("t", "r")]), NOTE]
    assert translated(working)[0].open_turn() == 0
    assert translated(working[2:])[0].open_turn() == -1


@pytest.mark.parametrize("start", range(len(TRANSLATION_TALK) + 1))
def test_only_what_is_new_is_looked_at(start):
    known, _ = translated(TRANSLATION_TALK)
    made, looked = translated([*TRANSLATION_TALK[:start], user("e")], known, start)
    assert made == translated([*TRANSLATION_TALK[:start], user("e")])[0]
    # And the message whose calls may be answered, or that a tool interrupted.
    assert set(looked) - {start} <= {start - 1, 2}


def test_messages_of_unknown_roles_are_no_talk():
    made, _ = translated([user("a"), {"role": "human", "content": "b"}, assistant("c")])
    assert list(made.firsts) == [0, 1, 2, 3]
    assert made.newest_words() == 0


def test_it_takes_what_it_says():
    known, _ = translated(TRANSLATION_TALK * 50)
    arrays = (known.firsts, known.sizes, known.loading)
    held = len(known.marks) + len(known.joined) + sum(len(a) * a.itemsize for a in arrays)
    assert held < known.nbytes < 3 * held
