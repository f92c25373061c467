"""Memories that earlier rules stored are read once again by today's."""

from __future__ import annotations

from typing import Any

import pytest

from memtree.errors import StoreUnavailable
from memtree.memories import rereading
from memtree.memories.draft import Edit, MemoryDraft
from memtree.memories.draft import new_memory as made
from memtree.memories.memory import EXTRACTED, WORDING, Memory, PossibleUpdate
from memtree.memories.rereading import MemoryRereading
from memtree.memories.scope import Scope
from tests.unit.memories.books import Opened, opened

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
    monkeypatch.setattr(rereading, "PAGE", 2)
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
