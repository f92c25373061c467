"""Count what the tokens of a memory message are spent on: excerpts, labels, summary lines, rules,
the head, and joints. Shown, not judged: recall at a budget prices all of them.

The figures are those of `explain.spent`, and beside them stands what they miss: together they must
be the tokens of the memory message exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from benchmarks.quality.kinds import samples
from benchmarks.report import Row, promises
from benchmarks.subject import Bench, open_subject
from memtree.text import tokens

PARTS = ("excerpts", "labels", "lines", "rules", "head", "joints")


@dataclass(slots=True)
class Overhead:
    """Sums over some answers; `missed`: tokens of memory messages that no part accounts for."""

    answers: int = 0
    parts: Counter[str] = field(default_factory=Counter)
    missed: int = 0

    def add(self, memory: str, spent: Mapping[str, int]) -> None:
        self.answers += 1
        self.parts.update({part: spent.get(part, 0) for part in PARTS})
        self.missed += abs(tokens.count(memory) - sum(spent.get(part, 0) for part in PARTS))

    def rows(self, name: str) -> list[Row]:
        mean = {part: self.parts[part] / self.answers for part in PARTS}
        whole = sum(mean.values())
        return [
            Row(f"{name}: tokens of a memory message", whole),
            *(Row(f"  {name}: {part}", 100 * mean[part] / max(1.0, whole), "%") for part in PARTS),
            Row(f"  {name}: tokens not accounted for", self.missed, goal=0, at_most=True),
        ]


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    sums: dict[str, Overhead] = {}
    untold = 0
    async with open_subject(bench.keep, "reading") as subject:
        async for sample in samples(bench, subject):
            spent = sample.explain.get("spent")
            if spent is None:
                untold += 1
            else:
                sums.setdefault(sample.name, Overhead()).add(sample.reply.memory or "", spent)
    rows = [row for name, overhead in sums.items() for row in overhead.rows(name)]
    return [
        *rows,
        Row("answers without `spent`", untold, goal=0, at_most=True),
        *promises(subject.tally.answers, len(subject.tally.broken)),
    ], subject.tally.broken
