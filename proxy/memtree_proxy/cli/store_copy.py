"""`memtree store copy FROM TO`: copy a store."""

from __future__ import annotations

import argparse
from contextlib import AsyncExitStack

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from memtree.config import Settings
from memtree.errors import BadRequest
from memtree.stores import require_store, shown_store
from memtree.stores.copies import copy
from memtree_proxy.cli.console import open_console
from memtree_proxy.cli.key_commands import opened


async def run(options: argparse.Namespace, settings: Settings) -> int:
    """Copy the store. Returns exit code 1 if the check of the copy finds a problem."""
    del settings  # both stores are named on the command line
    if options.source == options.target:
        raise BadRequest("FROM and TO are the same store.", param="to")
    await require_store(options.source, "from")
    console = open_console(stderr=True)
    async with AsyncExitStack() as stack:
        both = (options.source, options.target)
        source, target = [await stack.enter_async_context(opened(url)) for url in both]
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
