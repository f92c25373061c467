"""Runs `memtree memories`: list, add, search, change, delete, export and import, scope by scope.

The commands are for the operator: they open the store themselves, beside a running server, which
notices the changes within a second. A command embeds what it has stored before it ends: a running
server would not, since it asks the store for memories without vectors only when it starts.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from memtree.agents.agent_memory import ALL, AgentScopes
from memtree.config import Settings
from memtree.errors import BadRequest
from memtree.jobs.memory_services import MemoryServices
from memtree.jobs.runtime import Runtime, open_runtime
from memtree.memories.book import MemoryBook
from memtree.memories.checked_fields import canonical_tags, shown, timestamp
from memtree.memories.deletion_check import EVERYTHING
from memtree.memories.draft import DedupPolicy, Edit, MemoryDraft
from memtree.memories.memory import Memory
from memtree.memories.memory_curation import DeletionReceipt
from memtree.memories.memory_store import ANY, MemoryFilter, MemoryRef
from memtree.memories.scope import Scope, ScopeKind, checked_id
from memtree.stores import has_store
from memtree.transfer.file_import import ImportOptions
from memtree.transfer.file_items import ImportReport, LineStatus
from memtree_proxy.api.unpacked_file import MOST_FILES, joined, unpacked
from memtree_proxy.cli.foreign_text import json_line, one_line, plain
from memtree_proxy.cli.key_commands import named_tenant
from memtree_proxy.cli.terminal_drawing import Progress, open_console
from memtree_proxy.http.auth import meant_agents
from memtree_proxy.wire.memory_rows import ShownReport

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 1.0  # seconds between two counts of what is left
MAX_STILL = 60.0  # seconds without a new vector after which the command ends
LATER = "words alone find them until a server starts, which embeds them"
PAGE = 1_000
LARGEST = 1 << 30  # bytes of a file, unpacked
SHOWN = 50  # lines with a problem shown in the terminal; --json shows more


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
    async with opened_tenant(options, settings, embedder="none") as (runtime, tenant):
        book = runtime.memory_services.book
        for scope in await _scopes(runtime, tenant, options):
            page = await book.page(scope, wanted, limit=PAGE)
            if not options.json:
                noun = "memory" if page.total == 1 else "memories"
                print(f"{_named(scope)}: {page.total:,} {noun}")
            while True:
                print_memories(page.memories, options.json)
                if page.next_cursor is None:
                    break
                page = await book.page(scope, wanted, cursor=page.next_cursor, limit=PAGE)
    return 0


async def save(options: argparse.Namespace, settings: Settings) -> int:
    text = sys.stdin.read() if options.text == "-" else options.text
    draft = MemoryDraft(
        text,
        category=options.category,
        tags=canonical_tags(options.tag),
        expires=timestamp(options.expires, "expires"),
    )
    async with opened_scope(options, settings) as (services, scope):
        saved = await services.book.save(scope, draft, DedupPolicy.SKIP)
        if saved.degraded:
            await embed_rest(services.book, scope, "memories")
    print_memories([saved.memory], options.json)
    if saved.existing:
        print("It was there already; nothing is saved.", file=sys.stderr)
    for near in saved.near:
        if not saved.existing:
            print(f"It may replace {near.memory.id}: {', '.join(near.differs)}", file=sys.stderr)
    return 0


async def find(options: argparse.Namespace, settings: Settings) -> int:
    async with opened_scope(options, settings) as (services, scope):
        result = await services.book.search(
            scope, options.query, limit=options.limit, unhurried=True
        )
    for hit in result.hits:
        if options.json:
            print(json_line({**row(hit.memory), "relevance": hit.relevance}))
        else:
            print(f"{hit.relevance:.2f}  {line(hit.memory)}")
    if result.degraded and not options.json:
        print("ranked by words alone", file=sys.stderr)
    return 0


async def bring_back(options: argparse.Namespace, settings: Settings) -> int:
    async with opened_scope(options, settings, embedder="none") as (services, scope):
        back = await services.book.undelete(scope, refs(options.ids))
    for memory in back:
        print(memory.id)
    ids = set(options.ids)
    if len(back) < len(ids):
        print(f"{len(back)} of {len(ids)} were brought back", file=sys.stderr)
        return 1
    return 0


async def confirm(options: argparse.Namespace, settings: Settings) -> int:
    async with opened_scope(options, settings, embedder="none") as (services, scope):
        for ref in refs(options.ids):
            print_memories([await services.book.confirm(scope, ref, by_person=True)], options.json)
    return 0


async def pin(options: argparse.Namespace, settings: Settings) -> int:
    async with opened_scope(options, settings, embedder="none") as (services, scope):
        for ref in refs(options.ids):
            memory = await services.book.edit(scope, ref, Edit(standing=not options.off))
            print_memories([memory], options.json)
    return 0


async def _scopes(runtime: Runtime, tenant: str, options: argparse.Namespace) -> Sequence[Scope]:
    """Return the scope that the options name, or all scopes of the tenant if they name none."""
    if options.chat or options.user or options.agent:
        return [scope_of(tenant, options)]
    own = Scope.of_user(tenant)
    others = [scope for scope, _ in await runtime.memories.memory_scopes(tenant)]
    kept = (scope for scope in others if scope.kind is not ScopeKind.NAMESPACE and scope != own)
    return [own, *kept]


def _named(scope: Scope) -> str:
    owner = scope.owner or "the tenant itself"
    subject = f", subject {scope.subject}" if scope.subject else ""
    return f"{scope.kind} {owner}{subject}"


def print_memories(memories: Sequence[Memory], as_json: bool) -> None:
    for memory in memories:
        print(json_line(row(memory)) if as_json else line(memory))


def row(memory: Memory) -> dict[str, Any]:
    """Return a memory as a JSON object without its empty fields."""
    fields = {
        "id": memory.id,
        "memory_id": memory.number,
        "text": memory.text,
        "kind": memory.kind or None,
        "data": memory.data,
        "category": memory.category,
        "tags": list(memory.tags),
        "source_type": memory.source_type,
        "created_at": shown(memory.created),
        "updated_at": shown(memory.updated),
        "expires_at": None if memory.expires is None else shown(memory.expires),
        "deleted_at": None if memory.deleted is None else shown(memory.deleted),
        "version": memory.version,
        "tainted": memory.tainted,
        "standing": bool(memory.standing),
        "possible_update_of": [
            {"id": each.id, "differs": list(each.differs)} for each in memory.updates
        ],
    }
    return {name: value for name, value in fields.items() if value not in (None, [], False)}


def line(memory: Memory) -> str:
    marks = [memory.category or "-", memory.source_type, *memory.tags]
    marks += ["deleted"] if memory.deleted is not None else []
    marks += ["unconfirmed"] if memory.tainted else []
    marks += ["standing"] if memory.standing else []
    marks += [f"may replace {each.id}: {', '.join(each.differs)}" for each in memory.updates]
    return (
        f"{memory.number:>5}  {memory.id}  {one_line(memory.text)}  ({one_line(', '.join(marks))})"
    )


def refs(given: Sequence[str]) -> list[MemoryRef]:
    """Parse ids; text of digits alone is a memory's number."""
    return [int(ref) if ref.isascii() and ref.isdecimal() else ref for ref in given]


