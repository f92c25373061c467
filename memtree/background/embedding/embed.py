"""Stage 2 for some leaves: embed their passages and store the vectors."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from itertools import chain, islice

from memtree.background.embedding.vector_cache import VectorCache
from memtree.conversation.history import History
from memtree.ports.store import TreeStore
from memtree.ranking.segments import segments
from memtree.ranking.vectors import pack
from memtree.tree.node import LeafWork


def first_batch(work: Iterable[LeafWork], tokens: int) -> list[LeafWork]:
    """Return the leaves to embed in one batch: the first ones, until they have `tokens` or more."""
    batch: list[LeafWork] = []
    for each in work:
        if batch and sum(leaf.tokens for leaf in batch) >= tokens:
            break
        batch.append(each)
    return batch


async def embed_leaves(
    store: TreeStore, passages: VectorCache, history: History, work: Sequence[LeafWork]
) -> None:
    """Embed these leaves and commit their vectors together. Leaves that have vectors are skipped:
    they may have been submitted before the recipe was known.

    Raises `EmbedderUnavailable` or `StoreUnavailable`, and then stores nothing.
    """
    recipe = await passages.recipe()
    stored = await store.vectors(history.tenant, recipe, [each.id for each in work])
    work = [each for each in work if each.id not in stored]
    texts = await asyncio.to_thread(segment_texts, history, work)
    matrix = await passages.embed(history.tenant, [*chain(*texts)])
    counts = iter([len(each) for each in texts])
    rows, begin = {}, 0
    for each in work:
        sizes = list(islice(counts, len(each.leaf.passages)))
        rows[each.leaf.id] = pack(matrix[begin : begin + sum(sizes)], sizes)
        begin += sum(sizes)
    await store.put_vectors(history.tenant, recipe, rows)


MIN_TOKENS = 2  # a passage of one token carries no meaning; it gets a zero vector


def segment_texts(history: History, work: Sequence[LeafWork]) -> list[list[str]]:
    """Return the segments of every passage of these leaves, in order; a single empty one for a
    passage that is not worth a vector."""
    texts = []
    for each in work:
        for passage in each.leaf.passages:
            view = history.view(each.first + passage.message).text
            worth = passage.tokens >= MIN_TOKENS
            texts.append(segments(view[passage.start : passage.end]) if worth else [""])
    return texts
