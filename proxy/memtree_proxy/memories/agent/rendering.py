"""Agents' memories as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memtree.memories.agents.agent_memory import LocatedMemory, StructuredResult, WriteOutcome
from memtree.memories.agents.extraction.agent_extraction import AgentExtractionReport
from memtree.memories.agents.lifetime import EXPIRES_AT, milliseconds
from memtree.memories.agents.search.event_time import when
from memtree.memories.agents.search.mentions import named_in
from memtree.memories.memory import Memory
from memtree.memories.rules.expiry import shown
from memtree.memories.scope import ScopeKind

Json = dict[str, Any]


def memory_json(located: LocatedMemory, now: float, *, alone: bool = False) -> Json:
    """`now`: unix seconds, when it has its state. `alone`: what rules find that it names is shown
    as well; for the rows of a list that would take too long."""
    scope, memory = located
    agent = scope.kind is ScopeKind.AGENT
    at = when(memory.happened, memory.data)
    named = named_in(memory) if alone else memory.mentions
    return {
        "id": memory.id,
        "kind": kind_of(memory),
        "data": data_of(memory),
        "metadata": {
            "agentId": scope.owner if agent else None,
            "subjectId": (scope.subject or None) if agent else None,
            "threadId": memory.thread_id,
            "tags": memory.tags,
            "confidence": memory.confidence,
            "mentions": [{"name": one.name, "type": one.type} for one in named],
            "when": None if at is None else shown(at),
            EXPIRES_AT: None if memory.expires is None else milliseconds(memory.expires),
            "createdAt": milliseconds(memory.created),
            "updatedAt": milliseconds(memory.updated),
            "version": memory.version,
            "source": memory.source_type,
            "tainted": memory.tainted,
            "state": memory.state(now),
            "isLatest": not memory.superseded_by,
            "supersedes": memory.supersedes,
            "supersededBy": memory.superseded_by,
        },
    }


def kind_of(memory: Memory) -> str:
    """What has no kind of its own is of its category."""
    return memory.kind or memory.category or "general"


def data_of(memory: Memory) -> Json:
    """What has no data of its own is its text."""
    return {"text": memory.text} if memory.data is None else dict(memory.data)


def stored_json(results: Sequence[StructuredResult], degraded: Sequence[str] = ()) -> Json:
    """What became of the memories of one request."""
    answer: Json = {
        "success": True,
        "created": [row(one) for one in results if one.outcome is WriteOutcome.CREATED],
        "updated": [row(one) for one in results if one.outcome is not WriteOutcome.CREATED],
    }
    return {**answer, "degraded": degraded} if degraded else answer


def extracted_json(report: AgentExtractionReport) -> Json:
    """What became of a conversation, and of which of its texts nothing was made."""
    skipped = [{"text": _plain(one.text), "reason": str(one.reason)} for one in report.skipped]
    return {
        **stored_json((*report.created, *report.updated)),
        "skipped": skipped,
        "messages": report.messages,
    }


def _plain(text: str) -> str:
    """Half a surrogate pair, which a message may hold, has no UTF-8."""
    return text.encode("utf-8", "replace").decode()


def row(result: StructuredResult) -> Json:
    """The fields of its data stand in `metadata`, and when it ends."""
    memory = result.memory
    ends: Json = {} if memory.expires is None else {EXPIRES_AT: milliseconds(memory.expires)}
    shown_row: Json = {
        "id": memory.id,
        "kind": kind_of(memory),
        "metadata": {**data_of(memory), **ends},
    }
    return {**shown_row, "supersedes": result.superseded} if result.superseded else shown_row