async def remove(options: argparse.Namespace, settings: Settings) -> int:
    wanted = _wanted(options)
    async with opened_tenant(options, settings, embedder="none") as (runtime, tenant):
        services, agents = runtime.memory_services, agents_of(tenant, options)
        curation: Any = services.curation
        where: Any = agents
        named: Sequence[MemoryRef] = options.ids
        if agents is None or agents.single is not None:
            where, named = scope_of(tenant, options), refs(options.ids)
        else:  # every agent or every subject, where a number would match a memory in each scope
            curation = services.agents.curation
        if options.dry_run:
            known = (
                curation.known(where, named) if wanted is None else curation.count(where, wanted)
            )
            print(f"{await known:,} would be deleted")
            return 0
        receipt: DeletionReceipt
        if wanted is None:
            receipt = await curation.delete(where, named, purge=options.purge)
        else:
            receipt = await curation.delete_matching(where, wanted, purge=options.purge)
        named_one = options.chat or options.user or options.agent or options.subject
        others = 0 if named_one else len(await _scopes(runtime, tenant, options)) - 1
    for id_ in receipt.deleted:
        print(id_)
    if wanted is not None:
        print(f"deleted: {len(receipt.deleted):,}", file=sys.stderr)
    if options.all and others:
        text = f"{others:,} users, agents or chats keep theirs: name each by its option"
        print(text, file=sys.stderr)
    ids = set(options.ids)
    if len(receipt.deleted) < len(ids):
        print(f"{len(receipt.deleted)} of {len(ids)} were deleted", file=sys.stderr)
    if not receipt.verified:
        print("some are found again: somebody brought them back meanwhile", file=sys.stderr)
    return 0 if receipt.verified and len(receipt.deleted) >= len(ids) else 1


