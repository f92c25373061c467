"""Injection in fourteen languages: what unrelated messages get, and what questions get.

Lists written by hand (`cases/injection`): 100 memories of one person, 40 of them with a question
that is mostly in other words, 40 messages that concern none, and memories about others to fill a
scope of 1,000. Thresholds were chosen on the first, third, fifth ... of each list ("seen"); the
others were looked at once. A third list of messages ("later") was written before the rules of
docs/decisions/archive.md#0076, which were not chosen on it. Pairs that differ in one value:
whether one is taken for a duplicate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.memories.noise import CASES, SHOWN, Scopes, asked, fitting
from benchmarks.report import Row
from benchmarks.subject import Bench
from memtree.language.languages import LANGUAGES
from memtree.memories.duplicates import DuplicateCheck
from memtree.models.local_embedder import MULTILINGUAL, LocalEmbedder, MemoryEmbedder
from memtree.stores import RamStore, open_memories

SIZES = {10: 5.0, 100: 5.0, 1_000: 10.0}  # memories: percent of messages that may get one
RIGHT = dict.fromkeys(("zh", "ja", "ko", "tr", "ar"), 35.0) | {"en": 65.0}
RIGHT_ELSEWHERE = 55.0  # percent of all questions
PAIRS = 300
_UNSPACED = ("zh", "ja")
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Lists:
    """`memories`: those of the questions first, in their order. `other`: `names` do `habits`.
    `later`: more messages that concern none."""

    memories: list[str]
    questions: list[str]
    unrelated: list[str]
    later: list[str]
    names: list[str]
    habits: list[str]
    language: str

    @classmethod
    def of(cls, language: str) -> Lists:
        parts: dict[str, list[str]] = {}
        for line in (CASES / "injection" / f"{language}.txt").read_text("utf-8").splitlines():
            if line.startswith("["):
                parts[line.strip("[]")] = lines = []
            else:
                lines.append(line)
        pairs = [line.split(" | ") for line in parts["asked"]]
        return cls(
            [memory for memory, _ in pairs] + parts["others"],
            [question for _, question in pairs],
            parts["unrelated"],
            parts["later"],
            parts["names"][0].split(", "),
            parts["habits"][0].split(", "),
            language,
        )

    def said(self, name: str, habit: str) -> str:
        unspaced = self.language in _UNSPACED
        return f"{name}{habit}\u3002" if unspaced else f"{name} {habit}."

    def filled(self, size: int) -> list[str]:
        names = self.names
        others = [
            self.said(names[(turn + at) % len(names)], habit)
            for turn in range(len(names))
            for at, habit in enumerate(self.habits)
        ]
        return (self.memories + others)[:size]

    def changed_values(self) -> Iterator[tuple[str, str]]:
        """Pairs of a memory and its copy with another number, or said of somebody else."""
        for memory in self.memories:
            if number := _NUMBER.search(memory):
                other = str(int(number[0]) + 1)
                yield memory, memory[: number.start()] + other + memory[number.end() :]
        for turn in range(len(self.names)):
            for at, habit in enumerate(self.habits):
                first, second = (self.names[(turn + at + by) % len(self.names)] for by in (0, 1))
                yield self.said(first, habit), self.said(second, habit)


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    embedder = MemoryEmbedder(LocalEmbedder(), LocalEmbedder(MULTILINGUAL))
    rows: list[Row] = []
    for language in LANGUAGES:
        rows += await measured(Lists.of(language), embedder, tuple(SIZES))
        rows.append(await swallowed(Lists.of(language), embedder, PAIRS))
    await embedder.close()
    return rows, []


async def measured(lists: Lists, embedder: MemoryEmbedder, sizes: Sequence[int]) -> list[Row]:
    texts = lists.filled(max(sizes))
    vectors = await embedder.embed(texts)
    rows = []
    for size in sizes:
        scopes = Scopes(texts[:size], np.asarray(vectors[:size]))
        search = await scopes.search(embedder)
        right: list[bool] = []
        junk: list[bool] = []
        later: list[bool] = []
        for at, question in enumerate(lists.questions[:size]):
            hits = fitting(await asked(search, scopes, question), question, size)[:SHOWN]
            right.append(any(hit.memory.text == texts[at] for hit in hits))
        for found, messages in ((junk, lists.unrelated), (later, lists.later)):
            for message in messages:
                found.append(bool(fitting(await asked(search, scopes, message), message, size)))
        await search.close()
        name = f"{lists.language}, {size} memories, later: junk"
        rows.append(Row(name, _percent(later), "%", SIZES[size], at_most=True))
        least = RIGHT.get(lists.language, RIGHT_ELSEWHERE)
        for name, start in (("seen", 0), ("unseen", 1)):
            place = f"{lists.language}, {size} memories, {name}"
            rows += [
                Row(f"{place}: right", _percent(right[start::2]), "%", least),
                Row(f"{place}: junk", _percent(junk[start::2]), "%", SIZES[size], at_most=True),
            ]
    return rows


async def swallowed(lists: Lists, embedder: MemoryEmbedder, most: int) -> Row:
    """How many of the pairs are taken for one."""
    pairs = list(lists.changed_values())[:most]
    vectors = await embedder.embed([text for pair in pairs for text in pair])
    count = 0
    for at, (old, new) in enumerate(pairs):
        scopes = Scopes([old], vectors[2 * at : 2 * at + 1])
        store = open_memories(RamStore(now=lambda: 0.0))
        search = await scopes.search(embedder, store)
        near = await DuplicateCheck(store, search).near(scopes.scope, new, vectors[2 * at + 1])
        count += any(row.says_the_same for row in near)
        await search.close()
    name = f"{lists.language}: changed values taken for duplicates, of {len(pairs)}"
    return Row(name, count, "", 0, at_most=True)


def _percent(flags: Sequence[bool]) -> float:
    return 100 * sum(flags) / max(1, len(flags))
