"""Render the answers of the tools as values for JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from memtree.days import written
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
from memtree.memories.draft import DedupPolicy
from memtree.memories.fields.times import shown
from memtree.memories.injection.injectable import SHARING
from memtree.memories.memory import WORDING, Memory, PossibleUpdate, Tombstone
from memtree.memories.relation.relation import Relation
from memtree.memories.saving.duplicates import NearMemory
from memtree.memories.search.hits import SearchResult

Json = dict[str, Any]

MAX_NEAR_CHARS = 1_000  # of the text of a memory that only comes near
MAX_RECALLED_CHARS, CUT = 2_000, " [...]"  # of one hit
FLOOR = SHARING  # relevance below which a hit is hardly about what was asked
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


def code(error: MemTreeError) -> str:
    """Return the code by which an answer names a refusal."""
    return next((name for kind, name in CODES if isinstance(error, kind)), INTERNAL)


def refused(error: MemTreeError) -> Json:
    return {"ok": False, "error": code(error), "message": error.message}


def saved(result: SaveResult, policy: DedupPolicy) -> Json:
    """The answer of `remember`. Near memories are told where the caller asked for them, or where
    they kept the new text from being stored; one that it may replace is told in any case."""
    near = result.near
    if policy is not DedupPolicy.SKIP:  # a repeated call (idempotency) comes near itself
        near = tuple(candidate for candidate in near if candidate.memory.id != result.memory.id)
    shows_near = policy is DedupPolicy.ASK or result.existing or bool(near)
    return {
        "ok": True,
        **_named(result.memory),
        "message": "Already remembered" if result.existing else "Ok",
        **({"standing": True} if result.memory.standing else {}),
        **({"near_duplicates": [_near(candidate) for candidate in near]} if shows_near else {}),
        **_advice(result, near),
        **_present("previously_corrected", [_corrected(row) for row in result.corrected]),
        **({"dedup": "deferred"} if result.deferred else {}),
        **_present("degraded", list(result.degraded)),
    }


def _advice(result: SaveResult, near: Sequence[NearMemory]) -> Json:
    """Advise what to do about memories that a new one may replace."""
    updates = [candidate for candidate in near if candidate.relation is Relation.POSSIBLE_UPDATE]
    if result.existing or not updates:
        return {}
    named = [candidate for candidate in updates if candidate.differs != (WORDING,)]
    if not named:
        return {"advice": "They differ in wording alone: leave them."}
    ids = ", ".join(candidate.memory.id for candidate in named)
    return {
        "advice": "If the user has changed this, call settle with action replace, id "
        f"{result.memory.id} and with {ids}; if both hold, with keep_both; if you do not know, "
        "ask the user, or leave it."
    }


def recalled(result: SearchResult, outdated: Callable[[Memory], bool]) -> Json:
    """Render the answer of `recall`. Weak hits stand last, and long texts are cut: `list_memories`
    has them whole. `outdated`: tells whether a memory may be outdated."""
    hits = sorted(result.hits, key=lambda hit: hit.relevance < FLOOR)  # stable
    memories = [
        {
            **memory(hit.memory),
            "text": _cut(hit.memory.text),
            "day": written(hit.memory.said),
            **({"may_be_out_of_date": True} if outdated(hit.memory) else {}),
            "relevance": _share(hit.relevance),
            **({"weak": True} if hit.relevance < FLOOR else {}),
        }
        for hit in hits
    ]
    return {"ok": True, "memories": memories, **_present("degraded", list(result.degraded))}


def listed(page: BookPage) -> Json:
    return {
        "ok": True,
        "memories": [memory(row) for row in page.memories],
        "next_cursor": page.next_cursor,
        "total": page.total,
    }


def forgotten(old: ForgottenMemory, message: str = "Forgotten") -> Json:
    also = _present("also", list(old.twins))
    return {"ok": True, **_named(old.memory), "message": message, **also}


def corrected(result: SaveResult) -> Json:
    """The answer of `correct`; `memory_id` is the new memory's."""
    old = result.memory.supersedes
    return {
        "ok": True,
        **_named(result.memory),
        "message": "Already remembered" if result.existing else "Corrected",
        **({"supersedes": {"id": old}} if old and not result.existing else {}),
        **_present("degraded", list(result.degraded)),
    }


def settled(now: Memory) -> Json:
    return {"ok": True, **_named(now), "message": "Settled"}


def confirmed(now: Memory) -> Json:
    at = shown(now.last_confirmed if now.last_confirmed is not None else now.updated)
    return {"ok": True, **_named(now), "message": "Confirmed", "last_confirmed_at": at}


def memory(row: Memory) -> Json:
    """A memory with what is known of it. A tainted one is a fact at most, whatever it was saved
    as."""
    return {
        **_named(row),
        "text": row.text,
        "category": "fact" if row.tainted and row.category == "instruction" else row.category,
        "tags": list(row.tags),
        "importance": row.importance,
        "source_type": row.source_type,
        "source_provider": row.source_provider,
        "capture_mode": row.capture_mode,
        "session_id": row.session_id,
        "created_at": shown(row.created),
        "updated_at": shown(row.updated),
        "last_confirmed_at": _time(row.last_confirmed),
        "expires_at": _time(row.expires),
        **({"tainted": True} if row.tainted else {}),
        **({"standing": True} if row.standing else {}),
        **_present("possible_update_of", [_update(each) for each in row.updates]),
    }


def _update(update: PossibleUpdate) -> Json:
    return {"id": update.id, "text": _short(update.text), "differs": list(update.differs)}


def _named(row: Memory) -> Json:
    return {"memory_id": row.number, "id": row.id}


def _near(candidate: NearMemory) -> Json:
    return {
        **_named(candidate.memory),
        "text": _short(candidate.memory.text),
        "relevance": _share(candidate.relevance),
        "relation": candidate.relation.value,
        "differs": list(candidate.differs),
    }


def _corrected(stone: Tombstone) -> Json:
    return {
        "memory_id": stone.number,
        "id": stone.id,
        "at": shown(stone.at),
        "reason": stone.reason,
        **({"text": _short(stone.text)} if stone.text else {}),
        **({"replaced_by": stone.replaced_by} if stone.replaced_by else {}),
    }


def _present(name: str, values: Sequence[object]) -> Json:
    return {name: values} if values else {}


def _short(text: str) -> str:
    return text if len(text) <= MAX_NEAR_CHARS else text[: MAX_NEAR_CHARS - 1] + "…"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_RECALLED_CHARS else text[:MAX_RECALLED_CHARS] + CUT


def _share(value: float) -> float:
    return round(value, 3)


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else shown(seconds)
