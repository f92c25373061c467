"""`memtree documents`: put files into a namespace, list, search and delete them.

A command for the operator: it opens the store itself, beside a running server, which notices the
changes within a second.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from memtree.config import Settings
from memtree.errors import BadRequest, MemTreeError, NotFound
from memtree.jobs.memory_services import MemoryServices
from memtree.jobs.runtime import open_runtime
from memtree.memories import document_passages
from memtree.memories.checked_fields import shown
from memtree.memories.document_passages import Document, checked
from memtree.memories.scope import Scope, checked_id
from memtree_proxy.cli.foreign_text import json_line, plain
from memtree_proxy.cli.key_commands import named_tenant
from memtree_proxy.cli.memory_commands import embed_rest

PAGE = 1_000
STDIN = "-"
_NO_ID = re.compile(r"[^A-Za-z0-9._~:@-]+")


async def put(options: argparse.Namespace, settings: Settings) -> int:
    """Store documents, and wait until their passages have vectors."""
    if (options.id or STDIN in options.files) and len(options.files) != 1:
        raise BadRequest("--id and - are for one file", param="files")
    if options.files == [STDIN] and not options.id:
        raise BadRequest("standard input has no name: give --id", param="id")
    failed = 0
    async with _opened(options, settings) as (services, scope):
        for file in options.files:
            try:
                document = checked(options.id or _id_of(file), _text(file), options.type, None)
                done = await services.documents.put(scope, document)
            except (MemTreeError, OSError) as error:
                reason = error.message if isinstance(error, MemTreeError) else error.strerror
                print(plain(f"{file}: {reason}"), file=sys.stderr)
                failed += 1
                continue
            status = "replaced" if done.replaced else "added" if done.changed else "unchanged"
            _print(done.document, options.json, status)
        await embed_rest(services.book, scope, "passages")
    return 1 if failed else 0


async def show(options: argparse.Namespace, settings: Settings) -> int:
    async with _opened(options, settings, embedder="none") as (services, scope):
        if options.namespace is None:
            for namespace in await services.documents.namespaces(scope.tenant):
                row = {"namespace": namespace.name, "passages": namespace.passages}
                text = f"{namespace.name}: {_count(namespace.passages, 'passage')}"
                print(json_line(row) if options.json else plain(text))
            return 0
        cursor: str | None = None
        while True:
            page = await services.documents.page(scope, cursor=cursor, limit=PAGE)
            for document in page.documents:
                _print(document, options.json)
            cursor = page.next_cursor
            if cursor is None:
                return 0


async def find(options: argparse.Namespace, settings: Settings) -> int:
    async with _opened(options, settings) as (services, scope):
        result = await services.documents.search(
            scope, options.query, type_=options.type, limit=options.limit, unhurried=True
        )
    for hit in result.hits:
        if options.json:
            row = {"id": hit.document.id, "text": hit.passage.text, "relevance": hit.relevance}
            print(json_line(row))
        else:
            print(f"{hit.relevance:.2f}  {plain(document_passages.line(hit.passage))}")
    if result.degraded and not options.json:
        print("ranked by words alone", file=sys.stderr)
    return 0


async def remove(options: argparse.Namespace, settings: Settings) -> int:
    if bool(options.ids) == options.all:
        raise BadRequest("give ids, or --all", param="ids")
    missing = 0
    how = {"purge": options.purge, "dry_run": options.dry_run}
    would = " would go" if options.dry_run else ""
    async with _opened(options, settings, embedder="none") as (services, scope):
        if options.all:
            gone = await services.documents.clear(scope, **how)
            print(_count(gone, "passage") + would)
        for id_ in options.ids:
            try:
                gone = await services.documents.delete(scope, id_, **how)
                print(f"{id_}: {_count(gone, 'passage')}{would}")
            except NotFound:
                print(f"there is no document {id_}", file=sys.stderr)
                missing += 1
    return 1 if missing else 0


@asynccontextmanager
async def _opened(
    options: argparse.Namespace, settings: Settings, **changes: Any
) -> AsyncIterator[tuple[MemoryServices, Scope]]:
    namespace = options.namespace
    if namespace is not None:
        checked_id(namespace, "namespace")
    async with open_runtime(replace(settings, **changes), drain=0.0) as runtime:
        tenant = await named_tenant(runtime.store, runtime.memories, options.tenant)
        yield runtime.memory_services, Scope.of_namespace(tenant, namespace or "")


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _id_of(file: str) -> str:
    """Return the name of a file as a valid id.

    >>> _id_of("docs/how to.md")
    'how-to.md'
    """
    return _NO_ID.sub("-", Path(file).name)


def _text(file: str) -> str:
    raw = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadRequest("it is not text in UTF-8", param="files") from None


def _print(document: Document, as_json: bool, status: str = "") -> None:
    row = {
        "id": document.id,
        "type": document.type,
        "passages": document.passages,
        "characters": document.characters,
        "masked_secrets": document.masked,
        "created_at": shown(document.created),
        "status": status,
    }
    if as_json:
        kept = {name: value for name, value in row.items() if value not in (None, "")}
        print(json_line(kept))
        return
    marks = [_count(document.passages, "passage"), _count(document.characters, "character")]
    marks += [document.type] if document.type and document.type.isprintable() else []
    marks += [f"{_count(document.masked, 'secret')} masked"] if document.masked else []
    print(f"{document.id}  ({', '.join([*marks, status] if status else marks)})")
