"""Count what a warm turn does, by step: not milliseconds, which depend on the machine.

    python -m benchmarks.speed steps [--sizes 1m] [--dialect chat] [--mode stable] [--out FILE]

The app in this process. For each size, dialect and mode: a user turn, a tool turn and the same
request again, with all that the turn does behind its answer. Written as Markdown: how often each
thing was done, then the lines of code that ran, by room, then the functions with most lines.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from collections import Counter
from pathlib import Path

from benchmarks.data import Data
from benchmarks.speed.clients.in_process import InProcess, in_process
from benchmarks.speed.clients.sessions import PATHS
from benchmarks.speed.warm import KINDS, MODES, SIZES, TARGET, Series
from tests.work_counts import Suspending, Work, counting

WARMED = 2  # turns before those that are counted
LONGEST = 12  # functions that are told
COUNTED = (
    "messages looked at",
    "JSON decodes",
    "JSON bytes decoded",
    "sha256",
    "xxhash",
    "token counts",
    "thread hops",
    "store calls",
    "embeddings",
    "rankings",
    "renders",
    "awaits that suspend",
    "event loop callbacks",
    "calls of ours",
    "calls of C",
    "lines",
)


def parsed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--dialect", nargs="+", choices=PATHS, default=list(PATHS))
    parser.add_argument("--mode", nargs="+", choices=MODES, default=list(MODES))
    parser.add_argument("--embedder", choices=("none", "local"), default="none")
    parser.add_argument("--out", type=Path, help="write there instead of to the screen")


def run(options: argparse.Namespace, _: Data | None) -> int:
    logging.getLogger("memtree").setLevel(logging.ERROR)
    text = asyncio.run(_counted(options))
    if options.out:
        options.out.write_text(text, "utf-8")
    else:
        print(text)
    return 0


async def _counted(options: argparse.Namespace) -> str:
    found: dict[tuple[str, str], dict[tuple[str, str], Work]] = {}
    async with in_process(embedder=options.embedder, target_tokens=TARGET) as server:
        number = 0
        for size in options.sizes:
            for dialect in options.dialect:
                for mode in options.mode:
                    number += 1
                    series = Series(size, dialect, mode, 100 + number)
                    for kind, work in (await counts(server, series)).items():
                        found.setdefault((dialect, mode), {})[kind, size] = work
                    print(f"  {series.name}", file=sys.stderr, flush=True)
    parts = [f"# Steps of a warm turn, embedder {options.embedder}\n"]
    for (dialect, mode), columns in found.items():
        parts += [f"\n## {dialect}, {mode}\n", *_table(columns)]
    return "\n".join(parts)


async def counts(server: InProcess, series: Series) -> dict[str, Work]:
    """By kind of request."""
    path, found = PATHS[series.dialect], dict[str, Work]()
    last = b""
    for number, (kind, body) in enumerate(series.turns(WARMED + 6)):
        if number <= WARMED:
            await server.post(path, body, series.headers)
            await server.runtime.settle()
            continue
        if kind in found:
            continue
        found[kind], last = await counted(server, path, body, series), body
        if len(found) == 2:
            break
        await server.runtime.settle()
    found[KINDS[2]] = await counted(server, path, last, series)
    return found


async def counted(server: InProcess, path: str, body: bytes, series: Series) -> Work:
    request = Suspending(server.post(path, body, series.headers))
    with counting(asyncio.get_running_loop()) as work:
        await request
        await server.runtime.settle()
    work.of["awaits that suspend"] = request.times
    work.of["messages looked at"] = work.messages
    work.of["lines"] = work.lines
    work.of["bytes of the body"] = len(body)
    return work


def _table(columns: dict[tuple[str, str], Work]) -> list[str]:
    keys = [(kind, size) for kind in KINDS for size in SIZES if (kind, size) in columns]
    lines = [
        "| | " + " | ".join(f"{kind}, {size}" for kind, size in keys) + " |",
        "|---|" + "---:|" * len(keys),
    ]
    for name in ("bytes of the body", *COUNTED):
        cells = (f"{columns[key].of[name]:,}" for key in keys)
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    rooms = sorted(set().union(*(columns[key].rooms for key in keys)))
    for room in rooms:
        cells = (f"{columns[key].rooms[room]:,}" for key in keys)
        lines.append(f"| lines in {room} | " + " | ".join(cells) + " |")
    for kind in KINDS:
        largest = [columns[key] for key in keys if key[0] == kind][-1:]
        for work in largest:
            told = Counter(work.functions).most_common(LONGEST)
            shown = ", ".join(f"{name} {count:,}" for name, count in told)
            lines.append(f"\nMost lines, {kind}, {keys[-1][1]}: {shown}")
    return lines