async def history(options: argparse.Namespace, settings: Settings) -> int:
    async with opened_scope(options, settings, embedder="none") as (services, scope):
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
    async with opened_scope(options, settings) as (services, scope):
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


async def write(options: argparse.Namespace, settings: Settings) -> int:
    async with opened_scope(options, settings, embedder="none") as (services, scope):
        lines = services.transfer.export(scope)
        if options.output:
            await _save(Path(options.output), lines)
        else:
            async for piece in lines:
                sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
    return 0


async def read(options: argparse.Namespace, settings: Settings) -> int:
    """Import a file. Returns exit code 1 if something could not be imported."""
    raw = unpacked(_content(options.file), LARGEST)
    wanted = ImportOptions(options.format, options.dry_run, options.keep_ids)
    # A store that is not there yet is not made for a dry run.
    kept = not options.dry_run or await has_store(settings.store)
    where = settings.store if kept else "memory:"
    async with opened_scope(options, settings, store=where) as (services, scope):
        report = await services.transfer.import_file(scope, raw, wanted)
        _print(report, as_json=options.json)
        if not report.dry_run:
            sys.stdout.flush()  # the report stands before the progress, also in a pipe
            await embed_rest(services.book, scope, "memories")
    return 0 if report.complete and not report.failed else 1


async def _save(target: Path, lines: AsyncIterator[bytes]) -> None:
    """Write a file that appears only when it is complete; only its owner may read it."""
    try:
        number, name = tempfile.mkstemp(prefix=".memories-", dir=target.parent)
    except OSError as error:
        raise BadRequest(f"{target}: {error.strerror}", param="--output") from error
    try:
        with os.fdopen(number, "wb") as file:
            async for piece in lines:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _content(name: str) -> bytes:
    if os.path.isdir(name):
        files = islice((path for path in Path(name).rglob("*") if path.is_file()), MOST_FILES)
        names = [path.relative_to(name).as_posix() for path in files]
        return joined(names, lambda part, most: _begun(os.path.join(name, part), most), LARGEST)
    raw = sys.stdin.buffer.read(LARGEST + 1) if name == "-" else _begun(name, LARGEST + 1)
    if len(raw) > LARGEST:
        raise BadRequest(f"{name} is over {LARGEST:,} bytes", param="file")
    return raw


def _begun(name: str, most: int) -> bytes:
    """Return the first bytes of a file."""
    try:
        with open(name, "rb") as file:
            return file.read(most)
    except OSError as error:
        raise BadRequest(f"{name}: {error.strerror}", param="file") from error


def _print(report: ImportReport, *, as_json: bool) -> None:
    if as_json:
        print(json_line(ShownReport.of(report)))
        return
    would = "would be " if report.dry_run else ""
    print(
        f"{report.format}: {report.imported:,} of {report.read:,} {would}imported, "
        f"{report.skipped:,} left out, {report.failed:,} failed"
    )
    if report.tainted:
        print(f"shown as facts until you confirm them: {report.tainted:,}")
    well = (LineStatus.IMPORTED, LineStatus.DUPLICATE)
    listed = [line for line in report.lines if line.status not in well]
    for line in listed[:SHOWN]:
        text = f"line {line.line}: {line.status.value}, {line.message or line.reason}"
        print(f"  {one_line(text)}")
    if len(listed) > SHOWN:
        print(f"  ... and {len(listed) - SHOWN:,} more (--json)")
    for reason, count in report.reasons.items():
        print(f"  {one_line(reason)}: {count:,}")
    for warning in report.warnings:
        print(plain(warning), file=sys.stderr)
    if report.stopped:
        print(f"not complete: {plain(report.stopped)}", file=sys.stderr)
