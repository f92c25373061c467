"""`memtree keys`: manage access keys and their plans. A key's value is printed once, when it is
made. `memtree tenants`: list tenants with memory, and move a tenant's memory to another credential.

Addresses are hashes of the tenant's name and of texts that are not stored, so memory keeps the name
under which it was made. A move changes which credential authenticates under that name.
"""

from __future__ import annotations

import argparse
import asyncio
import getpass
import secrets
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import UTC, datetime

from memtree.config import Settings
from memtree.errors import BadRequest
from memtree.memories.memory_store import MemoryMaintenance
from memtree.ports.context_store import KeyRow, KeyStore, TenantRow
from memtree.stores import Opened, open_memories, open_store
from memtree.tenant_names import ANONYMOUS, LOCAL
from memtree_proxy.cli.foreign_text import json_line, one_line
from memtree_proxy.http import auth
from memtree_proxy.http.auth import KEYS_SECONDS

_ONCE = "This is the only time the key is shown."


async def create(options: argparse.Namespace, settings: Settings) -> int:
    if options.keep_memory and not options.value:
        raise BadRequest("--keep-memory: name the credential whose memory is kept with --value")
    values = _values(options)
    async with opened(settings.store) as store:
        tenant = None
        if options.keep_memory:
            tenant = await auth.bare_tenant(store, values[0])
            if tenant not in {row.name for row in await store.tenants()}:
                raise BadRequest(
                    "--keep-memory: nothing is kept of the first value's time without keys"
                )
        elif options.tenant:
            tenant = await named_tenant(store, open_memories(store), options.tenant)
        key_id = await store.add_key(options.label, values, tenant)
        if options.plan:
            made = chosen(await store.list_keys(), key_id)
            await open_memories(store).set_plan(made.tenant, options.plan)
    _say(f"{key_id}  {one_line(options.label)}", None if options.value else values[0])
    return 0


async def add_value(options: argparse.Namespace, settings: Settings) -> int:
    values = _values(options)
    async with opened(settings.store) as store:
        key = chosen(await store.list_keys(), options.key)
        await store.add_values(key.id, values, only=options.only)
    _say(f"{key.id}  {one_line(key.label)}", None if options.value else values[0])
    return 0


def _say(named: str, made: str | None) -> None:
    """Print which key it is. A new value is printed alone on standard output, and the key on
    standard error, so that `$(memtree keys create LABEL)` is the value."""
    if made is None:
        print(named)
        return
    print(named, file=sys.stderr)
    print(made)
    print(_ONCE, file=sys.stderr)


async def remove_value(options: argparse.Namespace, settings: Settings) -> int:
    async with opened(settings.store) as store:
        key = chosen(await store.list_keys(), options.key)
        await store.remove_value(key.id, _given(options.value))
    print(f"{key.id}  {one_line(key.label)}  {key.values - 1} value(s) left")
    return 0


async def show(options: argparse.Namespace, settings: Settings) -> int:
    async with opened(settings.store) as store:
        rows = await store.list_keys()
        memories = open_memories(store)
        plans = {tenant: await memories.plan(tenant) for tenant in {row.tenant for row in rows}}
    for row in rows:
        plan = plans[row.tenant]
        label = one_line(row.label)
        text = f"{row.id}  {label}  tenant {row.tenant}  plan {plan}  {row.values} value(s)"
        print(json_line({**asdict(row), "plan": plan}) if options.json else text)
    if not (rows or options.json):
        print("no keys: on a server on loopback every credential has a memory of its own")
    return 0


async def set_plan(options: argparse.Namespace, settings: Settings) -> int:
    """Set the plan of the tenant, which all its keys share."""
    async with opened(settings.store) as store:
        memories = open_memories(store)
        tenant = await named_tenant(store, memories, options.key)
        await memories.set_plan(tenant, options.plan)
    print(f"tenant {tenant}  plan {options.plan}")
    return 0


async def revoke(options: argparse.Namespace, settings: Settings) -> int:
    async with opened(settings.store) as store:
        rows = await store.list_keys()
        if not matching(rows, options.key):
            print(f"there is no key {one_line(options.key)}")
            return 1
        key = chosen(rows, options.key)
        await store.revoke_key(key.id)
        others = {row.tenant for row in rows if row.id != key.id}
        kept = {row.name for row in await store.tenants()} - others
    print(f"revoked {key.id}  {one_line(key.label)}  tenant {key.tenant}")
    if key.tenant in kept:
        print(
            "Its memory stays until it expires. To give it to another key: "
            f"memtree keys create LABEL --tenant {key.tenant}"
        )
    if len(rows) == 1:
        print("No key is left: a server on loopback takes any credential now, each as a tenant.")
    return 0


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Opened]:
    store = await asyncio.to_thread(open_store, url)
    try:
        yield store
    finally:
        await store.close()


