"""A warm turn: the next request of a history that is known, beside programs that do less with it.

    python -m benchmarks.speed warm [--sizes 1m] [--dialect chat] [--mode stable] [--beside PYTHON]

For each size, dialect and mode: user turns, tool turns and the same request again, posted in turns
to a real server process, to an app that merely reads the body, to the cheapest known recipe and to
the naive one; so a busy machine slows all of them, and only the ratios are judged. Wall time is the
median, from the first byte sent to the last one received; processor time that of the server's
process. Then some turns more while `/health` is asked without a pause: how long it waits at most is
how long the event loop stood still. `--beside` measures another installation in the same run.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from benchmarks.data import Data
from benchmarks.report import Row
from benchmarks.speed import released
from benchmarks.speed.clients.connection import Connection, TimedReply
from benchmarks.speed.clients.processes import Program, app, memtree
from benchmarks.speed.clients.sessions import PATHS, steps, written
from tests.wire.conversations import conversation

SIZES = {"10k": 14, "100k": 125, "1m": 1_250}  # turns of the generated conversation
GOALS = {"10k": 5.0, "100k": 8.0, "1m": 4.0}  # times merely reading the body
AGAIN_GOAL, STALL_GOAL = 2.0, 15.0
MODES = ("stable", "auto")
RECIPES = ("reading", "cheapest", "naive")
NAIVE = 3  # measurements of what takes half a second
TARGET = 20_000
WORDS = 60  # about, of a text
PROBED = 5  # turns under the probe
KINDS = ("user turn", "tool turn", "same again")


@dataclass(slots=True)
class Times:
    """Milliseconds of one program by kind of request, and of its processor."""

    wall: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    cpu: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))


@dataclass(frozen=True, slots=True)
class Series:
    """One size, dialect and mode. Its turns stand behind the common history: a tail of its own."""

    size: str
    dialect: str
    mode: str
    tail: int

    @property
    def name(self) -> str:
        return f"{self.size} {self.dialect} {self.mode}"

    @property
    def headers(self) -> dict[str, str]:
        return {
            "content-type": "application/json",
            "authorization": "Bearer somebody",
            "anthropic-version": "2023-06-01",
            "x-polychat-memory": "on",
            "x-memtree-recall-tools": "off",
            "x-memtree-mode": self.mode,
        }

    def turns(self, count: int) -> Iterator[tuple[str, bytes]]:
        """Kind and body of each request. The first one is the history that is learned."""
        known = conversation(1, SIZES[self.size], WORDS)[:-1]
        for length, exchange in enumerate(conversation(self.tail, count, WORDS)[:-1]):
            before = (*known, *conversation(self.tail, count, WORDS)[:length])
            for number, asked in enumerate(steps(exchange)):
                yield KINDS[number > 0], written(self.dialect, (*before, asked))


def parsed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--dialect", nargs="+", choices=PATHS, default=list(PATHS))
    parser.add_argument("--mode", nargs="+", choices=MODES, default=list(MODES))
    parser.add_argument("--embedder", choices=("none", "local"), default="none")
    parser.add_argument("--turns", type=int, default=9, help="of the user")
    parser.add_argument("--beside", metavar="PYTHON", help="interpreter of another MemTree")
    released.parsed(parser)


def run(options: argparse.Namespace, _: Data | None) -> int:
    rows: list[Row] = []
    flags = ("--embedder", options.embedder, "--target-tokens", str(TARGET))
    with ExitStack() as stack:
        upstream = stack.enter_context(app("instant"))
        servers = [stack.enter_context(memtree(upstream, *flags))]
        if options.beside:
            other = memtree(upstream, *flags, name="beside", python=options.beside)
            servers.append(stack.enter_context(other))
        recipes = [stack.enter_context(app(name)) for name in RECIPES]
        for number, one in enumerate(_series(options)):
            found = measure(one, servers, recipes, options.turns)
            stalls = [probed(one, server, 500 + number) for server in servers]
            rows += rows_of(one, found, dict(zip(servers_of(servers), stalls, strict=True)))
            print(f"  {one.name}", file=sys.stderr, flush=True)
    released.show(options, "warm", f"warm turns, embedder {options.embedder}", rows)
    return 0


def servers_of(servers: list[Program]) -> list[str]:
    return [server.name for server in servers]


def _series(options: argparse.Namespace) -> Iterator[Series]:
    number = 0
    for size in options.sizes:
        for dialect in options.dialect:
            for mode in options.mode:
                number += 1
                yield Series(size, dialect, mode, 100 + number)


def measure(
    series: Series, servers: list[Program], recipes: list[Program], turns: int
) -> dict[str, Times]:
    """The requests of a series, each to all programs before the next one."""
    links = {one.name: (one, Connection(one.port)) for one in (*servers, *recipes)}
    found: dict[str, Times] = defaultdict(Times)
    bodies = series.turns(turns + 1)
    first = next(bodies)[1]
    for server in servers:
        learn(series, links[server.name][1], first)
    for number, (kind, body) in enumerate(bodies):
        for name, (program, link) in links.items():
            if name == "naive" and number >= NAIVE:
                continue
            timed(series, program, link, body, found[name], kind)
    for _ in range(turns):
        for name, (program, link) in links.items():
            if name != "naive":
                timed(series, program, link, body, found[name], KINDS[2])
    return found


def timed(
    series: Series, program: Program, link: Connection, body: bytes, into: Times, kind: str
) -> None:
    before = program.own_cpu()
    answer = link.post(PATHS[series.dialect], body, series.headers)
    check(series, program, answer)
    time.sleep(0.01)  # what it does behind the answer is part of the turn
    into.cpu[kind].append((program.own_cpu() - before) * 1000)
    into.wall[kind].append(answer.took * 1000)


def check(series: Series, program: Program, answer: TimedReply) -> None:
    """Below the target nothing is folded, and of little much may lack its vectors still."""
    state = answer.headers.get("x-memtree-state", "none")
    wanted = ["packed"]
    if series.size == "10k":
        wanted += ["passed", "below-threshold", "provisional"]
    if answer.status != 200 or (program.name not in RECIPES and state not in wanted):
        raise SystemExit(f"benchmarks: {program.name}, {series.name}: {answer.status} {state}")


def learn(series: Series, link: Connection, body: bytes) -> None:
    """Until the history is known, folded, and all of its vectors are there."""
    for _ in range(600):
        answer = link.post(PATHS[series.dialect], body, series.headers)
        status = json.loads(link.get("/context_memory/status", series.headers).body)
        folded = series.size == "10k" or answer.headers.get("x-memtree-state") == "packed"
        if folded and not status["pending_tokens"]:
            link.post(PATHS[series.dialect], body, series.headers)
            return
        time.sleep(0.5)
    raise SystemExit(f"benchmarks: {series.name} is not indexed: {answer.headers}")


def probed(series: Series, server: Program, tail: int) -> list[float]:
    """The longest wait of `/health` in each turn, in milliseconds."""
    own, link = replace(series, tail=tail), Connection(server.port)
    bodies = [body for _, body in own.turns(PROBED)][: PROBED + 1]
    learn(own, link, bodies[0])
    found = []
    for body in bodies[1:]:
        with _probe(server.port) as waits:
            link.post(PATHS[own.dialect], body, own.headers)
        found.append(max(waits, default=0.0) * 1000)
    return found


@contextmanager
def _probe(port: int) -> Iterator[list[float]]:
    waits: list[float] = []
    done, begun = threading.Event(), threading.Event()

    def asking() -> None:
        link = Connection(port)
        link.get("/health")
        begun.set()
        while not done.is_set():
            waits.append(link.get("/health").took)
            time.sleep(0.0005)
        link.close()

    thread = threading.Thread(target=asking)
    thread.start()
    begun.wait(10)
    try:
        yield waits
    finally:
        done.set()
        thread.join()


def rows_of(
    series: Series, found: dict[str, Times], stalls: dict[str, list[float]]
) -> Iterator[Row]:
    for kind in KINDS:
        for name, times in found.items():
            if not times.wall[kind]:
                continue
            wall, cpu = statistics.median(times.wall[kind]), statistics.median(times.cpu[kind])
            yield Row(f"{series.name}: {kind}, {name}", wall, "ms")
            yield Row(f"{series.name}: {kind}, {name}, processor", cpu, "ms")
        for name in stalls:
            goal = AGAIN_GOAL if kind == KINDS[2] else GOALS[series.size]
            yield from _ratios(series, kind, name, found, goal)
    for name, waits in stalls.items():
        worst, middle = max(waits), statistics.median(waits)
        yield Row(f"{series.name}: longest stall, {name}", worst, "ms", STALL_GOAL, True)
        yield Row(f"{series.name}: median stall, {name}", middle, "ms")


def _ratios(
    series: Series, kind: str, name: str, found: dict[str, Times], goal: float
) -> Iterator[Row]:
    for what in ("wall", "cpu"):
        mine, reading = getattr(found[name], what), getattr(found["reading"], what)
        if mine[kind] and reading[kind]:
            ratio = statistics.median(mine[kind]) / max(1e-6, statistics.median(reading[kind]))
            label = f"{series.name}: {kind}, {name} to reading" + ", processor" * (what == "cpu")
            yield Row(label, ratio, "x", goal if what == "wall" else None, True)
