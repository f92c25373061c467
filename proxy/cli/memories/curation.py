"""`memtree memories history`, `merge` and `delete`: what a memory said before, one in the place of
another, and many at once.

For whoever runs the store, like the other actions: it opens the store itself, beside a running
server.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import msgspec

from indexer.memory_services import MemoryServices
from indexer.runtime import open_runtime
from memtree.config import Settings
from memtree.errors import BadRequest
from memtree.memories.curation import DeletionReceipt, MemoryCuration
from memtree.memories.memory import UNSET, Memory
from memtree.memories.ports import ANY, MemoryFilter
from memtree.memories.rules.expiry import shown, timestamp
from memtree.memories.rules.tags import canonical_tags
from memtree.memories.scope import Scope
from proxy.cli.memories.lines import one_line, print_memories, refs, row
from proxy.cli.memories.scope import scope_of, tenant_of

EVERYTHING = MemoryFilter(superseded=True, expired=True)


def register(action: Callable[[str, str, Any], argparse.ArgumentParser]) -> None:
    """`action`: adds one, by its name, its help and what it runs."""
    delete = action("delete", "delete some or many; `undelete` brings them back", remove)
    delete.add_argument("ids", nargs="*", metavar="ID", help="ids or numbers, or else a filter:")
    delete.add_argument("--category", help="those of this category")
    delete.add_argument("--tag", action="append", default=[], help="with this tag")
    delete.add_argument("--source", metavar="TYPE", help="user, model, extraction or import")
    delete.add_argument("--group", metavar="ID", help="members of this group")
    delete.add_argument("--unconfirmed", action="store_true", help="those nobody has confirmed")
    delete.add_argument("--since", metavar="DATE", help="made then or later (ISO 8601)")
    delete.add_argument("--before", metavar="DATE", help="made before")
    delete.add_argument("--all", action="store_true", help="everything of the scope")
    delete.add_argument("--dry-run", action="store_true", help="delete nothing, tell how many")
    delete.add_argument("--purge", action="store_true", help="erase them for good")
    past = action("history", "what a memory said before, and what it replaced", history)
    past.add_argument("id", metavar="ID")
    merging = action("merge", "let a memory count in the place of an older one", merge)
    merging.add_argument("id", metavar="ID", help="the one that counts")
    merging.add_argument("older", metavar="OLDER", help="the one that it replaces")
    merging.add_argument("--text", help="what it says from now on")
    merging.add_argument("--reason", default="", help="kept with the older one")


async def remove(options: argparse.Namespace, settings: Settings) -> int:
    wanted = _wanted(options)
    async with _opened(options, settings, embedder="none") as (services, scope):
        if options.dry_run:
            count = await _counted(services.curation, scope, options.ids, wanted)
            print(f"{count:,} would be deleted")
            return 0
        receipt = await _deleted(services.curation, scope, options, wanted)
    for id_ in receipt.deleted:
        print(id_)
    asked = set(options.ids)
    if len(receipt.deleted) < len(asked):
        print(f"{len(receipt.deleted)} of {len(asked)} were deleted", file=sys.stderr)
    if not receipt.verified:
        print("some are found again: somebody brought them back meanwhile", file=sys.stderr)
    return 0 if receipt.verified and len(receipt.deleted) >= len(asked) else 1


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


async def merge(options: argparse.Namespace, settings: Settings) -> int:
    ref, older = refs([options.id, options.older])
    text = UNSET if options.text is None else options.text
    async with _opened(options, settings) as (services, scope):
        memory = await services.curation.merge(scope, ref, older, text=text, reason=options.reason)
    print_memories([memory], options.json)
    return 0


def _print_versions(versions: Sequence[Memory], as_json: bool) -> None:
    for memory in versions:
        if as_json:
            print(msgspec.json.encode(row(memory)).decode())
        else:
            print(f"{shown(memory.updated)}  v{memory.version}  {one_line(memory.text)}")


def _wanted(options: argparse.Namespace) -> MemoryFilter | None:
    """None: ids say which. Raises `BadRequest` unless they are told in exactly one way."""
    wanted = MemoryFilter(
        category=options.category,
        tags=canonical_tags(options.tag),
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
    return None if options.ids else wanted


async def _counted(
    curation: MemoryCuration, scope: Scope, ids: Sequence[str], wanted: MemoryFilter | None
) -> int:
    if wanted is None:
        return await curation.known(scope, refs(ids))
    return await curation.count(scope, wanted)


async def _deleted(
    curation: MemoryCuration,
    scope: Scope,
    options: argparse.Namespace,
    wanted: MemoryFilter | None,
) -> DeletionReceipt:
    if wanted is None:
        return await curation.delete(scope, refs(options.ids), purge=options.purge)
    return await curation.delete_matching(scope, wanted, purge=options.purge)


@asynccontextmanager
async def _opened(
    options: argparse.Namespace, settings: Settings, **changes: Any
) -> AsyncIterator[tuple[MemoryServices, Scope]]:
    async with open_runtime(replace(settings, **changes), drain=0.0) as runtime:
        tenant = await tenant_of(runtime.store, runtime.memories, options.tenant)
        yield runtime.memory_services, scope_of(tenant, options)
