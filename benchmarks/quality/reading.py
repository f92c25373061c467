"""Measure what a model reads: how much of the excerpts of a memory message repeats, how many are
fragments, how many stand below a summary of few messages, how many summary lines say nothing, and
whether a file that was read again stands there in its newest version.

Measured over whole answers of coding sessions, chats, talks, stories and agents, one-shot and at
the beginning of an epoch, as the text and `explain` say it. The path is asked from 4,000 on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks import stories
from benchmarks.invariants import named_part
from benchmarks.quality.kinds import samples
from benchmarks.quality.particular import Particular
from benchmarks.report import Row, promises
from benchmarks.subject import Bench, Subject, asked, open_subject
from memtree.history.message import Message
from memtree.text import tokens

SHORT, NEAR = 15, 0.8  # tokens; share of the three-word runs of the shorter
FEW, MANY, SMALL_TALK = 20, 200, 25  # messages; messages where the mean is under so many tokens
REPEATED_GOAL, FRAGMENTS_GOAL, PATH_GOAL, EMPTY_GOAL = 3.0, 10.0, 95.0, 5.0
READS = 6
_WORD = re.compile(r"\w+")


@dataclass(slots=True)
class Reading:
    """Sums over the excerpts and summary lines of some answers; `most`: messages of a summary that
    an excerpt may stand under."""

    most: int = FEW
    tokens: int = 0
    repeated: int = 0
    pieces: int = 0
    fragments: int = 0
    below: int = 0
    lines: int = 0
    empty: int = 0

    def add(self, posted: Sequence[Message], explain: dict[str, Any]) -> None:
        ranges = {node["id"]: node["messages"] for node in explain["nodes"]}
        runs: list[Counter[tuple[str, ...]]] = []
        for excerpt in explain["excerpts"]:
            whole = named_part(posted[excerpt["message"]].fields, excerpt["part"])
            text = whole[excerpt["start"] : excerpt["end"]]
            if not text.strip() or excerpt["reason"] == "rule":
                continue  # rules have a list of their own
            own = _runs(text)
            self.tokens += excerpt["tokens"]
            self.pieces += 1
            self.fragments += excerpt["tokens"] < SHORT and text.strip() != whole.strip()
            self.below += any(self._is_near(ranges.get(id_)) for id_ in excerpt["path"])
            if any(_near(own, other) for other in runs):
                self.repeated += excerpt["tokens"]
            runs.append(own)

    def add_lines(self, nodes: Sequence[Mapping[str, Any]], particular: Particular) -> None:
        """A bare range is no empty line."""
        for family in families(nodes):
            for at, line in enumerate(family):
                beside = family[:at] + family[at + 1 :]
                self.lines += bool(line)
                self.empty += bool(line) and not particular.says(line, beside)

    def _is_near(self, messages: Sequence[int] | None) -> bool:
        return messages is not None and messages[1] - messages[0] < self.most

    def rows(self, name: str, judged: bool = True) -> Iterator[Row]:
        repeated = 100 * self.repeated / max(1, self.tokens)
        yield Row(f"{name}: excerpt tokens that repeat", repeated, "%", REPEATED_GOAL, True)
        fragments = 100 * self.fragments / max(1, self.pieces)
        yield Row(f"{name}: fragments under {SHORT} tokens", fragments, "%", FRAGMENTS_GOAL, True)
        below = 100 * self.below / max(1, self.pieces)
        goal = PATH_GOAL if judged else None
        label = f"{name}: excerpts under a summary of {self.most} messages"
        yield Row(label, below, "%", goal)
        yield Row(f"{name}: excerpts", self.pieces)
        if self.lines:
            empty = 100 * self.empty / self.lines
            goal = None if name.startswith("stories") else EMPTY_GOAL  # the scenes come again
            yield Row(f"{name}: lines that say nothing", empty, "%", goal, True)
            yield Row(f"{name}: lines with words", self.lines)


def families(nodes: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return the lines under each parent; `nodes`: in the order of the text, with their depth."""
    made: list[list[str]] = []
    open_: list[list[str]] = []
    for node in nodes:
        depth = int(node["depth"])
        del open_[depth + 1 :]
        while len(open_) <= depth:
            open_.append([])
            made.append(open_[-1])
        open_[depth].append(str(node["headline"] or ""))
    return made


def _runs(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    return Counter(zip(words, words[1:], words[2:], strict=False)) or Counter([tuple(words)])


def _near(one: Counter[tuple[str, ...]], other: Counter[tuple[str, ...]]) -> bool:
    shorter = min(one.total(), other.total())
    return shorter > 0 and (one & other).total() >= NEAR * shorter


def path_limit(messages: Sequence[Message]) -> int:
    """Return how many messages a summary above an excerpt may have."""
    sizes = tokens.count_many([message.text for message in messages])
    return MANY if sum(sizes) < SMALL_TALK * len(sizes) else FEW


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    found: dict[str, Reading] = {}
    particular: dict[str, Particular] = {}
    async with open_subject(bench.keep, "reading") as subject:
        async for sample in samples(bench, subject):
            chat = sample.chat
            reading = found.setdefault(sample.name, Reading())
            reading.most = path_limit(chat.messages)
            if chat.id not in particular:
                particular[chat.id] = Particular(chat.messages)
            reading.add(sample.posted, sample.explain)
            reading.add_lines(sample.explain["nodes"], particular[chat.id])
        rows = [row for name, reading in found.items() for row in reading.rows(name)]
        rows += await _read_again(subject)
    return [
        *rows,
        *promises(subject.tally.answers, len(subject.tally.broken)),
    ], subject.tally.broken


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
