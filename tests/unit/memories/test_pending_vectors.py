"""Check what follows in the background: vectors, and memories that are read once again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from memtree.errors import StoreUnavailable
from memtree.memories import message_extraction
from memtree.memories.draft import DedupPolicy, Edit, MemoryDraft
from memtree.memories.draft import new_memory as made
from memtree.memories.memory import EXTRACTED, WORDING, Memory, PossibleUpdate
from memtree.memories.message_extraction import MemoryRereading
from memtree.memories.saving import BATCH, PendingVectors
from memtree.memories.scope import Scope
from tests.unit.memories.books import MoodyEmbedder, Opened, opened

# ------------------------------------------------------------------------------------------------
# Vectors follow in the background, whatever the embedder does meanwhile.


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


# ------------------------------------------------------------------------------------------------
# Memories that earlier rules stored are read once again by today's.


ME = Scope.of_user("t")
RULE = {"source_type": EXTRACTED, "capture_mode": "rule"}


async def stored(memories: Opened, text: str, **fields: Any) -> Memory:
    """Store it as rules did that found no standing memories."""
    given = {**RULE, **fields}
    id_ = f"mem_{next(memories.ids):024x}"
    new = made(MemoryDraft(text, standing=False, **given), id_, memories.clock.now())
    return (await memories.store.add(ME, new)).memory


async def live(memories: Opened) -> dict[str, str]:
    return {each.text: each.standing for each in (await memories.book.page(ME)).memories}


def reader(memories: Opened) -> MemoryRereading:
    return MemoryRereading(memories.book, memories.store, memories.store)


async def test_old_memories_get_todays_form_and_stand() -> None:
    async with opened() as memories:
        for text in (
            "User said: I'm blind (said 2026-01-31)",
            "Nutzer sagte: Ich bin Zöliakiebetroffener",
            "User said: We like long walks",
            "Always answer in French",
        ):
            await stored(memories, text)
        await stored(memories, "User is vegan", source_type="user", capture_mode=None)
        assert await reader(memories).once(ME) == 4
        assert await live(memories) == {
            "User is blind (said 2026-01-31)": "fact",
            "Nutzer ist Zöliakiebetroffener": "",
            "User said: We like long walks": "",
            "Always answer in French": "wish:language",
            "User is vegan": "fact:diet",
        }
        past = await memories.book.history(ME, 1)
        assert [each.text for each in past][-1] == "User said: I'm blind (said 2026-01-31)"


async def test_what_others_wrote_or_a_person_changed_stays() -> None:
    async with opened() as memories:
        for fields in ({"source_type": "model"}, {"tainted": True}, {"capture_mode": "model"}):
            await stored(memories, f"User said: I'm blind {len(fields)} {fields}", **fields)
        unpinned = await stored(memories, "User is vegan")
        await memories.book.edit(ME, unpinned.id, Edit(standing=False))
        before = await live(memories)
        assert await reader(memories).once(ME) == 0
        assert await live(memories) == before


async def test_it_happens_once_whoever_begins_and_goes_on_after_a_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(message_extraction, "PAGE", 2)
    async with opened() as memories:
        for number in range(7):
            await stored(memories, f"User said: I have {number} cats")
        change, left = memories.store.change, [3]

        async def failing(*args: Any, **more: Any) -> Memory:
            left[0] -= 1
            if left[0] < 0:
                raise StoreUnavailable("down")
            return await change(*args, **more)

        monkeypatch.setattr(memories.store, "change", failing)
        first = reader(memories)
        with pytest.raises(StoreUnavailable):
            await first.once(ME)
        monkeypatch.setattr(memories.store, "change", change)
        assert (await first.once(ME), await first.once(ME)) == (4, 0)
        assert sorted(await live(memories)) == [f"User has {number} cats" for number in range(7)]
        await stored(memories, "User said: I'm blind")
        assert await reader(memories).once(ME) == 0  # of another process
        assert await first.once(Scope.of_user("t", "other")) == 0


async def test_a_conflict_stays_one() -> None:
    async with opened() as memories:
        old = await stored(memories, "User said: I have two cats")
        new = await stored(memories, "User said: I have three cats")
        update = PossibleUpdate(old.id, old.text, (WORDING,))
        await memories.store.put_updates(ME, new.id, [update])
        assert await reader(memories).once(ME) == 2
        newest = (await memories.book.page(ME)).memories[0]
        assert [each.text for each in newest.updates] == ["User has two cats"]
