"""Memories extracted by rule from conversations written by hand (`cases/extraction*.txt`). No
outside data.

A memory is right if a label of its message is in it, by all the label's words; what no label names
is wrong. The first figures of a file are those of the day it was written, before any rule was
changed for it: docs/decisions/0058-sentences-stored-or-skipped.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import NamedTuple

from benchmarks.report import Row
from benchmarks.subject import Bench
from memtree.memories.rule_extraction import Candidate, extract
from memtree.statements.fiction import is_role_play

CASES = Path(__file__).parents[1] / "cases"
FILES = (
    "extraction.txt",
    "extraction_later.txt",
    "extraction_last.txt",
    "extraction_final.txt",
    "extraction_unseen.txt",
    "extraction_sight.txt",
    "extraction_blind.txt",
    "extraction_eighth.txt",
)
ROLES = {"U": "user", "A": "assistant", "T": "tool"}
SAID = date(2026, 3, 2)
PRECISION, RECALL = 90.0, 50.0  # percent


class Label(NamedTuple):
    category: str
    words: tuple[str, ...]

    def is_in(self, text: str) -> bool:
        return all(word in text.lower() for word in self.words)


@dataclass(frozen=True, slots=True)
class Said:
    role: str  # U, A or T
    lines: list[str]
    labels: list[Label] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)  # any of them is right where nothing is kept

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


@dataclass(frozen=True, slots=True)
class LabelledConversation:
    kind: str
    messages: list[Said] = field(default_factory=list)


@dataclass(slots=True)
class ExtractionScore:
    right: int = 0
    wrong: list[str] = field(default_factory=list)
    found: int = 0
    missed: list[str] = field(default_factory=list)
    category: int = 0

    @property
    def precision(self) -> float:
        return 100 * self.right / max(1, self.right + len(self.wrong))

    @property
    def recall(self) -> float:
        return 100 * self.found / max(1, self.found + len(self.missed))


def conversations(name: str) -> list[LabelledConversation]:
    made: list[LabelledConversation] = []
    for line in (CASES / name).read_text("utf-8").splitlines():
        mark, _, rest = line.partition(" ")
        if mark == "==":
            made.append(LabelledConversation(rest))
        elif mark in ("U", "A", "T"):
            made[-1].messages.append(Said(mark, [rest]))
        elif mark == "|":
            made[-1].messages[-1].lines.append(rest)
        elif mark == "+":
            category, _, words = rest.partition(": ")
            label = Label(category, tuple(words.lower().split()))
            made[-1].messages[-1].labels.append(label)
        elif mark == "-":
            made[-1].messages[-1].reasons.extend(rest.split("/"))
        elif line and not line.startswith("#"):
            raise ValueError(f"{name}: {line}")
    return made


def by_rule(before: Sequence[Said], text: str) -> tuple[Candidate, ...]:
    return extract(text, SAID, fiction=is_play(before)).candidates


def is_play(before: Sequence[Said]) -> bool:
    return any(is_role_play(said.text, ROLES[said.role]) for said in before)


def score(
    cases: Iterable[LabelledConversation],
    extracted: Callable[[Sequence[Said], str], Iterable[Candidate]] = by_rule,
) -> ExtractionScore:
    total = ExtractionScore()
    for conversation in cases:
        before: list[Said] = []
        for said in conversation.messages:
            if said.role == "U":
                _judge(said, tuple(extracted(before, said.text)), total)
            if said.role != "T":
                before.append(said)
    return total


def _judge(said: Said, candidates: tuple[Candidate, ...], total: ExtractionScore) -> None:
    for candidate in candidates:
        labels = [label for label in said.labels if label.is_in(candidate.text)]
        if labels:
            total.right += 1
            total.category += any(label.category == candidate.category for label in labels)
        else:
            total.wrong.append(f"{candidate.text} ({candidate.category})")
    for label in said.labels:
        if any(label.is_in(candidate.text) for candidate in candidates):
            total.found += 1
        else:
            total.missed.append(f"{label.category}: {' '.join(label.words)} <- {said.text[:120]}")


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    rows = []
    for name in FILES:
        cases = conversations(name)
        total = score(cases)
        empty = sum(not any(said.labels for said in one.messages) for one in cases)
        rows += [
            Row(f"{name}: conversations ({empty} with nothing)", len(cases), ""),
            Row(f"{name}: precision", total.precision, "%", PRECISION),
            Row(f"{name}: recall", total.recall, "%", RECALL),
            Row(f"{name}: category right", 100 * total.category / max(1, total.right), "%"),
        ]
    return rows, []
