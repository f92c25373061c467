"""The job of stage 3: nodes of one tree that lack a model's summary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memtree.background.jobs import Job
from memtree.tree.node import Node, NodeWork

NODE_BYTES = 5_000  # estimate for a decoded node


@dataclass(slots=True, eq=False)
class SummaryJob(Job[NodeWork]):
    """`nodes`: the whole tree. `kinds`: kind of content by node, computed on demand."""

    nodes: Mapping[bytes, Node] = field(default_factory=dict)
    kinds: dict[bytes, str] = field(default_factory=dict)
    # Monotonic seconds until which no call is made for it, unless something changes.
    blocked: float = 0.0
    # Its history was deleted: results of running calls are discarded.
    forgotten: bool = False

    def __post_init__(self) -> None:
        Job.__post_init__(self)  # `super()` fails here: slots=True creates a new class
        self.size += NODE_BYTES * len(self.nodes)
