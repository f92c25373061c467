"""Agent sessions replayed turn by turn, every answer checked.

Captures and trajectories as they are, and those that are too short to be compressed one after the
other as one longer session; then all of them again with a builder that is out of order. Told
beside the promises: does the end of the tool loop stand there whole, and can the model see the
files that its next message names?
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from benchmarks.data import Data, joined, turns
from benchmarks.invariants import OVERHEAD, Reply, size
from benchmarks.report import Row, promises
from benchmarks.subject import Bench, Subject, open_subject, percent
from indexer.inprocess import NoQueue
from indexer.runtime import Runtime, SystemClock
from memtree.build import Grown, Tail
from memtree.compress import Ask, Memory
from memtree.errors import Unavailable
from memtree.message import Message

TARGETS = (2_000, 4_000, 20_000)
ENOUGH = 30_000  # tokens that a history must reach, so that it is over the largest target
LAST_ROUNDS, LAST_SHARE = 3, 0.2
WINDOW = 1_000_000
_FILE = re.compile(r"[\w./-]*\w\.[a-z]{1,4}\b")


@dataclass(frozen=True, slots=True)
class Replay:
    name: str
    requests: tuple[tuple[Message, ...], ...]
    after: tuple[Message | None, ...]  # the assistant message that followed, where known


@dataclass(slots=True)
class Shares:
    last_rounds: list[float] = field(default_factory=list)
    files: list[float] = field(default_factory=list)


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    shares = {target: Shares() for target in TARGETS}
    names = []
    async with open_subject(bench.keep, "replay") as subject:
        for replay in replays(bench.data):
            names.append(replay.name)
            await _replay(subject, replay, shares)
        logging.getLogger("memtree").setLevel(logging.ERROR)  # it warns of each such answer
        whole, subject.runtime = subject.runtime, _without_builder(subject.runtime)
        for replay in replays(bench.data):
            await _replay(subject, replay, {target: Shares() for target in TARGETS}, "no builder: ")
        subject.runtime = whole
    rows = [Row("sessions", len(names))]
    for target, found in shares.items():
        rows.append(
            Row(
                f"last {LAST_ROUNDS} rounds whole at {target}", percent(found.last_rounds), "%", 100
            )
        )
        goal = 95 if target == 20_000 else None
        rows.append(Row(f"files named next, visible at {target}", percent(found.files), "%", goal))
    return [
        *rows,
        *promises(subject.tally.answers, len(subject.tally.broken)),
    ], subject.tally.broken


class NoBuilder:
    """A builder that is out of order: every answer has to do with decay (promise 10)."""

    async def grow(self, tail: Tail, size: int) -> Grown:
        raise Unavailable("out of order")


def _without_builder(runtime: Runtime) -> Runtime:
    memory = Memory(runtime.store, NoBuilder(), NoQueue(), SystemClock())
    return replace(runtime, memory=memory)


async def _replay(
    subject: Subject, replay: Replay, shares: dict[int, Shares], tenant: str = ""
) -> None:
    for turn, (posted, following) in enumerate(zip(replay.requests, replay.after, strict=True)):
        total = size(posted)
        for target in TARGETS:
            if total <= max(target, 10_000):
                continue
            where = f"{tenant}{replay.name} request {turn} ({len(posted)} messages) at {target}"
            ask = Ask(tenant + replay.name, posted, target=target, hard=True, window=WINDOW)
            reply = await subject.answer(ask, where)
            _judge(posted, reply, following, target, shares[target])


def _judge(
    posted: Sequence[Message], reply: Reply, following: Message | None, target: int, shares: Shares
) -> None:
    last = last_rounds(posted, LAST_ROUNDS)
    if posted[-1].role == "tool" and size(last) <= LAST_SHARE * target:
        kept = {message.raw for message in reply.kept}
        shares.last_rounds.append(float(all(message.raw in kept for message in last)))
    if following is not None:
        history = "\n".join(message.text for message in posted)
        named = {file for file in _FILE.findall(following.text) if file in history}
        visible = "\n".join(message.text for message in reply.messages)
        shares.files += [float(file in visible) for file in sorted(named)]


def last_rounds(posted: Sequence[Message], count: int) -> list[Message]:
    """The last rounds of the tool loop that is under way, `count` of them at most."""
    start = len(posted)
    while count and start and posted[start - 1].role in ("tool", "assistant"):
        start -= 1
        count -= posted[start].role == "assistant"
    return list(posted[start:])


def replays(data: Data) -> Iterator[Replay]:
    for capture in data.captures():
        longest = max(capture.requests, key=size)
        if len(capture.requests) == 1:
            yield _grown(capture.client, longest)
        else:
            yield Replay(capture.client, capture.requests, _followers(capture.requests))
        if size(longest) < ENOUGH + OVERHEAD:
            copies = 1 + ENOUGH // size(longest)
            yield _grown(f"{capture.client} x{copies}", joined([longest] * copies))
    runs = [one.messages for one in data.trajectories()]
    for index, messages in enumerate(runs):
        yield _grown(f"trajectory {index}", messages)
    yield _grown("all trajectories", joined(runs))
    longs = [c.requests[-1] for c in data.captures() if len(c.requests) == 1]
    yield _grown("both long captures", joined(longs))


def _grown(name: str, messages: Sequence[Message]) -> Replay:
    requests = tuple(turns(messages))
    after = tuple(messages[len(one)] if len(one) < len(messages) else None for one in requests)
    return Replay(name, requests, after)


def _followers(requests: Sequence[tuple[Message, ...]]) -> tuple[Message | None, ...]:
    """What the model answered, where the next request goes on with the same history."""
    found: list[Message | None] = []
    for now, then in zip(requests, [*requests[1:], ()], strict=True):
        grew = len(then) > len(now) and then[: len(now)][-1].raw == now[-1].raw
        found.append(then[len(now)] if grew else None)
    return tuple(found)
