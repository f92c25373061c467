"""Structured memories extracted by rule from conversations written by hand
(`cases/structured*.txt`). No outside data.

Judged is every field: it is right if a memory of its kind is expected with that value. The first
figures of a file are those of the day it was written, before any rule was changed for it:
docs/agent-extraction.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.report import Row
from benchmarks.subject import Bench
from memtree.memories.agents.schemas.memory_schema import MemorySchema
from memtree.memories.agents.slot_filling.merging import gathered, lacking
from memtree.memories.agents.slot_filling.rule_reader import Finding, read
from memtree.memories.agents.slot_filling.schema_fields import kind_fields
from memtree.memories.extraction.fiction import is_role_play

CASES = Path(__file__).parents[1] / "cases"
FILES = (
    "structured.txt",
    "structured_later.txt",
    "structured_things.txt",
    "structured_traps.txt",
    "structured_languages.txt",
    "structured_blind.txt",
)
ROLES = {"U": "user", "A": "assistant", "T": "tool"}
SAID = date(2026, 3, 2)
PRECISION, RECALL = 90.0, 50.0  # percent

Expected = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class StructuredCase:
    note: str
    kinds: list[str] = field(default_factory=list)
    messages: list[tuple[str, str]] = field(default_factory=list)  # role, text
    expected: list[Expected] = field(default_factory=list)


@dataclass(slots=True)
class StructuredScore:
    right: int = 0
    wrong: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    junk: int = 0  # cases with nothing in which something was found

    @property
    def precision(self) -> float:
        return 100 * self.right / max(1, self.right + len(self.wrong))

    @property
    def recall(self) -> float:
        return 100 * self.right / max(1, self.right + len(self.missed))


def schemas() -> dict[str, MemorySchema]:
    rows = json.loads((CASES / "structured_schemas.json").read_text("utf-8"))
    return {
        kind: MemorySchema(
            kind,
            json.dumps(row["schema"]),
            tuple(row.get("unique_on", ())),
            row.get("description", ""),
        )
        for kind, row in rows.items()
    }


def cases(name: str) -> list[StructuredCase]:
    made: list[StructuredCase] = []
    for line in (CASES / name).read_text("utf-8").splitlines():
        mark, _, rest = line.partition(" ")
        if mark == "==":
            made.append(StructuredCase(rest))
        elif mark == "s":
            made[-1].kinds.extend(rest.split())
        elif mark in ROLES:
            made[-1].messages.append((ROLES[mark], rest))
        elif mark == "|":
            role, text = made[-1].messages[-1]
            made[-1].messages[-1] = (role, f"{text}\n{rest}")
        elif mark == "=":
            kind, _, data = rest.partition(" ")
            made[-1].expected.append((kind, json.loads(data)))
        elif line and not line.startswith("#"):
            raise ValueError(f"{name}: {line}")
    return made


def extracted(case: StructuredCase) -> list[Expected]:
    known = schemas()
    kinds = [kind_fields(known[name]) for name in case.kinds]
    required = {one.kind: one.required for one in kinds}
    found: list[tuple[int, Finding]] = []
    fiction = False
    for at, (role, text) in enumerate(case.messages):
        if role == "user":
            found += [(at, one) for one in read(text, kinds, SAID, fiction=fiction).findings]
        if role != "tool":
            fiction = fiction or is_role_play(text, role)
    return [
        (one.kind, dict(one.data))
        for one in gathered(found)
        if not lacking(one.data, required[one.kind])
    ]


def score(
    labelled: Sequence[StructuredCase],
    extract: Callable[[StructuredCase], Sequence[Expected]] = extracted,
) -> StructuredScore:
    total = StructuredScore()
    for case in labelled:
        found = extract(case)
        told = " | ".join(text for role, text in case.messages if role == "user")[:150]
        wanted = [leaf for expected in case.expected for leaf in leaves(*expected)]
        total.junk += not case.expected and bool(found)
        for leaf in [leaf for memory in found for leaf in leaves(*memory)]:
            if leaf in wanted:
                wanted.remove(leaf)
                total.right += 1
            else:
                total.wrong.append(f"{leaf} <- {told}")
        total.missed += [f"{leaf} <- {told}" for leaf in wanted]
    return total


def leaves(kind: str, data: dict[str, Any]) -> Iterator[str]:
    for name, value in data.items():
        if isinstance(value, dict):
            yield from leaves(f"{kind}.{name}", value)
        elif isinstance(value, list):
            yield from (f"{kind}.{name}: {item}" for item in value)
        elif isinstance(value, float) and value == int(value):
            yield f"{kind}.{name}: {int(value)}"
        else:
            yield f"{kind}.{name}: {value}"


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    rows = []
    for name in FILES:
        labelled = cases(name)
        total = score(labelled)
        empty = sum(not one.expected for one in labelled)
        rows += [
            Row(f"{name}: conversations ({empty} with nothing)", len(labelled), ""),
            Row(f"{name}: fields right", total.precision, "%", PRECISION),
            Row(f"{name}: fields found", total.recall, "%", RECALL),
            Row(f"{name}: of those with nothing, with a memory", total.junk, ""),
        ]
    return rows, []
