"""Requests and answers that curate memories: bulk deletion, settling conflicts, histories and
tombstones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from memtree.errors import BadRequest
from memtree.memories.checked_fields import canonical_tags, shown, timestamp
from memtree.memories.deletion_check import EVERYTHING
from memtree.memories.draft import checked_name
from memtree.memories.memory import Memory, Tombstone
from memtree.memories.memory_curation import DeletionReceipt, MemoryPast
from memtree.memories.memory_store import ANY, MemoryFilter
from memtree_proxy.http.decoding import FieldError, OrNull, Posted
from memtree_proxy.wire.values import (
    AgentQuery,
    Answer,
    Count,
    Id,
    Many,
    Name,
    Rows,
    Share,
    Tags,
    copied,
    maybe_time,
)

MAX_IDS = 1_000  # in one request
MAX_TOMBSTONES = 1_000
Source = Literal["user", "model", "extraction", "import"]

# -- posted ----------------------------------------------------------------------------------


class ChatFilter(Posted, frozen=True):
    """Filter of a chat's memories. The attributes are named as in `MemoryFilter`."""

    category: Name | None = None
    tags: Tags | None = None
    source_type: Source | None = None
    tainted: bool | None = None
    standing: bool | None = None
    conflicts: bool | None = None
    created_from: str | None = None
    created_before: str | None = None

    def wanted(self, place: str = "", also: Iterable[str] = ()) -> MemoryFilter:
        """Return the filter. `place`: prefix of the fields in errors. `also`: states of memories
        that are let through as well."""
        given = msgspec.structs.asdict(self)
        own = {name: given[name] for name in ("source_type", "tainted", "standing", "conflicts")}
        own |= dict.fromkeys(also, True)
        for name in ("created_from", "created_before"):
            own[name] = timestamp(given[name], f"{place}{name}")
        if self.category is not None:
            own["category"] = checked_name(self.category, f"{place}category")
        given_tags = [*(self.tags or ()), *(given.get("tag") or ())]
        tags = canonical_tags(given_tags, f"{place}tags")
        return replace(self.narrowed(place), tags=tags, **own)

    def narrowed(self, place: str) -> MemoryFilter:
        """Return what only some memories have."""
        return ANY


class UserFilter(ChatFilter, frozen=True):
    group_id: Id | None = None

    def narrowed(self, place: str) -> MemoryFilter:
        return MemoryFilter(group=self.group_id)


class AgentFilter(ChatFilter, frozen=True):
    kind: Name | None = None
    thread_id: Id | None = msgspec.field(default=None, name="threadId")

    def narrowed(self, place: str) -> MemoryFilter:
        kind = None if self.kind is None else checked_name(self.kind, f"{place}kind")
        return MemoryFilter(kind=kind, thread_id=self.thread_id)


class BulkDeletion(Posted, frozen=True):
    ids: Annotated[list[str], Meta(min_length=1, max_length=MAX_IDS)] | None = None
    all: OrNull[bool] = False
    dry_run: OrNull[bool] = False
    purge: OrNull[bool] = False

    def check(self) -> None:
        given = [self.all, getattr(self, "filter", None) is not None, self.ids is not None]
        if given.count(True) != 1:
            raise FieldError("", "give exactly one of filter, ids and all: true")

    def wanted(self, *, purged: bool) -> MemoryFilter:
        """Return the filter of the memories to delete; one that matches every memory is refused.
        `purged`: with `all`, include deleted memories. Raises `BadRequest`."""
        posted: ChatFilter | None = getattr(self, "filter", None)
        if self.all or posted is None:
            return replace(EVERYTHING, deleted=purged) if self.all else ANY
        wanted = posted.wanted("filter.", ("superseded", "expired"))
        if wanted == EVERYTHING:
            raise BadRequest(
                "filter must not be empty; all: true deletes everything", param="filter"
            )
        return wanted


class ChatBulkDeletion(BulkDeletion, frozen=True):
    filter: ChatFilter | None = None


class UserBulkDeletion(BulkDeletion, frozen=True):
    filter: UserFilter | None = None


class AgentBulkDeletion(BulkDeletion, frozen=True):
    """BulkDeletion of agents' memories. The agent is named here or in the query."""

    filter: AgentFilter | None = None
    agent_id: Many | None = msgspec.field(default=None, name="agentId")
    subject_id: Many | None = msgspec.field(default=None, name="subjectId")


class MemoryIds(Posted, frozen=True):
    ids: Annotated[list[str], Meta(min_length=1, max_length=MAX_IDS)]


