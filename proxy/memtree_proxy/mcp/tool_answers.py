"""Renders what tools and resources answer over MCP.

A refusal has the form of every tool's answer, since some clients validate those as well. Resources
are what a client can read beside calling tools, the caller's conversations:

memtree://conversations              the newest conversations: titles, sizes, tokens saved; no text
memtree://conversations/{address}    the tree of one conversation: summaries and their positions
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Protocol

import msgspec
from msgspec import UNSET, Meta, UnsetType

from memtree.clock import written
from memtree.errors import (
    BadRequest,
    Conflict,
    EmbedderUnavailable,
    MemTreeError,
    NotFound,
    SecretRejected,
    StoreCorrupt,
    StoreUnavailable,
)
from memtree.memories.book import BookPage, ForgottenMemory, SaveResult
from memtree.memories.checked_fields import shown as shown_time
from memtree.memories.draft import DedupPolicy
from memtree.memories.duplicates import NearMemory
from memtree.memories.memory import Memory, Tombstone
from memtree.memories.relation.relation import Relation
from memtree.memories.search.ranking import MemoryHit, SearchResult
from memtree.text.own_lines import in_values, one_line
from memtree_proxy.wire.context_bodies import ShownStoredTree
from memtree_proxy.wire.conversation_bodies import ShownConversation
from memtree_proxy.wire.values import Answer, Count, copied, maybe_time, where_given

ROOT = "memtree://conversations"
TEMPLATE = f"{ROOT}/{{address}}"
MEDIA_TYPE = "application/json"
NEWEST = 50  # conversations listed
_ONE = re.compile(re.escape(ROOT) + "/([0-9a-fA-F]{64})")
MAX_NEAR_CHARS = 1_000  # of a near memory's text
MAX_RECALLED_CHARS, CUT = 2_000, " [...]"  # of one hit's text
INTERNAL = "INTERNAL_ERROR"
CODES: tuple[tuple[type[MemTreeError], str], ...] = (
    (BadRequest, "INVALID_INPUT"),
    (SecretRejected, "SECRET_REJECTED"),
    (EmbedderUnavailable, "EMBEDDING_ERROR"),
    (StoreUnavailable, "DATABASE_ERROR"),
    (StoreCorrupt, "DATABASE_ERROR"),
    (NotFound, "NOT_FOUND"),
    (Conflict, "LIMIT"),
)


class Conversations(Protocol):
    """Reads a tenant's conversations."""

    async def newest(self, tenant: str, limit: int) -> Sequence[ShownConversation]:
        """Return rows with `address` and `title`, the most recently used conversation first."""
        ...

    async def tree(self, tenant: str, address: str) -> ShownStoredTree:
        """Return the tree of a conversation. `address`: 64 hexadecimal digits. Raises
        `NotFound`."""
        ...


class ListedResource(NamedTuple):
    uri: str
    name: str
    title: str


async def listed_resources(conversations: Conversations, tenant: str) -> list[ListedResource]:
    """List one resource for the list of conversations, and one for each of the newest."""
    rows = await conversations.newest(tenant, NEWEST)
    each = [
        ListedResource(f"{ROOT}/{row.address}", row.address[:12], one_line(row.title) or "Untitled")
        for row in rows
    ]
    return [ListedResource(ROOT, "conversations", "Conversations"), *each]


async def read(conversations: Conversations, tenant: str, uri: str) -> str:
    """Return the JSON of a resource. Raises `NotFound`."""
    if uri == ROOT:
        rows = await conversations.newest(tenant, NEWEST)
        return _json({"conversations": rows})
    match = _ONE.fullmatch(uri)
    if match is None:
        raise NotFound(f"There is no resource {uri[:100]!a}; {ROOT} lists those that there are.")
    return _json(await conversations.tree(tenant, match[1]))


def _json(answer: object) -> str:
    return msgspec.json.encode(in_values(msgspec.to_builtins(answer))).decode()


Maybe = str | UnsetType
Number = Annotated[int, Meta(description="The memory's number.")]
Name = Annotated[str, Meta(description="The memory's id, as mem_...")]
Degraded = Annotated[
    Sequence[str] | UnsetType,
    Meta(description="Parts that did not answer: with `embedder`, words alone rank for now."),
]
Code = Annotated[
    Maybe,
    Meta(description="Where ok is false: INVALID_INPUT, SECRET_REJECTED, DATABASE_ERROR, ..."),
]

# -- parts of answers -------------------------------------------------------------------------


class NearRow(Answer, frozen=True, kw_only=True):
    memory_id: Number
    id: Name
    text: str
    relevance: float
    relation: Literal["same", "duplicate", "possible_update"]
    differs: Sequence[str]


class CorrectedRow(Answer, frozen=True, kw_only=True):
    memory_id: Number
    id: Name
    at: str
    reason: str
    text: Maybe = UNSET
    replaced_by: Maybe = UNSET


