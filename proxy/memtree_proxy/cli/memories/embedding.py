"""Embed what a command has stored, before the command ends: a running server would not, since it
asks the store for memories without vectors only when it starts."""

from __future__ import annotations

import asyncio
import sys

from memtree.memories.book import MemoryBook
from memtree.memories.scope import Scope
from memtree_proxy.cli.drawing.console import open_console
from memtree_proxy.cli.drawing.progress import STEP, Progress

MAX_STILL = 60.0  # seconds without a new vector after which the command ends
LATER = "words alone find them until a server starts, which embeds them"


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
            while left and clock() - changed < MAX_STILL:
                progress.show(left)
                await asyncio.sleep(STEP)
                before, left = left, await book.saving.waiting(scope)
                if left != before:
                    changed = clock()
    finally:
        if left:
            print(f"{left:,} {noun} are without vectors: {LATER}", file=sys.stderr)
