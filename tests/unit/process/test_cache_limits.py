"""The shares of one setting, and whether rows take about what their caches estimate."""

from __future__ import annotations

import json
import secrets
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from memtree.background.embedding_queue import VectorCache
from memtree.background.posted_messages import KnownMessage, ReadMessages
from memtree.config import Settings
from memtree.context.caches.caches import CorpusCache, NodeCache, PassedHistories
from memtree.context.caches.known_tree import EMPTY_TREE
from memtree.conversation import history
from memtree.conversation.message import Message, Volatile
from memtree.conversation.message_cache import MessageCache
from memtree.memories.scope import Scope
from memtree.models.query_cache import QueryCache
from memtree.process.cache_limits import MEGABYTES, CacheLimits
from memtree.ranking.corpus import Corpus
from memtree.ranking.vectors import pack
from tests.fakes import HashingEmbedder
from tests.made.real_sizes import real_size
from tests.properties.strategies import batch
from tests.wire.conversations import as_chat, conversation

ROWS = 2_000


def test_all_caches_together_take_what_the_setting_says() -> None:
    limits = CacheLimits.of(300)
    assert 0.9 * (300 << 20) < limits.total() <= 300 << 20
    assert min(getattr(limits, each.name) for each in fields(limits)) > 1 << 20
    assert Settings().cache_limits == CacheLimits.of(MEGABYTES)
    assert Settings(cache_mb=7).cache_limits == CacheLimits.of(7)


@pytest.mark.slow
def test_messages() -> None:
    cache = MessageCache(1)
    for seed in range(3):
        posted = [
            Message(json.dumps(each).encode()) for each in as_chat(conversation(seed, 150, 4))
        ]
        history.read("t", posted, Volatile(), cache)
    assert 0.5 < cache.nbytes / real_size(cache) < 2


async def test_vectors() -> None:
    cache = VectorCache(HashingEmbedder())
    await cache.embed("t", [f"text {number}" for number in range(ROWS)])
    assert 0.5 < cache.nbytes / real_size(cache) < 2


@pytest.mark.parametrize("dimensions", [384, 1536])
def test_queries(dimensions: int) -> None:
    cache = QueryCache()
    for number in range(300):
        cache.put(f"text {number}", np.zeros(dimensions, np.float32))
    assert 0.5 < cache.nbytes / real_size(cache) < 2


def test_read_messages() -> None:
    cache: Any = ReadMessages(1)
    for _ in range(ROWS):
        cache.add(secrets.token_bytes(16), KnownMessage(by_user=True))
    assert cache.keys(Scope.of_user("t"))
    assert 0.5 < cache.nbytes / real_size(cache) < 2


@pytest.mark.slow
async def test_nodes_and_the_corpus_over_them() -> None:
    posted = [Message(json.dumps(each).encode()) for each in as_chat(conversation(1, 100, 30))]
    grown = batch(history.read("t", posted, Volatile()))
    cache = NodeCache()
    tree = cache.grown("t", EMPTY_TREE, grown.frontier, grown.nodes)
    # A node stands in both of its parts, and counts in both.
    assert 1 < cache.nbytes / real_size(cache) < 3
    corpus = Corpus(384)
    leaves, places = tree.leaves_from(0)
    assert len(leaves) > 20
    corpus.extend(leaves, places)
    own = real_size(corpus) - real_size(leaves)
    assert 0.5 < corpus.nbytes / own < 2
    rows = {leaf.id: pack(np.ones((len(leaf.passages), 384), np.float32), [1] * len(leaf.passages))
            for leaf in leaves}  # fmt: skip
    before = corpus.nbytes
    corpus.add_vectors(rows)
    vectors = 4 * 384 * len(corpus)
    assert vectors <= corpus.nbytes - before < 2.1 * vectors
    kept = CorpusCache()
    async with kept.of("t", tree, 384):
        pass
    assert 0.5 < kept.nbytes / real_size(kept) < 2  # with the tree, which it keeps


@pytest.mark.slow
def test_histories_that_went_whole() -> None:
    passed = PassedHistories()
    for number in range(ROWS):
        posted = [Message(b'{"role": "user", "content": "%d"}' % number)]
        passed.add(history.read("t", posted, Volatile()))
    assert 0.5 < passed.nbytes / real_size(passed) < 2
