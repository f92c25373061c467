"""What searches over agents' memories answer, as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memtree.memories.agents.search.agent_search import AgentSearchResult
from memtree.memories.agents.search.answers import GroundedAnswer
from memtree.memories.agents.search.clusters import MemoryCluster
from memtree.memories.agents.search.event_time import when
from memtree.memories.agents.search.mentions import named_in
from memtree.memories.agents.search.ranking_many import AgentHit
from memtree.memories.rules.expiry import shown
from memtree.memories.scope import ScopeKind
from memtree_proxy.memories.agent.rendering import data_of, kind_of

Json = dict[str, Any]


def found_json(found: AgentSearchResult, warnings: Sequence[str] = ()) -> Json:
    """The rows of one search. `warnings`: of grants that open nothing."""
    return {
        "success": True,
        "memories": [hit_json(hit) for hit in found.hits],
        "searchedAt": shown(found.at),
        **_remarks(found.degraded, warnings),
    }


def batch_json(found: Sequence[AgentSearchResult], warnings: Sequence[str] = ()) -> Json:
    degraded = tuple(dict.fromkeys(name for one in found for name in one.degraded))
    return {
        "success": True,
        "results": [{"memories": [hit_json(hit) for hit in one.hits]} for one in found],
        "searchedAt": shown(found[0].at if found else 0.0),
        **_remarks(degraded, warnings),
    }


def answer_json(
    found: AgentSearchResult, said: GroundedAnswer, warnings: Sequence[str] = ()
) -> Json:
    return {
        "success": True,
        "answer": said.text,
        "sources": said.sources,
        "searchedAt": shown(found.at),
        **_remarks(found.degraded, warnings),
    }


def map_json(
    found: AgentSearchResult, made: Sequence[MemoryCluster], warnings: Sequence[str] = ()
) -> Json:
    rows = [
        {"label": one.label, "memories": one.memories, "size": len(one.memories)} for one in made
    ]
    return {
        "success": True,
        "clusters": rows,
        "searchedAt": shown(found.at),
        **_remarks(found.degraded, warnings),
    }


def hit_json(hit: AgentHit) -> Json:
    memory = hit.memory.memory
    of_agent = hit.scope.kind is ScopeKind.AGENT
    context: Json = {
        "mentions": [{"name": one.name, "type": one.type} for one in named_in(memory)],
        "tags": memory.tags,
        "isLatest": not (memory.superseded_by or memory.duplicate_of),
    }
    at = when(memory.happened, memory.data)
    if memory.tainted:
        context["tainted"] = True
    if at is not None:
        context = {"when": shown(at), **context}
    whose = {"agentId": hit.scope.owner, "subjectId": hit.scope.subject or None}
    return {
        "id": memory.id,
        "kind": kind_of(memory),
        "quality": {
            "relevance": round(hit.memory.relevance, 2),
            "confidence": round(memory.confidence, 2),
        },
        "data": data_of(memory),
        "context": context,
        "source": f"shared:{hit.scope.owner}" if hit.shared else "own",
        **(whose if of_agent else {}),
    }


def _remarks(degraded: Sequence[str], warnings: Sequence[str]) -> Json:
    remarks = {"degraded": degraded, "warnings": warnings}
    return {name: list(said) for name, said in remarks.items() if said}
