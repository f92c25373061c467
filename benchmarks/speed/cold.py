"""From nothing: the start of a program, and a history of a million tokens that nobody knows yet.

    python -m benchmarks.speed cold [--turns 1250] [--embedder none local]

A real server process on an empty store, for each embedder: seconds until its first answer, its
resident size at rest, seconds until a history is packed (the client asks again while it is not),
the processor time of the server and its children until all of it is indexed, tokens indexed a
minute, the largest resident size. Processor time depends little on what else the machine does.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from benchmarks.data import Data
from benchmarks.report import Row
from benchmarks.speed import released
from benchmarks.speed.clients.connection import Connection
from benchmarks.speed.clients.processes import Program, app, memtree
from benchmarks.speed.clients.sessions import PATHS, written
from tests.wire.conversations import conversation

EMBEDDERS = ("none", "local")
REST = 6.0  # seconds until what is begun at the start is done
TARGET = 20_000
VERSIONS = 5
FIRST_GOAL, RATE_GOAL, VERSION_GOAL, SERVE_GOAL = 1.5, 700_000, 0.2, 1.0
REST_GOALS = {"none": 80.0, "local": 280.0}
HEADERS = {
    "content-type": "application/json",
    "authorization": "Bearer somebody",
    "x-polychat-memory": "on",
    "x-memtree-mode": "stable",
}


def parsed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--turns", type=int, default=1_250, help="1,250 are a million tokens")
    parser.add_argument("--embedder", nargs="+", choices=EMBEDDERS, default=list(EMBEDDERS))
    parser.add_argument("--python", default=sys.executable, help="of another MemTree")
    released.parsed(parser)


def run(options: argparse.Namespace, _: Data | None) -> int:
    rows = [version(options.python)]
    talk = conversation(1, options.turns, 60)
    body = written("chat", (*talk[:-1], replace(talk[-1], steps=())))
    with app("instant") as upstream:
        for embedder in options.embedder:
            rows += measured(upstream, embedder, body, options.python)
            print(f"  {embedder}", file=sys.stderr, flush=True)
    released.show(options, "cold", "from nothing", rows)
    return 0


def version(python: str) -> Row:
    """Processor seconds of `memtree --version`: the least of some, as others only add to it."""
    found = []
    for _ in range(VERSIONS):
        pid = os.posix_spawn(
            python,
            [python, "-m", "memtree_proxy.cli", "--version"],
            dict(os.environ),
            file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
        )
        used = os.wait4(pid, 0)[2]
        found.append(used.ru_utime + used.ru_stime)
    return Row("memtree --version, processor", min(found), "s", VERSION_GOAL, True)


def measured(upstream: Program, embedder: str, body: bytes, python: str) -> Iterator[Row]:
    flags = ("--embedder", embedder, "--target-tokens", str(TARGET))
    with memtree(upstream, *flags, python=python) as server:
        time.sleep(REST)
        name = f"embedder {embedder}"
        yield Row(f"{name}: first answer of a new process", server.started, "s", SERVE_GOAL, True)
        yield Row(f"{name}: at rest", server.resident(), "MiB", REST_GOALS[embedder], True)
        link, before = Connection(server.port), server.cpu()
        with _watched(server) as sizes:
            began = time.perf_counter()
            first, packed, tokens = _packed(link, body, began)
            cpu_packed = server.cpu() - before
            while json.loads(link.get("/context_memory/status", HEADERS).body)["pending_tokens"]:
                time.sleep(0.2)
            indexed = time.perf_counter() - began
        cpu = server.cpu() - before
        yield Row(f"{name}: tokens", tokens)
        yield Row(f"{name}: first answer", first, "s")
        yield Row(f"{name}: first packed answer", packed, "s", FIRST_GOAL, True)
        yield Row(f"{name}: processor until then", cpu_packed, "s")
        yield Row(f"{name}: processor, each token", cpu / tokens * 1e6, "us")
        if embedder != "none":
            yield Row(f"{name}: indexed", tokens / indexed * 60, "tokens/min", RATE_GOAL)
        yield Row(f"{name}: peak of the process", server.peak(), "MiB")
        yield Row(f"{name}: peak with children", max(sizes, default=0.0), "MiB")
        time.sleep(REST)
        yield Row(f"{name}: at rest afterwards", server.resident(), "MiB")


def _packed(link: Connection, body: bytes, began: float) -> tuple[float, float, int]:
    """Seconds until the first answer and until the first packed one, and tokens."""
    first = 0.0
    while True:
        answer = link.post(PATHS["chat"], body, HEADERS)
        now = time.perf_counter() - began
        first = first or now
        if answer.headers.get("x-memtree-state") == "packed":
            return first, now, int(answer.headers["x-memtree-raw-tokens"])
        if answer.status != 200 or now > 300:
            raise SystemExit(f"benchmarks: nothing is packed: {answer.status} {answer.headers}")
        time.sleep(0.05)


@contextmanager
def _watched(server: Program) -> Iterator[list[float]]:
    """Resident sizes while the block runs, in MiB."""
    sizes: list[float] = []
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.1):
            sizes.append(server.resident())

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield sizes
    finally:
        done.set()
        thread.join()
