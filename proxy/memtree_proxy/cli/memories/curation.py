"""`memtree memories history`, `settle` and `delete`: earlier texts of a memory, replacing one by
another, and deleting many at once.

Like the other actions, it opens the store itself, beside a running server.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from memtree.background.memory_services import MemoryServices
from memtree.background.runtime import open_runtime
from memtree.config import Settings
from memtree.errors import BadRequest
from memtree.memories.agents.agent_book import AgentCuration
from memtree.memories.agents.agent_memory import AgentScopes
from memtree.memories.curation import DeletionReceipt, MemoryCuration
from memtree.memories.deletion_check import EVERYTHING
from memtree.memories.fields.tags import canonical_tags
from memtree.memories.fields.times import shown, timestamp
from memtree.memories.memory import Memory
from memtree.memories.ports import ANY, MemoryFilter
from memtree.memories.scope import Scope
from memtree_proxy.cli.drawing.foreign_text import json_line, one_line
from memtree_proxy.cli.memories.lines import print_memories, refs, row
from memtree_proxy.cli.memories.scope import agents_of, scope_of, tenant_of


async def remove(options: argparse.Namespace, settings: Settings) -> int:
    wanted = _wanted(options)
    async with open_runtime(replace(settings, embedder="none"), drain=0.0) as runtime:
        tenant = await tenant_of(runtime.store, runtime.memories, options.tenant)
        deletion = _deletion(runtime.memory_services, tenant, options)
        if options.dry_run:
            print(f"{await deletion.count(options.ids, wanted):,} would be deleted")
            return 0
        receipt = await deletion.run(options.ids, wanted, options.purge)
    for id_ in receipt.deleted:
        print(id_)
    ids = set(options.ids)
    if len(receipt.deleted) < len(ids):
        print(f"{len(receipt.deleted)} of {len(ids)} were deleted", file=sys.stderr)
    if not receipt.verified:
        print("some are found again: somebody brought them back meanwhile", file=sys.stderr)
    return 0 if receipt.verified and len(receipt.deleted) >= len(ids) else 1


async def history(options: argparse.Namespace, settings: Settings) -> int:
    async with _opened(options, settings, embedder="none") as (services, scope):
        past = await services.curation.past(scope, refs([options.id])[0])
    _print_versions(past.versions, options.json)
    for replaced in past.replaced:
        if not options.json:
            reason = f": {one_line(replaced.tombstone.reason)}" if replaced.tombstone.reason else ""
            print(f"replaced {replaced.tombstone.id}{reason}")
        _print_versions(replaced.versions, options.json)
    return 0


async def settle(options: argparse.Namespace, settings: Settings) -> int:
    ref, other = refs([options.id, options.other])
    async with _opened(options, settings) as (services, scope):
        replaces = options.action == "replace"
        memory = await services.book.settle(scope, ref, other, replaces=replaces, by_person=True)
    print_memories([memory], options.json)
    return 0


def _print_versions(versions: Sequence[Memory], as_json: bool) -> None:
    for memory in versions:
        if as_json:
            print(json_line(row(memory)))
        else:
            print(f"{shown(memory.updated)}  v{memory.version}  {one_line(memory.text)}")


def _wanted(options: argparse.Namespace) -> MemoryFilter | None:
    """Return the filter to delete by, None if ids are given. Raises `BadRequest` unless exactly one
    of ids, a filter and `--all` is given."""
    wanted = MemoryFilter(
        category=options.category,
        tags=canonical_tags(options.tag),
        kind=options.kind,
        source_type=options.source,
        group=options.group,
        tainted=True if options.unconfirmed else None,
        created_from=timestamp(options.since, "--since"),
        created_before=timestamp(options.before, "--before"),
    )
    if [bool(options.ids), wanted != ANY, options.all].count(True) != 1:
        raise BadRequest("name ids, or a filter, or --all")
    if options.all:
        return replace(EVERYTHING, deleted=options.purge)
    return None if options.ids else replace(wanted, superseded=True, expired=True)


class _OfOne:
    """Deletion in one scope, by ids or numbers, or by a filter."""

    def __init__(self, curation: MemoryCuration, scope: Scope) -> None:
        self._curation, self._scope = curation, scope

    async def count(self, ids: Sequence[str], wanted: MemoryFilter | None) -> int:
        if wanted is None:
            return await self._curation.known(self._scope, refs(ids))
        return await self._curation.count(self._scope, wanted)

    async def run(
        self, ids: Sequence[str], wanted: MemoryFilter | None, purge: bool
    ) -> DeletionReceipt:
        if wanted is None:
            return await self._curation.delete(self._scope, refs(ids), purge=purge)
        return await self._curation.delete_matching(self._scope, wanted, purge=purge)


class _OfSeveral:
    """Deletion for every agent or every subject, where a number would match a memory in each
    scope."""

    def __init__(self, curation: AgentCuration, scopes: AgentScopes) -> None:
        self._curation, self._scopes = curation, scopes

    async def count(self, ids: Sequence[str], wanted: MemoryFilter | None) -> int:
        if wanted is None:
            return await self._curation.known(self._scopes, ids)
        return await self._curation.count(self._scopes, wanted)

    async def run(
        self, ids: Sequence[str], wanted: MemoryFilter | None, purge: bool
    ) -> DeletionReceipt:
        if wanted is None:
            return await self._curation.delete(self._scopes, ids, purge=purge)
        return await self._curation.delete_matching(self._scopes, wanted, purge=purge)


def _deletion(
    services: MemoryServices, tenant: str, options: argparse.Namespace
) -> _OfOne | _OfSeveral:
    agents = agents_of(tenant, options)
    if agents is not None and agents.single is None:
        return _OfSeveral(services.agent_curation, agents)
    return _OfOne(services.curation, scope_of(tenant, options))


@asynccontextmanager
async def _opened(
    options: argparse.Namespace, settings: Settings, **changes: Any
) -> AsyncIterator[tuple[MemoryServices, Scope]]:
    async with open_runtime(replace(settings, **changes), drain=0.0) as runtime:
        tenant = await tenant_of(runtime.store, runtime.memories, options.tenant)
        yield runtime.memory_services, scope_of(tenant, options)
