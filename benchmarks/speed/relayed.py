"""Measure what a request costs on its way through, memory off, beside a bare proxy of twenty lines.

    python -m benchmarks.speed relayed [--beside PYTHON] [--rounds 5]

The same upstream behind all of them, asked by turns with 1, 16 and 64 connections: small requests
(added time at p50, processor time of the program a request) and streams (time until the first byte,
processor time an event). Only ratios within one run are judged.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from benchmarks.data import Data
from benchmarks.report import Row
from benchmarks.speed import released
from benchmarks.speed.clients.closed_loop import Timing, ask
from benchmarks.speed.clients.connection import request
from benchmarks.speed.clients.processes import Program, app, memtree
from benchmarks.speed.clients.sessions import written
from tests.wire.conversations import conversation

CONNECTIONS = (1, 16, 64)
EVENTS = 60  # of one stream, see apps.streaming
KINDS = ("small", "stream", "100k tokens")
COUNTS = {"small": 200, "stream": 1, "100k tokens": 20}  # requests a round; streams: a connection
CPU_GOAL, FIRST_GOAL, EVENT_GOAL = 1.2, 1.5, 1.2
PATH = "/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class Way:
    """A program that requests go through. `headers`: more than the others need."""

    program: Program
    headers: dict[str, str] = field(default_factory=dict)
    path: str = PATH

    @property
    def name(self) -> str:
        return self.program.name


@dataclass(slots=True)
class Measured:
    timings: list[Timing] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)  # seconds a request, round by round

    def first(self) -> float:
        return statistics.median(one.first for one in self.timings) * 1000

    def took(self) -> float:
        return statistics.median(one.took for one in self.timings) * 1000

    def processor(self) -> float:
        """Microseconds a request: the least of all rounds, as others only add to it."""
        return min(self.cpu) * 1e6


Found = dict[tuple[str, int, str], Measured]  # kind of request, connections, program


def parsed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--connections", type=int, nargs="+", default=list(CONNECTIONS))
    parser.add_argument("--beside", metavar="PYTHON", help="interpreter of another MemTree")
    released.parsed(parser)


def run(options: argparse.Namespace, _: Data | None) -> int:
    with ExitStack() as stack:
        upstream = stack.enter_context(app("upstream"))
        bare = {"BENCH_UPSTREAM": upstream.url}
        ways = [
            Way(upstream),
            Way(stack.enter_context(app("proxy", "benchmarks.speed.clients.bare_proxy", bare))),
            Way(stack.enter_context(memtree(upstream, "--embedder", "none"))),
        ]
        if options.beside:
            flags = ("--embedder", "none")
            other = memtree(upstream, *flags, name="beside", python=options.beside)
            ways.append(Way(stack.enter_context(other)))
        found = measured(ways, options.connections, options.rounds, KINDS[:2])
    rows = list(rows_of(found, [way.name for way in ways[2:]]))
    released.show(options, "relayed", "relayed, memory off", rows)
    return 0


def measured(
    ways: Sequence[Way], connections: Sequence[int], rounds: int, kinds: Sequence[str]
) -> Found:
    """All ways by turns, so that a busy machine slows all of them."""
    found: Found = defaultdict(Measured)
    for kind in kinds:
        body = body_of(kind)
        answering = [way for way in ways if _answers(way, body, kind)]
        for count in connections if kind != KINDS[2] else (1,):
            for number in range(rounds + 1):
                for way in answering:
                    timings, cpu = _round(way, body, count, kind)
                    if number:  # the first round warms up
                        found[kind, count, way.name].timings += timings
                        found[kind, count, way.name].cpu.append(cpu)
            print(f"  {kind}, {count} connections", file=sys.stderr, flush=True)
    return found


def _answers(way: Way, body: bytes, kind: str) -> bool:
    """Portkey's gateway, for one, refuses streams on some versions of Node."""
    try:
        _round(way, body, 1, kind)
    except ConnectionError as error:
        print(f"  {way.name} does not answer: {kind}: {error}", file=sys.stderr, flush=True)
        return False
    return True


def body_of(kind: str) -> bytes:
    if kind == KINDS[2]:
        return written("chat", conversation(1, 125, 60))
    messages = [{"role": "user", "content": "Say hello."}]
    fields = {"stream": True} if kind == KINDS[1] else {}
    return json.dumps({"model": "m", "messages": messages, **fields}).encode()


def _round(way: Way, body: bytes, connections: int, kind: str) -> tuple[list[Timing], float]:
    headers = {"content-type": "application/json", "authorization": "Bearer k", **way.headers}
    raw = request("POST", way.path, body, headers)
    count = connections if kind == KINDS[1] else max(COUNTS[kind], connections * 4)
    before = way.program.own_cpu()
    timings = asyncio.run(ask(way.program.port, raw, connections, count))
    return timings, (way.program.own_cpu() - before) / count


def rows_of(found: Found, names: Sequence[str], bare: str = "proxy") -> Iterator[Row]:
    """Each program's figures, then what ours are to the bare proxy's."""
    for (kind, count, name), one in found.items():
        where = f"{kind}, {count} connections, {name}"
        yield Row(f"{where}: first byte, p50", one.first(), "ms")
        if name != "upstream":
            direct = found[kind, count, "upstream"]
            yield Row(f"{where}: added, p50", one.took() - direct.took(), "ms")
            each = (
                (one.processor() / EVENTS, "event")
                if kind == KINDS[1]
                else (
                    one.processor(),
                    "request",
                )
            )
            yield Row(f"{where}: processor, each {each[1]}", each[0], "us")
    for kind, count, name in list(found):
        if name not in names:
            continue
        mine, other = found[kind, count, name], found[kind, count, bare]
        where = f"{kind}, {count} connections: {name} to the bare proxy"
        cpu_goal = EVENT_GOAL if kind == KINDS[1] else CPU_GOAL
        yield Row(f"{where}, processor", mine.processor() / other.processor(), "x", cpu_goal, True)
        if kind == KINDS[1]:
            ratio = mine.first() / other.first()
            yield Row(f"{where}, first byte", ratio, "x", FIRST_GOAL, True)
        else:
            yield Row(f"{where}, p50", mine.took() / other.took(), "x")
