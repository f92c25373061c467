"""Check what an answer sends by the Messages API.
`tests/properties/dialects/test_messages_dialect.py` looks at any history."""

from __future__ import annotations

import dataclasses
import json

import msgspec
import pytest

from memtree.config import Settings
from memtree.context.answer import Answer, KeptMessage, MemoryText
from memtree.context.answer_state import State
from memtree.dialects.messages_history import fitted as fitted_marker
from memtree.dialects.openai_chat import PlacedMemories
from memtree.history import json_body
from memtree.history.conversation_beginning import NONE, Preamble
from memtree.text.memory_lines import MemoryLine, MemoryVersion
from memtree_proxy.dialects.messages_dialect import AnthropicMessages
from tests.wire.messages.messages_rules import broken
from tests.wire.messages.messages_shorthand import (
    assistant,
    called,
    result,
    server_call,
    text,
    thinking,
    user,
)

MARK = {"type": "ephemeral"}
REMINDER = text("<system-reminder>rules</system-reminder>")
ENVIRONMENT = {"role": "system", "content": "# Environment", "output_config": {"effort": "low"}}
MEMORY = MemoryText("<context_memory>so far</context_memory>")


def read(messages, **fields):
    body = json_body.split(json.dumps({"messages": messages, **fields}).encode())
    return AnthropicMessages(Settings()).read(body, "t")


def answer(*items, begun=0) -> Answer:
    return Answer(
        State.PACKED, True, tuple(items), b"", raw_tokens=9, sent_tokens=9, system_tokens=0,
        begun=begun,
    )  # fmt: skip


def kept(*indexes) -> tuple[KeptMessage, ...]:
    return tuple(KeptMessage(index) for index in indexes)


def sent(history, *items, begun=0, **more) -> list[dict]:
    changed = history.fields(answer(*items, begun=begun), **more)
    return json.loads(changed["messages"])


def memories(said="Likes tea.") -> PlacedMemories:
    return PlacedMemories((MemoryLine(MemoryVersion("m", 1), said),), 9)


def memory_block() -> dict:
    return text(MEMORY.text)


TALK = [
    user([REMINDER, text("one")]),
    ENVIRONMENT,
    assistant(thinking("t1"), text("two"), called("a", "Read", {})),
    user([result("a", "x"), text("three")]),
    assistant(thinking("t2"), text("four")),
    user("five"),
]  # canonical: 0 user, 1 system, 2 assistant, 3 tool, 4 user, 5 assistant, 6 user


def test_memory_stands_in_the_first_kept_message_of_the_user():
    history = read(TALK)
    made = sent(history, *kept(1), MEMORY, *kept(6))
    assert made == [user([memory_block(), text("five")]), ENVIRONMENT]
    assert made == sent(read([*TALK[:5], user([text("five")])]), *kept(1), MEMORY, *kept(6))


def test_memory_stands_alone_before_a_message_of_the_assistant():
    made = sent(read(TALK), *kept(1), MEMORY, *kept(5, 6))
    assert made == [user([memory_block()]), ENVIRONMENT, *TALK[4:]]


def test_kept_messages_are_the_posted_bytes():
    raw = (
        b'{"messages": [{"role":"user","content":"a"},\n  {"content" : [{"type":"tool_use",'
        b'"id":"t","name":"n","input":{ "k" :1e2}}],"role":"assistant"}, {"role":"user",'
        b'"content":[{"tool_use_id":"t","type":"tool_result","content":"\\u00e9"}]} ]}'
    )
    history = AnthropicMessages(Settings()).read(json_body.split(raw), "t")
    made = history.fields(answer(MEMORY, *kept(1, 2)))["messages"]
    assert made.endswith(
        b',{"content" : [{"type":"tool_use","id":"t","name":"n","input":{ "k" :1e2}}],'
        b'"role":"assistant"},{"role":"user","content":[{"tool_use_id":"t","type":"tool_result",'
        b'"content":"\\u00e9"}]}]'
    )


