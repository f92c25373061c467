"""Check which requests of the Messages API leave a place for tools of ours."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.dialects.tool_definitions import CHAT_MEMORY_TOOLS, CONTEXT_TOOLS
from memtree.wire import json_body
from memtree_proxy.dialects.anthropic_messages.dialect import tool_offer
from memtree_proxy.server_tools.offer import Offer
from tests.wire.messages.messages_rules import broken
from tests.wire.rule_break import Fields

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