class UpdateRow(Answer, frozen=True, kw_only=True):
    id: Name
    text: str
    differs: Sequence[str]


class MemoryRow(Answer, frozen=True, kw_only=True):
    """A memory; the last four fields are those of a search."""

    memory_id: Number
    id: Name
    text: str
    category: str | None
    tags: Sequence[str]
    importance: float
    source_type: str
    source_provider: str | None
    capture_mode: str | None
    session_id: str | None
    created_at: str
    updated_at: str
    last_confirmed_at: str | None
    expires_at: str | None
    tainted: bool | UnsetType = UNSET
    standing: Annotated[
        bool | UnsetType, Meta(description="It stands in every prompt of its scope.")
    ] = UNSET
    possible_update_of: Sequence[UpdateRow] | UnsetType = UNSET
    relevance: float | UnsetType = UNSET
    day: Annotated[Maybe, Meta(description="On which somebody last said that it is so (UTC).")] = (
        UNSET
    )
    may_be_out_of_date: Annotated[
        bool | UnsetType, Meta(description="It is old, and of a kind that changes.")
    ] = UNSET
    weak: Annotated[bool | UnsetType, Meta(description="Hardly about what was asked.")] = UNSET


_OF_HIT = ("relevance", "day", "may_be_out_of_date", "weak")


class OlderName(Answer, frozen=True, kw_only=True):
    memory_id: Number | UnsetType = UNSET
    id: Name


# -- the answers ------------------------------------------------------------------------------


class Said(Answer, frozen=True, kw_only=True):
    ok: bool
    error: Code = UNSET
    message: Maybe = UNSET


class Named(Answer, frozen=True, kw_only=True):
    """Answer about one memory."""

    ok: bool
    memory_id: Number | UnsetType = UNSET
    id: Name | UnsetType = UNSET
    error: Code = UNSET
    message: Maybe = UNSET


class Saved(Named, frozen=True, kw_only=True):
    standing: bool | UnsetType = UNSET
    near_duplicates: Sequence[NearRow] | UnsetType = UNSET
    advice: Annotated[Maybe, Meta(description="What to do about a possible_update.")] = UNSET
    previously_corrected: Sequence[CorrectedRow] | UnsetType = UNSET
    dedup: Literal["deferred"] | UnsetType = UNSET
    degraded: Degraded = UNSET


class Recalled(Said, frozen=True, kw_only=True):
    memories: Sequence[MemoryRow] | UnsetType = UNSET
    degraded: Degraded = UNSET


class Listed(Said, frozen=True, kw_only=True):
    memories: Sequence[MemoryRow] | UnsetType = UNSET
    next_cursor: str | UnsetType | None = UNSET
    total: Count | UnsetType = UNSET


class Forgotten(Named, frozen=True, kw_only=True):
    also: Annotated[
        Sequence[str] | UnsetType,
        Meta(description="Ids of others that said the same, and went with it."),
    ] = UNSET


class Corrected(Named, frozen=True, kw_only=True):
    supersedes: OlderName | UnsetType = UNSET
    degraded: Degraded = UNSET


class Confirmed(Named, frozen=True, kw_only=True):
    last_confirmed_at: Maybe = UNSET


class Quotation(Answer, frozen=True, kw_only=True):
    agent: Annotated[str, Meta(description="The agent whose session it was.")]
    session: str
    title: str
    day: Annotated[str, Meta(description="On which the session was last written (UTC).")]
    project: Annotated[str, Meta(description="The folder that the agent worked in.")]
    file: Annotated[str, Meta(description="The transcript.")]
    message: Annotated[int, Meta(description="Its number in the session, from 0.")]
    role: Annotated[
        str, Meta(description="Who said it: user, assistant, or tool for what a tool printed.")
    ]
    text: str


class Quoted(Said, frozen=True, kw_only=True):
    note: Maybe = UNSET
    quotations: Sequence[Quotation] | UnsetType = UNSET
    sessions: Annotated[int | UnsetType, Meta(description="How many were searched.")] = UNSET
    by_words_alone: Annotated[
        int | UnsetType, Meta(description="How many of them not by meaning yet.")
    ] = UNSET


def code(error: MemTreeError) -> str:
    """Return the code that an answer gives for an error."""
    return next((name for kind, name in CODES if isinstance(error, kind)), INTERNAL)


def refused(error: MemTreeError) -> Said:
    return Said(ok=False, error=code(error), message=error.message)