def test_the_clients_own_context_stands_before_the_memory_without_its_marker():
    messages = [user([{**REMINDER, "cache_control": MARK}, text("one")]), *TALK[1:]]
    memory = dataclasses.replace(MEMORY, preamble=Preamble("", ((0, 0),), 4))
    made = sent(read(messages), *kept(1), memory, *kept(6))
    assert made[0]["content"] == [REMINDER, memory_block(), text("five")]
    memory = dataclasses.replace(MEMORY, preamble=Preamble("<a>b</a>", (), 4))
    made = sent(read(TALK), *kept(1), memory, *kept(6))
    assert made[0]["content"][:2] == [text("<a>b</a>"), memory_block()]


def test_the_context_is_found_behind_results_in_the_same_message():
    messages = [*TALK[:3], user([result("a", "x"), REMINDER]), *TALK[4:]]
    memory = dataclasses.replace(MEMORY, preamble=Preamble("", ((4, 0),), 4))
    assert sent(read(messages), *kept(1), memory, *kept(6))[0]["content"][0] == REMINDER


def test_a_marker_stands_on_the_memory_text_alone():
    messages = [*TALK[:5], user([{**text("five"), "cache_control": MARK}])]
    memory = dataclasses.replace(MEMORY, as_parts=True, cache_marker={**MARK, "ttl": "1h"})
    made = sent(read(messages), *kept(1), memory, *kept(6))
    assert made[0]["content"][0] == {**memory_block(), "cache_control": {**MARK, "ttl": "1h"}}
    four = [{**text("s"), "cache_control": MARK}] * 3
    made = sent(read(messages, system=four), *kept(0, 2), memory, *kept(7))
    assert made[0]["content"][0] == memory_block()


def test_thinking_from_before_the_fold_goes_and_the_rest_stays():
    history = read(TALK)
    made = sent(history, *kept(1), MEMORY, *kept(2, 3, 4, 5, 6), begun=5)
    assert made[2]["content"] == TALK[2]["content"][1:]
    assert made[4] == TALK[4]
    made = sent(history, *kept(1), MEMORY, *kept(2, 3, 4, 5, 6), begun=7)
    assert made[4]["content"] == [text("four")]


def test_thinking_that_every_turn_must_begin_with_stays():
    history = read(TALK, thinking={"type": "enabled", "budget_tokens": 2_000})
    made = sent(history, *kept(1), MEMORY, *kept(5, 6), begun=7)
    assert made[2] == TALK[4]


def test_thinking_that_was_refused_goes_whatever_its_type():
    history = read(TALK, thinking={"type": "enabled", "budget_tokens": 2_000})
    changed = history.fields(None, no_thinking_before=5)["messages"]
    expected = [*TALK[:2], assistant(*TALK[2]["content"][1:]), *TALK[3:]]
    assert json.loads(changed) == expected
    made = sent(history, *kept(1), MEMORY, *kept(5, 6), no_thinking_before=9)
    assert made[2]["content"] == [text("four")]


def test_a_message_of_thinking_alone_goes_with_it_and_its_neighbours_are_one():
    messages = [
        user("a"),
        assistant(text("b")),
        user("c"),
        ENVIRONMENT,
        assistant(thinking("t")),
        user([text("d")]),
        assistant(text("e")),
        user("f"),
    ]
    made = sent(read(messages), MEMORY, *kept(1, 2, 3, 4, 5, 6, 7), begun=8)
    assert made[2:4] == [user([text("c"), text("d")]), ENVIRONMENT]
    assert made[4:] == messages[6:]
    changed = json.loads(read(messages).fields(None, no_thinking_before=8)["messages"])
    assert changed == [*messages[:2], *made[2:]]


