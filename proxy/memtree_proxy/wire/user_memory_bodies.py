"""Requests and answers of users' memories, their groups and settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from memtree.agents.whole_user import UserErasure, UserOverview
from memtree.errors import Forbidden
from memtree.memories.book import SaveResult
from memtree.memories.checked_fields import (
    EXPIRES_AT,
    canonical_tags,
    expiry,
    future_timestamp,
    shown,
)
from memtree.memories.draft import Edit, MemoryDraft
from memtree.memories.memory import UNSET as STAYS
from memtree.memories.memory import MemorySource, MemoryState, Unset
from memtree.memories.memory_store import MemoryFilter
from memtree.memories.memory_topics import checked_category, user_category
from memtree.memories.message_extraction import ExtractionReport
from memtree.memories.scope import Scope
from memtree.memories.search.ranking import SearchResult
from memtree.memories.user_book import GroupDraft, MembersAdded
from memtree.memories.user_memories import (
    MAX_DESCRIPTION_CHARS,
    MAX_TITLE_CHARS,
    MOST_TOP_K,
    GroupChange,
    MemoryGroup,
    SettingsChange,
    UserSettings,
)
from memtree_proxy.http.decoding import FieldError, OrNull, Posted, names
from memtree_proxy.wire.curation_bodies import MAX_IDS, UserFilter
from memtree_proxy.wire.memory_rows import ShownRow, nearness, saved, shown_memory
from memtree_proxy.wire.values import (
    HITS,
    MAX_ROWS,
    Answer,
    Count,
    Hits,
    Rows,
    Searched,
    Share,
    Shown,
    State,
    Success,
    Tags,
    Text,
    copied,
    maybe_time,
)

Included = Literal["superseded", "expired", "deleted"]

# -- memories --------------------------------------------------------------------------------


class NewMemory(Posted, frozen=True):
    text: Text
    category: Text | None = None
    tags: Tags | None = None
    expires_at: str | None = None
    standing: bool | None = None

    def draft(self, now: float) -> MemoryDraft:
        day = datetime.fromtimestamp(now, UTC).date()
        return MemoryDraft(
            self.text,
            category=_category(self.category) or user_category(self.text, day),
            tags=canonical_tags(self.tags),
            source_type="user",
            standing=self.standing,
            expires=future_timestamp(self.expires_at, "expires_at", now),
        )


class MemoryEdit(Posted, frozen=True, rename={"expires_ms": EXPIRES_AT}):
    """Fields to change; null removes an expiry. `expires_ms`: the field that agents' memories use,
    for callers who do not know whose memory it is."""

    text: Text | None = None
    category: Text | None = None
    tags: Tags | None = None
    expires_at: str | UnsetType | None = UNSET
    standing: bool | None = None
    expires_ms: float | UnsetType | None = UNSET

    def check(self) -> None:
        ends = (self.expires_at, self.expires_ms)
        if not any(end is UNSET or end is None for end in ends):
            raise FieldError(EXPIRES_AT, "and expires_at exclude each other")
        said = (self.text, self.category, self.tags, self.standing)
        if all(one is None for one in said) and ends == (UNSET, UNSET):
            raise FieldError("text", "category, tags, standing or expires_at is required")

    def edit(self, now: float) -> Edit:
        return edit_of(
            self.text, _category(self.category), self.tags, self.standing, self._end(now)
        )

    def _end(self, now: float) -> float | Unset | None:
        if isinstance(self.expires_at, str):
            return future_timestamp(self.expires_at, "expires_at", now)
        if isinstance(self.expires_ms, float):
            return expiry(self.expires_ms, now)
        return STAYS if self.expires_at is UNSET and self.expires_ms is UNSET else None


def edit_of(
    text: str | None,
    category: str | None,
    tags: Sequence[str] | None,
    standing: bool | None,
    expires: float | Unset | None = STAYS,
) -> Edit:
    """Return the change that a posted edit describes. None leaves a field unchanged, except
    `expires`."""
    kept = None if tags is None else canonical_tags(tags)
    given = {"text": text, "category": category, "tags": kept, "standing": standing}
    changed: dict[str, Any] = {name: each for name, each in given.items() if each is not None}
    return Edit(**changed, expires=expires)


def _category(posted: str | None) -> str | None:
    return None if posted is None else checked_category(posted, "category")


class UserQuery(UserFilter, frozen=True, kw_only=True):
    """Query of a list or a search. `tag`: the same as `tags`."""

    tag: Tags | None = None
    include: list[Included] | None = None

    def narrowed(self, place: str) -> MemoryFilter:
        states: dict[str, Any] = dict.fromkeys(self.include or (), True)
        return replace(super().narrowed(place), **states)


class UserListing(UserQuery, frozen=True):
    limit: OrNull[Rows] = MAX_ROWS
    cursor: str | None = None


class UserSearch(UserQuery, frozen=True, kw_only=True):
    query: Searched
    limit: OrNull[Hits] = HITS
    threshold: OrNull[Share] = 0.0


class ConversationToExtract(Posted, frozen=True):
    """`messages`: read by themselves, since they may be many."""

    messages: msgspec.Raw
    dry_run: OrNull[bool] = False


class Update(Answer, frozen=True, kw_only=True):
    id: str
    text: str
    relevance: Share | UnsetType = UNSET
    differs: Sequence[str]


class Source(Answer, frozen=True, kw_only=True):
    digest: str
    start: Count
    end: Count
    address: str | None
    origin: str | None
    recorded_at: str | None


class UserMemory(Answer, frozen=True, kw_only=True):
    """A memory of a user. `id` and `number` are null in a dry run."""

    id: str | None
    number: Count | None
    text: str
    category: str | None
    tags: Sequence[str]
    expires_at: str | None
    tainted: bool
    version: int
    state: State
    standing: bool
    possible_update_of: Sequence[Update]
    twins: Sequence[str]
    created_at: str
    updated_at: str
    deleted_at: str | None
    last_confirmed_at: str | None
    group_id: str | None
    group_title: str | None
    group_ids: Sequence[str]
    source_type: str
    conversation_id: str | None
    source: Source | None
    supersedes: str | None
    superseded_by: str | None


class SavedMemory(UserMemory, frozen=True, kw_only=True):
    dedup: Literal["deferred"] | UnsetType = UNSET
    degraded: Sequence[str] | UnsetType = UNSET


class FoundMemory(UserMemory, frozen=True, kw_only=True):
    relevance: Share
    weak: bool | UnsetType = UNSET


class MemoryPage(Answer, frozen=True, kw_only=True):
    memories: Sequence[UserMemory]
    groups: Sequence[ShownGroup]
    next_cursor: str | None
    total: Count


class MemoryHits(Answer, frozen=True, kw_only=True):
    memories: Sequence[FoundMemory]
    degraded: Sequence[str]


class MemoryDeleted(Success, frozen=True, kw_only=True):
    deleted_from_groups: Count
    deleted: Count


def user_memory(row: ShownRow) -> UserMemory:
    return _shown(UserMemory, row)


def saved_memory(row: ShownRow, result: SaveResult) -> SavedMemory:
    return _shown(SavedMemory, row, saved(result, Update))


def found_memories(rows: Sequence[ShownRow], result: SearchResult) -> MemoryHits:
    hits = [
        _shown(FoundMemory, row, nearness(hit)) for row, hit in zip(rows, result.hits, strict=True)
    ]
    return MemoryHits(memories=hits, degraded=result.degraded)


def _shown(kind: type[Shown], row: ShownRow, more: Mapping[str, Any] = {}) -> Shown:
    memory, group, source = row.memory, row.group, row.memory.source
    own = {
        "group_id": group and group.id,
        "group_title": group and group.title,
        "group_ids": row.groups,
        "conversation_id": (source.address or None) if source else None,
        "source": _source(source) if source and source.digest else None,
        "superseded_by": memory.superseded_by or memory.duplicate_of,
    }
    return shown_memory(kind, row, Update, own | dict(more))


def _source(source: MemorySource) -> Source:
    return copied(
        Source,
        source,
        address=source.address or None,
        origin=source.origin or None,
        recorded_at=maybe_time(source.recorded),
    )


# -- groups ----------------------------------------------------------------------------------

_Title = Annotated[Text, Meta(max_length=MAX_TITLE_CHARS)]
_Description = Annotated[Text, Meta(max_length=MAX_DESCRIPTION_CHARS)]


class NewMemoryGroup(Posted, frozen=True):
    title: _Title
    description: OrNull[_Description] = ""
    category: Text | None = None

    def draft(self) -> GroupDraft:
        return GroupDraft(self.title, self.description, self.category)


class MemoryGroupEdit(Posted, frozen=True):
    """Fields of a group to change; null removes description or category."""

    title: _Title | None = None
    description: _Description | UnsetType | None = UNSET
    category: Text | UnsetType | None = UNSET

    def check(self) -> None:
        if self.title is None and self.description is UNSET and self.category is UNSET:
            raise FieldError("title", "description or category is required")

    def change(self) -> GroupChange:
        return GroupChange(self.title, _or_none(self.description), _or_none(self.category))


def _or_none(value: str | UnsetType | None) -> str | None:
    """Return the change of a text: None leaves it, "" removes it."""
    return None if isinstance(value, UnsetType) else value or ""


class GroupMembers(Posted, frozen=True):
    memory_ids: Annotated[list[str], Meta(min_length=1, max_length=MAX_IDS)]


class ShownGroup(Answer, frozen=True, kw_only=True):
    """A group of memories."""

    id: str
    title: str
    description: str
    category: str | None
    member_count: Count
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, group: MemoryGroup) -> ShownGroup:
        return copied(
            cls,
            group,
            member_count=group.members,
            created_at=shown(group.created),
            updated_at=shown(group.updated),
        )


class MemoryGroups(Answer, frozen=True, kw_only=True):
    groups: Sequence[ShownGroup]


class GroupMembersAdded(Success, frozen=True, kw_only=True):
    added_count: Count
    unknown: Sequence[str]

    @classmethod
    def of(cls, added: MembersAdded) -> GroupMembersAdded:
        return cls(added_count=added.added, unknown=[str(ref) for ref in added.unknown])


# -- settings --------------------------------------------------------------------------------

_CHANGEABLE = {
    "save": "memories_save_enabled",
    "history": "memories_chat_history_enabled",
    "threshold": "score_threshold",
}


class MemorySettingsEdit(Posted, frozen=True, rename=_CHANGEABLE):
    save: bool | None = None
    history: bool | None = None
    top_k: Annotated[int, Meta(ge=1, le=MOST_TOP_K)] | None = None
    threshold: Share | None = None
    plan: Any = None

    def check(self) -> None:
        if self.plan is not None:
            raise Forbidden("only the operator can set plan", param="plan")
        if self.change() == SettingsChange():
            first, *rest = [name for name in names(MemorySettingsEdit) if name != "plan"]
            raise FieldError(first, f"{', '.join(rest[:-1])} or {rest[-1]} is required")

    def change(self) -> SettingsChange:
        return SettingsChange(self.save, self.history, self.top_k, self.threshold)


class MemorySettings(Answer, frozen=True, kw_only=True):
    memories_save_enabled: bool
    memories_chat_history_enabled: bool
    top_k: Annotated[int, Meta(ge=1, le=MOST_TOP_K)]
    score_threshold: Share
    plan: Literal["pro", "auto", "free"]

    @classmethod
    def of(cls, settings: UserSettings, plan: Any) -> MemorySettings:
        return cls(
            memories_save_enabled=bool(settings.save),
            memories_chat_history_enabled=settings.history,
            top_k=settings.top_k,
            score_threshold=settings.threshold,
            plan=plan,
        )


# -- all of a user ---------------------------------------------------------------------------


class UserKept(Answer, frozen=True, kw_only=True):
    """Counts of what is kept of a user. `user_id`: None for the credential's own. `memories`: those
    that are live."""

    user_id: str | None
    memories: Count
    states: Mapping[str, Count]
    categories: Mapping[str, Count]
    tainted: Count
    standing: Count
    conflicts: Count
    groups: Count
    agent_records: Count
    first_saved_at: str | None
    last_saved_at: str | None
    settings: MemorySettings

    @classmethod
    def of(cls, scope: Scope, kept: UserOverview, plan: str) -> UserKept:
        return copied(
            cls,
            kept,
            user_id=scope.owner or None,
            memories=kept.memories.get(MemoryState.LIVE, 0),
            states={str(state): count for state, count in kept.memories.items()},
            agent_records=kept.agents,
            first_saved_at=maybe_time(kept.first),
            last_saved_at=maybe_time(kept.last),
            settings=MemorySettings.of(kept.settings, plan),
        )


class UserErased(Answer, frozen=True, kw_only=True):
    """Counts of what was erased of a user: memories, groups, and records of agents about them."""

    deleted: Count
    groups: Count
    agent_records: Count
    verified: bool

    @classmethod
    def of(cls, gone: UserErasure) -> UserErased:
        agents = gone.agents
        return cls(
            deleted=len(gone.memories.deleted),
            groups=gone.groups,
            agent_records=len(agents.deleted) if agents else 0,
            verified=gone.memories.verified and (agents is None or agents.verified),
        )


# -- extraction ------------------------------------------------------------------------------


class SkippedText(Answer, frozen=True, kw_only=True):
    text: str
    reason: str


class Extracted(Answer, frozen=True, kw_only=True):
    """Outcome of extracting memories from a posted conversation. `stored`: with `dry_run`, the
    memories that would be stored. `forgotten`: ids of those that a message asked to forget."""

    dry_run: bool
    messages: Count
    stored: Sequence[UserMemory]
    skipped: Sequence[SkippedText]
    snapshots: Sequence[UserMemory]
    forgotten: Sequence[str]


def extracted(
    report: ExtractionReport,
    stored: Sequence[ShownRow],
    snapshots: Sequence[ShownRow],
    *,
    dry_run: bool,
) -> Extracted:
    unnamed = {"id": None, "number": None} if dry_run else {}
    return Extracted(
        dry_run=dry_run,
        messages=report.messages,
        stored=[_shown(UserMemory, row, unnamed) for row in stored],
        skipped=[SkippedText(text=one.shown, reason=str(one.reason)) for one in report.skipped],
        snapshots=[user_memory(row) for row in snapshots],
        forgotten=[memory.id for memory in report.forgotten],
    )
