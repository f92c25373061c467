"""Define the answers of the routes of agents' memories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from memtree.memories.agents.agent_book import AgentBookPage
from memtree.memories.agents.agent_memory import LocatedMemory, StructuredResult, WriteOutcome
from memtree.memories.agents.extraction.agent_extraction import AgentExtractionReport
from memtree.memories.agents.lifetime import EXPIRES_AT, milliseconds
from memtree.memories.agents.search.event_time import when
from memtree.memories.agents.search.mentions import named_in
from memtree.memories.agents.structured_memory import DIRECT
from memtree.memories.fields.times import shown as shown_time
from memtree.memories.memory import EntityMention, Memory
from memtree.memories.scope import ScopeKind
from memtree.ports.models import Usage
from memtree_proxy.wire.answer import LEFT_OUT, Answer, Shown, schema_of_answer, shown
from memtree_proxy.wire.json_schema import (
    BOOLEAN,
    COUNT,
    NULL,
    STRING,
    Json,
    array,
    described,
    either,
    object_of,
    schema,
)
from memtree_proxy.wire.types import MEMORY_ID, MILLISECONDS, STATE, TIME, TRUE, VERSION

CONFIDENCE = described(
    {"type": "number", "minimum": 0, "maximum": 1},
    "1 for what was stored as it is; else how sure its extraction is.",
)
MENTIONS = array(object_of({"name": STRING, "type": STRING}))
_MS = described(MILLISECONDS, MILLISECONDS["description"], examples=[1_924_992_000_000])
_MAYBE_ID, _MAYBE_MEMORY = either(STRING, NULL), either(MEMORY_ID, NULL)


class ShownMemory(NamedTuple):
    """Memory of an agent, as answers show it. `now`: unix seconds at which its state holds.
    `alone`: also show the entities that rules find in its text; too slow for each row of a list."""

    located: LocatedMemory
    now: float
    alone: bool = False

    @property
    def memory(self) -> Memory:
        return self.located.memory

    @property
    def agent(self) -> str | None:
        scope = self.located.scope
        return scope.owner if scope.kind is ScopeKind.AGENT else None

    @property
    def subject(self) -> str | None:
        scope = self.located.scope
        return (scope.subject or None) if scope.kind is ScopeKind.AGENT else None


def kind_of(memory: Memory) -> str:
    """Return the memory's kind, or its category if it has no kind."""
    return memory.kind or memory.category or "general"


def data_of(memory: Memory) -> Json:
    """Return the memory's data, or an object with its text if it has no data."""
    return {"text": memory.text} if memory.data is None else dict(memory.data)


def mentions_of(mentions: Iterable[EntityMention]) -> list[Json]:
    return [{"name": mention.name, "type": mention.type} for mention in mentions]


def time_of(memory: Memory) -> object:
    """Return the time of the event that the memory tells of, or `LEFT_OUT` if it is unknown."""
    at = when(memory.happened, memory.data)
    return LEFT_OUT if at is None else shown_time(at)


def _null(value: object) -> object:
    return None if value is LEFT_OUT else value


def _mentions(of: ShownMemory) -> list[Json]:
    return mentions_of(named_in(of.memory) if of.alone else of.memory.mentions)


def _end(memory: Memory) -> int | None:
    return None if memory.expires is None else milliseconds(memory.expires)


METADATA: Answer[ShownMemory] = {
    "agentId": Shown(_MAYBE_ID, lambda of: of.agent, "Null of a user's memory."),
    "subjectId": Shown(_MAYBE_ID, lambda of: of.subject, "Null: of nobody in particular."),
    "threadId": Shown(_MAYBE_ID, lambda of: of.memory.thread_id),
    "tags": Shown(array(STRING), lambda of: of.memory.tags),
    "confidence": Shown(CONFIDENCE, lambda of: of.memory.confidence),
    "mentions": Shown(
        MENTIONS, _mentions, "Whom and what it names; in a list, only what its maker said it names."
    ),
    "when": Shown(
        either(TIME, NULL), lambda of: _null(time_of(of.memory)), "When what it tells of happens."
    ),
    EXPIRES_AT: Shown(either(_MS, NULL), lambda of: _end(of.memory), "Null: it is kept for good."),
    "createdAt": Shown(_MS, lambda of: milliseconds(of.memory.created)),
    "updatedAt": Shown(_MS, lambda of: milliseconds(of.memory.updated)),
    "version": Shown(VERSION, lambda of: of.memory.version),
    "source": Shown(
        STRING,
        lambda of: of.memory.source_type,
        f"`{DIRECT}`: stored as it is; `extraction`: from a conversation.",
    ),
    "tainted": Shown(
        BOOLEAN,
        lambda of: of.memory.tainted,
        "It came in an import and reads like an instruction: a person has to confirm it.",
    ),
    "state": Shown(STATE, lambda of: of.memory.state(of.now)),
    "isLatest": Shown(
        BOOLEAN,
        lambda of: not of.memory.superseded_by,
        "False of a memory that another took the place of.",
    ),
    "supersedes": Shown(_MAYBE_MEMORY, lambda of: of.memory.supersedes),
    "supersededBy": Shown(_MAYBE_MEMORY, lambda of: of.memory.superseded_by),
}
MEMORY: Answer[ShownMemory] = {
    "id": Shown(MEMORY_ID, lambda of: of.memory.id),
    "kind": Shown(STRING, lambda of: kind_of(of.memory)),
    "data": Shown({"type": "object"}, lambda of: data_of(of.memory), "The fields of its kind."),
    "metadata": Shown(schema_of_answer(METADATA), lambda of: shown(METADATA, of)),
}
MEMORY_ANSWER: Answer[ShownMemory] = {
    "success": Shown(TRUE, lambda of: True),
    "memory": Shown(schema("AgentMemory"), lambda of: shown(MEMORY, of)),
}


