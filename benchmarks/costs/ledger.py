"""Account for the input cost of one session where the provider caches prefixes.

A simulated cache: of each request, the longest run of leading messages that began an earlier
request of the session, byte for byte, is read; the rest is written. The tools stand in front of
everything. Nothing of the product's own costs or counts is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.invariants import Reply, size, weight
from memtree.budget.prices import Prices
from memtree.history.message import Message
from tests.answered import Answered


class Ledger:
    """`total`: the cost so far, in uncached input tokens."""

    def __init__(self, prices: Prices, tools: int, weigh: Callable[[bytes], int] = weight) -> None:
        """`tools`: tokens of what is sent in front of the messages; `weigh`: those of one."""
        self.total = 0.0
        self._weigh = weigh
        self._prices, self._tools = prices, tools
        self._sent: dict[bytes, Any] = {}  # a tree: message -> what followed it

    def add(self, messages: Sequence[bytes]) -> None:
        at, read, written = self._sent, 0, 0
        for raw in (b"", *messages):
            tokens = self._weigh(raw) if raw else self._tools
            if raw in at:
                read += tokens
            else:
                written += tokens
                at[raw] = {}
            at = at[raw]
        self.total += self._prices.cost(read, written)


@dataclass(frozen=True, slots=True)
class Point:
    """Where a session stands: tokens of the history, cost over direct cost so far, with recall
    blocks and without. `blocks`: tokens that all blocks take in this answer. `began`: with this
    answer an epoch began."""

    history: int
    ratio: float
    bare: float
    blocks: int
    began: bool


class Account:
    """One session: what was sent, what would have been sent without us, turn by turn."""

    def __init__(self, prices: Prices, tools: int) -> None:
        self.points: list[Point] = []
        self._direct, self._ours, self._bare = (Ledger(prices, tools) for _ in range(3))
        self._epoch: str | None = None

    def add(self, posted: Sequence[Message], answer: Answered) -> Reply:
        reply = Reply.of(answer.messages, posted)
        unblocked = reply.unblocked
        self._direct.add([message.raw for message in posted])
        self._ours.add(answer.messages)
        self._bare.add(unblocked)
        blocks = sum(map(weight, answer.messages)) - sum(map(weight, unblocked))
        began = answer.epoch is not None and answer.epoch != self._epoch
        self._epoch = answer.epoch
        direct = self._direct.total
        ours, bare = self._ours.total / direct, self._bare.total / direct
        self.points.append(Point(size(posted), ours, bare, blocks, began))
        return reply

    def at(self, history: int) -> Point:
        """The first point with that much history, or the last of all."""
        return next((p for p in self.points if p.history >= history), self.points[-1])

    @property
    def worst(self) -> Point:
        return max(self.points, key=lambda point: point.ratio)

    @property
    def begins(self) -> int:
        """Tokens of the history at the first fold; of the last request where there is none."""
        began = (point for point in self.points if point.began)
        return next(began, self.points[-1]).history

    @property
    def folds(self) -> int:
        return sum(point.began for point in self.points)
