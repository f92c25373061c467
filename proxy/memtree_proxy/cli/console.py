"""The terminal in which all commands draw, and progress bars in it."""

from __future__ import annotations

import asyncio
from typing import Self

from rich import progress
from rich.console import Console
from rich.text import Text

from memtree.context.context_memory import ContextMemory
from memtree_proxy.cli.foreign_text import plain

STEP = 0.1  # seconds


def open_console(*, stderr: bool = False) -> Console:
    """Return a console that reads no text as markup or as the name of an emoji. Without a terminal
    it draws neither colours nor bars."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def styled(text: str, style: str = "") -> Text:
    """Return foreign text in a style of the command's own."""
    return Text(plain(text), style)


class Progress:
    """A bar of the work left, measured against the greatest amount that was ever left. `verb`: what
    is done; `noun`: what is counted."""

    def __init__(self, console: Console, verb: str = "indexing", noun: str = "tokens") -> None:
        self._verb = verb
        self._bar = progress.Progress(
            progress.TextColumn(verb),
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.TextColumn(f"{{task.completed:,.0f}} {noun}"),
            progress.TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
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
            self._task = self._bar.add_task(self._verb)
        self._most = max(self._most, left)
        self._bar.update(self._task, total=self._most, completed=self._most - left)


async def bar(memory: ContextMemory, tenant: str, console: Console) -> None:
    """Draw a bar until the tenant has nothing pending."""
    with Progress(console) as drawn:
        while left := (await memory.pending(tenant)).tokens:
            drawn.show(left)
            await asyncio.sleep(STEP)
