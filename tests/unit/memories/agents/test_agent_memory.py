from __future__ import annotations

from memtree.memories.agents.agent_memory import AgentScopes
from memtree.memories.scope import Scope


def test_one_scope_where_agent_and_subject_are_named():
    assert AgentScopes("acme", "helper").single == Scope.of_agent("acme", "helper")
    assert AgentScopes("acme", "helper", "ada").single == Scope.of_agent("acme", "helper", "ada")
    assert AgentScopes("acme", None).single is None
    assert AgentScopes("acme", "helper", None).single is None