def test_a_recall_block_stands_behind_the_results_and_before_the_words():
    history = read(TALK[:4])
    made = sent(history, *kept(1), MEMORY, *kept(2, 3), KeptMessage(4, "recalled\n\n"))
    assert made[3]["content"] == [result("a", "x"), text("recalled\n\n"), text("three")]


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        ({"content": "x"}, [text("x")]),
        ({"content": [text("x"), text("y")], "is_error": True}, [text("x"), text("y")]),
        ({"content": ""}, []),
        ({}, []),
    ],
)
def test_a_block_behind_a_result_stands_within_the_last_result(given, parts):
    """Text beside the results would end the round for the server."""
    calls = assistant(called("a", "n", {}), called("b", "n", {}))
    last = {"type": "tool_result", "tool_use_id": "b", **given}
    history = read([user("go"), calls, user([result("a", "x"), last])])
    made = sent(history, MEMORY, *kept(1, 2), KeptMessage(3, "\n\nrecalled", behind=True))
    content = [*parts, text("\n\nrecalled")]
    assert made[-1] == user([result("a", "x"), {**last, "content": content}])


def test_recalled_text_never_stands_in_a_system_message():
    note = {"role": "system", "content": "list: empty"}
    history = read([*TALK[:3], user([result("a", "x")]), note])
    made = sent(history, *kept(1), MEMORY, *kept(2, 3), KeptMessage(4, "recalled"))
    assert made[3:] == [user([result("a", "x")]), note]


def test_nothing_of_ours_stands_beside_a_tool_of_the_provider_at_work():
    messages = [
        user("a"),
        assistant(text("b")),
        user("c"),
        assistant(server_call("s"), called("t", "n", {})),
        user([result("t", "r"), text("d")]),
    ]
    history = read(messages)
    made = sent(history, MEMORY, *kept(2, 3, 4), KeptMessage(5, "recalled"))
    assert made[-1] == messages[-1]
    assert history.fields(None, memories()) == {}


def test_rounds_that_load_tools_stand_before_the_kept_ones():
    load = [
        assistant(called("l", "ToolSearch", {})),
        user([result("l", [{"type": "tool_reference", "tool_name": "WebFetch"}])]),
    ]
    messages = [*TALK[:2], *load, *TALK[2:]]
    made = sent(read(messages), *kept(1), MEMORY, *kept(2, 3), *kept(8))
    assert made == [
        user([memory_block()]),
        ENVIRONMENT,
        load[0],
        user([*load[1]["content"], text("five")]),
    ]
    made = sent(read(messages), *kept(1), MEMORY, *kept(2, 3), *kept(7, 8))
    assert made[2:] == [*load, *TALK[4:]]


def test_a_message_is_sent_whole_where_any_part_of_it_is_kept():
    made = sent(read(TALK), *kept(1), MEMORY, *kept(2, 3), *kept(5, 6))
    assert made[3] == TALK[3]


def test_a_turn_that_must_begin_with_thinking_does():
    load = [
        assistant(called("l", "ToolSearch", {})),
        user([result("l", [{"type": "tool_reference", "tool_name": "WebFetch"}])]),
    ]
    work = [assistant(thinking("t"), called("w", "Read", {})), user([result("w", "x")])]
    enabled = {"thinking": {"type": "enabled", "budget_tokens": 2_000}}
    history = read([*TALK[:2], *load, *TALK[4:], *work], **enabled)
    # 0 user, 1 system, 2 and 3 load, 4 assistant, 5 user, 6 and 7 work
    made = sent(history, *kept(1), MEMORY, *kept(2, 3), *kept(6, 7), begun=8)
    assert made == [user([memory_block()]), ENVIRONMENT, *work]
    made = sent(history, *kept(1), MEMORY, *kept(2, 3), *kept(5, 6, 7), begun=8)
    assert made == [user([memory_block(), text("five")]), ENVIRONMENT, *work]
    made = sent(history, *kept(1), MEMORY, *kept(2, 3), *kept(4, 5, 6, 7), begun=8)
    assert made[2:] == [*load, *TALK[4:], *work]
    thought = [assistant(thinking("l"), *load[0]["content"]), load[1]]
    history = read([*TALK[:2], *thought, *TALK[4:], *work], **enabled)
    made = sent(history, *kept(1), MEMORY, *kept(2, 3), *kept(6, 7), begun=8)
    assert made[2:] == [*thought, *work]
    history = read([*TALK[:2], *load, *TALK[4:], *work, *TALK[4:]], **enabled)
    made = sent(history, *kept(1), MEMORY, *kept(2, 3), *kept(8, 9), begun=10)
    assert made[2:] == [*load, *TALK[4:]]
    made = sent(history, *kept(1), MEMORY, *kept(2, 3), *kept(6, 7, 8, 9), begun=8)
    assert made[2:] == [*work, *TALK[4:]]  # as it was when its epoch began