class AgentMemoryIds(MemoryIds, frozen=True):
    """Memories of the agent that is named here or in the query, else of the user."""

    agent_id: Many | None = msgspec.field(default=None, name="agentId")
    subject_id: Many | None = msgspec.field(default=None, name="subjectId")


class MemorySettlement(Posted, frozen=True, rename={"other": "with"}):
    other: str
    action: Literal["replace", "keep_both"]

    @property
    def replaces(self) -> bool:
        return self.action == "replace"


class TombstoneQuery(AgentQuery, frozen=True):
    limit: OrNull[Rows] = MAX_TOMBSTONES


class ChatTombstoneQuery(Posted, frozen=True):
    limit: OrNull[Rows] = MAX_TOMBSTONES


# -- answered --------------------------------------------------------------------------------


class UserVersion(Answer, frozen=True, kw_only=True):
    """Version of a memory; the last three fields are those of agents."""

    version: int
    at: str
    text: str
    category: str | None
    tags: Sequence[str]
    expires_at: str | None
    tainted: bool
    kind: str | UnsetType = UNSET
    data: dict[str, Any] | UnsetType | None = UNSET
    confidence: Share | UnsetType = UNSET


class ChatVersion(UserVersion, frozen=True, kw_only=True):
    text: str = msgspec.field(name="content")


def user_version(memory: Memory) -> UserVersion:
    return _version(UserVersion, memory, kind=UNSET, data=UNSET, confidence=UNSET)


def chat_version(memory: Memory) -> UserVersion:
    return _version(ChatVersion, memory, kind=UNSET, data=UNSET, confidence=UNSET)


def agent_version(memory: Memory) -> UserVersion:
    data = None if memory.data is None else dict(memory.data)
    return _version(UserVersion, memory, data=data)


def _version(of: type[UserVersion], memory: Memory, **made: Any) -> UserVersion:
    at, expires_at = shown(memory.updated), maybe_time(memory.expires)
    return copied(of, memory, at=at, expires_at=expires_at, **made)


class Replaced(Answer, frozen=True, kw_only=True):
    id: str
    replaced_at: str
    replaced_by: str | None
    reason: str | None
    versions: Sequence[UserVersion]


class MemoryHistory(Answer, frozen=True, kw_only=True):
    """The versions of a memory, and of the memories that it replaced."""

    id: str
    versions: Sequence[UserVersion]
    replaced: Sequence[Replaced]


def history(past: MemoryPast, version: Any) -> MemoryHistory:
    """`version`: shows one version of the memory."""
    return MemoryHistory(
        id=past.versions[0].id,
        versions=[version(memory) for memory in past.versions],
        replaced=[
            Replaced(
                id=one.tombstone.id,
                replaced_at=shown(one.tombstone.at),
                replaced_by=one.tombstone.replaced_by,
                reason=one.tombstone.reason or None,
                versions=[version(memory) for memory in one.versions],
            )
            for one in past.replaced
        ],
    )


class ShownTombstone(Answer, frozen=True, kw_only=True):
    id: str
    number: Count
    at: str
    reason: str | None
    text: str | None
    replaced_by: str | None


class ChatTombstone(ShownTombstone, frozen=True, kw_only=True):
    text: str | None = msgspec.field(name="content")


class Tombstones(Answer, frozen=True, kw_only=True):
    tombstones: Sequence[ShownTombstone]


def tombstones(stones: Iterable[Tombstone], kind: type[ShownTombstone]) -> Tombstones:
    return Tombstones(
        tombstones=[
            copied(
                kind,
                stone,
                at=shown(stone.at),
                reason=stone.reason or None,
                text=stone.text or None,
            )
            for stone in stones
        ]
    )


class Apart(Answer, frozen=True, kw_only=True):
    undelete_until: str | None
    tombstones: Count
    snapshots: Sequence[str]
    other_scopes: Literal["kept"] = "kept"


class BulkReceipt(Answer, frozen=True, kw_only=True):
    deleted: Count
    verified: bool
    apart: Apart

    @classmethod
    def of(cls, receipt: DeletionReceipt) -> BulkReceipt:
        apart = Apart(
            undelete_until=maybe_time(receipt.undelete_until),
            tombstones=receipt.tombstones,
            snapshots=receipt.snapshots,
        )
        return cls(deleted=len(receipt.deleted), verified=receipt.verified, apart=apart)


class Memories(Answer, frozen=True, kw_only=True):
    """Memories of a user, an agent or a chat."""

    memories: Sequence[Any]
