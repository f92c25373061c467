"""Memories beside natural requests, which seldom name what they need.

Lists written by hand in ten languages (`cases/requests`): 20 memories of one person, 20 requests
with the memories that each needs, 12 that need none. And MADial-Bench, if its data are there: talks
in which a memory fits without being named, with the last three messages as the second query.
All of it is asked as a chat asks. Every second case ("seen") was there to choose thresholds by; the
others ("unseen") were looked at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.data import MissingData
from benchmarks.memories.noise import CASES, Scopes
from benchmarks.report import Row
from benchmarks.subject import Bench
from memtree.memories.memory_choice import CHAT_OPTIONS, is_general
from memtree.memories.memory_injection import fitting, looked_at
from memtree.memories.search.scope_search import MemorySearch
from memtree.models.local_embedder import MULTILINGUAL, LocalEmbedder, MemoryEmbedder

LANGUAGES = ("en", "de", "es", "fr", "it", "pl", "tr", "ru", "zh", "ja")
LEAST = {"MADial en": 50.0, "MADial zh": 45.0, "requests en": 40.0}  # percent
OTHERS = 1.5  # lines a prompt that are none of the right ones
SIDES = (("seen", 0), ("unseen", 1))


@dataclass(frozen=True, slots=True)
class Case:
    """`queries`: the message and the last three, "" for none. `right`: places of memories."""

    queries: tuple[str, str]
    right: frozenset[int]


def lists(language: str) -> tuple[list[str], list[Case]]:
    parts: dict[str, list[str]] = {}
    for line in (CASES / "requests" / f"{language}.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            parts[line.strip("[]")] = lines = []
        else:
            lines.append(line)
    pairs = [line.split(" | ") for line in parts["requests"]]
    cases = [
        Case((text, ""), frozenset(int(place) - 1 for place in places.split()))
        for places, text in pairs
    ]
    return parts["memories"], cases + [Case((text, ""), frozenset()) for text in parts["needless"]]


def talks(bench: Bench, language: str) -> tuple[list[str], list[Case]]:
    part = bench.data.madial()[language]
    texts = list(dict.fromkeys(memory["text"] for memory in part["memories"]))
    places = {memory["id"]: texts.index(memory["text"]) for memory in part["memories"]}
    cases = []
    for talk in part["dialogues"]:
        said = [each["content"] for each in talk["messages"] if each["role"] == "user"]
        recent = "\n".join(reversed(said[-3:])) if len(said) > 1 else ""
        right = frozenset(places[id_] for id_ in talk["relevant"] if id_ in places)
        cases.append(Case((said[-1], recent), right))
    return texts, cases


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    embedder = MemoryEmbedder(LocalEmbedder(), LocalEmbedder(MULTILINGUAL))
    sets = [(f"requests {language}", *lists(language)) for language in LANGUAGES]
    notes: list[str] = []
    try:
        sets += [(f"MADial {language}", *talks(bench, language)) for language in ("en", "zh")]
    except MissingData as error:
        notes.append(str(error))
    rows: list[Row] = []
    for name, texts, cases in sets:
        rows += await measured(name, texts, cases, embedder)
    await embedder.close()
    return rows, notes


async def measured(
    name: str, texts: list[str], cases: Sequence[Case], embedder: MemoryEmbedder
) -> list[Row]:
    scopes = Scopes(texts, np.asarray(await embedder.embed(texts)))
    search = await scopes.search(embedder)
    shown = [await _shown(search, scopes, case) for case in cases]
    await search.close()
    rows = []
    for side, start in SIDES:
        places = range(start, len(cases), 2)
        needing = [at for at in places if cases[at].right]
        needless = [at for at in places if not cases[at].right]
        right = sum(bool(shown[at] & cases[at].right) for at in needing)
        others = sum(len(shown[at] - cases[at].right) for at in needing)
        title = f"{name}, {side}"
        rows.append(Row(f"{title}: right", 100 * right / len(needing), "%", LEAST.get(name)))
        beside = others / len(needing)
        rows.append(Row(f"{title}: other lines", beside, "", OTHERS, at_most=True))
        if needless:
            junk = sum(bool(shown[at]) for at in needless)
            rows.append(Row(f"{title}: junk", 100 * junk / len(needless), "%"))
    return rows


async def _shown(search: MemorySearch, scopes: Scopes, case: Case) -> frozenset[int]:
    """Places of the memories that are injected."""
    query, recent = case.queries
    recent = "" if is_general(query) else recent
    limit, least = looked_at(query, CHAT_OPTIONS)
    result = await search.search(
        scopes.scope, [query, recent] if recent else query, limit=limit, least=least
    )
    hits = fitting(result, (query, recent), len(scopes.texts), CHAT_OPTIONS)
    return frozenset(hit.memory.number - 1 for hit in hits)
