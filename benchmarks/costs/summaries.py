"""Summaries by a model: their tokens, that no node is paid for twice, and how fast they come.

The model is a script in this process: it answers with sentences of the text, each summary as long
as its cap allows, after as many seconds as the benchmark says. Everything else is the product:
tree, store, claims, checks. Tokens are counted here, as o200k.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks import synthetic
from benchmarks.report import Row
from benchmarks.subject import Bench
from memtree.config import Settings
from memtree.context.context_memory import ContextMemory
from memtree.context.read_histories import MessageCache
from memtree.context.turn_request import UNHURRIED, CompressRequest
from memtree.history.message import Message
from memtree.jobs.embedding import NoQueue
from memtree.jobs.growing import StageOne
from memtree.jobs.runtime import SystemClock
from memtree.jobs.summary_stage import SummaryStage
from memtree.ports.context_store import Store
from memtree.stores import open_store
from memtree.text import tokens
from tests.made.summaries import ScriptedSummarizer

TENANT = "bench"
TOKENS = 120_000  # of each history whose tokens are counted
# Seconds of an answer, and tokens of history by calls at once: each takes about half a minute.
LATENCY = 2.0
RATES = {1: 30_000, 4: 120_000, 8: 240_000}


@dataclass(frozen=True, slots=True)
class Desk:
    """A process with stage 3 over a store of its own."""

    memory: ContextMemory
    three: SummaryStage
    store: Store
    model: ScriptedSummarizer

    async def index(self, messages: Sequence[Message]) -> Done:
        """Post a history and wait for all stages; what that took."""
        asks, calls = self.parts, self.model.calls
        read, written = self.model.input_tokens, self.model.output_tokens
        constant, started = self.constant, time.monotonic()
        ask = CompressRequest(TENANT, tuple(messages), patience=UNHURRIED)
        answer = await self.memory.index(ask)
        await self.memory.close()
        await self.three.queue.join()
        return Done(
            answer.indexed_tokens,
            self.parts - asks,
            self.model.calls - calls,
            self.model.input_tokens - read,
            self.constant - constant,
            self.model.output_tokens - written,
            time.monotonic() - started,
        )

    @property
    def parts(self) -> int:
        """Nodes that were asked for, each as often as it was."""
        return sum(len(one.parts) for one in self.model.asked)

    @property
    def constant(self) -> int:
        """Tokens of the instructions that are the same in every call."""
        return sum(tokens.count(one.messages[0]["content"]) for one in self.model.asked)

    @property
    def done(self) -> int:
        """Nodes that have a later summary."""
        return sum(self.three.queue.totals.nodes.values())

    @property
    def twice(self) -> int:
        """Nodes that were asked for again though their first summary was not rejected."""
        totals = self.three.queue.totals
        rejected_first = sum(totals.problems.values()) - totals.nodes["kept"]
        return self.parts - self.done - rejected_first


@dataclass(frozen=True, slots=True)
class Done:
    """`tokens`: of the history's leaves; `nodes`: asked for."""

    tokens: int
    nodes: int
    calls: int
    read: int
    constant: int
    written: int
    seconds: float


@asynccontextmanager
async def a_desk(parallel: int = 8, latency: float = 0.0) -> AsyncIterator[Desk]:
    with tempfile.TemporaryDirectory(prefix="memtree-bench-") as folder:
        store = open_store(f"sqlite:///{Path(folder) / 'summaries.db'}")
        settings = Settings(summary_parallel=parallel)
        model, clock = ScriptedSummarizer(latency=latency), SystemClock()
        three = SummaryStage.of(settings, store, clock, model, patient=False)
        three.queue.start()
        memory = ContextMemory(
            store,
            StageOne(),
            NoQueue(),
            clock,
            facts=MessageCache(0),
            summaries=three.queue,
            settled=three.completed,
        )
        try:
            yield Desk(memory, three, store, model)
        finally:
            await three.close(0)
            await store.close()


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    chat = _chat(TOKENS)
    rows = [
        *await _cost("coding", _first(bench.data.coding_session(), TOKENS)),
        *await _cost("chat", chat),
        *await _changes(chat),
    ]
    for parallel, size in RATES.items():
        rows.append(await _rate(parallel, size))
    return rows, []


async def _cost(name: str, messages: Sequence[Message]) -> list[Row]:
    async with a_desk() as desk:
        done = await desk.index(messages)
        rejected = sum(desk.three.queue.totals.problems.values())
        return [
            Row(f"{name}: history", done.tokens, "tokens"),
            Row(
                f"{name}: read a history token, instructions aside",
                (done.read - done.constant) / done.tokens,
                "tokens",
                1.25,
                at_most=True,
            ),
            Row(f"{name}: with them", done.read / done.tokens, "tokens", 1.6, at_most=True),
            Row(
                f"{name}: written a history token",
                done.written / done.tokens,
                "tokens",
                0.20,
                at_most=True,
            ),
            Row(f"{name}: nodes", desk.done),
            Row(f"{name}: calls a node", done.calls / desk.done),
            Row(f"{name}: summaries rejected", rejected),
            Row(f"{name}: nodes paid twice", desk.twice, goal=0, at_most=True),
        ]


async def _changes(messages: Sequence[Message]) -> list[Row]:
    """Measure what is read again after the same history was posted, went on, was edited, branched
    off."""
    new, other = _chat(TOKENS // 20, seed=9), _chat(TOKENS // 20, seed=11)
    middle = len(messages) // 2
    variants = {
        "posted again": list(messages),
        "went on by a twentieth": [*messages, *new],
        "edited in its middle": [*messages[:middle], new[0], *messages[middle + 1 :]],
        "branched off at four fifths": [*messages[: len(messages) * 4 // 5], *other],
    }
    rows = []
    async with a_desk() as desk:
        whole = await desk.index(messages)
        for name, variant in variants.items():
            done = await desk.index(variant)
            rows.append(Row(f"{name}: nodes asked for", done.nodes, f"of {whole.nodes:,}"))
        await desk.index(messages)  # reverted
        rows.append(Row("all of these: nodes paid twice", desk.twice, goal=0, at_most=True))
    return rows


async def _rate(parallel: int, size: int) -> Row:
    async with a_desk(parallel, LATENCY) as desk:
        done = await desk.index(_chat(size))
        minutes = done.seconds / 60
        name = f"indexing at {LATENCY:g} s a call, {parallel} at once"
        return Row(name, done.tokens / minutes, "tokens/min")


def _chat(size: int, seed: int = 3) -> list[Message]:
    return [message for pair in synthetic.chat(seed, size) for message in pair]


def _first(messages: Sequence[Message], size: int) -> list[Message]:
    """Return as many messages as hold `size` tokens."""
    found, have = [], 0
    for message in messages:
        if have >= size:
            break
        found.append(message)
        have += tokens.count(message.text)
    return found
