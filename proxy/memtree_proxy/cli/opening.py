"""Open the memories that a command works on, in the scope that its options name, and embed what it
has stored before it ends: a running server would not, since it asks the store for memories without
vectors only when it starts."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from memtree.agents.agent_memory import ALL, AgentScopes
from memtree.config import Settings
from memtree.errors import BadRequest
from memtree.jobs.memory_services import MemoryServices
from memtree.jobs.runtime import Runtime, open_runtime
from memtree.memories.book import MemoryBook
from memtree.memories.scope import Scope, checked_id
from memtree_proxy.cli.console import Progress, open_console
from memtree_proxy.cli.key_commands import named_tenant
from memtree_proxy.http.request_scopes import meant_agents

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 1.0  # seconds between two counts of what is left
MAX_STILL = 60.0  # seconds without a new vector after which the command ends
LATER = "words alone find them until a server starts, which embeds them"


@asynccontextmanager
async def opened_tenant(
    options: argparse.Namespace, settings: Settings, **changes: Any
) -> AsyncIterator[tuple[Runtime, str]]:
    """Open the store, and yield its parts with the tenant that the options name. `changes`: of the
    settings."""
    async with open_runtime(replace(settings, **changes), drain=0.0) as runtime:
        yield runtime, await named_tenant(runtime.store, runtime.memories, options.tenant)


@asynccontextmanager
async def opened_scope(
    options: argparse.Namespace, settings: Settings, **changes: Any
) -> AsyncIterator[tuple[MemoryServices, Scope]]:
    """Open the memories, and yield them with the one scope that the options name."""
    async with opened_tenant(options, settings, **changes) as (runtime, tenant):
        yield runtime.memory_services, scope_of(tenant, options)


def agents_of(tenant: str, options: argparse.Namespace) -> AgentScopes | None:
    """Return the scopes of `--agent` and `--subject`, where `*` selects all; None without either
    option."""
    return meant_agents(options.agent, options.subject, tenant, ("--agent", "--subject"))


def scope_of(tenant: str, options: argparse.Namespace) -> Scope:
    """Return the one scope that the options name. Raises `BadRequest` if they could name
    several."""
    agents = agents_of(tenant, options)
    if agents is not None:
        if agents.single is None:
            raise BadRequest(f"{ALL} is for `memtree memories delete` alone", param="agent")
        return agents.single
    if options.chat:
        return Scope.of_chat(tenant, checked_id(options.chat, "--chat"))
    return Scope.of_user(tenant, checked_id(options.user, "--user") if options.user else "")


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
