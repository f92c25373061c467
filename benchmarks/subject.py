"""What is measured: the product's own runtime on a database of its own, every answer checked."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.data import Data
from benchmarks.invariants import Reply, Tally, violations
from indexer.runtime import Runtime, open_runtime
from memtree.compress import Ask
from memtree.config import Settings
from memtree.message import Message


@dataclass(frozen=True, slots=True)
class Bench:
    """`keep`: where databases stay between runs, so that embedding is done once; None: nowhere."""

    data: Data
    keep: Path | None = None


@dataclass(slots=True)
class Subject:
    runtime: Runtime
    path: Path
    tally: Tally = field(default_factory=Tally)

    async def learn(self, tenant: str, messages: Sequence[Message]) -> None:
        """Index a history in all stages."""
        await self.runtime.memory.index(Ask(tenant, tuple(messages)))
        await self.runtime.settle()

    async def answer(self, ask: Ask, where: str) -> Reply:
        """Compress and check against the target as a hard one."""
        answer = await self.runtime.memory.compress(ask)
        self.tally.add(
            where, violations(ask.messages, answer.messages, answer.explain(), ask.target)
        )
        return Reply.of(answer.messages)

    async def question(
        self, tenant: str, messages: Sequence[Message], question: str, target: int
    ) -> Reply:
        """Ask about a history: the question is its newest message."""
        asked = Message.of({"role": "user", "content": question})
        ask = Ask(tenant, (*messages, asked), target=target, hard=True)
        return await self.answer(ask, f"{tenant} at {target}, question {question!r}")


@asynccontextmanager
async def open_subject(keep: Path | None, name: str) -> AsyncIterator[Subject]:
    with tempfile.TemporaryDirectory(prefix="memtree-bench-") as folder:
        path = (keep or Path(folder)) / f"{name}.db"
        settings = Settings(store=f"sqlite:///{path}", upstream=None)
        async with open_runtime(settings) as runtime:
            yield Subject(runtime, path)


def share(texts: Sequence[str], visible: str) -> float:
    """Of these texts, how many stand verbatim in what is visible."""
    return sum(text in visible for text in texts) / len(texts)


def percent(shares: Sequence[float]) -> float:
    return 100 * sum(shares) / len(shares) if shares else 0.0