def test_system_messages_keep_their_place_among_rounds_that_load_tools():
    load = [
        assistant(called("l", "ToolSearch", {})),
        user([result("l", [{"type": "tool_reference", "tool_name": "WebFetch"}])]),
    ]
    drops = {"role": "system", "content": [{"type": "tool_removal", "tool_name": "WebFetch"}]}
    messages = [*TALK[:2], *load, drops, *TALK[2:]]
    made = sent(read(messages), *kept(1, 4), MEMORY, *kept(2, 3), *kept(9))
    assert made[:3] == [user([memory_block()]), ENVIRONMENT, load[0]]
    assert made[3:] == [user([*load[1]["content"], text("five")]), drops]
    made = sent(read(messages), *kept(1, 4), MEMORY, *kept(2, 3), *kept(8, 9))
    assert made[2:] == [*load, drops, *TALK[4:]]


def test_later_system_messages_that_change_something_are_carried_and_notes_are_not():
    note, adds = {"role": "system", "content": "list"}, {"role": "system", "content": [text("t")]}
    adds["content"].append({"type": "tool_removal", "tool_name": "x"})
    messages = [user("a"), assistant(text("b")), user("c"), note, adds, *TALK[4:], *TALK[4:]]
    made = sent(read(messages), *kept(4), MEMORY, *kept(7, 8), begun=9)
    assert made == [user([memory_block()]), adds, assistant(text("four")), user("five")]


def test_without_a_memory_text_the_first_message_is_still_the_users():
    made = sent(read(TALK), *kept(1), *kept(5, 6))
    assert [message["role"] for message in made] == ["user", "system", "assistant", "user"]
    assert made[2:] == TALK[4:]
    assert sent(read(TALK), *kept(1), *kept(6)) == [user("five"), ENVIRONMENT]


def test_memories_stand_before_the_newest_words_and_all_other_bytes_stay():
    raw = b'[ {"role":"user","content":"a"} ,{"role":"assistant","content":"b"},\n' + (
        b'{"role":"user","content":[{"type":"text","text":"a"}]}, '
        b'{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{}}]},'
        b'{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]} ]'
    )
    body = json_body.split(b'{"messages":' + raw + b"}")
    history = AnthropicMessages(Settings()).read(body, "t")
    made = history.fields(None, memories())["messages"]
    block = msgspec.json.encode(json.loads(made)[2]["content"][0])
    assert b"Likes tea." in block
    old = b'{"role":"user","content":[{"type":"text"'
    assert made == raw.replace(old, b'{"role":"user","content":[' + block + b',{"type":"text"')
    more = [b'{"role":"assistant","content":"c"}']
    assert history.fields(None, None, more)["messages"] == raw[:-1] + b"," + more[0] + b"]"
    both = history.fields(None, memories(), more, no_thinking_before=3)["messages"]
    assert json.loads(both) == [*json.loads(made), json.loads(more[0])]


