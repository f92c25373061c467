"""Topical clusters of memories."""

from __future__ import annotations

import random

import numpy as np
import pytest

from memtree.memories.agents.search.clusters import (
    MOST,
    NEAR,
    ClusteredMemory,
    MemoryCluster,
    clusters,
    components,
    said,
)
from tests.made.saved_memories import SCALE, TOPICS, TopicEmbedder

TEXTS = (
    "The dog of Grace barks", "The staging port is 8090", "Grace walks the dog",
    "Likes green tea", "The production port is 443", "Grace feeds the dog at noon",
    "Black tea in the morning",
)  # fmt: skip


async def memories(texts=TEXTS, embedded=lambda _: True) -> list[ClusteredMemory]:
    rows = await TopicEmbedder().embed(texts)
    return [
        ClusteredMemory(str(at), text, row if embedded(at) else None)
        for at, (text, row) in enumerate(zip(texts, rows, strict=True))
    ]


EXPECTED = [
    MemoryCluster("dog", ("0", "2", "5")),
    MemoryCluster("port", ("1", "4")),
    MemoryCluster("tea", ("3", "6")),
]


async def test_what_is_near_belongs_together_and_has_the_name_of_what_is_typical():
    assert clusters(await memories(), SCALE) == EXPECTED


@pytest.mark.parametrize("embedded", [lambda _: False, lambda at: at % 2])
async def test_words_do_where_vectors_are_missing(embedded):
    for scale in (SCALE, None):
        found = clusters(await memories(embedded=embedded), scale)
        assert [one.memories for one in found] == [one.memories for one in EXPECTED]


async def test_what_is_alone_is_a_cluster_of_its_own():
    assert clusters(await memories(("Likes tea", "The port is 1")), SCALE) == [
        MemoryCluster("Likes", ("0",)),
        MemoryCluster("port", ("1",)),
    ]
    assert clusters([], SCALE) == []
    assert clusters([ClusteredMemory("a", "... 12")], None) == [MemoryCluster("", ("a",))]


async def test_two_clusters_have_two_names():
    rows = np.eye(4, dtype=np.float32)
    given = [ClusteredMemory(str(at), f"dog word{at % 4}", rows[at % 4]) for at in range(12)]
    labels = [one.label for one in clusters(given, SCALE)]
    assert len(labels) == len(set(labels)) == 4


def test_what_lies_between_two_topics_does_not_join_them():
    """It is near enough to all of both."""
    first, second = np.eye(3, dtype=np.float32)[:2]
    between = (first + second) / np.float32(np.sqrt(2))
    given = [ClusteredMemory(f"a{at}", "alpha", first) for at in range(8)]
    given += [ClusteredMemory(f"b{at}", "beta", second) for at in range(8)]
    given.append(ClusteredMemory("between", "alpha beta", between))
    assert SCALE.relevance(float(between @ second)) > NEAR
    assert [len(one.memories) for one in clusters(given, SCALE)] == [9, 8]


@pytest.mark.slow
def test_every_memory_is_in_one_cluster_whatever_is_given():
    rng = random.Random(3)
    for _ in range(20):
        count = rng.choice([1, 2, 5, 40, 200])
        vectors = np.random.default_rng(rng.randrange(99)).normal(size=(count, 8))
        vectors = (vectors / np.linalg.norm(vectors, axis=1)[:, None]).astype(np.float32)
        given = [
            ClusteredMemory(
                f"m{at}",
                " ".join(rng.sample(TOPICS, 2)),
                vectors[at] if rng.random() < 0.8 else None,
            )
            for at in range(count)
        ]
        found = clusters(given, rng.choice([SCALE, None]))
        ids = [id_ for one in found for id_ in one.memories]
        assert sorted(ids) == sorted(one.id for one in given)
        assert [len(one.memories) for one in found] == sorted(
            (len(one.memories) for one in found), reverse=True
        )
        assert clusters(given, SCALE) == clusters(list(given), SCALE)


async def test_of_more_than_that_the_first_count():
    found = clusters([ClusteredMemory(str(at), "dog") for at in range(MOST + 9)], None)
    assert sum(len(one.memories) for one in found) == MOST


def test_components_are_those_of_a_union_find():
    rng = random.Random(5)
    for count in (1, 2, 30, 120):
        links = np.zeros((count, count), np.bool_)
        parent = list(range(count))

        def root(at: int, parent: list[int] = parent) -> int:
            return at if parent[at] == at else root(parent[at])

        for _ in range(count // 2):
            one, other = rng.randrange(count), rng.randrange(count)
            links[one, other] = links[other, one] = True
            first, second = sorted((root(one), root(other)))
            parent[second] = first
        assert components(links).tolist() == [root(at) for at in range(count)]
    chain = np.eye(60, k=1, dtype=np.bool_) | np.eye(60, k=-1, dtype=np.bool_)
    assert not components(chain).any()


def test_names_of_fields_say_nothing():
    data = {"name": "Ada", "tags": ["x", {"y": "Grace"}], "age": 3, "done": True}
    assert said(data, "kind name Ada age") == "Ada x Grace"
    assert said(None, "text") == "text"
