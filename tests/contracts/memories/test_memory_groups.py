"""Groups of memories in every store: who is in them, whatever becomes of a memory."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from memtree.errors import BadRequest, Conflict, NotFound
from memtree.memories.memory_store import MemoryFilter
from memtree.memories.scope import Scope
from memtree.memories.user_memories import GroupChange, MemoryGroup
from tests.contracts.memory_backends import START, InEveryStore, new, rewritten, save, texts

USER = Scope.of_user("tenant")


def group(name: str, at: float = START, **fields: Any) -> MemoryGroup:
    return MemoryGroup(f"grp_{name}", name, at, at, **fields)


class TestMemoryGroups(InEveryStore):
    @pytest.fixture
    async def filled(self, memories):
        """Four memories, the first two of them in one group and the second in another as well."""
        await save(memories, USER, "one", "two", "three", "four")
        for at, name in enumerate(("work", "home")):
            await memories.add_group(USER, group(name, START + at), 9)
        assert await memories.add_members(USER, "grp_work", ["mem_one", 2]) == 2
        assert await memories.add_members(USER, "grp_home", ["mem_two"]) == 1
        return memories

    async def members(self, memories, name: str) -> list[str]:
        page = await memories.page(USER, MemoryFilter(group=f"grp_{name}"))
        counted = (await memories.group(USER, f"grp_{name}")).members
        numbers = await memories.matching(USER, MemoryFilter(group=f"grp_{name}"))
        assert counted == len(page.memories) == len(numbers)
        return sorted(texts(page.memories))

    async def test_a_group_comes_back_as_it_was_given(self, memories):
        given = group("work", START + 0.25, description="what I do \0 é", category="fact")
        assert await memories.add_group(USER, given, 1) == given
        assert await memories.groups(USER) == [given] == [await memories.group(USER, given.id)]
        assert await memories.page(USER) == ((), False, 0)
        assert (await memories.state(USER)).changed == 0  # a group is no memory

    async def test_groups_stand_in_order_of_their_time(self, memories):
        for at, name in ((5, "b"), (1, "c"), (5, "a")):
            await memories.add_group(USER, group(name, START + at), 9)
        assert [each.id for each in await memories.groups(USER)] == ["grp_c", "grp_a", "grp_b"]

    async def test_no_more_groups_than_are_allowed(self, memories):
        await memories.add_group(USER, group("a"), 2)
        await memories.add_group(USER, group("b"), 2)
        with pytest.raises(Conflict, match="at most 2"):
            await memories.add_group(USER, group("c"), 2)
        await memories.add_group(Scope.of_user("tenant", "another"), group("c"), 2)
        with pytest.raises(Conflict, match="with this id"):
            await memories.add_group(USER, group("a"), 9)
        assert len(await memories.groups(USER)) == 2

    async def test_what_no_database_takes_is_refused(self, memories):
        with pytest.raises(BadRequest):
            await memories.add_group(USER, group("\0"), 9)
        with pytest.raises(BadRequest):
            await memories.add_group(USER, group("a", description="\ud800"), 9)
        assert await memories.groups(USER) == []

    async def test_members(self, filled):
        assert await self.members(filled, "work") == ["one", "two"]
        assert [each.members for each in await filled.groups(USER)] == [2, 1]
        ids = ["mem_two", "mem_three", "mem_one", "mem_nobody", "\0"]
        found = await filled.groups_of(USER, ids)
        assert found == {"mem_two": ["grp_work", "grp_home"], "mem_one": ["grp_work"]}
        assert list(found) == ["mem_two", "mem_one"]

    async def test_who_is_in_already_or_is_no_memory_is_not_counted(self, filled):
        more = ["mem_one", 1, "mem_three", 3, "mem_nobody", 99, "\0"]
        assert await filled.add_members(USER, "grp_work", more) == 1
        assert await self.members(filled, "work") == ["one", "three", "two"]
        assert await filled.remove_members(USER, "grp_work", [*more, "mem_four"]) == 2
        assert await self.members(filled, "work") == ["two"]

    async def test_a_group_that_is_not_there(self, filled):
        for id_ in ("grp_nobody", "\0", ""):
            for call in (filled.add_members, filled.remove_members):
                with pytest.raises(NotFound):
                    await call(USER, id_, ["mem_one"])
            with pytest.raises(NotFound):
                await filled.group(USER, id_)
            with pytest.raises(NotFound):
                await filled.change_group(USER, id_, GroupChange("x"), START)
            assert not await filled.delete_group(USER, id_)
            assert (await filled.page(USER, MemoryFilter(group=id_))).memories == ()

    async def test_a_change_of_a_group(self, filled):
        after = await filled.change_group(
            USER, "grp_work", GroupChange("Work", "more", "fact"), START + 9
        )
        assert after == MemoryGroup("grp_work", "Work", START, START + 9, "more", "fact", 2)
        assert await filled.group(USER, "grp_work") == after
        again = await filled.change_group(USER, "grp_work", GroupChange(category=""), START + 10)
        assert (again.title, again.category) == ("Work", None)

    async def test_a_deleted_group_leaves_its_memories(self, filled):
        assert await filled.delete_group(USER, "grp_work")
        assert not await filled.delete_group(USER, "grp_work")
        assert (await filled.page(USER)).total == 4
        assert await filled.groups_of(USER, ["mem_one", "mem_two"]) == {"mem_two": ["grp_home"]}
        await filled.add_group(USER, group("work"), 9)
        assert await self.members(filled, "work") == []  # of the one before

    async def test_a_deleted_member_is_in_no_group_until_it_is_back(self, filled):
        await filled.delete(USER, ["mem_two"])
        assert await self.members(filled, "work") == ["one"]
        assert await filled.groups_of(USER, ["mem_two"]) == {}
        await filled.undelete(USER, ["mem_two"])
        assert await self.members(filled, "work") == ["one", "two"]
        assert await self.members(filled, "home") == ["two"]

    async def test_an_expired_member_is_in_no_group(self, filled, clock):
        await filled.add(USER, new("five", expires=START + 5))
        await filled.add_members(USER, "grp_work", ["mem_five"])
        assert await self.members(filled, "work") == ["five", "one", "two"]
        clock.time += 6
        assert await self.members(filled, "work") == ["one", "two"]
        assert await filled.groups_of(USER, ["mem_five"]) == {}

    async def test_what_takes_the_place_of_a_member_joins_its_groups(self, filled):
        await filled.supersede(USER, "mem_two", new("zwei"), "")
        assert await self.members(filled, "work") == ["one", "zwei"]
        assert await self.members(filled, "home") == ["zwei"]
        await filled.mark_duplicate(USER, "mem_zwei", "mem_one")
        assert await self.members(filled, "work") == ["one"]
        assert await self.members(filled, "home") == ["one"]
        await filled.change(USER, "mem_one", rewritten("uno"))
        assert await self.members(filled, "home") == ["uno"]

    async def test_what_is_erased_leaves_no_row(self, filled, store):
        await filled.delete(USER, ["mem_two"], purge=True)
        assert await self.members(filled, "work") == ["one"]
        assert (await store.counts())["memory_group_members"] == 1

    async def test_members_of_a_tenant_that_is_erased(self, filled, store):
        other = Scope.of_user("another")
        await save(filled, other, "one")
        await filled.add_group(other, group("work"), 9)
        await filled.add_members(other, "grp_work", [1])
        await filled.erase_memories("tenant")
        assert await filled.groups(USER) == []
        assert (await filled.group(other, "grp_work")).members == 1
        counts = await store.counts()
        assert (counts["memory_groups"], counts["memory_group_members"]) == (1, 1)

    async def test_many_at_once(self, filled):
        """Each member joins once, and each group is there."""
        joins = [filled.add_members(USER, "grp_home", ["mem_one", "mem_two"]) for _ in range(9)]
        assert sorted(await asyncio.gather(*joins)) == [0] * 8 + [1]
        adds = [filled.add_group(USER, group(f"{n}"), 7) for n in range(9)]
        results = await asyncio.gather(*adds, return_exceptions=True)
        assert sum(isinstance(each, Conflict) for each in results) == 4
        assert len(await filled.groups(USER)) == 7
