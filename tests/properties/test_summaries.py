"""Whatever a client does with its history, no node is summarised twice, and none is forgotten."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from random import Random

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from memtree.history.message import Message
from memtree.stores import RamStore
from memtree.tree.node import Summary
from tests.made.summaries import ScriptedSummarizer
from tests.unit.jobs.refined import Hands, a_desk, later, said

pytestmark = pytest.mark.slow

STEPS = ("append", "edit", "insert", "cut", "revert", "restart", "settle")


class Written(RamStore):
    """Counts how often each node got a summary."""

    def __init__(self) -> None:
        super().__init__()
        self.written: Counter[bytes] = Counter()

    async def put_summaries(self, tenant: str, rows: Mapping[bytes, Summary]) -> None:
        self.written.update(rows.keys())
        await super().put_summaries(tenant, rows)


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
# Two nodes that the model is shown the same text for: of a leaf it says only how that begins, and
# the edit is behind that. Both are asked for, each once.
@example([("append", 129), ("insert", 244), ("settle", 51), ("edit", 333), ("settle", 20)])
@example([("revert", 333), ("append", 329), ("settle", 481), ("edit", 199), ("settle", 21)])
def test_each_node_once(steps: list[tuple[str, int]]) -> None:
    asyncio.run(driven(steps))


async def driven(steps: list[tuple[str, int]]) -> None:
    model, store, clock = ScriptedSummarizer(), Written(), Hands()
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
    assert [node for node, times in store.written.items() if times > 1] == []
    assert sum(model.summarised.values()) == len(store.written), "one was paid for and not kept"
    nodes, found = await later(store, versions[-1])
    assert nodes.keys() == found.keys()
    assert await store.check() == []
