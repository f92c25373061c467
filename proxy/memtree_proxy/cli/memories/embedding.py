"""Embed what a command has stored, before the command ends: a running server would not, since it
asks the store for memories without vectors only when it starts."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator

from memtree.memories.book import MemoryBook
from memtree.memories.scope import Scope
from memtree_proxy.cli.console import open_console
from memtree_proxy.cli.progress import Progress

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 1.0  # seconds between two counts of what is left
MAX_STILL = 60.0  # seconds without a new vector after which the command ends
LATER = "words alone find them until a server starts, which embeds them"


def pauses() -> Iterator[float]:
    """Yield the seconds before each count, without end: each asks the store, and a few memories are
    embedded at once.

    >>> from itertools import islice
    >>> list(islice(pauses(), 6))
    [0.1, 0.2, 0.4, 0.8, 1.0, 1.0]
    """
    pause = FIRST_PAUSE
    while True:
        yield pause
        pause = min(LONGEST_PAUSE, 2 * pause)


async def embed_rest(book: MemoryBook, scope: Scope, noun: str) -> None:
    """Wait until every memory of the scope has its vector, and show how many are left. `noun`: what
    they are called, in the plural. Ends early, and says what is missing, if the embedder makes no
    vector for `MAX_STILL` seconds or the user interrupts."""
    left = await book.saving.waiting(scope)
    if not left:
        return
    print(f"embedding {left:,} {noun}; Ctrl-C is safe: a server embeds the rest", file=sys.stderr)
    book.saving.without_vectors(scope)  # this scope before what other processes left behind
    book.start()
    clock = asyncio.get_running_loop().time
    changed = clock()
    try:
        with Progress(open_console(stderr=True), "embedding", noun) as progress:
            for pause in pauses():
                if not left or clock() - changed >= MAX_STILL:
                    break
                progress.show(left)
                await asyncio.sleep(pause)
                before, left = left, await book.saving.waiting(scope)
                if left != before:
                    changed = clock()
    finally:
        if left:
            print(f"{left:,} {noun} are without vectors: {LATER}", file=sys.stderr)