def matching(keys: Sequence[KeyRow], name: str) -> list[KeyRow]:
    """Return the key with this id, or else all keys with this label."""
    return [key for key in keys if key.id == name] or [key for key in keys if key.label == name]


def chosen(keys: Sequence[KeyRow], name: str) -> KeyRow:
    """Return the one key with this id or label. Raises `BadRequest` for none or several; older
    stores may have a label twice."""
    rows = matching(keys, name)
    if not rows:
        raise BadRequest(f"there is no key {name}; see memtree keys list", param="key")
    if len(rows) > 1:
        ids = ", ".join(row.id for row in rows)
        raise BadRequest(f"several keys are called {name}: name one by its id ({ids})", param="key")
    return rows[0]


async def named_tenant(store: KeyStore, memories: MemoryMaintenance, name: str) -> str:
    """Return a tenant by the id or label of a key, by its own name if it has a key or memory of any
    kind or needs no credential, or, for `-`, by a credential that is prompted for. Raises
    `BadRequest` for any other name."""
    if name == LOCAL:  # of the terminal itself, whatever keys are called
        return name
    if name == "-":
        credential = secret()
        return await store.tenant_of(credential) or await auth.bare_tenant(store, credential)
    keys = await store.list_keys()
    if matching(keys, name):
        return chosen(keys, name).tenant
    if name in {key.tenant for key in keys} | {row.name for row in await store.tenants()}:
        return name
    if name == ANONYMOUS or await memories.memory_scopes(name):
        return name
    raise BadRequest(
        f"there is no key {name}, and no tenant of that name has memory; "
        "see memtree keys list and memtree tenants list"
    )


def secret(prompt: str = "credential: ") -> str:
    """Read one credential from a prompt without echo, or from a line of standard input."""
    asks = sys.stdin.isatty()
    value = (getpass.getpass(prompt) if asks else sys.stdin.readline()).strip()
    if not value:
        raise BadRequest(f"the {prompt.removesuffix(': ')} is empty")
    return value


def _values(options: argparse.Namespace) -> list[str]:
    """Return the given values, or one new value."""
    if options.value:
        return [_given(value) for value in options.value]
    return [f"mt-{secrets.token_urlsafe(32)}"]


def _given(value: str) -> str:
    return secret() if value == "-" else value


async def show_tenants(options: argparse.Namespace, settings: Settings) -> int:
    async with opened(settings.store) as store:
        rows = {row.name: row for row in await store.tenants()}
        keys = await store.list_keys()
        saved = Counter[str]()
        for scope, count in await open_memories(store).memory_scopes(None):
            saved[scope.tenant] += count
    for name in sorted(rows.keys() | saved.keys()):
        labels = [key.label for key in keys if key.tenant == name]
        row = rows.get(name, TenantRow(name, 0, 0, 0.0))
        known = {**row._asdict(), "memories": saved[name], "keys": labels}
        print(json_line(known) if options.json else _line(row, saved[name], labels))
    if not (rows or saved or options.json):
        print("nobody has memory in this store")
    return 0


async def move(options: argparse.Namespace, settings: Settings) -> int:
    """Move a tenant. Raises `BadRequest` before anything is changed."""
    async with opened(settings.store) as store:
        memories = open_memories(store)
        source = await named_tenant(store, memories, options.source)
        target = await named_tenant(store, memories, options.target)
        if source == target:
            print("they are one tenant already")
            return 0
        if target == LOCAL:
            raise BadRequest(
                f"TO is {LOCAL}, which no credential stands for: memtree memories export --tenant "
                "FROM -o FILE, then memtree memories import FILE"
            )
        share = options.share or source == LOCAL  # the terminal goes on with its own
        keys, rows = await store.list_keys(), {row.name: row for row in await store.tenants()}
        kept = {
            name: sum(count for _, count in await memories.memory_scopes(name))
            for name in (source, target)
        }
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
        await store.move_tenant(source, target, share=share)
    print(
        f"TO goes on with {_amount(rows.get(source), kept[source])} of FROM; "
        + ("FROM does, too" if share else "FROM begins anew")
        + f". A server that runs notices it within {KEYS_SECONDS:g} seconds."
    )
    return 0


def _line(row: TenantRow, saved: int, labels: Sequence[str]) -> str:
    keys = f"key {one_line(', '.join(labels))}" if labels else "no key"
    line = f"{row.name}  {keys}  {_amount(row, saved)}"
    if not any(row[1:]):  # memories have no date
        return line
    until = datetime.fromtimestamp(row.expires, UTC).date() if row.expires else "-"
    return f"{line}  kept until {until}"


def _amount(row: TenantRow | None, memories: int = 0) -> str:
    tree = f"{row.addresses:,} addresses and {row.nodes:,} nodes" if row and any(row[1:]) else ""
    saved = f"{memories:,} saved {'memory' if memories == 1 else 'memories'}" if memories else ""
    return ", ".join(filter(None, (tree, saved)))
