"""Within an epoch what is sent only grows, byte for byte: on every capture and on a long chat.

And it goes on so when summaries get new versions, vectors arrive, the process restarts, or two
processes take turns on one store; none of these may begin an epoch by itself.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.costs import cost
from benchmarks.costs.replay import sessions
from benchmarks.invariants import THRESHOLD, Tally, size, violations
from benchmarks.report import Row, promises
from benchmarks.subject import Bench, settings
from memtree.context.context_memory import CompressRequest
from memtree.history.message import Message
from memtree.jobs.runtime import Runtime, open_runtime
from memtree.tree.node import Summary
from tests.answered import Answered, compressed

# (target, hard, mode); disturbed sessions take those of `DISTURBED` only
TERMS = (
    (20_000, False, "stable"),
    (4_000, True, "stable"),
    (20_000, False, "auto"),
    (20_000, True, "stable"),
    (4_000, False, "auto"),
)
DISTURBED = TERMS[:2]
EMBEDDED = ("cline-compacting-long", "pi-long")  # embedding them all takes too long
LENGTH, WINDOW = 600_000, 1_000_000
OLD = 2  # turns of an epoch before something happens to it: it would go on

Sent = Sequence[bytes]


@dataclass(slots=True)
class Watch:
    """All answers of one session, each compared with every earlier one of its epoch."""

    sent: dict[str, list[tuple[Sent, Sent]]] = field(default_factory=dict)  # by epoch
    pairs: int = 0
    epoch: str | None = None
    age: int = 0  # turns of the present epoch

    def add(self, posted: Sequence[Message], answer: Answered) -> list[str]:
        """Add an answer and return the promises that it breaks."""
        self.age = self.age + 1 if answer.epoch == self.epoch else 1
        self.epoch = answer.epoch
        if answer.epoch is None:
            return []
        asked = [message.raw for message in posted]
        found = []
        before = self.sent.setdefault(answer.epoch, [])
        for number, (earlier, sent) in enumerate(before):
            if list(earlier) == asked[: len(earlier)]:
                self.pairs += 1
                at = _difference(sent, answer.messages)
                if at is not None:
                    found.append(f"message {at} is not what turn {number} of the epoch sent there")
        before.append((asked, answer.messages))
        return found


def _difference(earlier: Sent, later: Sent) -> int | None:
    """The first message of the earlier answer that the later one does not begin with."""
    for at, message in enumerate(earlier):
        if at >= len(later) or message != later[at]:
            return at
    return None


class Processes:
    """Runtimes on one database that take turns, each with caches of its own."""

    def __init__(self, path: Path, count: int, embedder: str) -> None:
        self._path, self._embedder = path, embedder
        self._stacks = [AsyncExitStack() for _ in range(count)]
        self._open: list[Runtime] = []
        self._turn = 0

    async def start(self) -> None:
        for stack in self._stacks:
            opened = open_runtime(settings(self._path, self._embedder))
            self._open.append(await stack.enter_async_context(opened))

    def next(self) -> Runtime:
        self._turn += 1
        return self._open[self._turn % len(self._open)]

    async def stop(self) -> None:
        for stack in self._stacks:
            await stack.aclose()
        self._open.clear()

    async def restart(self) -> None:
        await self.stop()
        await self.start()


Event = Callable[[Processes, CompressRequest], Awaitable[None]]


async def nothing(processes: Processes, ask: CompressRequest) -> None:
    """Undisturbed."""


async def restart(processes: Processes, ask: CompressRequest) -> None:
    await processes.restart()


async def summarise(processes: Processes, ask: CompressRequest) -> None:
    """A next version of every summary, as a model would write them."""
    runtime = processes.next()
    _, _, nodes = await runtime.memory.outline(ask)
    known = await runtime.store.newest_summaries(ask.tenant, list(nodes))
    rows = {}
    for id_, node in nodes.items():
        version = known[id_].version + 1 if id_ in known else 1
        old = node.summary
        body = f"Told anew ({version}). {old.body}"
        rows[id_] = Summary(f"v{version} {old.headline}", body, old.anchors, version)
    await runtime.store.put_summaries(ask.tenant, rows)


async def settle(processes: Processes, ask: CompressRequest) -> None:
    """Vectors of everything arrive."""
    await processes.next().settle()


@dataclass(frozen=True, slots=True)
class Scene:
    """Scene in which processes meet an epoch that turns `OLD` old."""

    name: str
    event: Event = nothing
    processes: int = 1
    embedder: str = "none"


SCENES = (
    Scene("undisturbed"),
    Scene("new summaries", summarise),
    Scene("restarts", restart),
    Scene("two processes", processes=2),
    Scene("vectors arriving", settle, embedder="local"),
)


@dataclass(slots=True)
class Score:
    turns: int = 0
    pairs: int = 0
    epochs: int = 0
    events: int = 0
    ended: int = 0  # epochs that ended at the very turn after an event


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    tally = Tally()
    rows: list[Row] = []
    for scene in SCENES:
        short = Score()
        async with _processes(scene) as processes:
            await _captures(bench, scene, processes, short, tally)
        rows += _rows(f"captures, {scene.name}", short)
        if scene.embedder == "none":
            long = Score()
            async with _processes(scene) as processes:
                asks = [_ask("chat", one, *TERMS[0]) for one in cost.requests(LENGTH)]
                await _session(scene, processes, asks, long, tally)
            rows += _rows(f"chat of 600k, {scene.name}", long)
    return [*rows, *promises(tally.answers, len(tally.broken))], tally.broken


async def _captures(
    bench: Bench, scene: Scene, processes: Processes, score: Score, tally: Tally
) -> None:
    for replay in sessions(bench.data):
        longest = max(map(size, replay.requests))
        if scene.embedder != "none" and replay.name not in EMBEDDED:
            continue
        for target, hard, mode in TERMS if scene.event is nothing else DISTURBED:
            if longest > max(target, THRESHOLD):
                tenant = f"{mode} {replay.name} at {target}{' hard' if hard else ''}"
                asks = [_ask(tenant, one, target, hard, mode) for one in replay.requests]
                await _session(scene, processes, asks, score, tally)


def _ask(
    tenant: str, posted: tuple[Message, ...], target: int, hard: bool, mode: str
) -> CompressRequest:
    return CompressRequest(tenant, posted, target=target, hard=hard, window=WINDOW, mode=mode)


async def _session(
    scene: Scene, processes: Processes, asks: Sequence[CompressRequest], score: Score, tally: Tally
) -> None:
    watch = Watch()
    disturbed = False
    for turn, ask in enumerate(asks):
        answer = await compressed(processes.next().memory, ask)
        before = watch.epoch
        broken = watch.add(ask.messages, answer)
        broken += violations(
            ask.messages, answer.messages, answer.explain(), ask.target, hard=ask.hard
        )
        tally.add(f"{scene.name}: {ask.tenant} request {turn}", broken)
        score.turns += answer.changed
        score.epochs += answer.epoch is not None and answer.epoch != before
        score.ended += disturbed and answer.epoch != before
        disturbed = answer.epoch is not None and watch.age == OLD and scene.event is not nothing
        if disturbed:
            score.events += 1
            await scene.event(processes, ask)
    score.pairs += watch.pairs


def _rows(name: str, score: Score) -> list[Row]:
    rows = [
        Row(f"{name}: epochs in {score.turns} compressed turns", score.epochs),
        Row(f"{name}: pairs of answers compared", score.pairs),
    ]
    if score.events:
        rows.append(Row(f"{name}: epochs ended after {score.events} events", score.ended))
    return rows


@asynccontextmanager
async def _processes(scene: Scene) -> AsyncIterator[Processes]:
    with TemporaryDirectory(prefix="memtree-bench-") as folder:
        processes = Processes(Path(folder) / "prefix.db", scene.processes, scene.embedder)
        await processes.start()
        try:
            yield processes
        finally:
            await processes.stop()
