"""`memtree memories`: list, add, search, undelete and confirm, scope by scope.

A command for the operator: it opens the store itself, beside a running server, which notices the
changes within a second.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from memtree.background.runtime import open_runtime
from memtree.config import Settings
from memtree.memories.book import MemoryBook
from memtree.memories.draft import DedupPolicy, Edit, MemoryDraft
from memtree.memories.fields.tags import canonical_tags
from memtree.memories.fields.times import timestamp
from memtree.memories.ports import MemoryFilter
from memtree.memories.scope import Scope, ScopeKind
from memtree_proxy.cli.foreign_text import json_line
from memtree_proxy.cli.memories.embedding import embed_rest
from memtree_proxy.cli.memories.lines import line, print_memories, refs, row
from memtree_proxy.cli.memories.scope import scope_of, tenant_of

PAGE = 1_000


async def show(options: argparse.Namespace, settings: Settings) -> int:
    wanted = MemoryFilter(
        category=options.category,
        tags=canonical_tags(options.tag),
        standing=True if options.standing else None,
        conflicts=True if options.conflicts else None,
        deleted=options.deleted,
        expired=options.deleted,
        superseded=options.deleted,
    )
    async with _opened(options, settings, every=True, embedder="none") as (book, scopes):
        for scope in scopes:
            cursor: str | None = None
            page = await book.page(scope, wanted, limit=PAGE)
            if not options.json:
                print(
                    f"{_named(scope)}: {page.total:,} {'memory' if page.total == 1 else 'memories'}"
                )
            while True:
                print_memories(page.memories, options.json)
                cursor = page.next_cursor
                if cursor is None:
                    break
                page = await book.page(scope, wanted, cursor=cursor, limit=PAGE)
    return 0


async def save(options: argparse.Namespace, settings: Settings) -> int:
    text = sys.stdin.read() if options.text == "-" else options.text
    draft = MemoryDraft(
        text,
        category=options.category,
        tags=canonical_tags(options.tag),
        expires=timestamp(options.expires, "expires"),
    )
    async with _opened(options, settings) as (book, (scope, *_)):
        saved = await book.save(scope, draft, DedupPolicy.SKIP)
        if saved.degraded:
            await embed_rest(book, scope, "memories")
    print_memories([saved.memory], options.json)
    if saved.existing:
        print("It was there already; nothing is saved.", file=sys.stderr)
    for near in saved.near:
        if not saved.existing:
            print(f"It may replace {near.memory.id}: {', '.join(near.differs)}", file=sys.stderr)
    return 0


async def find(options: argparse.Namespace, settings: Settings) -> int:
    async with _opened(options, settings) as (book, (scope, *_)):
        result = await book.search(scope, options.query, limit=options.limit, unhurried=True)
    for hit in result.hits:
        if options.json:
            print(json_line({**row(hit.memory), "relevance": hit.relevance}))
        else:
            print(f"{hit.relevance:.2f}  {line(hit.memory)}")
    if result.degraded and not options.json:
        print("ranked by words alone", file=sys.stderr)
    return 0


async def bring_back(options: argparse.Namespace, settings: Settings) -> int:
    async with _opened(options, settings, embedder="none") as (book, (scope, *_)):
        back = await book.undelete(scope, refs(options.ids))
    return _told([memory.id for memory in back], options.ids, "brought back")


async def confirm(options: argparse.Namespace, settings: Settings) -> int:
    async with _opened(options, settings, embedder="none") as (book, (scope, *_)):
        for ref in refs(options.ids):
            memory = await book.confirm(scope, ref, by_person=True)
            print_memories([memory], options.json)
    return 0


async def pin(options: argparse.Namespace, settings: Settings) -> int:
    async with _opened(options, settings, embedder="none") as (book, (scope, *_)):
        for ref in refs(options.ids):
            memory = await book.edit(scope, ref, Edit(standing=not options.off))
            print_memories([memory], options.json)
    return 0


@asynccontextmanager
async def _opened(
    options: argparse.Namespace, settings: Settings, *, every: bool = False, **changes: Any
) -> AsyncIterator[tuple[MemoryBook, list[Scope]]]:
    """Open the memories, and yield them with the scope that the options name. `every`: all scopes
    of the tenant if the options name none."""
    async with open_runtime(replace(settings, **changes), drain=0.0) as runtime:
        tenant = await tenant_of(runtime.store, runtime.memories, options.tenant)
        if every and not (options.chat or options.user or options.agent):
            own = Scope.of_user(tenant)
            others = [scope for scope, _ in await runtime.memories.memory_scopes(tenant)]
            others = [scope for scope in others if scope.kind is not ScopeKind.NAMESPACE]
            scopes = [own, *(scope for scope in others if scope != own)]
        else:
            scopes = [scope_of(tenant, options)]
        yield runtime.memory_services.book, scopes


def _told(done: Sequence[str], ids: Sequence[str], verb: str) -> int:
    for id_ in done:
        print(id_)
    if len(done) < len(set(ids)):
        print(f"{len(done)} of {len(set(ids))} were {verb}", file=sys.stderr)
        return 1
    return 0


def _named(scope: Scope) -> str:
    owner = scope.owner or "the tenant itself"
    subject = f", subject {scope.subject}" if scope.subject else ""
    kind = "user" if scope.kind is ScopeKind.USER else scope.kind.value
    return f"{kind} {owner}{subject}"
