"""Define rows of memories, and the answers built from them, for chats and users alike."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from memtree.memories.book import SaveResult
from memtree.memories.duplicates import NearMemory
from memtree.memories.fields.times import shown as shown_time
from memtree.memories.memory import Memory, PossibleUpdate
from memtree.memories.relation.relation import Relation
from memtree.memories.search.ranking import SearchResult
from memtree.memories.user_memories import MemoryGroup
from memtree_proxy.wire.answer import (
    LEFT_OUT,
    WHERE_EMPTY,
    Answer,
    Shown,
    schema_of_answer,
    shown_each,
)
from memtree_proxy.wire.json_schema import COUNT, NULL, STRING, array, either, schema
from memtree_proxy.wire.types import MEMORY_ID, RELEVANCE, STANDING, STATE, TIME

MAYBE_STRING, MAYBE_ID = either(STRING, NULL), either(MEMORY_ID, NULL)


class ShownRow(NamedTuple):
    """Memory as answers show it. `now`: unix seconds at which its state holds. `twins`: ids of
    memories that say the same. `group`: the group shown in a user's row; `groups`: ids of all its
    groups. `relevance`: set for search hits."""

    memory: Memory
    now: float
    twins: Sequence[str] = ()
    group: MemoryGroup | None = None
    groups: Sequence[str] = ()
    relevance: float = 0.0


class ShownPage(NamedTuple):
    rows: Sequence[ShownRow]
    next_cursor: str | None
    total: int
    groups: Sequence[MemoryGroup] = ()


class ShownHits(NamedTuple):
    rows: Sequence[ShownRow]
    degraded: Sequence[str]

    @classmethod
    def of(cls, rows: Sequence[ShownRow], result: SearchResult) -> ShownHits:
        """Return the hits with their relevance. `rows`: one for each hit, in the same order."""
        ranked = [
            row._replace(relevance=hit.relevance)
            for row, hit in zip(rows, result.hits, strict=True)
        ]
        return cls(ranked, result.degraded)


def time(path: str, says: str = "") -> Shown[Any]:
    """Return a time field that is never null. `path`: the attribute with the unix seconds."""
    seconds = attrgetter(path)
    return Shown(TIME, lambda of: shown_time(seconds(of)), says)


def maybe_time(path: str, says: str = "") -> Shown[Any]:
    seconds = attrgetter(path)

    def value(of: Any) -> str | None:
        return None if seconds(of) is None else shown_time(seconds(of))

    return Shown(either(TIME, NULL), value, says)


def of_memory(said: Answer[Memory]) -> Answer[ShownRow]:
    """Turn fields of a memory into fields of its row."""

    def within(name: str, field: Shown[Memory]) -> Shown[ShownRow]:
        read = field.value if callable(field.value) else attrgetter(field.value or name)
        return Shown(field.schema, lambda of: read(of.memory), field.says)

    return {name: within(name, field) for name, field in said.items()}


def state_of(text: str) -> Answer[ShownRow]:
    """Return the fields that show a memory's state. `text`: the name of its text field."""
    update: Answer[PossibleUpdate] = {
        "id": Shown(MEMORY_ID),
        text: Shown(STRING, "text"),
        "differs": Shown(
            array(STRING),
            says="One changed value or negation, as in `8090 -> 8091`; `wording` where none can be "
            "named.",
        ),
    }
    return {
        "state": Shown(STATE, lambda of: of.memory.state(of.now)),
        "standing": Shown(STANDING, lambda of: bool(of.memory.standing)),
        "possible_update_of": Shown(
            array(schema_of_answer(update)),
            lambda of: shown_each(update, of.memory.updates),
            "Memories that this one may replace, until that is settled.",
        ),
        "twins": Shown(array(MEMORY_ID), says="Others that say the same, and count as this one."),
        "created_at": time("memory.created"),
        "updated_at": time("memory.updated"),
        "deleted_at": maybe_time("memory.deleted", "Null but for `include=deleted`."),
        "last_confirmed_at": maybe_time(
            "memory.last_confirmed", "When a person said it, or said that it is right."
        ),
    }


def saved(text: str) -> Answer[SaveResult]:
    """Return the fields that show the duplicate check of a saved memory. `text`: the name of its
    text field."""
    update: Answer[NearMemory] = {
        "id": Shown(MEMORY_ID, "memory.id"),
        text: Shown(STRING, "memory.text"),
        "relevance": Shown(RELEVANCE, lambda near: round(near.relevance, 2)),
        "differs": Shown(array(STRING), says="What differs, as in `8090 -> 8091`; or `wording`."),
    }

    def updates(of: SaveResult) -> list[dict[str, Any]]:
        near = () if of.existing else of.near
        return shown_each(update, [n for n in near if n.relation is Relation.POSSIBLE_UPDATE])

    return {
        "possible_update_of": Shown(
            array(schema_of_answer(update)),
            updates,
            "Memories that this one may replace; they stay as they are.",
        ),
        "dedup": Shown(
            {"const": "deferred"},
            lambda of: "deferred" if of.deferred else LEFT_OUT,
            "There only where the look for duplicates had to wait for the embedder.",
            optional=True,
        ),
        "degraded": Shown(
            array({"const": "embedder"}),
            says="There only where the embedder failed or was slow.",
            optional=WHERE_EMPTY,
        ),
    }


def page_of(row: Answer[ShownRow], name: str, whose: str) -> Answer[ShownPage]:
    """Return the fields of a page of a list. `name`: of the row's shape in the document."""
    return {
        "memories": Shown(
            array(schema(name)), lambda of: shown_each(row, of.rows), "The newest first."
        ),
        "next_cursor": Shown(MAYBE_STRING, says="For the page after this one; null on the last."),
        "total": Shown(COUNT, says=f"All memories of the {whose}, whatever the filter."),
    }


def hits_of(row: Answer[ShownRow]) -> Answer[ShownHits]:
    """Return the fields of the answer to a search."""
    hit: Answer[ShownRow] = {
        **row,
        "relevance": Shown(RELEVANCE, lambda of: round(of.relevance, 2)),
    }
    return {
        "memories": Shown(
            array(schema_of_answer(hit)), lambda of: shown_each(hit, of.rows), "The best first."
        ),
        "degraded": Shown(
            array(STRING), says="`embedder`: words alone ranked, or some memories lack a vector."
        ),
    }
