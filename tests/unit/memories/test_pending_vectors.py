"""Vectors follow in the background, whatever the embedder does meanwhile."""

from __future__ import annotations

import asyncio

from memtree.memories.draft import DedupPolicy, MemoryDraft
from memtree.memories.saving import BATCH, PendingVectors
from memtree.memories.scope import Scope
from tests.unit.memories.books import MoodyEmbedder, opened

SCOPES = [Scope.of_chat("t", str(number)) for number in range(3)]


class Settled:
    """Record of which memories were looked at again."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    async def __call__(self, scope, memory) -> None:
        self.ids.append(memory.id)


async def saved(of, scope, count):
    drafts = [MemoryDraft(f"fact {number} of {scope.owner}") for number in range(count)]
    return [(await of.book.save(scope, draft, DedupPolicy.INSERT)).memory for draft in drafts]


async def lacking(of, scope):
    return await of.store.without_vectors(scope, MoodyEmbedder.recipe, 1_000)


def pending(of, embedder, settle=None, **more):
    return PendingVectors(of.store, of.store, embedder, settle or Settled(), pause=0.001, **more)


async def test_every_scope_that_was_put_down_gets_its_vectors():
    async with opened(None) as of:
        for scope in SCOPES:
            await saved(of, scope, BATCH + 3)
        work = pending(of, MoodyEmbedder())
        for scope in SCOPES:
            work.submit(scope)
        work.start()
        await asyncio.wait_for(work.join(), 300)
        assert [await lacking(of, scope) for scope in SCOPES] == [[], [], []]
        await work.close()


async def test_what_is_said_again_and_again_is_embedded_once():
    class Told(MoodyEmbedder):
        texts: tuple[str, ...] = ()

        async def embed(self, texts):
            self.texts += tuple(texts)
            return await super().embed(texts)

    async with opened(None) as of:
        said = ["the same", *["again"] * (2 * BATCH), "the same"]
        for text in said:
            await of.book.save(SCOPES[0], MemoryDraft(text), DedupPolicy.INSERT)
        embedder = Told()
        work = pending(of, embedder)
        work.submit(SCOPES[0])
        work.start()
        await asyncio.wait_for(work.join(), 300)
        assert await lacking(of, SCOPES[0]) == []
        await work.close()
    assert sorted(embedder.texts) in (["again", "the same"], ["again", "the same", "the same"])


async def test_a_start_finds_what_was_left_behind():
    async with opened(None) as of:
        await saved(of, SCOPES[0], 2)
        work = pending(of, MoodyEmbedder())
        work.start()
        async with asyncio.timeout(300):
            while await lacking(of, SCOPES[0]):  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        await work.close()


async def test_more_scopes_than_are_looked_for_at_once_are_all_found():
    async with opened(None) as of:
        for scope in SCOPES:
            await saved(of, scope, 2)
        work = pending(of, MoodyEmbedder(), left_behind=1)
        work.start()
        async with asyncio.timeout(300):
            while any([await lacking(of, scope) for scope in SCOPES]):  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        await work.close()


class Odd(MoodyEmbedder):
    """Its first answers hold numbers that are none."""

    def __init__(self, odd: int) -> None:
        super().__init__()
        self.odd = odd

    async def embed(self, texts):
        rows = await super().embed(texts)
        if texts and self.odd:
            self.odd -= 1
            rows[:] = float("nan")
        return rows


async def test_an_answer_that_is_no_vector_ends_nothing():
    async with opened(None) as of:
        for scope in SCOPES:
            await saved(of, scope, 1)
        work = pending(of, Odd(2))
        for scope in SCOPES:
            work.submit(scope)
        work.start()
        await asyncio.wait_for(work.join(), 300)
        assert [await lacking(of, scope) for scope in SCOPES] == [[], [], []]
        await work.close()


async def test_what_is_saved_during_a_batch_is_not_lost():
    embedder = MoodyEmbedder()
    embedder.seconds = 0.02
    async with opened(None) as of:
        await saved(of, SCOPES[0], 1)
        work = pending(of, embedder)
        work.submit(SCOPES[0])
        work.start()
        for number in range(5):
            await asyncio.sleep(0.01)
            draft = MemoryDraft(f"later fact {number}")
            later = (await of.book.save(SCOPES[0], draft, DedupPolicy.INSERT)).memory
            work.submit(SCOPES[0], later.id)
        await asyncio.wait_for(work.join(), 300)
        assert await lacking(of, SCOPES[0]) == []
        await work.close()


async def test_it_goes_on_when_an_embedder_comes_back():
    embedder = MoodyEmbedder()
    embedder.down = True
    async with opened(None) as of:
        await saved(of, SCOPES[0], 2)
        work = pending(of, embedder)
        work.submit(SCOPES[0])
        work.start()
        await asyncio.sleep(0.02)
        assert len(await lacking(of, SCOPES[0])) == 2
        embedder.down = False
        await asyncio.wait_for(work.join(), 300)
        assert await lacking(of, SCOPES[0]) == []
        await work.close()


async def test_only_memories_whose_check_was_deferred_are_looked_at_again():
    settled = Settled()
    async with opened(None) as of:
        first, second = await saved(of, SCOPES[0], 2)
        work = pending(of, MoodyEmbedder(), settled)
        work.submit(SCOPES[0], second.id)
        work.start()
        await asyncio.wait_for(work.join(), 300)
        assert settled.ids == [second.id]
        assert first.id not in settled.ids
        await work.close()


async def test_a_memory_that_was_deleted_meanwhile_keeps_nobody_waiting():
    async with opened(None) as of:
        (only,) = await saved(of, SCOPES[0], 1)
        work = pending(of, MoodyEmbedder())
        work.submit(SCOPES[0], only.id)
        await of.book.delete(SCOPES[0], [only.id])
        work.start()
        await asyncio.wait_for(work.join(), 300)
        await work.close()


async def test_closing_ends_it_in_the_middle_of_a_call():
    embedder = MoodyEmbedder()
    embedder.seconds = 3_600.0
    async with opened(None) as of:
        await saved(of, SCOPES[0], 1)
        work = pending(of, embedder)
        work.submit(SCOPES[0])
        work.start()
        await asyncio.sleep(0.01)
        await asyncio.wait_for(work.close(), 300)
