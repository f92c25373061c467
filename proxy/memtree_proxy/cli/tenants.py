"""`memtree tenants`: list tenants with memory, and move a tenant's memory to another credential.

Addresses are hashes of the tenant's name and of texts that are not stored, so memory keeps the name
under which it was made. A move changes which credential authenticates under that name.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime

from memtree.config import Settings
from memtree.errors import BadRequest
from memtree.memories.ports import MemoryMaintenance
from memtree.ports.store import TenantRow
from memtree.stores import open_memories
from memtree_proxy.access.auth import KEYS_SECONDS
from memtree_proxy.cli.foreign_text import one_line
from memtree_proxy.cli.keys import named_tenant, opened
from memtree_proxy.cli.report import labelled


async def show(options: argparse.Namespace, settings: Settings) -> int:
    async with opened(settings) as store:
        rows = {row.name: row for row in await store.tenants()}
        labels = labelled(await store.list_keys())
        saved = Counter[str]()
        for scope, count in await open_memories(store).memory_scopes(None):
            saved[scope.tenant] += count
    for name in sorted(rows.keys() | saved.keys()):
        print(_line(name, rows.get(name), saved[name], labels))
    if not (rows or saved):
        print("nobody has memory in this store")
    return 0


async def move(options: argparse.Namespace, settings: Settings) -> int:
    """Move a tenant. Raises `BadRequest` before anything is changed."""
    async with opened(settings) as store:
        memories = open_memories(store)
        source = await named_tenant(store, memories, options.source)
        target = await named_tenant(store, memories, options.target)
        if source == target:
            print("they are one tenant already")
            return 0
        keys, rows = await store.list_keys(), {row.name: row for row in await store.tenants()}
        kept = {name: await _count(memories, name) for name in (source, target)}
        if source not in rows and not kept[source]:
            raise BadRequest("FROM has no memory in this store; see memtree tenants list")
        if keys and target not in {key.tenant for key in keys}:
            raise BadRequest("no key lets TO in: name a key, or memtree keys create --tenant FROM")
        if (target in rows or kept[target]) and not options.replace:
            raise BadRequest(
                f"TO has memory of its own ({_amount(rows.get(target), kept[target])}), and two "
                "cannot be merged; --replace forgets it first (context memory is made anew from "
                "what clients post, saved memories are gone)"
            )
        if options.replace:
            await store.forget(target, None)
        # A new user of TO's old name must not see what TO saved: no deleted memories, and no
        # groups, schemas and settings, for which no move is refused. And if no key has that name
        # any more, nobody could release its wallets.
        await memories.erase_memories(target)
        await store.move_tenant(source, target, share=options.share)
    print(
        f"TO goes on with {_amount(rows.get(source), kept[source])} of FROM; "
        + ("FROM does, too" if options.share else "FROM begins anew")
        + f". A server that runs notices it within {KEYS_SECONDS:g} seconds."
    )
    return 0


def _line(name: str, row: TenantRow | None, saved: int, labels: Mapping[str, str]) -> str:
    keys = f"key {one_line(labels[name])}" if name in labels else "no key"
    line = f"{name}  {keys}  {_amount(row, saved)}"
    if row is None:  # memories have no date
        return line
    until = datetime.fromtimestamp(row.expires, UTC).date() if row.expires else "-"
    return f"{line}  kept until {until}"


def _amount(row: TenantRow | None, memories: int = 0) -> str:
    tree = f"{row.addresses:,} addresses and {row.nodes:,} nodes" if row else ""
    saved = f"{memories:,} saved {'memory' if memories == 1 else 'memories'}" if memories else ""
    return ", ".join(filter(None, (tree, saved)))


async def _count(memories: MemoryMaintenance, tenant: str) -> int:
    return sum(count for _, count in await memories.memory_scopes(tenant))
