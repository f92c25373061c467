"""`agentId` and `subjectId` of requests."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.datastructures import QueryParams

from memtree.errors import BadRequest
from memtree.memories.agents.agent_memory import AgentScopes
from memtree.memories.scope import Scope
from memtree_proxy.access.request_scopes import agent_scopes, queried_agents, single_scope


@pytest.mark.parametrize(
    ("named", "agent", "subject"),
    [
        ({"agentId": "a"}, "a", ""),
        ({"agentId": "a", "subjectId": None}, "a", ""),
        ({"agentId": "a", "subjectId": "s"}, "a", "s"),
        ({"agentId": "a", "subjectId": "*"}, "a", None),
        ({"agentId": "*"}, None, ""),
        ({"agentId": "*", "subjectId": "s"}, None, "s"),
        ({"agentId": "*", "subjectId": "*"}, None, None),
    ],
)
def test_the_scopes_that_are_meant(named: dict[str, Any], agent: str | None, subject: str | None):
    assert agent_scopes(named, "t") == AgentScopes("t", agent, subject)


def test_no_agent_is_no_scope_of_agents():
    assert agent_scopes({}, "t") is None
    assert agent_scopes({"agentId": None, "subjectId": None}, "t") is None
    assert queried_agents(QueryParams("query=a"), "t") is None


@pytest.mark.parametrize(
    ("named", "param"),
    [
        ({"subjectId": "s"}, "subjectId"),
        ({"subjectId": "*"}, "subjectId"),
        ({"agentId": ""}, "agentId"),
        ({"agentId": "**"}, "agentId"),
        ({"agentId": "a b"}, "agentId"),
        ({"agentId": "a\0"}, "agentId"),
        ({"agentId": "é"}, "agentId"),
        ({"agentId": "a" * 201}, "agentId"),
        ({"agentId": 5}, "agentId"),
        ({"agentId": ["a"]}, "agentId"),
        ({"agentId": True}, "agentId"),
        ({"agentId": "a", "subjectId": ""}, "subjectId"),
        ({"agentId": "a", "subjectId": "\ud800"}, "subjectId"),
        ({"agentId": "a", "subjectId": {}}, "subjectId"),
    ],
)
def test_what_names_none_is_refused_by_the_name_of_its_field(named: dict[str, Any], param: str):
    with pytest.raises(BadRequest) as caught:
        agent_scopes(named, "t")
    assert caught.value.param == param
    with pytest.raises(BadRequest) as caught:
        agent_scopes(named, "t", "filters.")
    assert caught.value.param == f"filters.{param}"
    assert f"filters.{param}" in caught.value.message


@pytest.mark.parametrize("query", ["agentId=a&agentId=a", "agentId=a&subjectId=&subjectId=s"])
def test_a_field_that_stands_twice_in_a_query(query: str):
    with pytest.raises(BadRequest, match="is given twice"):
        queried_agents(QueryParams(query), "t")


def test_one_scope_where_only_one_can_be_meant():
    assert single_scope(AgentScopes("t", "a")) == Scope.of_agent("t", "a")
    assert single_scope(AgentScopes("t", "a", "s")) == Scope.of_agent("t", "a", "s")
    for many, param in (
        (AgentScopes("t", None), "agentId"),
        (AgentScopes("t", "a", None), "subjectId"),
    ):
        with pytest.raises(BadRequest) as caught:
            single_scope(many)
        assert caught.value.param == param
