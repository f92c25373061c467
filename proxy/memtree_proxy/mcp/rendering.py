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
from memtree.memories.duplicates import NearMemory
from memtree.memories.memory import WORDING, Memory, PossibleUpdate, Tombstone
from memtree.memories.rules.expiry import shown
from memtree.memories.rules.injectable import SHARING
from memtree.memories.rules.relation import Relation
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
    """The code of a refusal."""
    return next((name for kind, name in CODES if isinstance(error, kind)), INTERNAL)


def refused(error: MemTreeError) -> Json:
    return {"ok": False, "error": code(error), "message": error.message}


def saved(result: SaveResult, policy: DedupPolicy) -> Json:
    """The answer of `remember`. Near memories are told where the caller asked for them, or where
    they kept the new text from being stored; one that it may replace is told in any case."""
    near = result.near
    if policy is not DedupPolicy.SKIP:  # a repeated call (idempotency) comes near itself
        near = tuple(one for one in near if one.memory.id != result.memory.id)
    told = policy is DedupPolicy.ASK or result.existing or bool(near)
    return {
        "ok": True,
        **_named(result.memory),
        "message": "Already remembered" if result.existing else "Ok",
        **({"standing": True} if result.memory.standing else {}),
        **({"near_duplicates": [_near(one) for one in near]} if told else {}),
        **_advice(result, near),
        **_present("previously_corrected", [_corrected(one) for one in result.corrected]),
        **({"dedup": "deferred"} if result.deferred else {}),
        **_present("degraded", list(result.degraded)),
    }


def _advice(result: SaveResult, near: Sequence[NearMemory]) -> Json:
    """Advise what to do about memories that a new one may replace."""
    updates = [one for one in near if one.relation is Relation.POSSIBLE_UPDATE]
    if result.existing or not updates:
        return {}
    named = [one for one in updates if one.differs != (WORDING,)]
    if not named:
        return {"advice": "They differ in wording alone: leave them."}
    ids = ", ".join(one.memory.id for one in named)
    return {
        "advice": "If the user has changed this, call settle with action replace, id "
        f"{result.memory.id} and with {ids}; if both hold, with keep_both; if you do not know, "
        "ask the user, or leave it."
    }


def recalled(result: SearchResult, outdated: Callable[[Memory], bool]) -> Json:
    """Weak hits stand last, and long texts are cut: `list_memories` has them whole. `outdated`:
    which memories may be."""
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
        "memories": [memory(one) for one in page.memories],
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


def memory(one: Memory) -> Json:
    """A memory with what is known of it. A tainted one is a fact at most, whatever it was saved
    as."""
    return {
        **_named(one),
        "text": one.text,
        "category": "fact" if one.tainted and one.category == "instruction" else one.category,
        "tags": list(one.tags),
        "importance": one.importance,
        "source_type": one.source_type,
        "source_provider": one.source_provider,
        "capture_mode": one.capture_mode,
        "session_id": one.session_id,
        "created_at": shown(one.created),
        "updated_at": shown(one.updated),
        "last_confirmed_at": _time(one.last_confirmed),
        "expires_at": _time(one.expires),
        **({"tainted": True} if one.tainted else {}),
        **({"standing": True} if one.standing else {}),
        **_present("possible_update_of", [_update(each) for each in one.updates]),
    }


def _update(one: PossibleUpdate) -> Json:
    return {"id": one.id, "text": _short(one.text), "differs": list(one.differs)}


def _named(one: Memory) -> Json:
    return {"memory_id": one.number, "id": one.id}


def _near(one: NearMemory) -> Json:
    return {
        **_named(one.memory),
        "text": _short(one.memory.text),
        "relevance": _share(one.relevance),
        "relation": one.relation.value,
        "differs": list(one.differs),
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
