"""Check which requests of the Responses API leave a place for tools of ours."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.dialects.openai_responses import responses_history
from memtree.dialects.openai_responses.input_item import ItemCache
from memtree.dialects.tool_definitions import CHAT_MEMORY_TOOLS, CONTEXT_TOOLS
from memtree.wire import json_body
from memtree_proxy.dialects.openai_responses.dialect import tool_offer
from memtree_proxy.server_tools.offer import Offer
from tests.wire.responses.responses_rules import broken
from tests.wire.rule_break import Fields

GROUPS = (CHAT_MEMORY_TOOLS, CONTEXT_TOOLS)
OWN = ["save_memory", "recall_memory", "memory_search", "memory_read"]
SHELL: Fields = {"type": "function", "name": "shell", "parameters": {}, "strict": False}
PATCH: Fields = {"type": "custom", "name": "apply_patch"}
SPACE: Fields = {"type": "namespace", "name": "gmail", "tools": [{**SHELL, "name": "memory_read"}]}


def request(**fields: Any) -> Fields:
    return {"model": "gpt-6.1", "input": "Hello.", **fields}


def made(groups: Any = GROUPS, **fields: Any) -> Offer | None:
    body = json_body.split(json.dumps(request(**fields)).encode())
    defined = responses_history.read(body, "t", ItemCache(1)).defined
    return tool_offer(body, groups, defined)


def tools(found: Offer | None) -> list[Fields]:
    assert found
    return list(json.loads(found.fields(last=False)["tools"]))


def names(found: Offer | None) -> list[str]:
    return [tool["name"] for tool in tools(found)]


def loaded(*own: Fields) -> list[Fields]:
    """The input of a client that hands over its tools as an item."""
    return [
        {"type": "additional_tools", "role": "developer", "tools": list(own)},
        {"type": "message", "role": "user", "content": 'Is there "memory_read"?'},
    ]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"tools": []},
        {"tools": None, "tool_choice": "auto", "parallel_tool_calls": False},
        {"stream": True, "text": {"verbosity": "low"}, "background": False},
        {"text": {"format": {"type": "text"}}, "store": True, "include": []},
    ],
)
def test_ours_are_offered_alone(fields):
    found = made(**fields)
    assert names(found) == OWN
    assert found
    assert found.fields(last=True)["tool_choice"] == b'"none"'


@pytest.mark.parametrize("choice", [None, "auto", "required"])
@pytest.mark.parametrize("own", [[SHELL], [SHELL, PATCH], [PATCH, {"type": "web_search"}]])
def test_ours_stand_behind_the_clients_own_whose_bytes_stay(own, choice):
    found = made(tools=own, tool_choice=choice)
    assert found
    posted = json.dumps(own).encode()
    for last in (False, True):
        fields = found.fields(last=last)
        assert fields["tools"].startswith(posted[:-1] + b",")
        assert list(fields) == ["tools"]
    assert [tool["name"] for tool in tools(found)[len(own) :]] == OWN


def test_tools_among_the_items_can_be_called_to_the_last():
    found = made(input=loaded(SHELL, PATCH))
    assert found
    only = found.only({CONTEXT_TOOLS})
    assert only
    assert names(only) == OWN[2:]
    assert list(only.fields(last=True)) == ["tools"]


def test_a_tool_of_our_name_among_the_items_is_the_clients():
    assert names(made(input=loaded({**SHELL, "name": "memory_read"}))) == OWN[:2]
    taken = loaded({**SHELL, "name": "memory_read"}, {**SHELL, "name": "save_memory"})
    assert made(input=taken) is None


def test_the_request_is_one_that_the_api_takes():
    assert broken(request(tools=tools(made(tools=[SHELL, PATCH]))), {}) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"tool_choice": "none"},
        {"tool_choice": "required"},  # of no tools
        {"tools": [SHELL], "tool_choice": {"type": "function", "name": "shell"}},
        {"tools": [SHELL], "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": []}},
        {"tools": [SHELL, 7]},
        {"tools": {"name": "x"}},
        {"text": {"format": {"type": "json_schema", "name": "x", "schema": {}}}},
        {"text": {"format": {"type": "json_object"}}},
        {"text": {"format": 7}},
        {"stream": "yes"},
        {"background": True},
        {"previous_response_id": "resp_1"},
        {"conversation": "conv_1"},
        {"prompt": {"id": "pmpt_1"}},
    ],
)
def test_nothing_is_offered_where_it_would_change_what_the_client_gets(fields):
    assert made(**fields) is None


def test_a_group_is_left_out_where_the_client_has_a_tool_of_its_name():
    assert names(made(tools=[{**SHELL, "name": "memory_read"}])) == ["memory_read", *OWN[:2]]
    assert names(made(tools=[SPACE])) == ["gmail", *OWN[:2]]
    taken = [{**SHELL, "name": name} for name in ("memory_read", "recall_memory")]
    assert made(tools=taken) is None
    assert made(groups=()) is None


def test_groups_can_be_chosen_later():
    found = made()
    assert found
    only = found.only({CHAT_MEMORY_TOOLS})
    assert only
    assert names(only) == OWN[:2]
    assert 0 < only.size < found.size
    assert found.only(()) is None


def test_definitions_are_those_of_chats():
    for tool, function in zip(tools(made()), (f for g in GROUPS for f in g.functions), strict=True):
        assert tool == {"type": "function", **function, "strict": False}
