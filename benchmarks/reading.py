"""What a model reads: how much of the excerpts of a memory message repeats, how many are fragments,
how many stand below a summary of few messages, and whether a file that was read again stands there
in its newest version.

Measured over whole answers of coding sessions, chats, stories and agents, one-shot and at the
beginning of an epoch, as the text and `explain` say it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks import stories
from benchmarks.data import Conversation
from benchmarks.invariants import named_part
from benchmarks.midepoch import WINDOW
from benchmarks.report import Row, promises
from benchmarks.subject import Bench, Subject, asked, open_subject
from memtree.conversation.message import Message

FEW, SHORT, NEAR = 20, 15, 0.8  # messages; tokens; share of the three-word runs of the shorter
REPEATED_GOAL, SHORT_GOAL, PATH_GOAL = 3.0, 10.0, 95.0
CODING_TOKENS = 105_000
READS = 6
_WORD = re.compile(r"\w+")


@dataclass(slots=True)
class Reading:
    """Sums over the excerpts of some answers."""

    tokens: int = 0
    repeated: int = 0
    pieces: int = 0
    short: int = 0
    below: int = 0
    used: list[float] = field(default_factory=list)

    def add(self, posted: Sequence[Message], explain: dict[str, Any]) -> None:
        ranges = {node["id"]: node["messages"] for node in explain["nodes"]}
        runs: list[Counter[tuple[str, ...]]] = []
        for excerpt in explain["excerpts"]:
            text = _text(posted, excerpt)
            if not text.strip() or excerpt["reason"] == "rule":
                continue  # rules have a list of their own
            own = _runs(text)
            self.tokens += excerpt["tokens"]
            self.pieces += 1
            self.short += excerpt["tokens"] < SHORT
            self.below += any(_few(ranges.get(id_)) for id_ in excerpt["path"])
            if any(_near(own, other) for other in runs):
                self.repeated += excerpt["tokens"]
            runs.append(own)

    def rows(self, name: str, judged: bool = True) -> Iterator[Row]:
        repeated = 100 * self.repeated / max(1, self.tokens)
        yield Row(f"{name}: excerpt tokens that repeat", repeated, "%", REPEATED_GOAL, True)
        short = 100 * self.short / max(1, self.pieces)
        yield Row(f"{name}: pieces under {SHORT} tokens", short, "%", SHORT_GOAL, True)
        below = 100 * self.below / max(1, self.pieces)
        goal = PATH_GOAL if judged else None
        yield Row(f"{name}: excerpts under a summary of {FEW} messages", below, "%", goal)
        yield Row(f"{name}: excerpts", self.pieces)


def _text(posted: Sequence[Message], excerpt: dict[str, Any]) -> str:
    whole = named_part(posted[excerpt["message"]].fields, excerpt["part"])
    return whole[excerpt["start"] : excerpt["end"]]


def _few(messages: Sequence[int] | None) -> bool:
    return messages is not None and messages[1] - messages[0] < FEW


def _runs(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    return Counter(zip(words, words[1:], words[2:], strict=False)) or Counter([tuple(words)])


def _near(one: Counter[tuple[str, ...]], other: Counter[tuple[str, ...]]) -> bool:
    shorter = min(one.total(), other.total())
    return shorter > 0 and (one & other).total() >= NEAR * shorter


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    async with open_subject(bench.keep, "reading") as subject:
        for name, chats, target in _kinds(bench):
            for mode in ("fresh", "stable"):
                reading = Reading()
                for chat in chats:
                    await subject.learn(chat.id, chat.messages)
                    for question in _questions(chat):
                        ask = asked(f"{chat.id} {mode}", chat.messages, question, target)
                        ask = replace(ask, tenant=chat.id, mode=mode, window=WINDOW)
                        answer, _ = await subject.answered(ask, f"{chat.id}, {mode}")
                        reading.add(ask.messages, answer.explain())
                rows += reading.rows(f"{name} at {target // 1000}k, {mode}")
        rows += await _read_again(subject)
    return [
        *rows,
        *promises(subject.tally.answers, len(subject.tally.broken)),
    ], subject.tally.broken


def _kinds(bench: Bench) -> Iterator[tuple[str, Sequence[Conversation], int]]:
    session = bench.data.coding_session()
    size, end = 0, 0
    while end < len(session) and size < CODING_TOKENS:
        size += len(session[end].text) // 4
        end += 1
    yield "coding", [Conversation("coding", session[:end])], 20_000
    yield "chats", list(bench.data.beam("100k"))[:2], 8_000
    yield "talks", list(bench.data.locomo())[:2], 4_000
    yield "stories", [Conversation("story", tuple(stories.story(30_000, 3)))], 4_000
    runs = sorted(bench.data.trajectories(), key=lambda one: -len(one.messages))[:4]
    yield "agents", runs, 4_000


def _questions(chat: Conversation) -> list[str]:
    """Questions of the data set, or what people ask: about what was said in the middle."""
    if chat.probes:
        return [probe.question for probe in chat.probes[:6]]
    spoken = [m.text for m in chat.messages if m.role == "user" and len(m.text) > 40] or ["?"]
    picked = [spoken[len(spoken) * at // 4] for at in (1, 2, 3)]
    return [f"What did we decide about this: {text[:200]}" for text in picked]


async def _read_again(subject: Subject) -> list[Row]:
    """A file that was read several times, with one changed line."""
    history = list(_reads())
    await subject.learn("again", history)
    ask = asked("again", history, "What is the patience of the trainer, and how is it used?", 8_000)
    answer, reply = await subject.answered(ask, "read again")
    reading = Reading()
    reading.add(ask.messages, answer.explain())
    said = [f"patience = {200 + 10 * n}" for n in range(READS)]
    newest = said[-1] in reply.visible
    older = sum(max(0, reply.visible.count(line) - 1) for line in said[:-1])
    return [
        *reading.rows("file read again", judged=False),
        Row("file read again: newest version visible", 100.0 * newest, "%", 100),
        Row("file read again: older versions shown twice", older, "", 0, True),
    ]


def _reads() -> Iterator[Message]:
    filler = stories.story(40_000, 5)
    part = len(filler) // READS
    for number in range(READS):
        source = _source(200 + 10 * number)
        call = {
            "id": f"r{number}",
            "type": "function",
            "function": {"name": "read_file", "arguments": '{"path": "src/trainer.py"}'},
        }
        yield Message.of({"role": "user", "content": f"Look at the trainer again, {number}."})
        yield Message.of({"role": "assistant", "content": None, "tool_calls": [call]})
        yield Message.of({"role": "tool", "tool_call_id": f"r{number}", "content": source})
        yield from filler[part * number : part * (number + 1)]


def _source(patience: int) -> str:
    """About a thousand tokens of code, in which one line changes."""
    parts = [f'"""Training with early stopping."""\n\npatience = {patience}\n']
    for number, word in enumerate("loss rate batch epoch scale cache queue shard".split()):
        parts.append(
            f"\n\ndef check_{word}(values, limit={number}):\n"
            f'    """Whether the {word} got worse for longer than patience allows."""\n'
            f"    best = min(values[: -limit - 1], default=0.{number})\n"
            f"    for step, value in enumerate(values):\n"
            f"        if value > best + {number} and step > patience:\n"
            f"            raise StopIteration(f'{word} stopped at {{step}} of {{len(values)}}')\n"
            f"    return best * {number + 3}\n"
        )
    return "".join(parts)
