"""Shows memories of chats and users as rows, and defines the bodies of exports and imports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from msgspec import UNSET, UnsetType

from memtree.memories.book import SaveResult
from memtree.memories.checked_fields import shown
from memtree.memories.memory import Memory
from memtree.memories.relation.relation import Relation
from memtree.memories.search.ranking import MemoryHit
from memtree.memories.user_memories import MemoryGroup
from memtree.transfer.file_import import ImportOptions
from memtree.transfer.file_items import ImportReport, LineResult
from memtree_proxy.http.decoding import OrNull
from memtree_proxy.wire.values import (
    AgentQuery,
    Answer,
    Count,
    Place,
    Shown,
    copied,
    maybe_time,
    where_given,
)

MEDIA_TYPE = "application/x-ndjson"
Format = Literal["memtree", "mem0", "openmemory", "server-memory", "chatgpt", "claude-ai", "text"]
Chosen = Literal[
    "auto", "memtree", "mem0", "openmemory", "server-memory", "chatgpt", "claude-ai", "text"
]  # fmt: skip
Status = Literal["imported", "duplicate", "skipped", "refused", "invalid"]


class ShownRow(NamedTuple):
    """Memory as answers show it. `now`: unix seconds at which its state holds. `twins`: ids of
    memories that say the same. `group`: the group shown in a user's row; `groups`: ids of all its
    groups."""

    memory: Memory
    now: float
    twins: Sequence[str] = ()
    group: MemoryGroup | None = None
    groups: Sequence[str] = ()


def shown_memory(
    kind: type[Shown], row: ShownRow, update: type[Answer], also: Mapping[str, Any]
) -> Shown:
    """Show a memory in the form `kind`. `update`: the Struct of a memory that it may replace.
    `also`: further fields of the form, and those that it shows otherwise."""
    memory = row.memory
    state = {
        "expires_at": maybe_time(memory.expires),
        "state": memory.state(row.now).value,
        "standing": bool(memory.standing),
        "possible_update_of": [
            update(id=each.id, text=each.text, differs=each.differs) for each in memory.updates
        ],
        "twins": row.twins,
        "created_at": shown(memory.created),
        "updated_at": shown(memory.updated),
        "deleted_at": maybe_time(memory.deleted),
        "last_confirmed_at": maybe_time(memory.last_confirmed),
    }
    return copied(kind, memory, **(state | dict(also)))


def saved(result: SaveResult, update: type[Answer]) -> dict[str, Any]:
    """Return the fields that show the duplicate check of a saved memory."""
    near = () if result.existing else result.near
    return {
        "possible_update_of": [
            update(
                id=each.memory.id,
                text=each.memory.text,
                relevance=round(each.relevance, 2),
                differs=each.differs,
            )
            for each in near
            if each.relation is Relation.POSSIBLE_UPDATE
        ],
        "dedup": where_given("deferred" if result.deferred else ""),
        "degraded": where_given(result.degraded),
    }


def nearness(hit: MemoryHit) -> dict[str, Any]:
    """Return the fields that show how near a hit is to the query."""
    return {"relevance": round(hit.relevance, 2), "weak": where_given(hit.weak)}


class ImportQuery(AgentQuery, frozen=True):
    """`keep_ids`: bring our own export back as it was."""

    format: OrNull[Chosen] = "auto"
    dry_run: OrNull[bool] = False
    keep_ids: OrNull[bool] = False

    def options(self) -> ImportOptions:
        return ImportOptions(self.format, dry_run=self.dry_run, keep_ids=self.keep_ids)


class ImportedLine(Answer, frozen=True, kw_only=True):
    line: Place
    status: Status
    id: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    message: str | UnsetType = UNSET
    tainted: Literal[True] | UnsetType = UNSET

    @classmethod
    def of(cls, line: LineResult) -> ImportedLine:
        return cls(
            line=line.line,
            status=line.status.value,
            id=where_given(line.id),
            reason=where_given(line.reason),
            message=where_given(line.message),
            tainted=where_given(line.tainted),
        )


class ShownReport(Answer, frozen=True, kw_only=True):
    """The outcome of each line of a file."""

    dry_run: bool
    keep_ids: bool
    format: Format
    complete: bool
    stopped: str | None
    read: Count
    imported: Count
    skipped: Count
    failed: Count
    tainted: Count
    groups: Count
    tombstones: Count
    schemas: Count
    reasons: Mapping[str, Count]
    warnings: Sequence[str]
    lines: Sequence[ImportedLine]
    truncated: bool

    @classmethod
    def of(cls, report: ImportReport) -> ShownReport:
        made = [ImportedLine.of(line) for line in report.lines]
        return copied(cls, report, stopped=report.stopped or None, lines=made)
