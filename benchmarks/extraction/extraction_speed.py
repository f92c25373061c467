"""Memories out of conversations: what handing one over costs a request, and how fast they are read
in the background, by rules. Texts are made up: a chat that grows by a round with each request, in
which every third message of the user says something of the user."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.report import Row
from benchmarks.subject import Bench
from memtree.config import Settings
from memtree.context.read_histories import MessageCache
from memtree.history.message import Message
from memtree.jobs.memory_services import MemoryServices, open_memory_services
from memtree.jobs.runtime import SystemClock
from memtree.memories.scope import Scope
from memtree.memories.user_memories import SettingsChange, UserSettings
from memtree.stores import open_memories, open_store
from memtree.text import tokens

ROUNDS = (10, 200, 2_000)  # of a conversation that is handed over
TIMES = 300
READ = 600  # rounds of a conversation that is read at once
TURNS = 60  # requests by which a conversation grows
ON = UserSettings(save=True, history=True)

_TOWNS = "Rome Oslo Graz Lima Bonn Cork Bath Kyiv Pisa Bern Nice Riga Porto Turin Malmo".split()
_THINGS = "kayak loom telescope violin greenhouse tractor kiln sailboat printer beehive".split()
_ASKED = (
    "Please rewrite the second paragraph so that it sounds less formal, and keep the numbers.",
    "Can you explain how the retry works when the server answers with a 503 twice in a row?",
    "```python\ndef total(rows):\n    return sum(row.price for row in rows)\n```\nWhy is it slow?",
)


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="memtree-bench-") as folder:
        for number, length in enumerate(ROUNDS):
            url = f"sqlite:///{Path(folder)}/{number}.db"
            rows += await _handed_over(url, length)
        rows += await _read_at_once(f"sqlite:///{Path(folder)}/read.db")
        for number, settings in enumerate((UserSettings(save=True), ON)):
            rows += await _growing(f"sqlite:///{Path(folder)}/grows{number}.db", settings)
    return rows, []


def talk(rounds: int) -> list[Message]:
    return [Message.of(row) for row in _rows(rounds)]


def _rows(rounds: int) -> Iterator[dict[str, str]]:
    for at in range(rounds):
        town, thing = _TOWNS[at % len(_TOWNS)], _THINGS[at // 3 % len(_THINGS)]
        said = _ASKED[at // 3 % len(_ASKED)]
        if at % 3 == 0:
            said = f"I have {at + 2} friends in {town} and I own a {thing}. {said}"
        yield {"role": "user", "content": said}
        answer = f"Answer {at}: the {thing} of {town} needs {at * 7} minutes. "
        yield {"role": "assistant", "content": answer * 12}


async def _handed_over(url: str, rounds: int) -> list[Row]:
    """Nothing reads them: this is what the request pays."""
    async with _Opened(url) as services:
        took: list[float] = []
        requests = [talk(rounds) for _ in range(3)]  # each has messages of its own
        for at in range(TIMES):
            posted = requests[at % 3]
            begun = time.perf_counter()
            services.extraction.submit(_user(at % 7), posted, ON)
            took.append(time.perf_counter() - begun)
    middle, worst = _middle_and_worst(took)
    label = f"handed over, {2 * rounds:,} messages"
    return [
        Row(f"{label}: p50", middle * 1e6, "us"),
        Row(f"{label}: p99", worst * 1e6, "us"),
    ]


async def _read_at_once(url: str) -> list[Row]:
    """A long conversation that nobody has read before."""
    posted = talk(READ)
    size = sum(tokens.count(message.words) for message in posted)
    async with _Opened(url) as services:
        services.start()
        late: list[float] = [0.0]
        watch = asyncio.create_task(_stalls(late))
        begun = time.perf_counter()
        services.extraction.submit(_user(0), posted, ON)
        await services.extraction.join()
        took = time.perf_counter() - begun
        watch.cancel()
        totals = services.extracting.conversations.totals
    label = f"{2 * READ:,} messages at once"
    return [
        Row(f"{label}: messages read", totals.messages / took, "/s"),
        Row(f"{label}: of all tokens", size / took, "/s"),
        Row(f"{label}: memories", totals.stored, ""),
        Row(f"{label}: snapshots", totals.snapshots, ""),
        Row(f"{label}: longest stall of the loop", max(late) * 1e3, "ms"),
    ]


async def _growing(url: str, settings: UserSettings) -> list[Row]:
    """A conversation that grows: what its next request costs in the background."""
    rounds = list(_rows(READ))
    took: list[float] = []
    async with _Opened(url) as services:
        services.start()
        for end in range(len(rounds) - 2 * TURNS, len(rounds), 2):
            posted = [Message.of(row) for row in rounds[: end + 1]]  # none of them is parsed
            services.extraction.submit(_user(0), posted, settings)
            begun = time.perf_counter()
            await services.extraction.join()
            took.append(time.perf_counter() - begun)
    middle, worst = _middle_and_worst(took[1:])
    label = f"one round more of {2 * READ:,} messages"
    label += ", with snapshots" if settings.history else ""
    return [
        Row(f"{label}: p50", middle * 1e3, "ms"),
        Row(f"{label}: p99", worst * 1e3, "ms"),
    ]


async def _stalls(late: list[float], step: float = 0.005) -> None:
    """How late each timer of the loop comes."""
    while True:
        begun = time.perf_counter()
        await asyncio.sleep(step)
        late.append(time.perf_counter() - begun - step)


def _middle_and_worst(took: Sequence[float]) -> tuple[float, float]:
    """p50 and p99."""
    ordered = sorted(took)
    return ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]


def _user(number: int) -> Scope:
    return Scope.of_user("acme", f"user-{number}")


class _Opened:
    """The use cases over a store, with both switches on; nothing reads before `start`."""

    def __init__(self, url: str) -> None:
        self._store = open_store(url)
        memories, clock = open_memories(self._store), SystemClock()
        self._services = open_memory_services(
            Settings(), memories, clock, None, infos=MessageCache(1)
        )

    async def __aenter__(self) -> MemoryServices:
        for number in range(7):
            change = SettingsChange(save=True, history=True)
            await self._services.users.change_settings(_user(number), change)
        return self._services

    async def __aexit__(self, *_: object) -> None:
        await self._services.close(0.0)
        await self._store.close()
