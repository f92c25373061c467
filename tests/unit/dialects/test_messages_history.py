"""A posted body of the Messages API as a history."""

from __future__ import annotations

import json

import pytest

from memtree.config import Settings
from memtree.context.answer_state import Reason
from memtree.errors import BadRequest
from memtree.history import chat_history as core
from memtree.history import json_body, side_requests
from memtree.history.chat_history import read as read_history
from memtree.history.message import Message, Volatile
from memtree_proxy.dialects.messages_dialect import AnthropicMessages
from tests.wire.clean import messages_request
from tests.wire.messages.messages_shorthand import (
    assistant,
    called,
    result,
    server_call,
    text,
    thinking,
    user,
)

TITLE = (
    "Generate a concise, sentence-case title (3-7 words) that captures the main topic or goal of "
    "this coding session. The title should be clear enough that the user recognizes the session."
)


def read(**fields):
    return AnthropicMessages(Settings()).read(posted(**fields), "t")


def posted(**fields) -> json_body.Body:
    return json_body.split(json.dumps({"messages": [user("hi")], **fields}).encode())


def roles(found) -> list[str]:
    return [message.role for message in found.messages]


def test_an_agents_request_is_read_in_order():
    found = read(**messages_request())
    assert roles(found) == [
        *("system", "user", "system", "assistant", "tool", "tool", "assistant", "tool", "user"),
        *("assistant", "user"),
    ]
    words = [message for message in found.messages if message.joined]
    assert [message.words for message in words] == ["And faster."]
    assert found.passes == Reason.NONE
    assert not found.side
    assert found.fields(None) == {}


def test_each_block_of_the_system_is_a_line_and_the_bill_is_none():
    billing = text("x-anthropic-billing-header: cc_version=2.1; cch=00000;")
    found = read(system=[billing, text("You are an agent."), text(TITLE)])
    assert found.messages[0].words == f"You are an agent.\n{TITLE}\n"
    assert side_requests.is_side(found.messages, tools=False)
    assert roles(read(system=[billing])) == ["user"]
    assert read(system="Be brief.").messages[0].words == "Be brief."
    assert roles(read(system="")) == ["user"]
    assert roles(read(system=None)) == ["user"]


def test_system_messages_behind_the_first_of_the_user_are_the_systems():
    note, tools = {"role": "system", "content": "list: empty"}, {"type": "tool_addition"}
    adds = {"role": "system", "content": [tools]}
    found = read(
        messages=[
            user("a"),
            note,
            note,
            assistant(text("b")),
            user("c"),
            note,
            adds,
            assistant(text("d")),
            user("e"),
        ]
    )
    assert roles(found) == [
        *("user", "system", "system", "assistant", "user", "user", "system", "assistant", "user")
    ]
    assert found.messages[5].joined
    assert found.messages[5].aside
    assert found.messages[5].words == "list: empty"


def test_notes_behind_results_are_never_cut_off_from_them():
    found = read(
        messages=[
            user("a"),
            assistant(called("t", "n", {})),
            user([result("t", "r")]),
            {"role": "system", "content": [text("list: empty")], "clear_at": "next_user_message"},
        ]
    )
    assert roles(found) == ["user", "assistant", "tool", "user"]
    assert found.messages[3].joined
    assert found.messages[3].aside


def test_the_result_of_a_call_that_another_tool_interrupted_stays_behind_it():
    done = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
    found = read(
        messages=[
            user("a"),
            assistant(server_call("s"), called("t", "n", {})),
            user([result("t", "r")]),
            assistant(done, text("b")),
        ]
    )
    assert roles(found) == ["user", "assistant", "tool", "assistant", "tool"]
    assert [message.joined for message in found.messages] == [False, False, False, True, False]
    assert len(core.read("t", found.messages, Volatile())) == 5


def test_an_open_turn_is_not_cut_before_a_message_that_does_not_begin_with_thinking():
    work = [assistant(called("a", "n", {})), user([result("a", "r")])]
    thought = [assistant(thinking("t"), called("b", "n", {})), user([result("b", "r")])]
    messages = [user("a"), *work, *thought, *work]
    enabled = {"type": "enabled", "budget_tokens": 2_000}
    joined = [message.joined for message in read(messages=messages, thinking=enabled).messages]
    assert joined == [False, True, False, False, False, True, False]
    for other in (
        read(messages=messages, thinking={"type": "adaptive"}),
        read(messages=[*messages, assistant(text("b")), user("c")], thinking=enabled),
        read(messages=messages),
    ):
        assert not any(message.joined for message in other.messages)


