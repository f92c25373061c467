"""`memtree schemas`: manage the schemas of structured memories, one for each kind.

A command for the operator: it opens the store itself, beside a running server, which notices a
change with the next memory.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from memtree.agents.schema_book import SchemaBook
from memtree.config import Settings
from memtree.errors import BadRequest, NotFound
from memtree.jobs.runtime import SystemClock
from memtree.stores import open_memories
from memtree_proxy.cli.foreign_text import json_line, one_line, plain, plain_json
from memtree_proxy.cli.key_commands import named_tenant, opened
from memtree_proxy.wire.schema_bodies import ShownSchema

STDIN = "-"


async def show_all(options: argparse.Namespace, settings: Settings) -> int:
    async with _book(options, settings) as (book, tenant):
        for schema in await book.list(tenant):
            if options.json:
                print(json_line(ShownSchema.of(schema)))
            else:
                unique = f"  (one for each {', '.join(schema.unique_on)})" * bool(schema.unique_on)
                description = f"  {one_line(schema.description)}" * bool(schema.description)
                print(f"{schema.kind}{plain(unique)}{description}")
    return 0


async def show(options: argparse.Namespace, settings: Settings) -> int:
    async with _book(options, settings) as (book, tenant):
        print(plain_json((await book.get(tenant, options.kind)).document))
    return 0


async def keep(options: argparse.Namespace, settings: Settings) -> int:
    document = _read(options.file)
    async with _book(options, settings) as (book, tenant):
        put = await book.put(tenant, options.kind, document, options.unique_on, options.description)
    print(f"{put.schema.kind} {'kept' if put.created else 'replaced'}")
    return 0


async def remove(options: argparse.Namespace, settings: Settings) -> int:
    async with _book(options, settings) as (book, tenant):
        if options.dry_run:
            await book.get(tenant, options.kind)
            print(f"{options.kind} would be deleted; its memories stay")
            return 0
        if not await book.delete(tenant, options.kind):
            raise NotFound("There is no schema of this kind.")
    print(f"{options.kind} deleted; its memories stay")
    return 0


@asynccontextmanager
async def _book(
    options: argparse.Namespace, settings: Settings
) -> AsyncIterator[tuple[SchemaBook, str]]:
    async with opened(settings.store) as store:
        memories = open_memories(store)
        tenant = await named_tenant(store, memories, options.tenant)
        yield SchemaBook(memories, SystemClock()), tenant


def _read(file: str) -> str:
    try:
        return sys.stdin.read() if file == STDIN else Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise BadRequest(f"{file}: {why}") from None
