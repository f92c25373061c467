"""Whatever a client does with its history, no node is summarised twice, and none is forgotten."""

from __future__ import annotations

import asyncio
from random import Random

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from memtree.conversation.message import Message
from memtree.stores import RamStore
from tests.summaries import ScriptedSummarizer
from tests.unit.summarizing.refined import Hands, a_desk, later, said, twice

pytestmark = pytest.mark.slow

STEPS = ("append", "edit", "insert", "cut", "revert", "restart", "settle")


def changed(messages: list[Message], step: str, seed: int) -> list[Message]:
    """The history after what a client did with it."""
    dice, new = Random(seed), said(4, seed=10_000 + 10 * seed)
    at = dice.randrange(1, len(messages))
    if step == "append":
        return [*messages, *new]
    if step == "edit":
        return [*messages[:at], new[0], *messages[at + 1 :]]
    if step == "insert":
        return [*messages[:at], *new[:2], *messages[at:]]
    if step == "cut":
        return messages[: max(12, at)]
    return messages


@settings(max_examples=settings().max_examples // 4)
@given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 500)), min_size=2, max_size=7))
def test_each_node_once(steps: list[tuple[str, int]]) -> None:
    asyncio.run(driven(steps))


async def driven(steps: list[tuple[str, int]]) -> None:
    model, store, clock = ScriptedSummarizer(), RamStore(), Hands()
    versions = [said(30)]
    left = list(steps)
    while left:
        model.closed = False
        async with a_desk(model, store, clock) as desk:  # a process, until it is restarted
            while left:
                step, seed = left.pop(0)
                event(step)
                if step == "restart":
                    await desk.settle()
                    break
                if step == "settle":
                    await desk.settle()
                    continue
                old = versions[Random(seed).randrange(len(versions))]
                messages = old if step == "revert" else changed(versions[-1], step, seed)
                versions.append(messages)
                await desk.post(messages)
            await desk.settle()
    assert twice(model) == []
    nodes, found = await later(store, versions[-1])
    assert nodes.keys() == found.keys()
    assert await store.check() == []
