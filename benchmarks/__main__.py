"""`python -m benchmarks [NAME ...]`: each benchmark in a process of its own, so that memory use
and caches of one do not show in another. Exit code 2 without data, 1 for a broken promise.

Behind `losses` or `midepoch`, if these come first, stand the data sets to measure."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import invariants, report, session
from benchmarks.costs import (
    captures,
    cost,
    dialect_captures,
    dialect_cost,
    prefix,
    replay,
    spending,
    summaries,
)
from benchmarks.data import Data, MissingData
from benchmarks.extraction import (
    appointments,
    conversations,
    date_sentences,
    extraction_junk,
    extraction_recall,
    extraction_speed,
    sentences,
)
from benchmarks.memories import (
    agent_schemas,
    agent_search,
    categories,
    grants,
    injection_languages,
    injection_requests,
    memory_listing,
    memory_search,
    memory_speed,
    noise,
    relation,
    rules,
    secrets,
)
from benchmarks.processes import dialect_speed, server, topology, workers
from benchmarks.quality import cuts, documents, headlines, kept, overhead, reading
from benchmarks.recall import (
    beam,
    dates,
    locomo,
    losses,
    midepoch,
    needles,
    next_step,
    provisional,
    story_questions,
    trail,
)
from benchmarks.subject import Bench

VARIABLE = "MEMTREE_BENCH_DATA"
Benchmark = Callable[[Bench], Coroutine[Any, Any, tuple[list[report.Row], list[str]]]]
ALL: dict[str, Benchmark] = {
    "locomo": locomo.run,
    "realtalk": partial(locomo.run, name="realtalk"),
    "plus": partial(locomo.run, name="plus"),
    "losses": losses.run,
    "beam": beam.run,
    "needles": needles.run,
    "session": session.run,
    "replay": replay.run,
    "cost": cost.run,
    "dialect_cost": dialect_cost.run,
    "captures": captures.run,
    "dialect_captures": dialect_captures.run,
    "dialect_speed": dialect_speed.run,
    "headlines": headlines.run,
    "prefix": prefix.run,
    "midepoch": midepoch.run,
    "spending": spending.run,
    "overhead": overhead.run,
    "cuts": cuts.run,
    "provisional": provisional.run,
    "summaries": summaries.run,
    "rules": rules.run,
    "relation": relation.run,
    "injection_languages": injection_languages.run,
    "injection_requests": injection_requests.run,
    "noise": noise.run,
    "secrets": secrets.run,
    "categories": categories.run,
    "extraction": conversations.run,
    "date_sentences": date_sentences.run,
    "dates": dates.run,
    "grants": grants.run,
    "appointments": appointments.run,
    "kept": kept.run,
    "reading": reading.run,
    "trail": trail.run,
    "story_questions": story_questions.run,
    "next": next_step.run,
    "documents": documents.run,
    "server": server.run,
    "workers": workers.run,
    "topology": topology.run,
    "memory_search": memory_search.run,
    "extraction_junk": extraction_junk.run,
    "sentences": sentences.run,
    "extraction_recall": extraction_recall.run,
    "extraction_speed": extraction_speed.run,
    "memory_speed": memory_speed.run,
    "agent_search": agent_search.run,
    "memory_listing": memory_listing.run,
    "agent_schemas": agent_schemas.run,
}

SETS = {"losses": losses.NAMES, "midepoch": midepoch.NAMES}

# These bring their own data.
OWN = {
    "story_questions",
    "agent_schemas",
    "agent_search",
    "relation",
    "injection_languages",
    "injection_requests",
    "noise",
    "secrets",
    "categories",
    "extraction",
    "extraction_speed",
    "date_sentences",
    "appointments",
    "grants",
    "dialect_speed",
}


def main() -> int:
    if sys.argv[1:2] == ["speed"]:  # a program of its own, whose runs must not share a machine
        return subprocess.call([sys.executable, "-m", "benchmarks.speed", *sys.argv[2:]])
    options = _parser().parse_args()
    root = os.environ.get(VARIABLE)
    own = options.names and OWN.issuperset(options.names)
    if not own and (not root or not Path(root).is_dir()):
        found = f"{root} is no directory" if root else "it is not set"
        print(
            f"benchmarks: {VARIABLE} names the directory with the data sets, and {found}.\n"
            f"    {VARIABLE}=/path/to/data make bench",
            file=sys.stderr,
        )
        return 2
    names, sets = chosen(options.names)
    if len(names) > 1:
        return _each_apart(names, options)
    bench = Bench(
        Data(Path(root or os.devnull)),
        options.keep,
        options.long,
        options.store,
        sets,
        options,
        options.json,
        _kept_before(options.json),
    )
    return _one(names[0], bench, options.json)


def chosen(names: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """Return the benchmarks, all where none is named, and the data sets of the only one.

    >>> chosen(["losses", "realtalk", "beam"])
    (['losses'], ('realtalk', 'beam'))
    >>> chosen(["realtalk", "losses"])
    (['realtalk', 'losses'], ())
    """
    sets = SETS.get(names[0], ()) if names else ()
    if sets and all(name in sets for name in names[1:]):
        return names[:1], tuple(names[1:])
    return names or list(ALL), ()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *ALL], metavar="NAME", help=", ".join(ALL))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there, too")
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="keep databases in DIR: embedding is done once"
    )
    parser.add_argument("--store", metavar="URL", help="session: over this empty store, not SQLite")
    parser.add_argument("--long", action="store_true", help="the longest chats as well: minutes")
    next_step.add_options(parser)
    return parser


def _one(name: str, bench: Bench, json_path: Path | None) -> int:
    if bench.keep:
        bench.keep.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    try:
        rows, broken = asyncio.run(ALL[name](bench))
    except MissingData as error:
        print(f"benchmarks: {error} ({VARIABLE})", file=sys.stderr)
        return 2
    print(report.table(f"{name} ({time.monotonic() - started:.0f} s)", rows))
    if broken:
        print(invariants.describe(broken))
    if json_path:
        figures = report.as_json(name, rows)
        if bench.kept:
            figures.append({"benchmark": name, "kept": bench.kept})
        json_path.write_text(json.dumps(figures, indent=1), "utf-8")
    return 1 if broken else 0


def _kept_before(path: Path | None) -> dict[str, Any]:
    """Return what the benchmark kept in this file of figures in an earlier run."""
    if path is None or not path.exists():
        return {}
    figures = json.loads(path.read_text("utf-8"))
    return next((one["kept"] for one in figures if "kept" in one), {})


def _each_apart(names: list[str], options: argparse.Namespace) -> int:
    figures: list[Any] = []
    worst = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            path = Path(folder) / f"{name}.json"
            command = [sys.executable, "-m", "benchmarks", name, "--json", str(path)]
            if options.keep:
                command += ["--keep", str(options.keep)]
            if options.long:
                command.append("--long")
            if options.store:
                command += ["--store", options.store]
            worst = max(worst, abs(subprocess.run(command, check=False).returncode))
            if path.exists():
                figures += json.loads(path.read_text("utf-8"))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1), "utf-8")
    return worst


if __name__ == "__main__":
    sys.exit(main())
