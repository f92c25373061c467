"""Answers that are not streamed, what requests leave room for, and the small parts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.dialects.tool_definitions import CHAT_MEMORY_TOOLS, CONTEXT_TOOLS
from memtree.history import json_body
from memtree_proxy.dialects import sse, tool_offer
from memtree_proxy.dialects.chat_stream import WholeAnswer
from memtree_proxy.dialects.dialect import added
from memtree_proxy.dialects.round_calls import ToolRound
from memtree_proxy.dialects.sse import SseEvents
from tests.made.completion import said

USAGE = {"prompt_tokens": 10, "total_tokens": 12, "completion_tokens_details": {"reasoning": 1}}


def call(name: str, id_: str = "a", arguments: str = "{}", **more: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": id_, "type": "function", "function": function, **more}


def answer(content: Any, *calls: dict[str, Any], reason: str | None = None, **more: Any) -> bytes:
    message = {"role": "assistant", "content": content, "refusal": None, **more}
    if calls:
        message["tool_calls"] = list(calls)
    reason = reason or ("tool_calls" if calls else "stop")
    choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
    whole = {"id": f"c{content}", "created": 5, "model": "m", "choices": [choice], "usage": USAGE}
    return json.dumps(whole).encode()


def taken(plain: WholeAnswer, raw: bytes) -> dict[str, Any]:
    found = plain.take(raw)
    assert isinstance(found, bytes)
    return dict(json.loads(found))


# ---------------------------------------------------------------- answers


@pytest.mark.parametrize(
    "raw",
    [
        answer("hi"),
        answer(None, call("read_file")),
        b'{"error": {"message": "no"}}',
        b"nonsense",
        b"[1]",
        b'{"choices": []}',
        b'{"choices": [{"text": "x"}]}',
        b'{"choices": [{"message": {"content": "x", "tool_calls": "odd"}}]}',
    ],
)
def test_an_answer_without_calls_of_ours_is_the_same_bytes(raw):
    assert WholeAnswer(CONTEXT_TOOLS.names).take(raw) is raw


def test_rounds_add_up():
    plain = WholeAnswer(CONTEXT_TOOLS.names)
    first = plain.take(answer("Hm.", call("memory_search"), reasoning_content="a ",
                              reasoning_details=[{"index": 0}]))  # fmt: skip
    assert isinstance(first, ToolRound)
    assert said(first) == {"role": "assistant", "content": "Hm.", "reasoning_content": "a ",
                             "reasoning_details": [{"index": 0}],
                             "tool_calls": [call("memory_search")]}  # fmt: skip
    second = plain.take(answer(None, call("memory_read", "b"), reasoning_content="b "))
    assert isinstance(second, ToolRound)
    assert said(second)["content"] is None
    found = taken(plain, answer("So.", reasoning_content="c", reasoning_details=[{"index": 1}]))
    message = found["choices"][0]["message"]
    assert message == {"role": "assistant", "content": "Hm.\n\nSo.", "refusal": None,
                       "reasoning_content": "a b c",
                       "reasoning_details": [{"index": 0}, {"index": 1}]}  # fmt: skip
    assert found["id"] == "cHm."
    assert found["usage"] == {"prompt_tokens": 30, "total_tokens": 36,
                              "completion_tokens_details": {"reasoning": 3}}  # fmt: skip


def test_contents_of_parts_are_joined_as_parts():
    plain = WholeAnswer(CONTEXT_TOOLS.names)
    part = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    plain.take(answer([part], call("memory_search")))
    message = taken(plain, answer("So."))["choices"][0]["message"]
    assert message["content"] == [part, {"type": "text", "text": "So."}]


def test_a_mixed_round_is_the_clients():
    signed = call("read_file", "b", extra_content={"sig": 1})
    plain = WholeAnswer(CONTEXT_TOOLS.names)
    found = taken(plain, answer("x", call("memory_search"), signed, call("memory_read")))
    assert [one.name for one in plain.unanswered] == ["memory_search", "memory_read"]
    choice = found["choices"][0]
    assert (choice["message"]["tool_calls"], choice["finish_reason"]) == ([signed], "tool_calls")


@pytest.mark.parametrize(("reason", "ends"), [("length", "length"), ("tool_calls", "stop")])
def test_calls_that_may_not_be_followed_are_dropped(reason, ends):
    plain = WholeAnswer(CONTEXT_TOOLS.names, offered=reason == "length")
    choice = taken(plain, answer("x", call("memory_search"), reason=reason))["choices"][0]
    assert choice["finish_reason"] == ends
    assert plain.unanswered == []
    assert "tool_calls" not in choice["message"]


def test_calls_without_ids_get_some():
    """The ids have nine letters and digits, which is what Mistral takes."""
    plain = WholeAnswer(CONTEXT_TOOLS.names)
    for round_ in ("01", "02"):
        asked = plain.take(answer("", call("memory_search", ""), call("memory_read", "")))
        assert isinstance(asked, ToolRound)
        ids = [one["id"] for one in said(asked)["tool_calls"]]
        assert ids == [f"mem{round_}0000", f"mem{round_}0001"]


# ---------------------------------------------------------------- small parts


def test_usage_of_odd_forms():
    assert added(None, {"a": 1}) == {"a": 1}
    assert added({"a": 1}, None) == {"a": 1}
    assert added({"a": 1.5, "b": None, "c": "x", "d": True, "e": [1]},
                 {"a": 1, "b": 2, "c": "y", "d": True, "e": [2]}) == {
        "a": 2.5, "b": 2, "c": "y", "d": True, "e": [2]}  # fmt: skip


STREAM = b": c\n\ndata: 1\n\nevent: x\r\ndata: 2\r\ndata: 3\r\n\r\n\ndata: 4\r\rdata:5\n\nid: 1\n\n"


@pytest.mark.parametrize("size", range(1, 20))
def test_events_are_the_same_whatever_the_pieces(size):
    reader, found = SseEvents(), []
    for at in range(0, len(STREAM), size):
        found += reader.feed(STREAM[at : at + size])
    assert b"".join(found) + reader.rest() == STREAM
    said = [sse.data(event) for event in found if sse.data(event) is not None]
    assert said == [b"1", b"2\n3", b"4", b"5"]


def test_an_event_that_is_not_complete_waits():
    reader = SseEvents()
    assert reader.feed(b"data: 1\n") == []
    assert reader.waiting == 8
    assert reader.feed(b"\ndata") == [b"data: 1\n\n"]
    assert (reader.rest(), reader.waiting) == (b"data", 0)


@pytest.mark.parametrize(
    ("status", "text", "about"),
    [
        (400, "llama2 does not support tools", True),
        (400, '\\"auto\\" tool choice requires --enable-auto-tool-choice', True),
        (404, "No endpoints found that support tool use", True),
        (500, "tools param requires --jinja flag", True),
        (400, "Function calling is not enabled for models/gemma", True),
        (400, "deepseek-reasoner does not support Function Calling", True),
        (400, "the tooling is broken", False),
        (400, "Invalid model", False),
        (401, "no tools for you", False),
        (429, "too many tool calls", False),
    ],
)
def test_refusals_of_tools(status, text, about):
    assert (
        tool_offer.is_about_tools(status, b'{"error": {"message": "%s"}}' % text.encode()) is about
    )
    assert tool_offer.may_be_about_tools(status) is (status in (400, 404, 500))


# ---------------------------------------------------------------- the request


def offered(body: dict[str, Any]) -> tool_offer.Offer | None:
    posted = json_body.split(json.dumps({"model": "m", **body}).encode())
    return tool_offer.of(posted, (CHAT_MEMORY_TOOLS, CONTEXT_TOOLS))


def test_our_definitions_stand_behind_the_clients_bytes():
    tool = {"type": "function", "function": {"name": "f"}}
    raw = b'{ "tools" :[ {"type":"function",  "function":{"name":"f"}} ] , "messages":[] }'
    found = tool_offer.of(json_body.split(raw), (CHAT_MEMORY_TOOLS, CONTEXT_TOOLS))
    assert found
    tools = found.fields(last=False)["tools"]
    assert tools.startswith(b'[ {"type":"function",  "function":{"name":"f"}} ,{')
    assert names(tools) == ["f", "save_memory", "recall_memory", "memory_search", "memory_read"]
    assert found.fields(last=True) == {}
    alone = offered({})
    assert alone
    ours = alone.fields(last=False)["tools"]
    assert json.loads(ours) == json.loads(tools)[1:]
    assert alone.fields(last=True) == {"tools": ours, "tool_choice": b'"none"'}
    assert offered({"tools": [tool]}) == offered({"tools": [tool]})


def names(tools: bytes) -> list[str]:
    return [tool["function"]["name"] for tool in json.loads(tools)]


def test_groups_are_left_out_in_the_order_in_which_they_stand():
    found = offered({})
    assert found
    saving = found.only({CHAT_MEMORY_TOOLS: None})
    assert saving
    assert names(saving.fields(last=False)["tools"]) == ["save_memory", "recall_memory"]
    assert saving.size + tool_offer.CHAT.size(CONTEXT_TOOLS) == found.size
    both = found.only((CONTEXT_TOOLS, CHAT_MEMORY_TOOLS))
    assert both == found
    assert found.only(()) is None
    assert tool_offer.of(json_body.split(b"{}"), ()) is None


def test_tools_that_cannot_be_decoded_are_the_upstreams_to_judge():
    posted = json_body.split(b'{"tools": [1e999]}')  # no number of ours
    assert tool_offer.of(posted, (CHAT_MEMORY_TOOLS,)) is None


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "custom", "custom": {"name": "memory_search"}},
        {"type": "function", "name": "memory_read"},
        {"name": "memory_read"},
    ],
)
def test_a_name_of_ours_in_any_form_of_a_tool_leaves_its_group_out(tool):
    found = offered({"tools": [tool]})
    assert found
    assert found.groups == (CHAT_MEMORY_TOOLS,)
    other = {"type": "function", "function": {"name": "save_memory"}}
    assert offered({"tools": [tool, other]}) is None


def test_definitions_are_sound_schemas_and_small():
    found = offered({})
    assert found
    for tool in json.loads(found.fields(last=False)["tools"]):
        parameters = tool["function"]["parameters"]
        assert set(parameters["required"]) <= set(parameters["properties"])
    assert 150 < tool_offer.CHAT.size(CONTEXT_TOOLS) < 400
    assert 150 < tool_offer.CHAT.size(CHAT_MEMORY_TOOLS) < 300
