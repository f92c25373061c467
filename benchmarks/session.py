"""One coding history of a million tokens: how long the first answer, indexing and a turn take.

The same at 100k tokens, to show how a turn grows with history. Requests are read anew from JSON
fragments each time, as a server does.
"""

from __future__ import annotations

import asyncio
import resource
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from benchmarks.report import Row, promises
from benchmarks.subject import Bench, Subject, open_subject, with_parts
from memtree.context.context_memory import CompressRequest
from memtree.history.message import Message
from memtree_proxy.server.serve import short_collections

TARGET = 20_000
SMALL = 100_000
REPEATS, TURNS = 15, 15
READS = frozenset(
    {"frontiers", "nodes", "descendants", "vectors", "latest", "newest_summaries", "summaries"}
)
MODES = ("fresh", "stable")


class CountingStore:
    """Counts the calls that read; everything goes on to the real store."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.reads = 0

    def __getattr__(self, name: str) -> Any:
        if name in READS:
            self.reads += 1
        return getattr(self._store, name)


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    history = bench.data.coding_session()
    async with open_subject(None, "session", store=bench.store) as subject:
        store = CountingStore(subject.runtime.store)
        subject.runtime = with_parts(subject.runtime, store=store)
        small = await _measure(subject, store, "100k", first(history, SMALL))
        large = await _measure(subject, store, "1m", history)
        on_disk = (await subject.runtime.store.stats()).bytes
        with short_collections():  # as the server has them
            blocked = await _loop_blocked(subject, history)
    rows = [
        *small,
        *large,
        Row("1m event loop blocked longest", blocked, "ms", 25, at_most=True),
        *(
            Row(
                f"warm turn {mode}, 1m over 100k",
                _of(large, f"warm turn {mode}") / _of(small, f"warm turn {mode}"),
                "x",
                12,
                True,
            )
            for mode in MODES
        ),
        Row("database", on_disk / 2**20, "MiB"),
        Row("peak RSS, the posted data in it", _peak(), "MiB"),
    ]
    return [
        *rows,
        *promises(subject.tally.answers, len(subject.tally.broken)),
    ], subject.tally.broken


async def _measure(
    subject: Subject, store: CountingStore, name: str, history: Sequence[Message]
) -> list[Row]:
    base = len(history) - 2 * TURNS
    started = time.perf_counter()
    await _checked(subject, name, history[:base])
    cold = time.perf_counter() - started
    await subject.runtime.settle()
    embedded = time.perf_counter() - started
    size = (await _compress(subject, name, history[:base])).raw_tokens
    repeated = [
        await _timed(lambda: _compress(subject, name, history[:base])) for _ in range(REPEATS)
    ]
    warm = [row for mode in MODES for row in await _turns(subject, store, name, history, mode)]
    await _checked(subject, name, history)
    whole = name == "1m"
    return [
        Row(f"{name} history", size, "tokens"),
        Row(f"{name} cold answer", cold, "s", 3 if whole else None, True),
        Row(f"{name} embedded after", embedded, "s"),
        Row(f"{name} indexing", size / embedded * 60, "tokens/min", 300_000 if whole else None),
        Row(f"{name} repeated request p50", statistics.median(repeated), "ms", 100, True),
        *warm,
    ]


async def _turns(
    subject: Subject, store: CountingStore, name: str, history: Sequence[Message], mode: str
) -> list[Row]:
    """The last turns of the history, one by one."""
    turns, reads = [], []
    for end in range(len(history) - 2 * TURNS + 2, len(history) + 1, 2):
        before = store.reads
        turns.append(await _timed(lambda end=end: _compress(subject, name, history[:end], mode)))  # type: ignore[misc]
        reads.append(store.reads - before)
    return [
        Row(f"{name} warm turn {mode}, p50", statistics.median(turns), "ms"),
        Row(f"{name} warm turn {mode}, slowest", max(turns), "ms"),
        Row(f"{name} store reads a warm turn {mode}, most", max(reads), "", 16, True),
    ]


async def _compress(
    subject: Subject, name: str, history: Sequence[Message], mode: str = "fresh"
) -> Any:
    posted = tuple(Message(message.raw) for message in history)
    return await subject.runtime.memory.compress(_asked(name, posted, mode))


async def _checked(subject: Subject, name: str, history: Sequence[Message]) -> None:
    posted = tuple(Message(message.raw) for message in history)
    await subject.answer(_asked(name, posted), f"{name}, {len(posted)} messages")


def _asked(name: str, posted: tuple[Message, ...], mode: str = "fresh") -> CompressRequest:
    return CompressRequest(name, posted, target=TARGET, hard=True, mode=mode)


async def _timed(work: Callable[[], Awaitable[Any]]) -> float:
    started = time.perf_counter()
    await work()
    return (time.perf_counter() - started) * 1000


async def _loop_blocked(subject: Subject, history: Sequence[Message]) -> float:
    """The longest time that a task waking every millisecond was held up, in ms."""
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            started = time.perf_counter()
            await asyncio.sleep(0.001)
            longest = max(longest, time.perf_counter() - started - 0.001)

    posted = tuple(Message(message.raw) for message in history)
    task = asyncio.create_task(watch())
    for _ in range(REPEATS):
        await subject.runtime.memory.compress(_asked("1m", posted))
    task.cancel()
    return longest * 1000


def first(history: Sequence[Message], limit: int) -> Sequence[Message]:
    """The prefix of about `limit` tokens, four bytes a token."""
    total = 0
    for index, message in enumerate(history):
        total += len(message.raw) // 4
        if total > limit:
            return history[:index]
    return history


def _of(rows: Sequence[Row], part: str) -> float:
    return next(row.figure for row in rows if part in row.name)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
