"""A model that cannot be better: a script that knows the planted facts and quotes their sentences,
as many as fit, with who said them. What it does not keep, the caps and checks of the product lose.

It stands behind the real queue, claims and checks, over a database of its own.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from benchmarks.facts import Fact
from benchmarks.subject import Subject, settings
from memtree.context.context_memory import ContextMemory
from memtree.context.read_histories import MessageCache
from memtree.jobs.embedding import NoQueue, OpenedEmbedder
from memtree.jobs.growing import StageOne
from memtree.jobs.memory_services import open_memory_services
from memtree.jobs.runtime import Runtime, SystemClock
from memtree.jobs.summary_stage import SummaryStage
from memtree.ports.models import SummaryDrafts, Usage
from memtree.stores import open_memories, open_store
from memtree.text import tokens
from memtree.tree.summary_prompts import TOLD, Task
from memtree.tree.summary_replies import Draft

_SENTENCE = re.compile(r"(?<!\S)[^\n]+?[.!?](?=\s|$)")


class Quoting:
    """A `Summarizer`."""

    recipe = "quoting"

    def __init__(self, facts: Sequence[Fact]) -> None:
        self._facts = facts

    async def write(self, tasks: Sequence[Task]) -> SummaryDrafts:
        return SummaryDrafts({task.id: self.draft(task) for task in tasks}, Usage())

    async def close(self) -> None:
        """Nothing is open."""

    def draft(self, task: Task) -> Draft:
        """The facts of a task's text; of a text without any, its first sentence."""
        held = [fact for fact in self._facts if any(fact.sentence in one for one in _texts(task))]
        if not held:
            return _draft_of_nothing(task)
        quoted: list[Fact] = []
        for fact in held:
            if tokens.count(_quotes([*quoted, fact])) <= TOLD * task.cap:
                quoted.append(fact)
        # An order as it stands is refused as a headline.
        return Draft(f"{held[0].role} says {_headline(held[0].sentence)}", _quotes(quoted))


def _quotes(facts: Sequence[Fact]) -> str:
    """Who says it stands there once, for caps are narrow."""
    said = {
        role: " ".join(f'"{fact.sentence}"' for fact in facts if fact.role == role)
        for role in sorted({fact.role for fact in facts})
    }
    return " ".join(f"The {role} said: {sentences}" for role, sentences in said.items())


def _texts(task: Task) -> list[str]:
    return [one.text for one in task.sources] + [one.body for one in task.children]


def _draft_of_nothing(task: Task) -> Draft:
    if task.children:
        return Draft(task.children[0].headline, task.children[0].body)
    found = (
        match.group().strip() for one in task.sources for match in _SENTENCE.finditer(one.text)
    )
    fitting = [one for one in found if len(one) > 20 and tokens.count(one) < task.cap]
    return Draft(_headline(fitting[0]), fitting[0]) if fitting else Draft("", "")


def _headline(sentence: str) -> str:
    return " ".join(sentence.rstrip(".!?").split()[:8])


@asynccontextmanager
async def open_quoting(facts: Sequence[Fact]) -> AsyncIterator[Subject]:
    with tempfile.TemporaryDirectory(prefix="memtree-bench-") as folder:
        path = Path(folder) / "quoting.db"
        named, clock = settings(path, "none"), SystemClock()
        store, queue = open_store(named.store), NoQueue()
        three = SummaryStage.of(named, store, clock, Quoting(facts), patient=False)
        three.queue.start()
        memory = ContextMemory(
            store,
            StageOne(),
            queue,
            clock,
            facts=MessageCache(0),
            summaries=three.queue,
            settled=three.completed,
        )
        try:
            memories = open_memories(store)
            saved, without = (
                open_memory_services(named, memories, clock, None),
                OpenedEmbedder(None, None),
            )
            yield Subject(
                Runtime(memory, saved, memories, store, without, queue, summaries=three), path
            )
        finally:
            await memory.close()
            await three.close(0)
            await store.close()
