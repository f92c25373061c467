"""After a deletion nothing is found: not in the store's files, the queue, or what a process keeps.

On a whole runtime with its SQLite file; one tenant is deleted, another one stays.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memtree.background.embedding_queue import InProcessQueue
from memtree.background.runtime import Runtime, SystemClock, open_runtime
from memtree.background.stage_one import StageOne
from memtree.config import Settings
from memtree.context.context_memory import CompressRequest, ContextMemory
from memtree.conversation.message import Message
from memtree.conversation.message_cache import MessageCache
from tests.answered import compressed
from tests.fakes import HashingEmbedder
from tests.programs.sessions import chat

pytestmark = pytest.mark.slow

WORD = "zanzibar"


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[tuple[Runtime, ContextMemory]]:
    """A runtime whose queue works only when it is started."""
    settings = Settings(store=f"sqlite:///{path}", upstream=None, embedder="none")
    async with open_runtime(settings) as runtime:
        embedder = HashingEmbedder()
        queue = InProcessQueue(runtime.store, embedder, SystemClock())
        memory = ContextMemory(
            runtime.store,
            StageOne(child=False),
            queue,
            SystemClock(),
            embedder=embedder,
            facts=MessageCache(1),
        )
        yield replace(runtime, memory=memory, queue=queue), memory


def history(word: str) -> tuple[Message, ...]:
    """A chat in which a word stands wherever an extract may pick it up."""
    told = [{"role": "user", "content": f"From now on, always call the service {word}."}]
    for number, one in enumerate(chat(200, words=60)):
        error = f"{word.title()}Error: {word}/part{number}.py failed with {word.upper()}-{number}."
        told.append({**one, "content": f"{error} {one['content']}"} if number % 5 == 0 else one)
    asked = {"role": "user", "content": f"Why did {word} fail?"}
    return tuple(Message.of(one) for one in (*told, asked))


async def used(runtime: Runtime, tenant: str, word: str) -> list[Any]:
    """Two turns in an epoch, all vectors; then a third whose vectors still wait."""
    posted = history(word)
    ask = CompressRequest(tenant, posted[:-3], target=3_000, hard=True, mode="stable")
    answers = [await compressed(runtime.memory, ask)]
    answers.append(await compressed(runtime.memory, replace(ask, messages=posted)))
    return answers


def everything(path: Path) -> bytes:
    files = sorted(path.parent.glob(f"{path.name}*"))
    return b"".join(file.read_bytes() for file in files)


@pytest.mark.parametrize(
    "how", ["history", pytest.param("address", marks=pytest.mark.long), "tenant"]
)
async def test_nothing_of_it_is_found_anywhere(tmp_path: Path, how: str) -> None:
    path = tmp_path / "m.db"
    async with opened(path) as (runtime, memory):
        queue = runtime.queue
        assert isinstance(queue, InProcessQueue)
        answers = await used(runtime, "gone", WORD)
        await used(runtime, "stays", "ouagadougou")
        assert all(answer.epoch for answer in answers)
        assert (await queue.pending("gone")).jobs == 1
        assert WORD.encode() in everything(path).lower()
        assert answers[-1].address in everything(path)
        if how == "history":
            receipt = await memory.forget_history(CompressRequest("gone", history(WORD)))
        elif how == "address":
            receipt = await memory.forget_address("gone", answers[-1].address)
        else:
            receipt = await memory.forget_tenant("gone")
        assert min(receipt.addresses, receipt.nodes, receipt.epochs, receipt.turns) > 0
        assert (await queue.pending("gone")).jobs == 0
        assert (await queue.pending("stays")).jobs == 1
        assert memory.cached_tenants == {"stays"}
        queue.start()
        await queue.join()
        left = everything(path)
        assert WORD.encode() not in left.lower()
        assert answers[-1].address not in left
        assert answers[0].address not in left
        assert b"ouagadougou" in left.lower()
        assert await runtime.store.check() == []
        again = await used(runtime, "stays", "ouagadougou")
        assert again[-1].cached_tokens > 0
        await queue.close()
