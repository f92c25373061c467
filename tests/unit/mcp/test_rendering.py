"""Check what the tools answer: the fields of the remember tool's document, and those beside
them."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import msgspec
import pytest

from memtree import errors
from memtree.memories.book import BookPage, ForgottenMemory, SaveResult
from memtree.memories.draft import DedupPolicy
from memtree.memories.duplicates import NearMemory
from memtree.memories.memory import Memory, Tombstone
from memtree.memories.relation.relation import Relation
from memtree.memories.search.ranking import WEAK, MemoryHit, SearchResult
from memtree_proxy.mcp import rendering
from memtree_proxy.mcp.definitions import BY_NAME
from memtree_proxy.wire.values import Answer

AT = 1_772_879_400.0  # 2026-03-07T10:30:00Z
NEW = Memory("mem_b", 124, "The server listens on 8091.", AT, AT, supersedes=None)
OLD = Memory("mem_a", 99, "The server listens on 8090.", AT, AT, tags=("ops",))
NEAR = NearMemory(OLD, 0.91239, Relation.POSSIBLE_UPDATE, ("8090 -> 8091",))
TOLD = {
    "memory_id": 99,
    "id": "mem_a",
    "text": "The server listens on 8090.",
    "relevance": 0.912,
    "relation": "possible_update",
    "differs": ["8090 -> 8091"],
}


def told(answer: Answer) -> dict[str, Any]:
    made: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(answer))
    return made


def valid(tool: str, answer: Answer) -> dict[str, Any]:
    made = told(answer)
    jsonschema_rs.validate(BY_NAME[tool].output_schema, made)
    return made


@pytest.mark.parametrize(
    ("policy", "result", "answer"),
    [
        (DedupPolicy.ASK, SaveResult(NEW), {"message": "Ok", "near_duplicates": []}),
        (DedupPolicy.ASK, SaveResult(NEW, near=(NEAR,)),
         {"message": "Ok", "near_duplicates": [TOLD]}),
        (DedupPolicy.INSERT, SaveResult(NEW), {"message": "Ok"}),
        (DedupPolicy.SKIP, SaveResult(NEW), {"message": "Ok"}),
        (DedupPolicy.SKIP, SaveResult(NEW, near=(NEAR,)),
         {"message": "Ok", "near_duplicates": [TOLD]}),
        (DedupPolicy.SKIP, SaveResult(NEW, existing=True),
         {"message": "Already remembered", "near_duplicates": []}),
        (DedupPolicy.INSERT, SaveResult(NEW, deferred=True, degraded=("embedder",)),
         {"message": "Ok", "dedup": "deferred", "degraded": ["embedder"]}),
    ],
)  # fmt: skip
def test_saved(policy, result, answer):
    said = valid("remember", rendering.saved(result, policy))
    assert ("advice" in said) is (bool(result.near) and not result.existing)
    said.pop("advice", None)
    assert said == {"ok": True, "memory_id": 124, "id": "mem_b", **answer}


def test_what_kept_it_from_being_stored_is_told():
    same = NearMemory(NEW, 1.0, Relation.SAME, ())
    skipped = told(rendering.saved(SaveResult(NEW, True, (same,)), DedupPolicy.SKIP))
    assert [one["id"] for one in skipped["near_duplicates"]] == ["mem_b"]


def test_tombstones_near_the_text():
    stones = (
        Tombstone("mem_c", 3, AT, "moved", "Colby lives in Rome.", "mem_d"),
        Tombstone("mem_e", 4, AT),
    )
    answer = valid("remember", rendering.saved(SaveResult(NEW, corrected=stones), DedupPolicy.ASK))
    assert answer["previously_corrected"] == [
        {"memory_id": 3, "id": "mem_c", "at": "2026-03-07T10:30:00.000Z", "reason": "moved",
         "text": "Colby lives in Rome.", "replaced_by": "mem_d"},
        {"memory_id": 4, "id": "mem_e", "at": "2026-03-07T10:30:00.000Z", "reason": ""},
    ]  # fmt: skip


def test_a_text_that_only_comes_near_is_shortened():
    long = NearMemory(Memory("mem_l", 5, "a" * 16_000, AT, AT), 1.0, Relation.SAME, ())
    answer = told(rendering.saved(SaveResult(NEW, near=(long,)), DedupPolicy.ASK))
    (near,) = answer["near_duplicates"]
    assert near["text"] == "a" * 999 + "…"


def test_recalled():
    whole = Memory(
        "mem_w", 7, "Answer in German.", AT, AT, category="instruction", tags=("style",),
        source_type="model", source_provider="m", capture_mode="explicit", session_id="s",
        expires=AT + 1, last_confirmed=AT, importance=0.9,
    )  # fmt: skip
    result = SearchResult((MemoryHit(whole, 0.81236, 3.0), MemoryHit(OLD, 0.2, 1.0)), ("embedder",))
    answer = valid("recall", rendering.recalled(result, lambda one: one is OLD))
    assert answer["degraded"] == ["embedder"]
    assert answer["memories"][0] == {
        "memory_id": 7,
        "id": "mem_w",
        "text": "Answer in German.",
        "category": "instruction",
        "tags": ["style"],
        "importance": 0.9,
        "source_type": "model",
        "source_provider": "m",
        "capture_mode": "explicit",
        "session_id": "s",
        "created_at": "2026-03-07T10:30:00.000Z",
        "updated_at": "2026-03-07T10:30:00.000Z",
        "last_confirmed_at": "2026-03-07T10:30:00.000Z",
        "expires_at": "2026-03-07T10:30:01.000Z",
        "day": "2026-03-07",
        "relevance": 0.812,
    }
    outdated = [row.get("may_be_out_of_date") for row in answer["memories"]]
    assert outdated == [None, True]
    assert answer["memories"][1]["memory_id"] == 99
    nothing = rendering.recalled(SearchResult(), lambda _: False)
    assert told(nothing) == {"ok": True, "memories": []}


@pytest.mark.parametrize(
    ("category", "tainted", "shown"),
    [("instruction", True, "fact"), ("instruction", False, "instruction"),
     ("preference", True, "preference"), (None, True, None)],
)  # fmt: skip
def test_a_tainted_memory_is_a_fact_at_most(category, tainted, shown):
    row = Memory("mem_t", 1, "t", AT, AT, category=category, tainted=tainted)
    answer = told(rendering.memory(row))
    assert answer["category"] == shown
    assert answer.get("tainted") is (True if tainted else None)


def test_listed():
    answer = valid("list_memories", rendering.listed(BookPage((NEW, OLD), "99", 12)))
    assert [one["memory_id"] for one in answer["memories"]] == [124, 99]
    assert (answer["next_cursor"], answer["total"]) == ("99", 12)
    assert "relevance" not in answer["memories"][0]
    last = valid("list_memories", rendering.listed(BookPage((), None, 0)))
    assert last == {"ok": True, "memories": [], "next_cursor": None, "total": 0}


def test_one_memory():
    forgotten = valid("forget", rendering.forgotten(ForgottenMemory(OLD)))
    assert forgotten == {"ok": True, "memory_id": 99, "id": "mem_a", "message": "Forgotten"}
    both = valid("forget", rendering.forgotten(ForgottenMemory(OLD, ("mem_c",))))
    assert both["also"] == ["mem_c"]
    new = Memory("mem_b", 124, "now", AT, AT, supersedes="mem_a")
    corrected = valid("correct", rendering.corrected(SaveResult(new, degraded=("embedder",))))
    assert corrected == {
        "ok": True, "memory_id": 124, "id": "mem_b", "message": "Corrected",
        "supersedes": {"id": "mem_a"}, "degraded": ["embedder"],
    }  # fmt: skip
    kept = valid("correct", rendering.corrected(SaveResult(OLD, existing=True)))
    assert (kept["memory_id"], kept["message"]) == (99, "Already remembered")
    confirmed = valid("confirm", rendering.confirmed(Memory("mem_a", 99, "t", 1.0, AT)))
    assert confirmed["last_confirmed_at"] == "2026-03-07T10:30:00.000Z"
    sure = told(rendering.confirmed(Memory("mem_a", 99, "t", 1.0, 2.0, last_confirmed=AT)))
    assert sure["last_confirmed_at"] == "2026-03-07T10:30:00.000Z"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.BadRequest("text must be a string", param="text"), "INVALID_INPUT"),
        (errors.SecretRejected("a private key"), "SECRET_REJECTED"),
        (errors.EmbedderUnavailable("no answer"), "EMBEDDING_ERROR"),
        (errors.StoreUnavailable("locked"), "DATABASE_ERROR"),
        (errors.StoreCorrupt("broken"), "DATABASE_ERROR"),
        (errors.NotFound("There is no such memory."), "NOT_FOUND"),
        (errors.MemoryLimit("full"), "LIMIT"),
        (errors.Unavailable("later"), "INTERNAL_ERROR"),
    ],
)
def test_errors(error, code):
    assert valid("remember", rendering.refused(error)) == {
        "ok": False,
        "error": code,
        "message": error.message,
    }


def test_weak_hits_stand_last_and_long_texts_are_cut():
    long = Memory("mem_c", 7, "x" * 3_000, AT, AT)
    hits = (MemoryHit(NEW, WEAK - 0.01, 3.0), MemoryHit(long, WEAK, 2.0))
    answer = valid("recall", rendering.recalled(SearchResult(hits), lambda _: False))
    assert [(row["id"], row.get("weak")) for row in answer["memories"]] == [
        ("mem_c", None),
        ("mem_b", True),
    ]
    assert answer["memories"][0]["text"] == "x" * 2_000 + " [...]"


def test_a_conflict_comes_with_advice():
    near = NearMemory(OLD, 0.9, Relation.POSSIBLE_UPDATE, ("8090 -> 8091",))
    answer = valid("remember", rendering.saved(SaveResult(NEW, near=(near,)), DedupPolicy.ASK))
    assert "settle" in answer["advice"]
    assert "advice" not in told(rendering.saved(SaveResult(NEW), DedupPolicy.ASK))
