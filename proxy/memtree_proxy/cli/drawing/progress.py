"""Progress bar in the terminal while memory is made."""

from __future__ import annotations

import asyncio
from typing import Self

from rich import progress
from rich.console import Console

from memtree.context.context_memory import ContextMemory

STEP = 0.1  # seconds


class Progress:
    """A bar of the work left, measured against the greatest amount that was ever left."""

    def __init__(self, console: Console) -> None:
        self._bar = progress.Progress(
            progress.TextColumn("indexing"),
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.TextColumn("{task.completed:,.0f} tokens"),
            progress.TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._task: progress.TaskID | None = None
        self._most = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._task is not None:
            self._bar.stop()

    def show(self, left: int) -> None:
        if self._task is None:
            self._bar.start()
            self._task = self._bar.add_task("indexing")
        self._most = max(self._most, left)
        self._bar.update(self._task, total=self._most, completed=self._most - left)


async def bar(memory: ContextMemory, tenant: str, console: Console) -> None:
    """Draw a bar until the tenant has nothing pending."""
    with Progress(console) as drawn:
        while left := (await memory.pending(tenant)).tokens:
            drawn.show(left)
            await asyncio.sleep(STEP)
