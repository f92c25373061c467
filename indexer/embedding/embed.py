"""Stage 2 for some leaves: passages to vectors to the store."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from indexer.embedding.vector_cache import Passages
from memtree.conversation.history import History
from memtree.ports.store import TreeStore
from memtree.ranking.vectors import pack
from memtree.tree.work import LeafWork


def first_batch(work: Iterable[LeafWork], tokens: int) -> list[LeafWork]:
    """As many as are embedded at once: until there are `tokens` or more."""
    found: list[LeafWork] = []
    for one in work:
        if found and sum(each.tokens for each in found) >= tokens:
            break
        found.append(one)
    return found


async def embed_leaves(
    store: TreeStore, passages: Passages, history: History, work: Sequence[LeafWork]
) -> None:
    """Embed these leaves and commit their vectors together, but for those that have some: they may
    have been submitted while nobody knew the recipe.

    Raises `EmbedderUnavailable` or `StoreUnavailable`; then none of them is stored.
    """
    recipe = await passages.recipe()
    there = await store.vectors(history.tenant, recipe, [one.id for one in work])
    work = [one for one in work if one.id not in there]
    texts = await asyncio.to_thread(passage_texts, history, work)
    matrix = await passages.embed(history.tenant, texts)
    rows, at = {}, 0
    for one in work:
        size = len(one.leaf.passages)
        rows[one.leaf.id] = pack(matrix[at : at + size])
        at += size
    await store.put_vectors(history.tenant, recipe, rows)


MIN_TOKENS = 2  # a passage of one token says nothing; it gets a zero vector


def passage_texts(history: History, work: Sequence[LeafWork]) -> list[str]:
    """The text of every passage of these leaves, in order; empty where it is not worth a vector."""
    texts = []
    for one in work:
        for passage in one.leaf.passages:
            view = history.view(one.first + passage.message).text
            worth = passage.tokens >= MIN_TOKENS
            texts.append(view[passage.start : passage.end] if worth else "")
    return texts