def test_one_conversation_has_one_address_on_chat_and_here():
    found = read(
        system="Be brief.",
        messages=[
            user([text("<system-reminder>now</system-reminder>"), text("Read "), text("it.")]),
            assistant(text("So."), called("toolu_1", "Read", {"path": "a", "n": 1.0})),
            user([{**result("toolu_1", [text("x")]), "is_error": False}, text("And?")]),
            assistant(text("Done.")),
        ],
    )
    call = {"name": "Read", "arguments": '{"path": "a", "n": 1}'}
    chat = [
        {"role": "user", "content": "Read it."},
        {
            "role": "assistant",
            "content": "So.",
            "tool_calls": [{"id": "call_1", "type": "function", "function": call}],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "x"},
        {"role": "user", "content": "And?"},
        {"role": "assistant", "content": "Done."},
    ]
    one = core.read("t", found.messages, Volatile())
    other = core.read("t", [Message.of(message) for message in chat], Volatile())
    assert one.addresses == other.addresses
    assert one.rounds == other.rounds


def test_tools_count_and_markers_beside_the_messages_are_told():
    marked = {"name": "a", "input_schema": {}, "cache_control": {"type": "ephemeral"}}
    found = read(tools=[marked], cache_control={"type": "ephemeral"})
    assert found.markers == 2
    assert found.tools_tokens > 10
    assert read(cache_control=None).markers == 0


@pytest.mark.parametrize(
    "fields",
    [
        {"thread": {"type": "continue", "id": "x"}},
        {"thread": {"type": "continue"}, "messages": [user([result("elsewhere", "r")])]},
        {"messages": [assistant({"type": "compaction", "content": "so far"}), user("go on")]},
    ],
)
def test_what_lies_on_the_server_passes(fields):
    assert read(**fields).passes == Reason.SERVER_STATE
    assert read(**{**fields, "thread": None, "messages": [user("a")]}).passes == Reason.NONE


@pytest.mark.parametrize(
    ("fields", "side"),
    [
        ({"max_tokens": 0}, True),
        ({"max_tokens": 0, "messages": [user("a"), assistant(text("b")), user("c")]}, True),
        ({"max_tokens": 1}, True),
        ({"max_tokens": 1, "messages": [user("a"), assistant(text("b")), user("c")]}, False),
        ({"max_tokens": 2}, False),
        ({"max_tokens": True}, False),
        ({"max_tokens": "1"}, False),
        ({"compaction": {"type": "summarize"}}, True),
        ({"compaction": None}, False),
        ({}, False),
    ],
)
def test_a_client_that_tries_something_out_asks_for_itself(fields, side):
    assert read(**fields).side is side


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"messages": "hi"}, "messages"),
        ({"messages": []}, "messages"),
    ],
)
def test_what_cannot_be_understood_is_named_by_its_place(fields, place):
    with pytest.raises(BadRequest) as refused:
        read(**fields)
    assert refused.value.param == place


@pytest.mark.parametrize(
    ("system", "text"),
    [(5, "5"), ({"a": 1}, '{"a": 1}'), ([text("a"), "b", {"type": "text"}], "a\nb\n\n")],
)
def test_a_system_prompt_of_any_form_is_read(system, text):
    assert read(system=system).messages[0].text == text


def test_results_without_a_call_and_late_ones_are_read():
    messages = [
        user([result("z", "orphan")]),
        assistant(called("t", "n", {})),
        user("wait"),
        user([result("t", "late"), result("u", "r")]),
        assistant(text("b")),
    ]
    found = read_history("t", read(messages=messages).messages, Volatile())
    assert [fact.role for fact in found.facts] == [
        "tool", "assistant", "user", "tool", "tool", "assistant"
    ]  # fmt: skip
    assert found.cuts == (0, 1, 5)


def test_too_many_messages_are_refused():
    body = posted(messages=[user("a"), assistant(text("b")), user("c")])
    dialect = AnthropicMessages(Settings())
    assert len(dialect.read(body, "t", 3).messages) == 3
    with pytest.raises(BadRequest):
        dialect.read(body, "t", 2)


def test_a_history_is_read_the_same_from_what_is_kept_of_it():
    dialect = AnthropicMessages(Settings())
    body = posted(**messages_request())
    first, again = dialect.read(body, "t"), dialect.read(body, "t")
    dialect.forget()
    anew = dialect.read(body, "t")
    for other in (again, anew):
        assert [m.raw for m in other.messages] == [m.raw for m in first.messages]
        assert list(other.request.raws) == list(first.request.raws)
        assert other.request.translated == first.request.translated
