"""`memtree memories export` and `memtree memories import`: write memories to a file and read them
back.

Like the other actions, it opens the store itself, beside a running server.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import msgspec

from memtree.background.memory_services import MemoryServices
from memtree.background.runtime import open_runtime
from memtree.config import Settings
from memtree.errors import BadRequest
from memtree.memories.scope import Scope
from memtree.memories.transfer.file_items import LineResult, LineStatus
from memtree.memories.transfer.import_options import ImportOptions
from memtree.memories.transfer.report import ImportReport
from memtree_proxy.cli.drawing.foreign_text import json_line, one_line, plain
from memtree_proxy.cli.memories.embedding import embed_rest
from memtree_proxy.cli.memories.scope import scope_of, tenant_of
from memtree_proxy.memories.transfer.unpacking import unpacked
from memtree_proxy.wire.transfer import ShownReport

STDIN = "-"
LARGEST = 1 << 30  # bytes of a file, unpacked
SHOWN = 50  # lines with a problem shown in the terminal; --json shows more


async def write(options: argparse.Namespace, settings: Settings) -> int:
    async with _opened(options, replace(settings, embedder="none")) as (services, scope):
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
    async with _opened(options, settings) as (services, scope):
        report = await services.transfer.import_file(scope, raw, wanted)
        _print(report, as_json=options.json)
        if not report.dry_run:
            sys.stdout.flush()  # the report stands before the progress, also in a pipe
            await embed_rest(services.book, scope, "memories")
    return 0 if report.complete and not report.failed else 1


async def _save(target: Path, lines: AsyncIterator[bytes]) -> None:
    """Write a file that appears only when it is complete; only its owner may read it."""
    number, name = tempfile.mkstemp(prefix=".memories-", dir=target.parent)
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
    if name == STDIN:
        raw = sys.stdin.buffer.read(LARGEST + 1)
    else:
        with open(name, "rb") as file:
            raw = file.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise BadRequest(f"{name} is over {LARGEST:,} bytes", param="file")
    return raw


@asynccontextmanager
async def _opened(
    options: argparse.Namespace, settings: Settings
) -> AsyncIterator[tuple[MemoryServices, Scope]]:
    async with open_runtime(settings, drain=0.0) as runtime:
        tenant = await tenant_of(runtime.store, runtime.memories, options.tenant)
        yield runtime.memory_services, scope_of(tenant, options)


def _print(report: ImportReport, *, as_json: bool) -> None:
    if as_json:
        print(json_line(msgspec.to_builtins(ShownReport.of(report))))
        return
    would = "would be " if report.dry_run else ""
    print(
        f"{report.format}: {report.imported:,} of {report.read:,} {would}imported, "
        f"{report.skipped:,} left out, {report.failed:,} failed"
    )
    if report.tainted:
        print(f"{report.tainted:,} of them speak to the model: shown as facts until confirmed")
    wrong = [line for line in report.lines if line.status is not LineStatus.IMPORTED]
    listed = [line for line in wrong if line.status is not LineStatus.DUPLICATE]
    for line in listed[:SHOWN]:
        print(f"  {one_line(_told(line))}")
    if len(listed) > SHOWN:
        print(f"  ... and {len(listed) - SHOWN:,} more (--json)")
    for reason, count in report.reasons.items():
        print(f"  {one_line(reason)}: {count:,}")
    for warning in report.warnings:
        print(plain(warning), file=sys.stderr)
    if report.stopped:
        print(f"not complete: {plain(report.stopped)}", file=sys.stderr)


def _told(line: LineResult) -> str:
    return f"line {line.line}: {line.status.value}, {line.message or line.reason}"
