"""Vectors kept in a file between runs."""

from __future__ import annotations

import numpy as np

from benchmarks.kept_vectors import KeptVectors
from tests.made.saved_memories import TopicEmbedder


class Counting(TopicEmbedder):
    """Counts the texts that it embeds."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    async def embed(self, texts):
        self.texts += texts
        return await super().embed(texts)

    async def embed_query(self, text):
        self.texts.append(f"? {text}")
        return await super().embed_query(text)


async def test_a_text_is_embedded_once_for_all_runs(tmp_path):
    rows = []
    first, second = Counting(), Counting()
    for embedder in (first, second):
        kept = KeptVectors(embedder, tmp_path / "vectors.db")
        rows.append(await embedder.embed(["a tide", "a port", "a tide"]))
        rows.append(await embedder.embed_queries(["a port", "a tide"]))
        assert np.array_equal(rows[-1][0], await embedder.embed_query("a port"))
        kept.close()
    assert first.texts == ["a tide", "a port", "? a port", "? a tide"]
    assert second.texts == []
    assert np.array_equal(rows[0], rows[2])
    assert np.array_equal(rows[1], rows[3])


async def test_texts_of_another_recipe_are_embedded_anew(tmp_path):
    first, second = Counting(), Counting()
    second.recipe = "another"
    for embedder in (first, second):
        kept = KeptVectors(embedder, tmp_path / "vectors.db")
        await embedder.embed(["a tide"])
        kept.close()
    assert second.texts == ["a tide"]