def saved(result: SaveResult, policy: DedupPolicy) -> Saved:
    """Render the answer of `remember`. It lists near memories if the caller asked for them, if they
    kept the text from being stored, or if the new memory may replace them."""
    shows_near = policy is DedupPolicy.ASK or result.existing or bool(result.near)
    return Saved(
        **_named(result.memory, "Already remembered" if result.existing else "Ok"),
        standing=where_given(bool(result.memory.standing)),
        near_duplicates=[_near(one) for one in result.near] if shows_near else UNSET,
        advice=where_given(_advice(result)),
        previously_corrected=where_given([_corrected(stone) for stone in result.corrected]),
        dedup="deferred" if result.deferred else UNSET,
        degraded=where_given(result.degraded),
    )


def _advice(result: SaveResult) -> str:
    """Advise how to settle conflicts with memories that the new memory may replace."""
    updates = [one for one in result.near if one.relation is Relation.POSSIBLE_UPDATE]
    if result.existing or not updates:
        return ""
    ids = ", ".join(candidate.memory.id for candidate in updates)
    return (
        "If the user has changed this, call settle with action replace, id "
        f"{result.memory.id} and with {ids}; if both hold, with keep_both; if you do not know, "
        "ask the user, or leave it."
    )


def recalled(result: SearchResult, outdated: Callable[[Memory], bool]) -> Recalled:
    """Render the answer of `recall`. Weak hits come last. Long texts are cut; `list_memories`
    returns them whole. `outdated`: returns True if a memory may be out of date."""
    hits = sorted(result.hits, key=lambda hit: hit.weak)  # stable
    rows = [_hit(hit, outdated=outdated(hit.memory)) for hit in hits]
    return Recalled(ok=True, memories=rows, degraded=where_given(result.degraded))


def _hit(hit: MemoryHit, *, outdated: bool) -> MemoryRow:
    text = hit.memory.text
    return memory(
        hit.memory,
        text=text if len(text) <= MAX_RECALLED_CHARS else text[:MAX_RECALLED_CHARS] + CUT,
        relevance=round(hit.relevance, 3),
        day=written(hit.memory.said),
        may_be_out_of_date=where_given(outdated),
        weak=where_given(hit.weak),
    )


def listed(page: BookPage) -> Listed:
    rows = [memory(row) for row in page.memories]
    return Listed(ok=True, memories=rows, next_cursor=page.next_cursor, total=page.total)


def forgotten(old: ForgottenMemory, message: str = "Forgotten") -> Forgotten:
    return Forgotten(**_named(old.memory, message), also=where_given(old.twins))


def corrected(result: SaveResult) -> Corrected:
    """Render the answer of `correct`; `memory_id` is the new memory's."""
    old = None if result.existing else result.memory.supersedes
    return Corrected(
        **_named(result.memory, "Already remembered" if result.existing else "Corrected"),
        supersedes=OlderName(id=old) if old else UNSET,
        degraded=where_given(result.degraded),
    )


def settled(now: Memory) -> Named:
    return Named(**_named(now, "Settled"))


def confirmed(now: Memory) -> Confirmed:
    at = shown_time(now.last_confirmed if now.last_confirmed is not None else now.updated)
    return Confirmed(**_named(now, "Confirmed"), last_confirmed_at=at)


def memory(row: Memory, **of_hit: Any) -> MemoryRow:
    """Return a memory. `of_hit`: the fields of a search, and the text as it shows it."""
    # A tainted instruction is shown as a fact until a person confirms it.
    fact = row.tainted and row.category == "instruction"
    return copied(
        MemoryRow,
        row,
        memory_id=row.number,
        category="fact" if fact else row.category,
        created_at=shown_time(row.created),
        updated_at=shown_time(row.updated),
        last_confirmed_at=maybe_time(row.last_confirmed),
        expires_at=maybe_time(row.expires),
        tainted=where_given(row.tainted),
        standing=where_given(bool(row.standing)),
        possible_update_of=where_given(
            [copied(UpdateRow, one, text=_short(one.text)) for one in row.updates]
        ),
        **(of_hit or dict.fromkeys(_OF_HIT, UNSET)),
    )


def _near(near: NearMemory) -> NearRow:
    return NearRow(
        memory_id=near.memory.number,
        id=near.memory.id,
        text=_short(near.memory.text),
        relevance=round(near.relevance, 3),
        relation=near.relation.value,  # type: ignore[arg-type]  # `other` is never near
        differs=near.differs,
    )


def _corrected(stone: Tombstone) -> CorrectedRow:
    return copied(
        CorrectedRow,
        stone,
        memory_id=stone.number,
        at=shown_time(stone.at),
        text=where_given(_short(stone.text)),
        replaced_by=where_given(stone.replaced_by),
    )


def _named(row: Memory, message: str) -> dict[str, Any]:
    return {"ok": True, "memory_id": row.number, "id": row.id, "message": message}


def _short(text: str) -> str:
    return text if len(text) <= MAX_NEAR_CHARS else text[: MAX_NEAR_CHARS - 1] + "…"