@pytest.mark.parametrize(("kind", "stays"), [("adaptive", False), ("enabled", True)])
def test_thinking_of_a_turn_whose_words_had_the_memories_goes(kind, stays):
    talk = [*TALK, assistant(thinking("t3"), called("b", "Read", {})), user([result("b", "y")])]
    made = json.loads(read(talk, thinking={"type": kind}).fields(None, memories())["messages"])
    assert [thought for thought in ("t1", "t2", "t3") if f'"{thought}"' in json.dumps(made)] == (
        ["t1", "t2", "t3"] if stays else ["t3"]
    )
    assert made[5]["content"][1:] == [text("five")]
    assert made[6:] == talk[6:]


def test_a_fold_without_memory_text_takes_the_memories():
    made = sent(read(TALK), *kept(1), *kept(6), memories=memories())
    assert "Likes tea." in made[0]["content"][0]["text"]
    assert made[0]["content"][1:] == [text("five")]


def test_more_stands_behind_everything():
    round_ = [
        msgspec.json.encode(assistant(called("m", "search_context_memory", {}))),
        msgspec.json.encode(user([result("m", "found")])),
    ]
    made = sent(read(TALK), *kept(1), MEMORY, *kept(6), more=round_)
    assert made[2:] == [json.loads(one) for one in round_]


@pytest.mark.parametrize("begun", [0, 7])
def test_what_is_sent_keeps_to_the_rules(begun):
    preamble = dataclasses.replace(MEMORY, preamble=Preamble("", ((0, 0),), 4))
    for start in (2, 5, 6):
        for memory in (MEMORY, preamble):
            made = sent(read(TALK), *kept(1), memory, *kept(*range(start, 7)), begun=begun)
            assert not broken({"model": "claude-sonnet-5-5", "max_tokens": 9, "messages": made})
    assert MEMORY.preamble == NONE


# -- The marker of the memory text among those of the client.


SHORT = {"type": "ephemeral"}
LONG = {"type": "ephemeral", "ttl": "1h"}


def block(marker) -> dict:
    return {"type": "text", "text": "x", "cache_control": marker}


def system(*found) -> bytes:
    return json.dumps([block(one) for one in found]).encode()


def message(*found) -> bytes:
    return json.dumps({"role": "user", "content": [block(one) for one in found]}).encode()


@pytest.mark.parametrize(
    ("marker", "before", "behind", "top", "fitted"),
    [
        (None, [], [], None, None),
        (SHORT, [], [], None, SHORT),
        (SHORT, [SHORT], [SHORT], None, SHORT),
        (LONG, [LONG], [SHORT], None, LONG),
        # four at most, the one beside the messages counted
        (SHORT, [SHORT, SHORT], [SHORT], None, SHORT),
        (SHORT, [SHORT, SHORT], [SHORT, SHORT], None, None),
        (SHORT, [SHORT, SHORT], [SHORT], SHORT, None),
        # an hour never behind five minutes
        (LONG, [SHORT], [SHORT], None, SHORT),
        (SHORT, [LONG], [LONG], None, LONG),
        (SHORT, [], [], LONG, LONG),
        (LONG, [SHORT], [LONG], None, None),
    ],
)
def test_a_marker_is_fitted_between_the_others_or_left_out(marker, before, behind, top, fitted):
    made = fitted_marker(marker, [system(*before)], [message(*behind)], top)
    assert made == fitted


def test_markers_in_results_count_and_what_only_looks_like_one_does_not():
    inner = {"type": "tool_result", "tool_use_id": "a", "content": [block(SHORT)] * 4}
    raw = json.dumps({"role": "user", "content": [inner]}).encode()
    assert fitted_marker(SHORT, [], [raw], None) is None
    call = {"type": "tool_use", "id": "a", "name": "n", "input": {"cache_control": LONG}}
    raw = json.dumps({"role": "assistant", "content": [call] * 5}).encode()
    assert fitted_marker(SHORT, [], [raw], None) == SHORT
    said = json.dumps({"role": "user", "content": '"cache_control"'}).encode()
    assert fitted_marker(SHORT, [b""], [said], None) == SHORT
