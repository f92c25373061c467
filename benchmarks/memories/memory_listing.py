"""User memories: how long lists, groups, an export and an import take beside 10,000 and
100,000 memories of one user, in SQLite and PostgreSQL. Texts are made up; one memory in ten was
changed, one in fifty replaced. PostgreSQL has 100,000 with `--long` alone."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.memories.memory_speed import made_text, middle_and_worst, postgres_schema
from benchmarks.report import Row
from benchmarks.subject import Bench
from memtree.memories.memory import USER_CATEGORIES, MemoryChange, NewMemory
from memtree.memories.memory_store import MemoryFilter
from memtree.memories.scope import Scope
from memtree.memories.search.vector_bytes import packed_terms
from memtree.memories.user_memories import MemoryGroup
from memtree.stores import Memories, open_memories, open_store

SIZES = (10_000, 100_000)
TIMES, WARM = 60, 3
PAGE = 100
EXPORTED = 500  # records of one answer
TOGETHER = 1_000
PASSAGES = 50
START = 1_700_000_000.0
SMALL, LARGE = "grp_small", "grp_large"  # one memory in a thousand, and one in five

Timed = Callable[[int], Awaitable[object]]


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="memtree-bench-") as folder:
        path = (bench.keep or Path(folder)) / "memory_listing.db"
        for size in SIZES:
            rows += await _store(f"SQLite, {size:,}", f"sqlite:///{path}", size)
        with postgres_schema(Path(folder)) as url:
            for size in (SIZES if bench.long else SIZES[:1]) if url else ():
                rows += await _store(f"PostgreSQL, {size:,}", url, size)
    return rows, []


async def _store(label: str, url: str, size: int) -> list[Row]:
    store = open_store(url)
    memories, user = open_memories(store), Scope.of_user("acme", f"size-{size}")
    try:
        took = await _fill(memories, user, size)
        rows = await _reads(label, memories, user, size)
        rows += await _writes(label, memories, user, size)
        rows += await _all(label, memories, user, size)
    finally:
        await store.close()
    return [Row(f"{label}: saved at once", size / took, "/s"), *rows] if took else rows


async def _reads(label: str, memories: Memories, user: Scope, size: int) -> list[Row]:
    middle = START + size / 2
    ids = [f"mem_{at}" for at in range(size - PAGE, size)]
    digests = [f"message {at}".encode() for at in range(200)]
    fact = MemoryFilter(category="fact")

    def page(wanted: MemoryFilter) -> Timed:
        return lambda _: memories.page(user, wanted, limit=PAGE)

    timed: dict[str, Timed] = {
        "list, a page": page(MemoryFilter()),
        "list, a category": page(fact),
        "list, a tag that one in 50 has": page(MemoryFilter(tags=("rare",))),
        "list, a small group": page(MemoryFilter(group=SMALL)),
        "list, a large group": page(MemoryFilter(group=LARGE)),
        "list, created in one hour": page(
            MemoryFilter(created_from=middle, created_before=middle + 3_600)
        ),
        "list, tainted": page(MemoryFilter(tainted=True)),
        "groups with their counts": lambda _: memories.groups(user),
        "groups of a page": lambda _: memories.groups_of(user, ids),
        f"export, {EXPORTED} records": lambda at: memories.records(
            user, at * EXPORTED % size, EXPORTED
        ),
        "200 messages, which are done": lambda _: memories.extracted(user, digests),
        "settings": lambda _: memories.settings(user),
    }
    rows: list[Row] = []
    for what, one in timed.items():
        rows += middle_and_worst(f"{label}: {what}", await _times(one), {})
    return rows


async def _writes(label: str, memories: Memories, user: Scope, size: int) -> list[Row]:
    """Time writes; each added memory is removed, so that the next run finds as many."""
    turn = time.monotonic_ns()

    async def extract(at: int) -> None:
        digest = f"{turn} {at}".encode()
        await memories.add_extracted(user, digest, _made(f"{turn}e{at}", 2), most=10 * size)

    async def put_document(at: int) -> None:
        passages = [replace(m, thread_id="document") for m in _made(f"{turn}p{at}", PASSAGES)]
        await memories.replace_thread(user, "document", passages, most=10 * size)

    async def delete_many(at: int) -> None:
        added = [replace(m, session_id="bulk") for m in _made(f"{turn}d{at}", PAGE)]
        await memories.add_many(user, added)
        started = time.perf_counter()
        await memories.delete_matching(user, MemoryFilter(session_id="bulk"))
        deleted.append(1e3 * (time.perf_counter() - started))

    deleted: list[float] = []
    rows = middle_and_worst(f"{label}: keep what a message told", await _times(extract), {})
    documents = await _times(put_document)
    rows += middle_and_worst(f"{label}: replace {PASSAGES} passages", documents, {})
    await _times(delete_many)
    deleted = sorted(deleted[WARM:])
    rows += middle_and_worst(f"{label}: delete {PAGE} by a filter", deleted, {})
    await memories.replace_thread(user, "document", [])
    late = MemoryFilter(created_from=START + 20 * size)
    await memories.delete_matching(user, late)
    return rows


async def _all(label: str, memories: Memories, user: Scope, size: int) -> list[Row]:
    """The whole scope: out, into another one, and gone from there."""
    started = time.perf_counter()
    after, count = 0, 0
    other = Scope.of_user("acme", f"copy-{time.monotonic_ns()}")
    reading = writing = 0.0
    while part := await memories.records(user, after, EXPORTED):
        reading, started = reading + time.perf_counter() - started, time.perf_counter()
        after, count = part[-1].memory.number, count + len(part)
        await memories.restore(other, part)
        writing, started = writing + time.perf_counter() - started, time.perf_counter()
    every = MemoryFilter(superseded=True, expired=True)
    gone = await memories.delete_matching(other, every)
    deleting, started = time.perf_counter() - started, time.perf_counter()
    await memories.sweep_memories(START + 1e9, 0)
    sweeping = time.perf_counter() - started
    return [
        Row(f"{label}: export", count / reading, "/s"),
        Row(f"{label}: import", count / writing, "/s"),
        Row(f"{label}: delete {len(gone):,} at once", deleting, "s"),
        Row(f"{label}: and erase them in a sweep", sweeping, "s"),
    ]


async def _times(one: Timed) -> list[float]:
    """Milliseconds of each call, ascending; the first ones are not counted."""
    took = []
    for at in range(TIMES + WARM):
        started = time.perf_counter()
        await one(at)
        took.append(1e3 * (time.perf_counter() - started))
    return sorted(took[WARM:])


def _made(name: str, count: int, created: float = START + 1e8) -> list[NewMemory]:
    found = []
    for at in range(count):
        id_ = f"mem_{name}_{at}"
        text = made_text(random.Random(id_))
        text_hash = random.Random(id_).randbytes(16)
        found.append(NewMemory(id_, text, text_hash, packed_terms(text), created + at))
    return found


def _memory(at: int) -> NewMemory:
    text = made_text(random.Random(at))
    return NewMemory(
        *(f"mem_{at}", text, at.to_bytes(16, "big"), packed_terms(text), START + at),
        category=USER_CATEGORIES[at % len(USER_CATEGORIES)],
        tags=("rare",) if at % 50 == 1 else (),
        tainted=at % 100 == 2,
    )


async def _fill(memories: Memories, user: Scope, size: int) -> float:
    """Seconds that the saving took; 0 where it was done before."""
    if await memories.groups(user):
        return 0.0
    took = 0.0
    for start in range(0, size, TOGETHER):
        part = [_memory(at) for at in range(start, min(size, start + TOGETHER))]
        started = time.perf_counter()
        await memories.add_many(user, part)
        took += time.perf_counter() - started
    for at in range(0, size, 10):
        change = MemoryChange(START + 3 * size + at, tags=("changed",))
        await memories.change(user, f"mem_{at}", change)
    for at in range(7, size, 50):
        newer = replace(_memory(at), id=f"mem_{at}_newer", created=START + 2 * size + at)
        await memories.supersede(user, f"mem_{at}", newer, "")
    await _fill_groups(memories, user, size)
    return took


async def _fill_groups(memories: Memories, user: Scope, size: int) -> None:
    members: dict[str, Sequence[str]] = {
        LARGE: [f"mem_{at}" for at in range(0, size, 5)],
        SMALL: [f"mem_{at}" for at in range(3, size, 1_000)],
        **{f"grp_{n}": [f"mem_{at}" for at in range(n, size, 500)] for n in range(20)},
    }
    for at, (id_, ids) in enumerate(members.items()):
        await memories.add_group(user, MemoryGroup(id_, id_, START + at, START + at), 99)
        for start in range(0, len(ids), TOGETHER):
            await memories.add_members(user, id_, ids[start : start + TOGETHER])
