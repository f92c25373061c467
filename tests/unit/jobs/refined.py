"""A process with stage 3 over a store, and chats whose sentences a scripted model can repeat."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from memtree.config import Settings
from memtree.context.context_memory import Answer, CompressRequest, ContextMemory
from memtree.errors import StoreUnavailable
from memtree.history.chat_history import History
from memtree.history.message import Message
from memtree.jobs.embedding import NoQueue
from memtree.jobs.growing import StageOne
from memtree.jobs.summary_stage import SummaryStage
from memtree.ports.context_store import Store
from memtree.stores import RamStore
from memtree.tree.node import Frontier, Node, Summary
from tests.made.summaries import Script, ScriptedSummarizer
from tests.properties.strategies import history_of, prose

T0 = 20_000 * 86_400.0 + 3_600  # an hour after midnight
PATIENCE = 300  # seconds: none of these waits depends on how fast the machine is


class Hands:
    """A clock that is moved by hand."""

    def __init__(self, now: float = T0) -> None:
        self.seconds = now

    def now(self) -> float:
        return self.seconds

    def monotonic(self) -> float:
        return self.seconds


class Counting(RamStore):
    """Counts reads of summaries, and can hold or refuse commits. `away`: releases fail."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: Counter[str] = Counter()
        self.refused: list[Exception] = []
        self.away = False
        self.arrived = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def newest_summaries(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Summary]:
        self.reads["newest_summaries"] += 1
        return await super().newest_summaries(tenant, ids)

    async def claim(self, *given: Any) -> set[bytes]:
        self.reads["claim"] += 1
        return await super().claim(*given)

    async def release(self, *given: Any) -> None:
        if self.away:
            raise StoreUnavailable("away")
        await super().release(*given)

    async def put_summaries(self, tenant: str, rows: Any) -> None:
        self.arrived.set()
        await self.gate.wait()
        if self.refused:
            raise self.refused.pop()
        await super().put_summaries(tenant, rows)


@dataclass
class Desk:
    """One process. `model`: its summariser."""

    model: ScriptedSummarizer
    store: Store
    clock: Hands
    settings: Settings
    patient: bool = False
    three: SummaryStage = field(init=False)
    memory: ContextMemory = field(init=False)

    def __post_init__(self) -> None:
        self.three = SummaryStage.of(
            self.settings, self.store, self.clock, self.model, patient=self.patient
        )
        self.memory = ContextMemory(
            self.store,
            StageOne(child=False),
            NoQueue(),
            self.clock,
            summaries=self.three.queue,
            settled=self.three.completed,
        )
        self.three.queue.start()

    async def post(self, messages: Iterable[Message], tenant: str = "t", **more: Any) -> Answer:
        ask = CompressRequest(tenant, tuple(messages), patience=60, **more)
        return await self.memory.index(ask)

    async def settle(self) -> None:
        await self.memory.close()
        async with asyncio.timeout(PATIENCE):
            await self.three.queue.join()

    async def submitted(self) -> None:
        """Wait until what was posted is in the queue."""
        await self.memory.close()

    async def kill(self) -> None:
        """The process is gone: nothing of it is finished or released."""
        assert isinstance(self.store, Counting)
        self.store.away = True
        await self.three.queue.close(0)
        self.store.away = False

    async def close(self) -> None:
        await self.memory.close()
        await self.three.close(0.01)


@asynccontextmanager
async def a_desk(
    model: ScriptedSummarizer | None = None,
    store: Store | None = None,
    clock: Hands | None = None,
    *,
    patient: bool = False,
    **settings: Any,
) -> AsyncIterator[Desk]:
    desk = Desk(
        model or ScriptedSummarizer(),
        store or Counting(),
        clock or Hands(),
        replace(SETTINGS, **settings),
        patient,
    )
    try:
        yield desk
    finally:
        if desk.three.queue.running:
            await desk.close()


SETTINGS = Settings(summary_base_url="http://model.test/v1", summary_model="m")


def said(count: int, seed: int = 0, words: int = 150) -> list[Message]:
    """A chat of `count` messages, some 450 tokens each."""
    return [
        Message.of({"role": ("user", "assistant")[n % 2], "content": prose(seed + n, words)})
        for n in range(count)
    ]


async def tree_of(
    store: Store, messages: Sequence[Message], tenant: str = "t"
) -> tuple[History, Frontier, dict[bytes, Node]]:
    posted = history_of(messages, tenant)
    found = await store.frontiers(tenant, posted.addresses)
    for address in reversed(posted.addresses):
        if address in found:
            frontier = found[address].frontier
            return posted, frontier, await store.descendants(tenant, frontier.nodes)
    return posted, Frontier(), {}


async def later(
    store: Store, messages: Sequence[Message], tenant: str = "t"
) -> tuple[dict[bytes, Node], dict[bytes, Summary]]:
    """The sealed nodes of a history, and those summaries of them that are not extracted."""
    _, _, nodes = await tree_of(store, messages, tenant)
    return nodes, await store.newest_summaries(tenant, list(nodes))


def twice(*models: Script) -> list[str]:
    """The texts that were asked for more than once."""
    asked: Counter[str] = sum((model.summarised for model in models), Counter())
    return [text for text, times in asked.items() if times > 1]


DAY = int(T0 // 86_400)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110  what is waited for has no event
            await asyncio.sleep(0.002)


async def idle(desk: Desk, tenant: str) -> None:
    """Until nothing of the tenant waits, or is on its way to the queue."""
    async with asyncio.timeout(PATIENCE):
        while (await desk.memory.pending(tenant)).jobs:  # noqa: ASYNC110  there is no event
            await asyncio.sleep(0.002)


async def all_done(desk: Desk, messages: list[Message], tenant: str = "t") -> None:
    """Every sealed node of the history has a later summary."""
    nodes, found = await later(desk.store, messages, tenant)
    assert nodes
    assert found.keys() == nodes.keys()
