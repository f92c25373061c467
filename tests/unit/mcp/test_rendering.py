"""Check what tools answer, and lines over descriptors."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
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
from memtree_proxy.mcp import tool_answers
from memtree_proxy.mcp.listed_tools import BY_NAME
from memtree_proxy.mcp.stdio import AHEAD, TOO_LONG, InputLines, LineSplitter, OutputLines
from memtree_proxy.wire.values import Answer

# ------------------------------------------------------------------------------------------------
# Check what the tools answer: the fields of the remember tool's document, and those beside them.


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
    said = valid("remember", tool_answers.saved(result, policy))
    assert ("advice" in said) is (bool(result.near) and not result.existing)
    said.pop("advice", None)
    assert said == {"ok": True, "memory_id": 124, "id": "mem_b", **answer}


def test_what_kept_it_from_being_stored_is_told():
    same = NearMemory(NEW, 1.0, Relation.SAME, ())
    skipped = told(tool_answers.saved(SaveResult(NEW, True, (same,)), DedupPolicy.SKIP))
    assert [one["id"] for one in skipped["near_duplicates"]] == ["mem_b"]


def test_tombstones_near_the_text():
    stones = (
        Tombstone("mem_c", 3, AT, "moved", "Colby lives in Rome.", "mem_d"),
        Tombstone("mem_e", 4, AT),
    )
    answer = valid(
        "remember", tool_answers.saved(SaveResult(NEW, corrected=stones), DedupPolicy.ASK)
    )
    assert answer["previously_corrected"] == [
        {"memory_id": 3, "id": "mem_c", "at": "2026-03-07T10:30:00.000Z", "reason": "moved",
         "text": "Colby lives in Rome.", "replaced_by": "mem_d"},
        {"memory_id": 4, "id": "mem_e", "at": "2026-03-07T10:30:00.000Z", "reason": ""},
    ]  # fmt: skip


def test_a_text_that_only_comes_near_is_shortened():
    long = NearMemory(Memory("mem_l", 5, "a" * 16_000, AT, AT), 1.0, Relation.SAME, ())
    answer = told(tool_answers.saved(SaveResult(NEW, near=(long,)), DedupPolicy.ASK))
    (near,) = answer["near_duplicates"]
    assert near["text"] == "a" * 999 + "…"


def test_recalled():
    whole = Memory(
        "mem_w", 7, "Answer in German.", AT, AT, category="instruction", tags=("style",),
        source_type="model", source_provider="m", capture_mode="explicit", session_id="s",
        expires=AT + 1, last_confirmed=AT, importance=0.9,
    )  # fmt: skip
    result = SearchResult((MemoryHit(whole, 0.81236, 3.0), MemoryHit(OLD, 0.2, 1.0)), ("embedder",))
    answer = valid("recall", tool_answers.recalled(result, lambda one: one is OLD))
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
    nothing = tool_answers.recalled(SearchResult(), lambda _: False)
    assert told(nothing) == {"ok": True, "memories": []}


@pytest.mark.parametrize(
    ("category", "tainted", "shown"),
    [("instruction", True, "fact"), ("instruction", False, "instruction"),
     ("preference", True, "preference"), (None, True, None)],
)  # fmt: skip
def test_a_tainted_memory_is_a_fact_at_most(category, tainted, shown):
    row = Memory("mem_t", 1, "t", AT, AT, category=category, tainted=tainted)
    answer = told(tool_answers.memory(row))
    assert answer["category"] == shown
    assert answer.get("tainted") is (True if tainted else None)


def test_listed():
    answer = valid("list_memories", tool_answers.listed(BookPage((NEW, OLD), "99", 12)))
    assert [one["memory_id"] for one in answer["memories"]] == [124, 99]
    assert (answer["next_cursor"], answer["total"]) == ("99", 12)
    assert "relevance" not in answer["memories"][0]
    last = valid("list_memories", tool_answers.listed(BookPage((), None, 0)))
    assert last == {"ok": True, "memories": [], "next_cursor": None, "total": 0}


def test_one_memory():
    forgotten = valid("forget", tool_answers.forgotten(ForgottenMemory(OLD)))
    assert forgotten == {"ok": True, "memory_id": 99, "id": "mem_a", "message": "Forgotten"}
    both = valid("forget", tool_answers.forgotten(ForgottenMemory(OLD, ("mem_c",))))
    assert both["also"] == ["mem_c"]
    new = Memory("mem_b", 124, "now", AT, AT, supersedes="mem_a")
    corrected = valid("correct", tool_answers.corrected(SaveResult(new, degraded=("embedder",))))
    assert corrected == {
        "ok": True, "memory_id": 124, "id": "mem_b", "message": "Corrected",
        "supersedes": {"id": "mem_a"}, "degraded": ["embedder"],
    }  # fmt: skip
    kept = valid("correct", tool_answers.corrected(SaveResult(OLD, existing=True)))
    assert (kept["memory_id"], kept["message"]) == (99, "Already remembered")
    confirmed = valid("confirm", tool_answers.confirmed(Memory("mem_a", 99, "t", 1.0, AT)))
    assert confirmed["last_confirmed_at"] == "2026-03-07T10:30:00.000Z"
    sure = told(tool_answers.confirmed(Memory("mem_a", 99, "t", 1.0, 2.0, last_confirmed=AT)))
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
    assert valid("remember", tool_answers.refused(error)) == {
        "ok": False,
        "error": code,
        "message": error.message,
    }


def test_weak_hits_stand_last_and_long_texts_are_cut():
    long = Memory("mem_c", 7, "x" * 3_000, AT, AT)
    hits = (MemoryHit(NEW, WEAK - 0.01, 3.0), MemoryHit(long, WEAK, 2.0))
    answer = valid("recall", tool_answers.recalled(SearchResult(hits), lambda _: False))
    assert [(row["id"], row.get("weak")) for row in answer["memories"]] == [
        ("mem_c", None),
        ("mem_b", True),
    ]
    assert answer["memories"][0]["text"] == "x" * 2_000 + " [...]"


def test_a_conflict_comes_with_advice():
    near = NearMemory(OLD, 0.9, Relation.POSSIBLE_UPDATE, ("8090 -> 8091",))
    answer = valid("remember", tool_answers.saved(SaveResult(NEW, near=(near,)), DedupPolicy.ASK))
    assert "settle" in answer["advice"]
    assert "advice" not in told(tool_answers.saved(SaveResult(NEW), DedupPolicy.ASK))


# ------------------------------------------------------------------------------------------------
# Lines over descriptors: whole, bounded, and left at any moment.


def split(*pieces: bytes, most: int = 10) -> list[bytes]:
    splitter = LineSplitter(most)
    lines = [line for piece in pieces for line in splitter.feed(piece)]
    return [*lines, *splitter.end()]


@pytest.mark.parametrize(
    ("pieces", "lines"),
    [
        ((b"a\nb\n",), [b"a", b"b"]),
        ((b"a", b"b\nc", b"d"), [b"ab", b"cd"]),
        ((b"\n\n",), [b"", b""]),
        ((b"a\r\n",), [b"a\r"]),
        ((), []),
        ((b"0123456789\n",), [b"0123456789"]),
        ((b"01234567890\nb\n",), [TOO_LONG, b"b"]),
        ((b"01234", b"5678901", b"234", b"\nb"), [TOO_LONG, b"b"]),
        ((b"x" * 50,), [TOO_LONG]),
    ],
)
def test_split(pieces, lines):
    assert split(*pieces) == lines


def test_a_line_without_end_takes_no_memory():
    splitter = LineSplitter(100)
    for _ in range(1_000):
        assert list(splitter.feed(b"x" * 1_000)) == []
    assert list(splitter.feed(b"\nshort\n")) == [TOO_LONG, b"short"]


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """The reader's thread ends before its descriptor is given back: a thread that comes late would
    read from whatever has that number next."""
    read, write = os.pipe()
    inode = os.fstat(read).st_ino

    def close(end: int) -> None:
        with contextlib.suppress(OSError):
            if os.fstat(end).st_ino == inode:  # not closed by the test, nor another's by now
                os.close(end)

    yield read, write
    close(write)
    for thread in threading.enumerate():
        if thread.name == "stdin":
            thread.join()
    close(read)


async def test_lines_come_until_the_input_ends(pipe):
    read, write = pipe
    lines = InputLines(read)
    os.write(write, b"one\ntwo\nthr")
    assert [await lines.next(), await lines.next()] == [b"one", b"two"]
    os.write(write, b"ee")
    os.close(write)
    assert [await lines.next() for _ in range(3)] == [b"three", None, None]


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty")
async def test_lines_that_were_sent_together_come_together(pipe):
    read, write = pipe
    lines = InputLines(read)
    for _ in range(200):
        os.write(write, b"one\ntwo\nthree\n")
        assert await lines.next() == b"one"
        assert await lines.coming(0.0) == (b"two", b"three")
        assert [await lines.next(), await lines.next()] == [b"two", b"three"]


async def test_no_more_is_read_than_there_is_room_for(pipe):
    read, write = pipe
    lines = InputLines(read)
    sent = await asyncio.to_thread(flood, write)
    os.set_blocking(write, True)
    os.close(write)
    seen = 0
    while await lines.next() is not None:
        seen += 1
    assert seen == sent


def flood(descriptor: int) -> int:
    """Write lines until nobody takes more; how many."""
    os.set_blocking(descriptor, False)
    line = b"x" * 4_095 + b"\n"  # of a size that a pipe takes whole or not at all
    sent = tries = 0
    while tries < 20:
        try:
            sent += os.write(descriptor, line) // len(line)
            tries = 0
        except BlockingIOError:
            tries += 1
            time.sleep(0.005)
    assert sent > AHEAD
    return sent


async def test_waiting_for_a_line_can_be_left(pipe):
    lines = InputLines(pipe[0])
    waiting = asyncio.create_task(lines.next())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    lines.end()
    assert await lines.next() is None


async def test_lines_are_written_whole(pipe):
    read, write = pipe
    out = OutputLines(write)
    big = b"x" * 300_000
    both = asyncio.gather(out.write(big), out.write(b"second"))
    got = b""
    while got.count(b"\n") < 2:
        got += await asyncio.to_thread(os.read, read, 65_536)
    await both
    assert got == big + b"\nsecond\n"
    assert not out.closed


async def test_nobody_reads_any_more(pipe):
    read, write = pipe
    out = OutputLines(write)
    os.close(read)
    await out.write(b"lost")
    assert out.closed
    await out.write(b"not tried")