def memory_json(located: LocatedMemory, now: float, *, alone: bool = False) -> dict[str, Any]:
    return shown(MEMORY, ShownMemory(located, now, alone))


class ShownPage(NamedTuple):
    page: AgentBookPage
    now: float


PAGE: Answer[ShownPage] = {
    "success": Shown(TRUE, lambda of: True),
    "memories": Shown(
        array(schema("AgentMemory")),
        lambda of: [memory_json(memory, of.now) for memory in of.page.memories],
        "The newest first.",
    ),
    "groups": Shown(array(schema("MemoryGroup")), lambda of: [], "None: groups are of users."),
    "next_cursor": Shown(
        _MAYBE_ID, lambda of: of.page.next_cursor, "For the page after this; null on the last."
    ),
    "total": Shown(
        COUNT, lambda of: of.page.total, "All live memories of these scopes, whatever the filter."
    ),
}


# -- what was stored -------------------------------------------------------------------------


class Stored(NamedTuple):
    """Outcome of saving one request's memories. `report`: present if they came from a conversation;
    `usage`: what the model that read it cost."""

    results: Sequence[StructuredResult]
    degraded: Sequence[str] = ()
    report: AgentExtractionReport | None = None
    usage: Usage = Usage()


def _metadata(of: StructuredResult) -> Json:
    end = _end(of.memory)
    return data_of(of.memory) | ({} if end is None else {EXPIRES_AT: end})


_CACHED: Answer[Usage] = {"cached_tokens": Shown(COUNT, lambda of: of.cached)}
USAGE: Answer[Usage] = {
    "prompt_tokens": Shown(COUNT, lambda of: of.input),
    "completion_tokens": Shown(COUNT, lambda of: of.output),
    "total_tokens": Shown(COUNT, lambda of: of.input + of.output),
    "prompt_tokens_details": Shown(schema_of_answer(_CACHED), lambda of: shown(_CACHED, of)),
}
ROW: Answer[StructuredResult] = {
    "id": Shown(MEMORY_ID, lambda of: of.memory.id),
    "kind": Shown(STRING, lambda of: kind_of(of.memory)),
    "metadata": Shown(
        {"type": "object"}, _metadata, "The fields of its data, and `expiresAt` where it ends."
    ),
    "supersedes": Shown(
        MEMORY_ID,
        lambda of: of.superseded or LEFT_OUT,
        "The memory whose place it took, if any.",
        optional=True,
    ),
}
_ROWS = array(schema_of_answer(ROW))
STORED: Answer[Stored] = {
    "success": Shown(TRUE, lambda of: True),
    "created": Shown(
        _ROWS,
        lambda of: [shown(ROW, row) for row in of.results if row.outcome is WriteOutcome.CREATED],
    ),
    "updated": Shown(
        _ROWS,
        lambda of: [
            shown(ROW, row) for row in of.results if row.outcome is not WriteOutcome.CREATED
        ],
        "New versions, what took the place of another, and what was there.",
    ),
    "skipped": Shown(
        array(object_of({"text": STRING, "reason": STRING})),
        lambda of: (
            LEFT_OUT
            if of.report is None
            else [{"text": one.shown, "reason": str(one.reason)} for one in of.report.skipped]
        ),
        "What a conversation said and was not kept, and what a model claims that it did not say "
        "(`not_grounded`). The text of a `secret` is empty.",
        optional=True,
    ),
    "messages": Shown(
        COUNT,
        lambda of: LEFT_OUT if of.report is None else of.report.messages,
        "Messages of the conversation that were read now.",
        optional=True,
    ),
    "usage": Shown(
        schema_of_answer(USAGE),
        lambda of: LEFT_OUT if of.report is None else shown(USAGE, of.usage),
        "Of a conversation: tokens of the model that read it; 0 where rules did.",
        optional=True,
    ),
    "degraded": Shown(
        array(STRING),
        lambda of: of.degraded or LEFT_OUT,
        "`embedder`: words alone find it for now.",
        optional=True,
    ),
}
