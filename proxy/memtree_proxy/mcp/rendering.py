"""Render the answers of the tools as JSON values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

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
from memtree.memories.fields.times import shown as shown_time
from memtree.memories.injection.options import SHARING
from memtree.memories.memory import WORDING, Memory, PossibleUpdate, Tombstone
from memtree.memories.relation.relation import Relation
from memtree.memories.search.ranking import MemoryHit, SearchResult
from memtree_proxy.wire.answer import LEFT_OUT, Answer, Shown, schema_of_answer, shown
from memtree_proxy.wire.json_schema import BOOLEAN, NULL, STRING, Json, array, described, either

MAX_NEAR_CHARS = 1_000  # of a near memory's text
MAX_RECALLED_CHARS, CUT = 2_000, " [...]"  # of one hit's text
FLOOR = SHARING  # relevance below which a hit is probably off topic
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


# -- fields of answers ------------------------------------------------------------------------


def _short(text: str) -> str:
    return text if len(text) <= MAX_NEAR_CHARS else text[: MAX_NEAR_CHARS - 1] + "…"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_RECALLED_CHARS else text[:MAX_RECALLED_CHARS] + CUT


def _share(value: float) -> float:
    return round(value, 3)


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else shown_time(seconds)


def _category(row: Memory) -> str | None:
    """Return the category. A tainted instruction is shown as a fact until a person confirms it."""
    return "fact" if row.tainted and row.category == "instruction" else row.category


class RecalledMemory(NamedTuple):
    hit: MemoryHit
    outdated: bool


NUMBER = described({"type": "integer"}, "The memory's number.")
NAME = described(STRING, "The memory's id, as mem_...")
STRINGS, MAYBE = array(STRING), either(STRING, NULL)
_SHARE: Json = {"type": "number"}

NAMED: Answer[Memory] = {"memory_id": Shown(NUMBER, lambda row: row.number), "id": Shown(NAME)}
NEAR: Answer[NearMemory] = {
    "memory_id": Shown(NUMBER, lambda near: near.memory.number),
    "id": Shown(NAME, lambda near: near.memory.id),
    "text": Shown(STRING, lambda near: _short(near.memory.text)),
    "relevance": Shown(_SHARE, made=_share),
    "relation": Shown(
        {"type": "string", "enum": ["same", "duplicate", "possible_update"]},
        lambda near: near.relation.value,
    ),
    "differs": Shown(STRINGS, made=list),
}
CORRECTED: Answer[Tombstone] = {
    "memory_id": Shown(NUMBER, lambda stone: stone.number),
    "id": Shown(NAME),
    "at": Shown(STRING, made=shown_time),
    "reason": Shown(STRING),
    "text": Shown(STRING, lambda stone: _short(stone.text) or LEFT_OUT, optional=True),
    "replaced_by": Shown(STRING, lambda stone: stone.replaced_by or LEFT_OUT, optional=True),
}
UPDATE: Answer[PossibleUpdate] = {
    "id": Shown(NAME),
    "text": Shown(STRING, made=_short),
    "differs": Shown(STRINGS, made=list),
}
MEMORY: Answer[Memory] = {
    **NAMED,
    "text": Shown(STRING),
    "category": Shown(MAYBE, _category, optional=True),
    "tags": Shown(STRINGS, made=list),
    "importance": Shown(_SHARE, optional=True),
    "source_type": Shown(STRING, optional=True),
    "source_provider": Shown(MAYBE, optional=True),
    "capture_mode": Shown(MAYBE, optional=True),
    "session_id": Shown(MAYBE, optional=True),
    "created_at": Shown(STRING, lambda row: shown_time(row.created)),
    "updated_at": Shown(STRING, lambda row: shown_time(row.updated), optional=True),
    "last_confirmed_at": Shown(MAYBE, lambda row: _time(row.last_confirmed), optional=True),
    "expires_at": Shown(MAYBE, lambda row: _time(row.expires), optional=True),
    "tainted": Shown(BOOLEAN, lambda row: row.tainted or LEFT_OUT, optional=True),
    "standing": Shown(
        BOOLEAN,
        lambda row: bool(row.standing) or LEFT_OUT,
        "It stands in every prompt of its scope.",
        optional=True,
    ),
    "possible_update_of": Shown(
        array(schema_of_answer(UPDATE)),
        lambda row: [shown(UPDATE, each) for each in row.updates] or LEFT_OUT,
        optional=True,
    ),
}
HIT: Answer[RecalledMemory] = {
    "relevance": Shown(_SHARE, lambda of: _share(of.hit.relevance), optional=True),
    "day": Shown(
        STRING,
        lambda of: written(of.hit.memory.said),
        "On which somebody last said that it is so (UTC).",
        optional=True,
    ),
    "may_be_out_of_date": Shown(
        BOOLEAN,
        lambda of: of.outdated or LEFT_OUT,
        "It is old, and of a kind that changes.",
        optional=True,
    ),
    "weak": Shown(
        BOOLEAN,
        lambda of: of.hit.relevance < FLOOR or LEFT_OUT,
        "Hardly about what was asked.",
        optional=True,
    ),
}

# -- the answers ------------------------------------------------------------------------------


def code(error: MemTreeError) -> str:
    """Return the code that an answer gives for an error."""
    return next((name for kind, name in CODES if isinstance(error, kind)), INTERNAL)


def refused(error: MemTreeError) -> Json:
    return {"ok": False, "error": code(error), "message": error.message}


def saved(result: SaveResult, policy: DedupPolicy) -> Json:
    """Render the answer of `remember`. It lists near memories if the caller asked for them, if they
    kept the text from being stored, or if the new memory may replace them."""
    near = result.near
    shows_near = policy is DedupPolicy.ASK or result.existing or bool(near)
    return {
        "ok": True,
        **_named(result.memory),
        "message": "Already remembered" if result.existing else "Ok",
        **({"standing": True} if result.memory.standing else {}),
        **(
            {"near_duplicates": [shown(NEAR, candidate) for candidate in near]}
            if shows_near
            else {}
        ),
        **_advice(result, near),
        **_present("previously_corrected", [shown(CORRECTED, row) for row in result.corrected]),
        **({"dedup": "deferred"} if result.deferred else {}),
        **_present("degraded", list(result.degraded)),
    }


def _advice(result: SaveResult, near: Sequence[NearMemory]) -> Json:
    """Advise how to settle conflicts with memories that the new memory may replace."""
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
    """Render the answer of `recall`. Weak hits come last. Long texts are cut; `list_memories`
    returns them whole. `outdated`: returns True if a memory may be out of date."""
    hits = sorted(result.hits, key=lambda hit: hit.relevance < FLOOR)  # stable
    memories = [
        {
            **memory(hit.memory),
            "text": _cut(hit.memory.text),
            **shown(HIT, RecalledMemory(hit, outdated(hit.memory))),
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
    """Render the answer of `correct`; `memory_id` is the new memory's."""
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
    at = shown_time(now.last_confirmed if now.last_confirmed is not None else now.updated)
    return {"ok": True, **_named(now), "message": "Confirmed", "last_confirmed_at": at}


def memory(row: Memory) -> Json:
    return shown(MEMORY, row)


def _named(row: Memory) -> Json:
    return shown(NAMED, row)


def _present(name: str, values: Sequence[object]) -> Json:
    return {name: values} if values else {}
