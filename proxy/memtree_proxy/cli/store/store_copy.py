"""`memtree store copy FROM TO`: copy a store."""

from __future__ import annotations

import argparse
import asyncio
from contextlib import AsyncExitStack

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from memtree.config import Settings
from memtree.errors import BadRequest
from memtree.stores import Opened, open_store, shown_store, store_file
from memtree.stores.copies import copy
from memtree_proxy.cli.drawing.console import open_console


async def run(options: argparse.Namespace, settings: Settings) -> int:
    """Copy the store. Returns exit code 1 if the check of the copy finds a problem."""
    del settings  # both stores are named on the command line
    _check(options.source, options.target)
    console = open_console(stderr=True)
    async with AsyncExitStack() as stack:
        source, target = [await _opened(url, stack) for url in (options.source, options.target)]
        total = sum((await source.counts()).values())
        columns = (TextColumn("copying"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=console, transient=True) as drawn:
            task = drawn.add_task("copying", total=total)
            rows = await copy(source, target, lambda count: drawn.advance(task, count))
        with console.status("checking the copy"):
            problems = await target.check()
    for problem in problems:
        print(problem)
    held = ", ".join(f"{count:,} {name}" for name, count in rows.items() if count)
    print(f"copied {held or 'nothing'} to {shown_store(options.target)}: "
          f"{len(problems) or 'no'} problem(s)")  # fmt: skip
    return 1 if problems else 0


async def _opened(url: str, stack: AsyncExitStack) -> Opened:
    store = await asyncio.to_thread(open_store, url)
    stack.push_async_callback(store.close)
    return store


def _check(source: str, target: str) -> None:
    if source == target:
        raise BadRequest("FROM and TO are the same store.", param="to")
    file = store_file(source)
    if file is not None and not file.is_file():  # opening a store would create it
        raise BadRequest(f"There is no store {file}.", param="from")
