"""Subject of the measurements: the product's own runtime on a database of its own, every answer
checked."""

from __future__ import annotations

import json
import tempfile
from argparse import Namespace
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.data import Data, Probe
from benchmarks.invariants import Reply, Tally, violations
from memtree.config import Settings
from memtree.context.context_memory import CompressRequest, ContextMemory
from memtree.context.read_histories import MessageCache
from memtree.history.message import Message
from memtree.jobs.runtime import Runtime, SystemClock, open_runtime
from tests.answered import Answered, compressed


@dataclass(frozen=True, slots=True)
class Bench:
    """`keep`: where databases stay between runs, so that embedding is done once; None: nowhere.
    `long`: measure the longest chats, too, which takes minutes more. `store`: the address of an
    empty store for `session`; None: a SQLite file of its own. `sets`: the data sets that `losses`
    and `midepoch` measure; none: all. `options`: of the command line, for a benchmark that has its
    own. `file`: of figures; `earlier`: what the benchmark put into `kept` in the run that wrote
    it."""

    data: Data
    keep: Path | None = None
    long: bool = False
    store: str | None = None
    sets: tuple[str, ...] = ()
    options: Namespace | None = None
    file: Path | None = None
    earlier: dict[str, Any] = field(default_factory=dict)
    kept: dict[str, Any] = field(default_factory=dict)

    def save(self) -> None:
        """Write what is kept so far, so that a run that ends early loses little."""
        if self.file:
            self.file.write_text(json.dumps([{"kept": self.kept}]), "utf-8")


@dataclass(slots=True)
class Subject:
    runtime: Runtime
    path: Path
    tally: Tally = field(default_factory=Tally)

    async def learn(self, tenant: str, messages: Sequence[Message]) -> None:
        """Index a history in all stages."""
        await self.runtime.memory.index(CompressRequest(tenant, tuple(messages)))
        await self.runtime.settle()

    async def compress(self, ask: CompressRequest, where: str, *, check: bool = True) -> Answered:
        """Compress and check what came back. Without `check` it costs far less: most of it goes
        into an explanation."""
        answer = await compressed(self.runtime.memory, ask)
        if check:
            explain = answer.explain()
            found = violations(ask.messages, answer.messages, explain, ask.target, hard=ask.hard)
            self.tally.add(where, found)
        return answer

    async def answered(
        self, ask: CompressRequest, where: str, *, check: bool = True
    ) -> tuple[Answered, Reply]:
        """Answer as `answer` does, and take the answer apart."""
        answer = await self.compress(ask, where, check=check)
        return answer, Reply.of(answer.messages, ask.messages)

    async def answer(self, ask: CompressRequest, where: str, *, check: bool = True) -> Reply:
        return (await self.answered(ask, where, check=check))[1]

    async def question(
        self,
        tenant: str,
        messages: Sequence[Message],
        question: str,
        target: int,
        *,
        check: bool = True,
    ) -> Reply:
        """Ask about a history, and unfold for the question: it is the newest message."""
        ask = asked(tenant, messages, question, target)
        where = f"{tenant} at {target}, question {question!r}"
        return await self.answer(ask, where, check=check)


def asked(tenant: str, messages: Sequence[Message], question: str, target: int) -> CompressRequest:
    """A question after a history, which is unfolded for it under a hard target."""
    newest = Message.of({"role": "user", "content": question})
    return CompressRequest(tenant, (*messages, newest), target=target, hard=True, mode="fresh")


def with_parts(runtime: Runtime, *, store: Any = None, queue: Any = None) -> Runtime:
    """Return the runtime with another store or queue before the memory."""
    memory = ContextMemory(
        store or runtime.store,
        runtime.memory._indexing.builder,
        queue or runtime.queue,
        SystemClock(),
        embedder=runtime.embedder,
        facts=MessageCache(0),
    )
    return replace(runtime, memory=memory)


@asynccontextmanager
async def open_subject(
    keep: Path | None, name: str, embedder: str = "local", store: str | None = None
) -> AsyncIterator[Subject]:
    with tempfile.TemporaryDirectory(prefix="memtree-bench-") as folder:
        path = (keep or Path(folder)) / f"{name}.db"
        named = settings(path, embedder)
        async with open_runtime(replace(named, store=store or named.store)) as runtime:
            yield Subject(runtime, path)


def settings(path: Path, embedder: str = "local") -> Settings:
    return Settings(store=f"sqlite:///{path}", upstream=None, embedder=embedder)


def evidence(probe: Probe, role: str | None = None) -> list[str]:
    """The texts that answer a question, of one role or all."""
    return [
        text for side, texts in probe.evidence.items() if role in (None, side) for text in texts
    ]


def share(texts: Sequence[str], visible: str) -> float:
    """Return the share of these texts that stand verbatim in what is visible."""
    return sum(text in visible for text in texts) / len(texts)


def percent(shares: Sequence[float]) -> float:
    return 100 * sum(shares) / len(shares) if shares else 0.0
