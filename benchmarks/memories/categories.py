"""Measure which category is inferred for memories written by hand (`cases/categories.txt`). No
outside data."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from benchmarks.report import Row
from benchmarks.subject import Bench, percent
from memtree.memories.memory_topics import category_of

CASES = Path(__file__).parents[1] / "cases"
RIGHT = 90.0  # percent


def cases(name: str) -> list[tuple[str, str]]:
    """(text, category)."""
    found, category = [], ""
    for line in (CASES / name).read_text("utf-8").splitlines():
        if line.startswith("["):
            category = line.strip("[]")
        elif line and not line.startswith("#"):
            found.append((line, category))
    return found


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    rows = []
    for name, file in (("", "categories.txt"), ("later: ", "categories_later.txt")):
        hits: dict[str, list[float]] = defaultdict(list)
        for text, category in cases(file):
            hits[category].append(float(category_of(text) == category))
        rows += [
            Row(f"{name}{category}: right of {len(found)}", percent(found), "%", RIGHT)
            for category, found in hits.items()
        ]
    return rows, []
