"""A question is embedded while its tree is looked up and grown, once, and only where it matters."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from memtree.context import retrieval
from memtree.errors import EmbedderUnavailable
from memtree.ranking import recipe
from tests.properties.process import World, after, story, user


class Noted:
    """The world's embedder; says what was asked, and lets an embedding wait."""

    def __init__(self, world: World) -> None:
        self._embedder = world.embedder
        self.world = world
        self.asked: list[str] = []
        self.store_calls: list[int] = []  # before each
        self.began, self.go = asyncio.Event(), asyncio.Event()
        self.go.set()
        self.cancelled = 0
        self.broken = False

    def __getattr__(self, name):
        return getattr(self._embedder, name)

    async def embed_query(self, query):
        await self._begun([query])
        return await self._embedder.embed_query(query)

    async def embed_queries(self, queries):
        await self._begun(queries)
        return await self._embedder.embed_queries(queries)

    async def _begun(self, queries):
        self.asked += queries
        self.began.set()
        self.store_calls.append(len(self.world.store.calls))
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.broken:
            raise EmbedderUnavailable("down")


def a_world():
    world = World(embedding=True)
    world.embedder = noted = Noted(world)
    world.used = world.memory()
    return world, noted


def asking(posted):
    return [*posted[:-1], user("Which of these harbours did we say opens at seven, and why?")]


@pytest.mark.slow
async def test_the_question_is_embedded_before_the_tree_grows():
    for mode in ("stable", "fresh"):
        world, noted = a_world()
        await world.ask(asking(story()), mode=mode)
        assert len(noted.asked) == 1
        assert "commit" in world.store.calls[noted.store_calls[0] :]


def working():
    call = {"id": "c", "type": "function", "function": {"name": "grep", "arguments": '{"p":"x"}'}}
    said = {"role": "assistant", "content": "I look for x.", "tool_calls": [call]}
    return [*asking(story()), said, {"role": "tool", "tool_call_id": "c", "content": "x = 7"}]


@pytest.mark.slow
async def test_in_a_tool_loop_text_and_call_are_embedded_before_the_tree_grows():
    """In one call of the embedder, and not the request, which is the same in every turn."""
    for mode in ("stable", "fresh"):
        world, noted = a_world()
        await world.ask(working(), mode=mode)
        assert noted.asked == ["I look for x.", "grep x"]
        assert len(noted.store_calls) == 1
        assert "commit" in world.store.calls[noted.store_calls[0] :]


@pytest.mark.slow
async def test_words_rank_a_tool_loop_where_the_embedder_fails():
    world, noted = a_world()
    noted.broken = True
    answer = await world.ask(working(), mode="fresh")
    assert answer.messages
    assert len(noted.store_calls) == 1


@pytest.mark.slow
async def test_within_an_epoch_only_a_question_is_embedded_and_a_repeated_request_is_not():
    world, noted = a_world()
    posted = asking(story())
    await world.ask(posted)
    noted.asked.clear()
    await world.ask(posted)
    assert noted.asked == []
    thanks = [*after(posted, 1)[:-1], user("ok, thanks")]
    await world.ask(thanks)
    assert noted.asked == []
    await world.ask(asking(after(posted, 1)))
    assert len(noted.asked) == 1


@pytest.mark.slow
async def test_an_embedding_does_not_outlive_its_request():
    world, noted = a_world()
    noted.go.clear()
    request = asyncio.create_task(world.ask(asking(story())))
    await noted.began.wait()
    request.cancel()
    await asyncio.gather(request, return_exceptions=True)
    assert noted.cancelled == 1


@pytest.mark.slow
async def test_words_rank_where_the_embedder_fails():
    world, noted = a_world()
    noted.broken = True
    answer = await world.ask(asking(story()))
    assert answer.epoch
    assert len(noted.asked) == 1


@pytest.mark.slow
async def test_a_question_is_embedded_without_the_names_of_speakers_too(monkeypatch):
    """It is ranked by the mean of both vectors; one that names nobody is embedded once."""
    world, noted = a_world()
    names = {"user": "Ada", "assistant": "Bob"}
    talk = [{**said, "content": f"{names[said['role']]}: {said['content']}"} for said in story()]
    used = []

    def ranking(posted, corpus, query, vectors):
        used.extend(vectors)
        return recipe.ranking(posted, corpus, query, vectors)

    monkeypatch.setattr(retrieval, "ranking", ranking)
    named, bare = "Which harbour does Bob open at seven?", "Which harbour does  open at seven?"
    await world.ask([*talk[:-1], user(named)], mode="fresh")
    assert noted.asked == [named, bare]
    plain = World(embedding=True).embedder
    vectors = [await plain.embed_query(each) for each in (named, bare)]
    np.testing.assert_allclose(used[-1], (vectors[0] + vectors[1]) / 2, atol=1e-6)
    noted.asked.clear()
    await world.ask([*talk[:-1], user("Which harbour opens at seven?")], mode="fresh")
    assert len(noted.asked) == 1
