"""A process whose caches hold little, or nothing, gives the same answers."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from memtree.background.embedding_queue import InProcessQueue
from memtree.background.runtime import ContextCaches
from memtree.background.stage_one import StageOne
from memtree.context.context_memory import ContextMemory
from memtree.context.request import CompressRequest
from memtree.conversation.message import Message
from memtree.conversation.message_list import EarlierList
from memtree.process.cache_limits import CacheLimits
from tests.answered import compressed
from tests.fakes import HashingEmbedder
from tests.made.listed_messages import ListedMessages
from tests.programs.sessions import coding
from tests.properties.process import Clock, Watched

TURNS, STEP, TARGET = 6, 4, 4_000
TENANTS = ("a", "b")
NOTHING = CacheLimits.of(0)
LITTLE = CacheLimits(**{each.name: 60_000 for each in fields(CacheLimits)})


async def sent(limits: CacheLimits, mode: str) -> tuple[list[tuple[bytes, ...]], ContextCaches]:
    """Return what goes upstream of two conversations that grow by turns, and one that branches
    off."""
    caches, store, clock = ContextCaches.of(limits), Watched(), Clock()
    embedder = HashingEmbedder()
    queue = InProcessQueue(store, embedder, clock, cache_bytes=limits.vectors)  # type: ignore[arg-type]
    queue.start()
    memory = ContextMemory(
        store,  # type: ignore[arg-type]
        StageOne(child=False),
        queue,
        clock,
        embedder=embedder,
        facts=caches.message_infos,
        read=caches.read_histories,
        caches=caches.trees,
    )
    answers = []
    talks = {tenant: coding(14_000, seed) for seed, tenant in enumerate(TENANTS)}
    before: dict[str, ListedMessages] = {}
    for turn in (*range(TURNS), TURNS - 3):
        for tenant, talk in talks.items():
            end = len(talk) - (TURNS - turn) * STEP
            ask = {"role": "user", "content": f"What came of step {turn}?"}
            posted = as_list([*talk[:end], ask], before.get(tenant))
            before[tenant] = posted
            answer = await compressed(
                memory, CompressRequest(tenant, posted, target=TARGET, mode=mode)
            )
            answers.append(answer.messages)
            await memory.close()
            await queue.join()
            clock.time += 20
    await queue.close()
    return answers, caches


def as_list(posted: list[dict[str, Any]], before: ListedMessages | None) -> ListedMessages:
    messages = tuple(Message.of(each) for each in posted)
    if before is None:
        return ListedMessages(messages)
    pairs = enumerate(zip(messages, before, strict=False))
    equal = next((at for at, (new, old) in pairs if new.raw != old.raw), len(before))
    return ListedMessages(messages, EarlierList(before.number, min(equal, len(messages))))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["stable", pytest.param("fresh", marks=pytest.mark.long)])
async def test_answers_do_not_depend_on_what_is_cached(mode: str) -> None:
    usual, caches = await sent(CacheLimits.of(), mode)
    used = {name for name, cache in caches.by_name().items() if cache.nbytes}
    assert used >= {"message_infos", "read_histories", "nodes", "corpora"}
    for limits in (NOTHING, LITTLE):
        answers, caches = await sent(limits, mode)
        assert answers == usual
        for name, cache in caches.by_name().items():
            assert cache.nbytes <= getattr(limits, name)
    assert len(set(usual)) > TURNS
