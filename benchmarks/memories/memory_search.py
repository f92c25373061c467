"""Memories: is what answers the question among the first? Every turn of a recorded talk is a
memory, saved in the order of the talk; then only the turns that answer something. And of facts that
were saved in two versions, is the newer one first? No judge, no model."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.data import ADVERSARIAL
from benchmarks.fact_versions import FactVersions, fact_versions
from benchmarks.report import Row
from benchmarks.subject import Bench, percent
from memtree.history.message import Message
from memtree.memories.memory import NewMemory
from memtree.memories.scope import Scope
from memtree.memories.search.scope_search import MemorySearch
from memtree.memories.search.vector_bytes import pack_vector, packed_terms, unpack_vector
from memtree.models.local_embedder import MULTILINGUAL, LocalEmbedder, MemoryEmbedder
from memtree.ports.models import Matrix
from memtree.stores import Memories, open_memories, open_store

TUNED = 3  # talks on which the recipe was tuned; the others check it
DEPTHS = (5, 10)
GOALS = {("all turns", 5): 70, ("evidence turns", 5): 84}
CURRENT_GOAL = 95
AT_ONCE = 500
RULE = "search"  # beside what is measured instead of it


@dataclass(frozen=True, slots=True)
class Turn:
    text: str
    session: str


@dataclass(frozen=True, slots=True)
class Found:
    """Ranks of the texts that answer a question, and how many there are of them."""

    ranks: tuple[int, ...]
    texts: int

    def any(self, depth: int) -> float:
        return float(any(rank < depth for rank in self.ranks))

    def share(self, depth: int) -> float:
        return sum(rank < depth for rank in self.ranks) / self.texts


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    async with opened(bench.keep) as (store, embedder):
        for name in ("all turns", "evidence turns"):
            rows += await _talks(bench, store, embedder, name)
        for held_out in (False, True):
            rows += await _versions(store, embedder, held_out=held_out)
    return rows, []


@asynccontextmanager
async def opened(
    keep: Path | None, name: str = "memory_search.db"
) -> AsyncIterator[tuple[Memories, MemoryEmbedder]]:
    with tempfile.TemporaryDirectory(prefix="memtree-bench-") as folder:
        store = open_store(f"sqlite:///{(keep or Path(folder)) / name}")
        embedder = MemoryEmbedder(LocalEmbedder(), LocalEmbedder(MULTILINGUAL))
        try:
            yield open_memories(store), embedder
        finally:
            await embedder.close()
            await store.close()


async def _talks(bench: Bench, store: Memories, embedder: MemoryEmbedder, name: str) -> list[Row]:
    found: dict[str, list[list[Found]]] = {}
    for talk in bench.data.locomo():
        turns = talk_turns(talk.messages)
        asked = [
            (probe.question, [text for texts in probe.evidence.values() for text in texts])
            for probe in talk.probes
            if probe.kind != ADVERSARIAL
        ]
        if name == "evidence turns":
            answering = {text for _, texts in asked for text in texts}
            turns = [turn for turn in turns if any(text in turn.text for text in answering)]
        scope = Scope.of_chat(name.replace(" ", "-"), talk.id)
        await remember(store, embedder, scope, turns)
        for way, answers in (await _ask(store, embedder, scope, [q for q, _ in asked])).items():
            fared = [
                _fared(texts, answer) for (_, texts), answer in zip(asked, answers, strict=True)
            ]
            found.setdefault(way, []).append(fared)
    return [row for way, talks in found.items() for row in _figures(name, way, talks)]


def _figures(name: str, way: str, talks: Sequence[Sequence[Found]]) -> list[Row]:
    whole = [one for talk in talks for one in talk]
    label = name if way == RULE else f"{name}, instead: {way}"
    rows = [
        row
        for depth in DEPTHS
        for row in (
            Row(
                f"{label}: any evidence in {depth}",
                percent([one.any(depth) for one in whole]),
                "%",
                GOALS.get((name, depth)) if way == RULE else None,
            ),
            Row(f"{label}: evidence in {depth}", percent([one.share(depth) for one in whole]), "%"),
        )
    ]
    if way == RULE:
        for part, of in (("tuned on", talks[:TUNED]), ("not tuned on", talks[TUNED:])):
            shares = [one.any(5) for talk in of for one in talk]
            rows.append(Row(f"{label}: any evidence in 5, talks {part}", percent(shares), "%"))
    return rows


def talk_turns(messages: Sequence[Message]) -> list[Turn]:
    """A session begins with the line of its date."""
    turns: list[Turn] = []
    session = 0
    for message in messages:
        text = message.text
        if text.startswith("["):
            session += 1
            text = text.partition("]\n")[2]
        turns.append(Turn(text, f"session-{session}"))
    return turns


def _fared(texts: Sequence[str], answers: Sequence[str]) -> Found:
    ranks = tuple(
        next((rank for rank, answer in enumerate(answers) if text in answer), 1 << 30)
        for text in texts
    )
    return Found(ranks, len(texts))


async def _ask(
    store: Memories, embedder: MemoryEmbedder, scope: Scope, questions: Sequence[str]
) -> dict[str, list[list[str]]]:
    """The texts found for each question, by way of finding them."""
    search = MemorySearch(store, embedder, now=lambda: 0.0)
    words = MemorySearch(store, None, now=lambda: 0.0)
    rows = await embedder.embed(questions)
    page = await store.page(scope, limit=10_000)
    texts = {memory.number: memory.text for memory in page.memories}
    kept = (await store.search_rows(scope, embedder.recipe, 0)).rows
    vectors = np.array([unpack_vector(row.vector or b"") for row in kept])
    found: dict[str, list[list[str]]] = {RULE: [], "words alone": [], "vectors alone": []}
    for question, row in zip(questions, rows, strict=True):
        for way, by in ((RULE, search), ("words alone", words)):
            hits = (await by.search(scope, question, limit=DEPTHS[-1])).hits
            found[way].append([hit.memory.text for hit in hits])
        best = np.argsort(-(vectors @ row), kind="stable")[: DEPTHS[-1]]
        found["vectors alone"].append([texts[kept[at].number] for at in best])
    return found


async def remember(
    store: Memories, embedder: MemoryEmbedder, scope: Scope, turns: Sequence[Turn]
) -> None:
    """Save what is not there yet, with its vectors, in this order."""
    if (await store.state(scope)).total == len(turns):
        return
    vectors: Matrix = await embedder.embed([turn.text for turn in turns])
    for at, turn in enumerate(turns):
        new = NewMemory(
            id=f"mem_{scope.owner}_{at}",
            text=turn.text,
            text_hash=at.to_bytes(16, "big"),
            terms=packed_terms(turn.text),
            created=float(at),
            session_id=turn.session or None,
        )
        memory = (await store.add(scope, new)).memory
        packed = {memory.number: (memory.version, pack_vector(vectors[at]))}
        await store.put_vectors(scope, embedder.recipe, packed)


async def _versions(store: Memories, embedder: MemoryEmbedder, *, held_out: bool) -> list[Row]:
    """Measure facts in two versions: all older ones are saved, then all newer ones, in one
    scope."""
    known = list(fact_versions(held_out=held_out))
    scope = Scope.of_chat("versions", "held-out" if held_out else "all")
    texts = [one.older for one in known] + [one.newer for one in known]
    await remember(store, embedder, scope, [Turn(text, "") for text in texts])
    search = MemorySearch(store, embedder, now=lambda: 0.0)
    newer, first = [], []
    for one in known:
        hits = (await search.search(scope, one.question, limit=50)).hits
        found = [hit.memory.text for hit in hits]
        newer.append(_newer_first(one, found))
        first.append(float(bool(found) and found[0] in (one.older, one.newer)))
    kind = "other facts" if held_out else "facts"
    return [
        Row(
            f"the newer of {len(known)} {kind} in two versions above the older",
            percent(newer),
            "%",
            CURRENT_GOAL,
        ),
        Row(f"{kind} in two versions: one of them is first", percent(first), "%"),
    ]


def _newer_first(version: FactVersions, found: Sequence[str]) -> float:
    if version.newer not in found:
        return 0.0
    return float(
        version.older not in found or found.index(version.newer) < found.index(version.older)
    )
