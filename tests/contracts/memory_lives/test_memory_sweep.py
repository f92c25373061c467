"""Retention and expiry together, day by day, in every store: what the sweep takes, and when."""

from __future__ import annotations

from itertools import product

import pytest

from memtree.memories.memory import Memory, MemoryChange
from memtree.memories.memory_store import MemoryFilter
from memtree.memories.scope import Scope
from memtree.memories.user_memories import MemoryGroup, SettingsChange, UserSettings
from tests.contracts.memory_backends import START, InEveryStore, new, rewritten

USER = Scope.of_user("tenant")
DAY = 86_400.0
DELETED_DAYS = 3
STORED = MemoryFilter(superseded=True, expired=True, deleted=True)


class TestSweep(InEveryStore):
    async def ids(self, memories) -> list[str]:
        page = await memories.page(USER, STORED, limit=1_000)
        return sorted(memory.id for memory in page.memories)

    async def test_whatever_ends_first(self, memories, store, clock):
        """Each memory may expire after some days and be deleted after some, or neither."""
        days = (None, 1, 2, 5)
        every = {f"mem-{a}-{b}": (a, b) for a, b in product(days, days)}
        for id_, (expires, _) in every.items():
            ends = None if expires is None else START + expires * DAY
            await memories.add(USER, new(id_, id=id_, expires=ends))
        await memories.add_group(USER, MemoryGroup("grp", "t", START, START), 9)
        await memories.add_members(USER, "grp", list(every))
        await memories.change_settings(USER, SettingsChange(save=True))
        await memories.add_extracted(USER, b"digest", [], most=0)
        for day in range(12):
            clock.time = START + day * DAY
            due = [id_ for id_, (_, deleted) in every.items() if deleted == day]
            there = sorted({*due} & {*await self.ids(memories)})
            assert sorted(await memories.delete(USER, due)) == there
            before = len(await self.ids(memories))
            erased = await memories.sweep_memories(clock(), DELETED_DAYS)
            left = await self.ids(memories)
            assert erased == before - len(left)
            expected = [id_ for id_, ends in every.items() if self.stands(*ends, day, DELETED_DAYS)]
            assert left == sorted(expected)
            counts = await store.counts()
            assert counts["memory_group_members"] == counts["memories"] == len(left)
            assert await store.check() == []
        assert left == ["mem-None-None"]
        assert (await memories.group(USER, "grp")).members == 1
        assert await memories.settings(USER) == UserSettings(save=True)
        assert await memories.extracted(USER, [b"digest"]) == {b"digest"}

    def stands(self, expires: int | None, deleted: int | None, day: int, kept: int) -> bool:
        """Either end keeps it for so many days."""
        return all(end is None or day < end + kept for end in (expires, deleted))

    async def test_an_expiry_that_is_moved_counts_as_it_is(self, memories, clock):
        for id_, moved in (("later", START + 9 * DAY), ("never", None), ("sooner", START + DAY)):
            await memories.add(USER, new(id_, id=id_, expires=START + 2 * DAY))
            await memories.change(USER, id_, MemoryChange(START, expires=moved))
        left = {}
        for day in (3, 4, 5, 11, 12, 99):
            clock.time = START + day * DAY
            await memories.sweep_memories(clock(), DELETED_DAYS)
            left[day] = await self.ids(memories)
        assert left == {
            3: ["later", "never", "sooner"],
            4: ["later", "never"],
            5: ["later", "never"],
            11: ["later", "never"],
            12: ["never"],
            99: ["never"],
        }

    async def test_what_took_a_place_takes_the_older_words_along(self, memories, clock, store):
        """The older words go whether it expires or is deleted; a version of it that lasted longer
        saves nothing."""
        for name in ("expires", "is deleted"):
            await memories.add(USER, new(name, id=f"{name} 1"))
            await memories.change(USER, f"{name} 1", rewritten(f"{name} again"))
            lasts = START + 2 * DAY if name == "expires" else None
            newer = new(f"{name} newer", id=f"{name} 2", expires=lasts)
            await memories.supersede(USER, f"{name} 1", newer, "why")
        clock.time = START + 2 * DAY
        await memories.delete(USER, ["is deleted 2"])
        assert await memories.sweep_memories(clock(), DELETED_DAYS) == 0
        clock.time = START + 5 * DAY
        assert await memories.sweep_memories(clock(), DELETED_DAYS) == 4
        assert not any(
            count
            for table, count in (await store.counts()).items()
            if table not in ("memory_scopes", "memory_tenants", "erased_memories")
        )

    @pytest.mark.parametrize("days", [0, 1, 365])
    async def test_what_was_brought_back_stays(self, memories, clock, days):
        await memories.add(USER, new("one"))
        await memories.delete(USER, ["mem_one"])
        back = await memories.undelete(USER, ["mem_one"])
        assert [type(each) for each in back] == [Memory]
        clock.time += 400 * DAY
        assert await memories.sweep_memories(clock(), days) == 0
        assert await self.ids(memories) == ["mem_one"]
