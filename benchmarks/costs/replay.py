"""Agent sessions replayed turn by turn, every answer checked.

Captures and trajectories as they are, and those that are too short to be compressed one after the
other as one longer session; then all of them again with a builder that is out of order. Told
beside the promises: does the end of the tool loop stand there whole, and can the model see the
files, commands and errors that its next message names?
"""

from __future__ import annotations

import json
import logging
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from benchmarks.data import Capture, Data, joined, turns
from benchmarks.invariants import OVERHEAD, RESULTS, SYSTEM, Reply, size
from benchmarks.report import Row, promises
from benchmarks.subject import Bench, Subject, open_subject, percent
from memtree.context.context_memory import CompressRequest, ContextMemory
from memtree.errors import Unavailable
from memtree.history.message import Message
from memtree.jobs.embedding import NoQueue
from memtree.jobs.runtime import Runtime, SystemClock
from memtree.ports.indexing_stages import Keep
from memtree.text import tokens
from memtree.tree.extraction import Unsummarised
from memtree.tree.growth import GrownTree, Tail
from memtree.tree.node import Summary

TARGETS = (2_000, 4_000, 20_000)
ENOUGH = 30_000  # tokens that a history must reach, so that it is over the largest target
LAST_ROUNDS, LAST_SHARE = 3, 0.2
WINDOW = 1_000_000
GROWN, ROUND, LARGE = 2, (12_000, 14_000), 190_000  # sessions made, tokens of rounds and in all
TOOLS = 5_000  # tokens, as two of the captured clients have
COMMANDS = ("command", "commands", "cmd")  # arguments of tools that run something
_FILE = re.compile(r"[\w./-]*\w\.[a-z]{1,4}\b")
_ERROR = re.compile(r"\b[A-Z]\w*(?:Error|Exception|Warning)\b|\bE[A-Z]{4,}\b|\b[A-Z]{1,3}\d{3,5}\b")
_FENCED = re.compile(r"^```\w*\n(.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Replay:
    name: str
    requests: tuple[tuple[Message, ...], ...]
    after: tuple[Message | None, ...]  # the assistant message that followed, where known
    tools: int = 0  # tokens of the tools that each request carries
    large: bool = False  # its rounds are of 12-14k tokens


@dataclass(slots=True)
class Shares:
    last_rounds: list[float] = field(default_factory=list)
    named: list[float] = field(default_factory=list)

    def judge_last(self, posted: Sequence[Message], reply: Reply, target: int) -> None:
        """Judge which of the last rounds stand there whole, where they fit a share of the
        target."""
        last = last_rounds(posted, LAST_ROUNDS)
        if size([message for one in last for message in one]) <= LAST_SHARE * target:
            kept = {message.raw for message in reply.bare}
            self.last_rounds += [float(all(m.raw in kept for m in one)) for one in last]

    def judge_named(
        self, posted: Sequence[Message], reply: Reply, following: Message | None
    ) -> None:
        """Judge whether what the next message names, and the history shows, is visible."""
        if following is not None:
            history = "\n".join(message.text for message in posted)
            visible = "\n".join(message.text for message in reply.messages)
            self.named += [float(one in visible) for one in named(following) if one in history]


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
        rows.append(Row(f"named next, visible at {target}", percent(found.named), "%", goal))
    return [
        *rows,
        *promises(subject.tally.answers, len(subject.tally.broken)),
    ], subject.tally.broken


class NoBuilder:
    """A builder that is out of order: every answer has to do with decay (promise 10)."""

    async def grow(self, tail: Tail, size: int, keep: Keep | None = None) -> GrownTree:
        raise Unavailable("out of order")

    async def summaries(self, nodes: Unsummarised) -> list[Summary]:
        raise Unavailable("out of order")

    def warm(self) -> None:
        """It never is."""


def _without_builder(runtime: Runtime) -> Runtime:
    memory = ContextMemory(runtime.store, NoBuilder(), NoQueue(), SystemClock())
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
            ask = CompressRequest(
                tenant + replay.name, posted, target=target, hard=True, window=WINDOW, mode="fresh"
            )
            reply = await subject.answer(ask, where)
            if posted[-1].role == "tool":
                shares[target].judge_last(posted, reply, target)
            shares[target].judge_named(posted, reply, following)


def last_rounds(posted: Sequence[Message], count: int) -> list[list[Message]]:
    """The last rounds, `count` of them at most: a user message, or an assistant message with the
    results of its calls."""
    rounds: list[list[Message]] = [[]]
    for message in reversed(posted):
        if len(rounds) > count:
            break
        if message.role not in SYSTEM:
            rounds[-1].insert(0, message)
            if message.role not in RESULTS:
                rounds.append([])
    return rounds[:-1]


def named(message: Message) -> list[str]:
    """Files, commands and errors that an assistant message speaks of or calls for."""
    found = {*_FILE.findall(message.text), *_ERROR.findall(message.text)}
    for call in message.calls:
        found.update(json.dumps(command)[1:-1] for command in _commands(call.arguments))
    if not message.calls:
        found.update(_FENCED.findall(message.text))
    return sorted(found)


def _commands(arguments: str) -> Iterator[str]:
    try:
        fields = json.loads(arguments)
    except ValueError:
        return
    for key in COMMANDS:
        value = fields.get(key) if isinstance(fields, dict) else None
        yield from (one for one in (value if isinstance(value, list) else [value]) if one)


def replays(data: Data) -> Iterator[Replay]:
    for capture in data.captures():
        longest = max(capture.requests, key=size)
        yield _of(capture)
        if size(longest) < ENOUGH + OVERHEAD:
            copies = 1 + ENOUGH // size(longest)
            many = joined([longest] * copies)
            yield _grown(f"{capture.client} x{copies}", many, capture.tools)
    runs = [one.messages for one in data.trajectories()]
    for index, messages in enumerate(runs):
        yield _grown(f"trajectory {index}", messages)
    yield _grown("all trajectories", joined(runs))
    longs = [c.requests[-1] for c in data.captures() if len(c.requests) == 1]
    yield _grown("both long captures", joined(longs))


def sessions(data: Data) -> list[Replay]:
    """All of them, those with large rounds first."""
    large = list(large_rounds(data))
    names = {one.name for one in large}
    return [*large, *(one for one in replays(data) if one.name not in names)]


def large_rounds(data: Data) -> Iterator[Replay]:
    """Agents whose rounds have 12-14k tokens: those that were captured, and trajectories whose
    results grow by what other tools printed."""
    for capture in data.captures():
        if size(capture.requests[-1]) > ENOUGH:
            cut_short = len(capture.requests) > 1  # the client compacts before we can save much
            yield replace(_of(capture), large=not cut_short)
    runs = [one.messages for one in data.trajectories()]
    for number in range(GROWN):
        messages = tuple(_enlarged(joined(runs[number::GROWN]), random.Random(number)))
        yield replace(_grown(f"enlarged {number}", messages, TOOLS), large=True)


def _enlarged(messages: Sequence[Message], dice: random.Random) -> Iterator[Message]:
    """One long tool loop: after the first ask, each assistant message with a call, answered by
    what was observed then and at other times. Ends at `LARGE` tokens."""
    first = next(i for i, message in enumerate(messages) if message.role == "assistant")
    yield from messages[:first]
    steps = [
        (said, seen.text)
        for said, seen in pairwise(messages[first:])
        if said.role == "assistant" and seen.role in ("user", "tool")
    ]
    total = size(messages[:first])
    for index, (said, seen) in enumerate(steps):
        if total > LARGE:
            return
        command = next(iter(named(said)), "ls")
        call = {"name": "bash", "arguments": json.dumps({"command": command})}
        calls = [{"id": f"call_{index}", "type": "function", "function": call}]
        yield Message.of({"role": "assistant", "content": said.words, "tool_calls": calls})
        text = _padded(seen, [text for _, text in steps], dice)
        yield Message.of({"role": "tool", "tool_call_id": f"call_{index}", "content": text})
        total += tokens.count(said.words) + tokens.count(text)


def _padded(text: str, others: Sequence[str], dice: random.Random) -> str:
    goal = dice.randrange(*ROUND)
    have = tokens.count(text)
    while have < goal:
        more = "\n\n" + dice.choice(others)[: 3 * (goal - have)]
        text += more
        have += tokens.count(more)
    return text


def _of(capture: Capture) -> Replay:
    """A capture; where it holds one request only, the requests before that one."""
    if len(capture.requests) == 1:
        return _grown(capture.client, capture.requests[0], capture.tools)
    return Replay(capture.client, capture.requests, _followers(capture.requests), capture.tools)


def _grown(name: str, messages: Sequence[Message], tools: int = 0) -> Replay:
    requests = tuple(turns(messages))
    after = tuple(messages[len(one)] if len(one) < len(messages) else None for one in requests)
    return Replay(name, requests, after, tools)


def _followers(requests: Sequence[tuple[Message, ...]]) -> tuple[Message | None, ...]:
    """Return the model's answers, where the next request goes on with the same history."""
    found: list[Message | None] = []
    for now, then in zip(requests, [*requests[1:], ()], strict=True):
        grew = len(then) > len(now) and then[: len(now)][-1].raw == now[-1].raw
        found.append(then[len(now)] if grew else None)
    return tuple(found)
