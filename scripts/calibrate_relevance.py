"""Measure where relevance 0.5 has to lie for an embedder, by language.

    python scripts/calibrate_relevance.py                        the built-in embedder
    python scripts/calibrate_relevance.py --url URL --model M    an endpoint (key: OPENAI_API_KEY)

The scale of relevance (`memtree/ranking/relevance_scale.py`) has two measured cosines, `chance` and
`strong`; 0.5 lies at a share of the first, `HALF_OF_CHANCE`. For the first, third, fifth ... of the
lists in `benchmarks/cases/injection` this prints, by language and share of chance, how many
questions get their memory among five, and how many messages that concern none, and do not ask about
the world, get one. The last column is the least share at which no more than one in twenty of all
messages does; 1.00 says that the embedder does not know the language well (`KNOWN` in
`memtree/ranking/relevance_scale.py`), and the word decides there. Words count nothing here.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from pathlib import Path

import numpy as np

from memtree.language.languages import LANGUAGES, sentences
from memtree.memories.memory_choice import is_general
from memtree.models.local_embedder import MULTILINGUAL, LocalEmbedder, MemoryEmbedder
from memtree.models.remote_embedder import RemoteEmbedder
from memtree.ports.models import Embedder
from memtree.ranking.relevance_scale import Background

CASES = Path(__file__).parents[1] / "benchmarks" / "cases" / "injection"
SHARES = (0.5, 0.6, 0.7, 0.8, 1.0)
JUNK = 0.05
SHOWN = 5


def lists(language: str) -> tuple[list[str], list[str], list[str]]:
    """Return the memories, those with a question first, the questions, and messages of no
    memory."""
    parts: dict[str, list[str]] = {}
    for line in (CASES / f"{language}.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            parts[line.strip("[]")] = lines = []
        else:
            lines.append(line)
    pairs = [line.split(" | ") for line in parts["asked"]]
    memories = [memory for memory, _ in pairs] + parts["others"]
    return memories, [question for _, question in pairs], parts["unrelated"] + parts["later"]


async def row(embedder: Embedder, language: str) -> str:
    memories, questions, unrelated = lists(language)
    background = Background.of(await embedder.embed(sentences(language)))
    rows = await embedder.embed(memories)
    asked = await embedder.embed_queries(questions[::2])
    others = await embedder.embed_queries(unrelated[::2])
    right = np.array([background.cosines(query, rows) for query in asked])
    own = right[np.arange(len(asked)), np.arange(0, len(questions), 2)]
    first = (right > own[:, None]).sum(axis=1) < SHOWN
    plain = np.array([not is_general(message) for message in unrelated[::2]])
    nearest = np.array([background.cosines(query, rows).max() for query in others])
    cells, least = [], 1.0
    for share in reversed(SHARES):
        reached = share * background.scale.chance
        junk = float((plain & (nearest >= reached)).mean())
        cells.append(f"{100 * (first & (own >= reached)).mean():3.0f} /{100 * junk:3.0f}")
        least = share if junk <= JUNK and share <= least else least
    known = "yes" if background.known else "no"
    shown = "  ".join(reversed(cells))
    return f"{language}   {background.scale.chance:.3f}   {known:5}  {shown}   {least:.2f}"


async def table(embedder: Embedder) -> None:
    print("      chance  known  " + "  ".join(f"at {share:.1f} " for share in SHARES) + "  least")
    for language in LANGUAGES:
        print(await row(embedder, language), flush=True)
    await embedder.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", help="an OpenAI-compatible endpoint, up to and with /v1")
    parser.add_argument("--model", default="")
    given = parser.parse_args()

    async def measure() -> None:
        embedder: MemoryEmbedder | RemoteEmbedder = MemoryEmbedder(
            LocalEmbedder(), LocalEmbedder(MULTILINGUAL)
        )
        if given.url:
            embedder = RemoteEmbedder(given.url, given.model, os.environ.get("OPENAI_API_KEY"))
            await embedder.warm_up()
        await table(embedder)

    asyncio.run(measure())


if __name__ == "__main__":
    main()
