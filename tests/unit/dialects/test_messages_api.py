"""The Messages API: blocks, errors, tools of ours, whole answers."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from memtree import errors
from memtree.config import Settings
from memtree.dialects import messages_blocks
from memtree.dialects.fragment_caches import TranslationCache
from memtree.dialects.messages_request import Cache, PostedMessages
from memtree.dialects.tool_definitions import CHAT_MEMORY_TOOLS, CONTEXT_TOOLS
from memtree.dialects.translated_messages import raw_items
from memtree.errors import MemTreeError
from memtree.history import json_body
from memtree_proxy.dialects.messages_dialect import AnthropicMessages, tool_offer
from memtree_proxy.dialects.messages_stream import MessagesErrors, MessagesReply
from memtree_proxy.dialects.round_calls import ToolRound
from memtree_proxy.dialects.tool_offer import Offer
from memtree_proxy.http import error_response
from tests.wire.messages import messages_events as wire
from tests.wire.messages.messages_events import message, text, tool_use
from tests.wire.messages.messages_rules import broken
from tests.wire.rule_break import Fields

# ------------------------------------------------------------------------------------------------
# Blocks put into raw messages and taken out: the other bytes stay.


MORE = messages_blocks.text_block("more")


def test_more_stands_behind_the_last_result_and_before_all_else():
    raw = (
        b'{"role" : "user","content":[ {"type":"tool_result","tool_use_id":"a"} ,'
        b'{ "type":"image"},{"type":"text","text":"\\u00e9"}], "x":1e2}'
    )
    made = messages_blocks.with_blocks(raw, [MORE])
    assert made == (
        b'{"role" : "user","content":[{"type":"tool_result","tool_use_id":"a"},'
        + MORE
        + b',{ "type":"image"},{"type":"text","text":"\\u00e9"}], "x":1e2}'
    )


def test_a_string_becomes_the_list_that_it_stands_for():
    string = b'{"role":"user","content":"say \\u00e9"}'
    listed = b'{"role":"user","content":[{"type":"text","text":"say \\u00e9"}]}'
    assert messages_blocks.with_blocks(string, [MORE]) == messages_blocks.with_blocks(
        listed, [MORE]
    )


@pytest.mark.parametrize("posted", [b'""', b"null", b"[]"])
def test_an_empty_content_has_the_block_alone(posted):
    made = messages_blocks.with_blocks(b'{"role":"user","content":' + posted + b"}", [MORE])
    assert json.loads(made)["content"] == [{"type": "text", "text": "more"}]


def test_blocks_are_left_out_and_nothing_remains_of_nothing():
    raw = b'{"role":"assistant","content":[{"type":"thinking"},{"type":"text", "text":"a"}]}'
    assert messages_blocks.without_blocks(raw, (0,)) == (
        b'{"role":"assistant","content":[{"type":"text", "text":"a"}]}'
    )
    assert messages_blocks.without_blocks(raw, (0, 1)) == b""


def test_several_messages_are_one_with_the_blocks_of_all():
    one = b'{"role":"user","content":[{"type":"tool_result", "tool_use_id":"a"}]}'
    made = messages_blocks.merged([one, b'{"content":"hi","role":"user"}'])
    assert made == (
        b'{"role":"user","content":[{"type":"tool_result", "tool_use_id":"a"},'
        b'{"type":"text","text":"hi"}]}'
    )


def test_only_the_marker_goes_from_a_block():
    plain = b'{"type":"text", "text":"a"}'
    assert messages_blocks.without_marker(plain) is plain
    marked = b'{"type":"text","cache_control":{"type":"ephemeral"},"text":"\\u00e9"}'
    assert messages_blocks.without_marker(marked) == b'{"type":"text","text":"\\u00e9"}'


def test_a_key_that_stands_twice_counts_as_the_decoder_reads_it():
    raw = b'{"role":"user","content":"old","content":"new"}'
    assert json.loads(messages_blocks.with_blocks(raw, [MORE]))["content"][1]["text"] == "new"


# ------------------------------------------------------------------------------------------------
# The dialect tells what the route has to know of it.


def test_a_sign_of_life_is_an_event_that_clients_know():
    dialect = AnthropicMessages(Settings())
    assert dialect.sign == b'event: ping\ndata: {"type": "ping"}\n\n'
    assert (dialect.name, dialect.history) == ("messages", "messages")


def test_tenants_share_nothing_that_was_read():
    dialect = AnthropicMessages(Settings())
    body = json_body.split(b'{"messages":[{"role":"assistant","content":"a"}]}')
    one, other = (dialect.read(body, tenant).request.posted[0] for tenant in "ab")
    assert one == other
    assert one is not other
    assert dialect.read(body, "a").request.posted[0] is one
    dialect.forget()
    assert dialect.read(body, "a").request.posted[0] is not one


def test_a_message_that_is_looked_at_behind_a_deletion_is_not_kept():
    cache: Cache = TranslationCache(1)
    raws = raw_items(json_body.split(b'{"messages":[{"role":"user","content":"a"}]}'), "messages")
    assert raws
    began = PostedMessages(raws, "t", cache)
    cache.forget()
    assert (began[0].role, cache.nbytes) == ("user", 0)
    assert PostedMessages(raws, "t", cache)[0].role == "user"
    assert cache.nbytes


# ------------------------------------------------------------------------------------------------
# Errors in the words of the Messages API.


FORM = MessagesErrors()
# What Claude Code looks for before it makes its history shorter
TOO_LONG = re.compile(r"^prompt is too long: \d+ tokens > \d+ maximum$")
PING = b'event: ping\ndata: {"type": "ping"}\n\n'
OVERLOADED = b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n'


def named(error: MemTreeError) -> dict[str, Any]:
    return {**error_response.body(error), "status": error.status}


def said(event: bytes) -> dict[str, Any]:
    head, data, *rest = event.decode().split("\n")
    assert (head, rest) == ("event: error", ["", ""])
    return dict(json.loads(data.removeprefix("data: ")))


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (errors.BadRequest("no", param="messages[3]"), 400, "invalid_request_error"),
        (errors.Unauthorized("no"), 401, "authentication_error"),
        (errors.Forbidden("no"), 403, "permission_error"),
        (errors.NotFound("no"), 404, "not_found_error"),
        (error_response.MethodNotAllowed("GET", "POST"), 405, "invalid_request_error"),
        (errors.RequestTimeout("no"), 408, "timeout_error"),
        (errors.RequestTooLarge("no"), 413, "request_too_large"),
        (errors.UnsupportedMedia("no"), 415, "invalid_request_error"),
        (errors.RateLimited("no", retry_after=3), 429, "rate_limit_error"),
        (error_response.internal(), 500, "api_error"),
        (errors.UpstreamFailed("no"), 502, "api_error"),
        (errors.NoUpstream("no"), 503, "overloaded_error"),
        (errors.StoreUnavailable("no"), 503, "overloaded_error"),
        (errors.UpstreamTimeout("no"), 504, "timeout_error"),
    ],
)
def test_each_error_has_the_type_of_its_status(error, status, kind):
    got, body = FORM.answer(error, "req_1")
    told = {"type": kind, "message": error.message}
    assert got == status
    assert json.loads(body) == {"type": "error", "error": told, "request_id": "req_1"}
    assert said(FORM.failed(named(error)))["error"] == told


def test_a_prompt_that_is_too_long_is_a_400_in_the_words_that_clients_look_for():
    error = errors.ContextOverflow(200_000, 219_305)
    status, body = FORM.answer(error)
    told = json.loads(body)["error"]
    assert (status, told["type"]) == (400, "invalid_request_error")
    assert told["message"] == "prompt is too long: 219305 tokens > 200000 maximum"
    assert TOO_LONG.match(told["message"])
    assert said(FORM.failed(named(error)))["error"] == told


def test_a_body_that_is_too_large_is_in_other_words():
    """Claude Code would make its history shorter for nothing."""
    _, body = FORM.answer(errors.RequestTooLarge("The body is larger than 10 bytes."))
    assert not TOO_LONG.match(json.loads(body)["error"]["message"])
    assert json.loads(body)["request_id"] is None


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            {"code": 400, "type": "invalid_request_error", "message": "prompt is too long: 9",
             "details": {"error_code": "x"}},
            {"type": "invalid_request_error", "message": "prompt is too long: 9",
             "details": {"error_code": "x"}},
        ),
        ({"code": 529, "type": "overloaded_error", "message": "Overloaded"},
         {"type": "overloaded_error", "message": "Overloaded"}),
        ({"code": 529, "type": "upstream_error", "message": "m", "param": None},
         {"type": "overloaded_error", "message": "m"}),
        ({"code": "weird", "message": "m"}, {"type": "api_error", "message": "m"}),
        ({"code": 418, "message": "m", "type": 7}, {"type": "invalid_request_error",
                                                   "message": "m"}),
        ({"code": "context_length_exceeded", "message": "of a gateway", "type": "t"},
         {"type": "t", "message": "of a gateway"}),
    ],
)  # fmt: skip
def test_what_an_upstream_said_stays(error, told):
    assert json.loads(FORM.whole(error))["error"] == told


@pytest.mark.parametrize("error", [{}, {"message": None}, {"message": ["x"], "code": None}])
def test_an_error_that_says_nothing_is_still_one(error):
    told = json.loads(FORM.whole(error))
    assert told["type"] == "error"
    assert told["error"]["message"]
    assert told["error"]["type"] == "api_error"


@pytest.mark.parametrize(
    ("beginning", "is_error"),
    [
        (b"", None),
        (b": waiting\n\n", None),
        (PING, None),
        (PING + b": x\n\n" + PING, None),
        (OVERLOADED[:-1], None),
        (OVERLOADED, True),
        (PING + b": x\r\n\r\n" + OVERLOADED, True),
        (b'data: {"error": {"message": "no"}}\n\n', True),
        (b'event: message_start\ndata: {"type": "message_start", "error": null}\n\n', None),
        (b'event: message_start\ndata: {"type": "message_start"}\n\n' + OVERLOADED, True),
        (b'data: {"type": "content_block_start"}\n\n' + OVERLOADED, False),
        (b"data: nonsense\n\n" + OVERLOADED, False),
        (b"data: [1]\n\n", False),
        (b"data: " + b"[" * 100_000 + b"\n\n", False),
    ],
)
def test_a_stream_begins_with_an_error_where_nothing_was_said_before(beginning, is_error):
    assert FORM.first_error(beginning) is is_error


# ------------------------------------------------------------------------------------------------
# Check which requests of the Messages API leave a place for tools of ours.


GROUPS = (CHAT_MEMORY_TOOLS, CONTEXT_TOOLS)
READ: Fields = {
    "name": "Read", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"},
}  # fmt: skip
SERVER: Fields = {"type": "web_search_20250305", "name": "web_search"}


def request(**fields: Any) -> Fields:
    messages = [{"role": "user", "content": "Hello."}]
    return {"model": "claude-opus-5-5", "max_tokens": 9, "messages": messages, **fields}


def made(groups: Any = GROUPS, **fields: Any) -> Offer | None:
    return tool_offer(json_body.split(json.dumps(request(**fields)).encode()), groups)


def tools(found: Offer | None, *, last: bool = False) -> list[Fields]:
    assert found
    return list(json.loads(found.fields(last=last)["tools"]))


def names(found: Offer | None) -> list[str]:
    return [tool["name"] for tool in tools(found)]


OWN = ["save_memory", "recall_memory", "memory_search", "memory_read"]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"tools": []},
        {"tools": None, "tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
        {"stream": True, "output_config": {"effort": "high"}},
        {"mcp_servers": [{"type": "url", "url": "u", "name": "m"}], "container": "c"},
        {"thinking": {"type": "adaptive"}, "context_management": {"edits": []}},
    ],
)
def test_ours_are_offered_alone(fields):
    found = made(**fields)
    assert names(found) == OWN
    assert found
    assert json.loads(found.fields(last=True)["tool_choice"]) == {"type": "none"}


@pytest.mark.parametrize("choice", [None, {"type": "auto"}, {"type": "any"}])
@pytest.mark.parametrize("own", [[READ], [READ, SERVER], [SERVER, READ]])
def test_ours_stand_behind_the_clients_own_whose_bytes_stay(own, choice):
    found = made(tools=own, tool_choice=choice)
    assert found
    posted = json.dumps(own).encode()
    for last in (False, True):
        fields = found.fields(last=last)
        assert fields["tools"].startswith(posted[:-1] + b",")
        assert list(fields) == ["tools"]  # the prompt begins alike, and its tools can be called
    assert names(found) == [*(tool["name"] for tool in own), *OWN]
    assert not any("cache_control" in tool for tool in tools(found)[len(own) :])


def test_the_request_is_one_that_the_api_takes():
    assert broken(request(tools=tools(made(tools=[READ, SERVER]))), frozenset()) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"tool_choice": {"type": "none"}},
        {"tool_choice": {"type": "any"}},  # of no tools
        {"tools": [READ], "tool_choice": {"type": "tool", "name": "Read"}},
        {"tools": [READ], "tool_choice": {"type": "none"}},
        {"tools": [READ], "tool_choice": "auto"},
        {"tools": [READ, 7]},
        {"tools": {"name": "x"}},
        {"output_config": {"format": {"type": "json_schema", "schema": {}}}},
        {"output_format": {"type": "json_schema", "schema": {}}},
        {"stream": "yes"},
        {"thread": {"type": "create"}},
        {"compaction": {"type": "summarize"}},
    ],
)
def test_nothing_is_offered_where_it_would_change_what_the_client_gets(fields):
    assert made(**fields) is None


def test_a_group_is_left_out_where_the_client_has_a_tool_of_its_name():
    assert names(made(tools=[{**READ, "name": "memory_read"}])) == ["memory_read", *OWN[:2]]
    taken = [{**READ, "name": name} for name in ("memory_read", "recall_memory")]
    assert made(tools=taken) is None
    assert made(groups=()) is None


def test_groups_can_be_chosen_later():
    found = made()
    assert found
    only = found.only({CONTEXT_TOOLS})
    assert only
    assert names(only) == OWN[2:]
    assert 0 < only.size < found.size
    assert found.only(()) is None


def test_definitions_are_those_of_chats():
    for tool, function in zip(tools(made()), (f for g in GROUPS for f in g.functions), strict=True):
        assert set(tool) == {"name", "description", "input_schema"}
        assert tool["description"] == function["description"]
        assert tool["input_schema"] == function["parameters"]


# ------------------------------------------------------------------------------------------------
# Answers of the Messages API that are not streamed. What they add up to over several rounds is
# compared with the stream in `test_stream.py`.


OURS = tool_use("memory_search", "toolu_a", query="the limit")
THEIRS = tool_use("Read", "toolu_b", path="a.py")


def raw(*blocks: Any, **changes: Any) -> bytes:
    return json.dumps(message(*blocks, **changes), indent=1).encode()


@pytest.mark.parametrize(
    "body",
    [
        raw(wire.THINKING, text()),
        raw(THEIRS),
        raw(),
        b"",
        b"nonsense",
        b"[]",
        b"{}",
        b'{"content": 7}',
        b'{"content": [7]}',
        b'{"content": [{"type": "tool_use", "name": ["memory_search"]}], "usage": 7}',
        b'{"type": "error", "error": {"type": "overloaded_error", "message": "no"}}',
        b'{"content": ' + b"[" * 100_000,
        b"\xff",
    ],
)
def test_an_answer_without_calls_of_ours_stays_as_it_is(body):
    assert MessagesReply(CONTEXT_TOOLS.names).take(body) is body


def test_the_blocks_of_all_rounds_are_one_answer_byte_for_byte():
    reply = MessagesReply(CONTEXT_TOOLS.names)
    asked = reply.take(raw(wire.THINKING, text("One"), wire.SEARCHED, OURS))
    assert isinstance(asked, ToolRound)
    assert json.loads(asked.items[0])["content"][0] == wire.THINKING
    done = reply.take(raw(wire.THINKING, text("1e2 \u00e9"), id="msg_2", container={"id": "c"}))
    assert isinstance(done, bytes)
    answer = json.loads(done)
    assert answer["content"] == [wire.THINKING, text("One"), wire.SEARCHED, text("1e2 \u00e9")]
    assert (answer["id"], answer["stop_reason"]) == ("msg_1", "end_turn")
    assert answer["container"] == {"id": "c"}
    assert answer["usage"]["input_tokens"] == 200
    assert len(answer["usage"]["iterations"]) == 2


def test_calls_of_the_client_end_the_answer():
    reply = MessagesReply(CONTEXT_TOOLS.names)
    done = reply.take(raw(OURS, THEIRS))
    assert isinstance(done, bytes)
    assert json.loads(done)["content"] == [THEIRS]
    assert json.loads(done)["stop_reason"] == "tool_use"
    assert [call.name for call in reply.unanswered] == ["memory_search"]


def test_calls_that_are_not_answered_are_dropped():
    reply = MessagesReply(CONTEXT_TOOLS.names, offered=False)
    done = reply.take(raw(text(), OURS))
    assert isinstance(done, bytes)
    assert json.loads(done)["content"] == [text()]
    assert json.loads(done)["stop_reason"] == "end_turn"


@pytest.mark.parametrize("reason", ["max_tokens", "pause_turn", "refusal"])
def test_an_answer_that_is_not_whole_ends(reason):
    done = MessagesReply(CONTEXT_TOOLS.names).take(raw(text(), OURS, reason=reason))
    assert isinstance(done, bytes)
    assert json.loads(done)["stop_reason"] == reason
