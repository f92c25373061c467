"""Estimates what summarising a history by a model would cost, before anything is spent.

The calls are planned and their prompts are put together as stage 3 does it, so calls and input are
counted, not guessed; only the summaries that parents will be made of are not there yet, and those
of the extraction stand in for them. What the model answers is taken to be as long as the extraction
(expected) or as its caps allow (most). Calls for what is rejected are not foreseen.

What this file does not do: read the history or the store
(`proxy/memtree_proxy/cli/history/estimate.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memtree.conversation.history import History
from memtree.summaries import batching, prompts
from memtree.summaries.batching import Kinds
from memtree.summaries.prompts import Task
from memtree.text import tokens
from memtree.tree.node import Node, Summary
from memtree.tree.work import NodeWork

# Around each summary: {"id":"1","headline":"","body":""}, with its comma; around all of them.
JSON_EACH, JSON_AROUND = 16, 8
# A call is taken to last this long: what hosted small models need, by rule of thumb.
BEGIN_SECONDS, TOKENS_A_SECOND = 1.0, 60.0
MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Part:
    """Share of one node in its call: tokens in, tokens out as expected and at most."""

    level: int
    input: int
    expected: int
    most: int


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One call. `constant`: tokens of the instructions, the same in all calls about one kind."""

    constant: int
    parts: tuple[Part, ...]

    @property
    def expected(self) -> int:
        return JSON_AROUND + sum(part.expected for part in self.parts)

    @property
    def most(self) -> int:
        return JSON_AROUND + sum(part.most for part in self.parts)

    @property
    def size(self) -> int:
        return self.constant + sum(part.input for part in self.parts) + self.expected


@dataclass(frozen=True, slots=True)
class Level:
    """Nodes of one level that lack a model's summary, and what theirs take."""

    level: int
    nodes: int
    input: int
    expected: int
    most: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """`history`: its tokens. `done`: nodes that have a later summary already."""

    history: int
    done: int
    planned: tuple[PlannedCall, ...]

    @property
    def calls(self) -> int:
        return len(self.planned)

    @property
    def constant(self) -> int:
        return sum(call.constant for call in self.planned)

    @property
    def input(self) -> int:
        """Without the instructions."""
        return sum(part.input for call in self.planned for part in call.parts)

    @property
    def expected(self) -> int:
        return sum(call.expected for call in self.planned)

    @property
    def most(self) -> int:
        return sum(call.most for call in self.planned)

    def levels(self) -> list[Level]:
        """Leaves first. The JSON around a call's answers belongs to no level."""
        parts = [part for call in self.planned for part in call.parts]
        levels = []
        for level in sorted({part.level for part in parts}):
            own = [part for part in parts if part.level == level]
            sums = (sum(part.input for part in own), sum(part.expected for part in own))
            levels.append(Level(level, len(own), *sums, sum(part.most for part in own)))
        return levels

    def money(self, input_price: float, output_price: float, *, most: bool = False) -> float:
        """Prices are those of a million tokens; nothing is taken to come from a prompt cache."""
        read, written = self.constant + self.input, self.most if most else self.expected
        return (read * input_price + written * output_price) / MILLION

    def seconds(
        self, parallel: int, requests_per_minute: int = 0, tokens_per_minute: int = 0
    ) -> float:
        """How long it takes at so many calls at once, within these limits (0: none)."""
        lasting = sum(BEGIN_SECONDS + call.expected / TOKENS_A_SECOND for call in self.planned)
        longest = [lasting / max(1, min(parallel, self.calls))]
        if requests_per_minute:
            longest.append(60 * max(0, self.calls - requests_per_minute) / requests_per_minute)
        if tokens_per_minute:
            size = sum(call.size for call in self.planned)
            longest.append(60 * max(0, size - tokens_per_minute) / tokens_per_minute)
        return max(longest)


def estimate(
    history: History,
    nodes: Mapping[bytes, Node],
    lacking: Sequence[NodeWork],
    later: Mapping[bytes, Summary],
    parts: int,
) -> Estimate:
    """`lacking`: nodes to summarise; `later`: what is there of the others; `parts`: most nodes of
    one call. Takes about a second for a million tokens."""
    kinds = Kinds(history, nodes, {})
    summaries = {id_: later.get(id_) or node.summary for id_, node in nodes.items()}
    work = {each.id: each for each in lacking}
    planned = []
    while batch := batching.batch(
        batching.ready(work, (), batching.REACH * parts), kinds.of, (), parts
    ):
        tasks = batching.tasks(history, batch.work, batch.kind, summaries)
        planned.append(_planned(tasks, [each.node for each in batch.work]))
        for each in batch.work:
            del work[each.id]
    return Estimate(history.tokens, len(nodes) - len(lacking), tuple(planned))


def _planned(tasks: Sequence[Task], nodes: Sequence[Node]) -> PlannedCall:
    constant, rest = tokens.count_many(message["content"] for message in prompts.prompt(tasks))
    shares = batching.shares(rest, [batching.length(task) for task in tasks])
    return PlannedCall(
        constant,
        tuple(
            Part(
                task.level,
                share,
                JSON_EACH + sum(tokens.count_many([node.summary.headline, node.summary.body])),
                JSON_EACH + task.cap + task.headline_cap,
            )
            for task, share, node in zip(tasks, shares, nodes, strict=True)
        ),
    )
