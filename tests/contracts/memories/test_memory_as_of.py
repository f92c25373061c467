"""Memories as they were at some time, in every store."""

from __future__ import annotations

import pytest

from memtree.memories.memory import MemoryChange
from memtree.memories.ports import MemoryFilter
from memtree.memories.scope import Scope
from memtree.memories.users.user_memories import MemoryGroup
from tests.contracts.memory_backends import (
    START,
    InPostgres,
    InRam,
    InSqlite,
    new,
    rewritten,
    save,
    texts,
)

USER = Scope.of_user("tenant")
LONG = START + 1e6


class AsOfContract:
    @pytest.fixture(autouse=True)
    async def sound(self, store):
        yield
        assert await store.check() == []

    async def told(self, memories, at: float, wanted: MemoryFilter | None = None) -> str:
        page = await memories.as_of(USER, START + at, wanted or MemoryFilter(), limit=1_000)
        assert not page.more
        if wanted is None:
            assert page.total == len(page.memories)
        return " ".join(texts(page.memories)[::-1])

    async def test_a_memory_is_there_from_its_creation(self, memories, clock):
        for n in range(3):
            clock.time = START + 10 * n
            await memories.add(USER, new(f"{n}", created=clock()))
        seen = [await self.told(memories, at) for at in (-1, 0, 9.9, 10, 19, 20, 1e6)]
        assert seen == ["", "0", "0", "0 1", "0 1", "0 1 2", "0 1 2"]
        assert await memories.as_of(Scope.of_user("nobody"), LONG) == ((), False, 0)

    async def test_the_version_of_that_time(self, memories, clock):
        await save(memories, USER, "one")
        for n in range(1, 4):
            await memories.change(USER, 1, rewritten(f"one {n}", at=START + 10 * n))
        seen = [await self.told(memories, at) for at in (0, 9, 10, 19, 20, 30, 99)]
        assert seen == ["one", "one", "one 1", "one 1", "one 2", "one 3", "one 3"]
        (then,) = (await memories.as_of(USER, START + 15)).memories
        assert (then.version, then.updated, then.created) == (2, START + 10, START)

    async def test_what_was_superseded_since(self, memories, clock):
        await save(memories, USER, "one")
        for n, text in enumerate(("two", "three"), 1):
            clock.time = START + 10 * n
            await memories.supersede(USER, n, new(text, created=clock()), "why")
        seen = [await self.told(memories, at) for at in (0, 9, 10, 19, 20, 99)]
        assert seen == ["one", "one", "two", "two", "three", "three"]
        (then,) = (await memories.as_of(USER, START + 5)).memories
        assert (then.id, then.superseded_by) == ("mem_one", None)

    async def test_what_was_merged_and_marked_as_a_duplicate_since(self, memories, clock):
        await save(memories, USER, "a", "b", "c", "d")
        clock.time = START + 10
        await memories.merge(USER, "mem_b", "mem_a", "")
        clock.time = START + 20
        await memories.mark_duplicate(USER, "mem_d", "mem_c")
        clock.time = START + 30
        await memories.mark_duplicate(USER, "mem_c", "mem_b")  # and so is "d", as it was
        seen = [await self.told(memories, at) for at in (5, 15, 25, 35)]
        assert seen == ["a b c d", "b c d", "b c", "b"]

    async def test_expiry_is_that_of_the_version(self, memories, clock):
        await save(memories, USER, "one", expires=START + 10)
        await memories.change(USER, 1, MemoryChange(START + 5, expires=START + 50))
        await memories.change(USER, 1, MemoryChange(START + 20, expires=None))
        await memories.change(USER, 1, MemoryChange(START + 60, expires=START + 70))
        await save(memories, USER, "two", expires=START + 10)
        await save(memories, USER, "gone", expires=START + 3)
        await memories.change(USER, 3, MemoryChange(START + 2, expires=START + 4))
        seen = [await self.told(memories, at) for at in (2, 4, 9, 10, 30, 65, 70)]
        assert seen == ["one two gone", "one two", "one two", "one", "one", "one", ""]
        clock.time = START + 100  # what is expired by now was there then
        assert await self.told(memories, 9) == "one two"

    async def test_what_is_deleted_by_now_is_never_shown(self, memories, clock):
        await save(memories, USER, "stays", "soft", "purged", "old", "older", "twin", "other twin")
        await memories.change(USER, "mem_soft", rewritten("changed", at=START + 5))
        clock.time = START + 10
        await memories.supersede(USER, "mem_older", new("less old", created=clock()), "")
        await memories.supersede(USER, "mem_old", new("new", created=clock()), "")
        await memories.merge(USER, "mem_new", "mem_less-old", "")
        await memories.mark_duplicate(USER, "mem_other-twin", "mem_twin")
        assert "older" in await self.told(memories, 5)
        gone = ["mem_soft", "mem_new", "mem_twin"]
        assert await memories.delete(USER, gone, reason="why") == gone
        await memories.delete(USER, ["mem_purged"], purge=True)
        for at in (0, 5, 10, 11, 1e6):
            assert await self.told(memories, at) == "stays"
        await memories.undelete(USER, gone)
        assert await self.told(memories, 5) == "stays changed old older twin other twin"
        assert await self.told(memories, 1e6) == "stays changed twin new"
        await memories.delete(USER, gone)
        await memories.sweep_memories(clock() + 31 * 86_400, 30)
        assert await self.told(memories, 5) == "stays"

    @pytest.mark.parametrize(
        ("wanted", "found"),
        [
            (MemoryFilter(category="fact"), "a b"),
            (MemoryFilter(category="general"), ""),
            (MemoryFilter(tags=("x",)), "b"),
            (MemoryFilter(tags=("x", "y")), ""),
            (MemoryFilter(tainted=True), "b"),
            (MemoryFilter(tainted=False), "a c"),
            (MemoryFilter(kind="k"), "c"),
            (MemoryFilter(source_type="user", session_id="s"), "a"),
            (MemoryFilter(thread_id="t"), "a"),
            (MemoryFilter(created_from=START + 1, created_before=START + 2), "b"),
            (MemoryFilter(group="grp"), "a c"),
            (MemoryFilter(superseded=True, expired=True, deleted=True), "a b c"),
        ],
    )
    async def test_a_filter_asks_the_version_of_that_time(self, memories, wanted, found):
        """Each filter meets two memories: one that did not change since, and one that did."""
        changed = MemoryChange(START + 10, category="general", tags=("y",), tainted=False)
        for turn in range(2):
            of = "" if not turn else "'"
            fields = {"session_id": "s", "thread_id": "t", "category": "fact"}
            await memories.add(USER, new(f"a{of}", id=f"a{turn}", **fields))
            fields = {"tags": ("x",), "category": "fact", "tainted": True}
            memory = new(f"b{of}", id=f"b{turn}", created=START + 1, **fields)
            await memories.add(USER, memory)
            memory = new(f"c{of}", id=f"c{turn}", created=START + 2, kind="k")
            await memories.add(USER, memory)
        for name in "abc":
            await memories.change(USER, f"{name}1", changed)
        await memories.add_group(USER, MemoryGroup("grp", "t", START, START), 9)
        await memories.add_members(USER, "grp", ["a0", "c0", "a1", "c1"])
        expected = " ".join([*found.split(), *(f"{name}'" for name in found.split())])
        assert await self.told(memories, 5, wanted) == expected

    async def test_pages(self, memories):
        """Pages are whole though rows changed since, or are left out by the filter."""
        for n in range(40):
            memory = new(f"{n}", id=f"m{n}", category="fact" if n % 3 else "general")
            await memories.add(USER, memory)
            if n % 2:
                text = MemoryChange(START + 10, category="general" if n % 3 else "fact")
                await memories.change(USER, f"m{n}", text)
        wanted, seen, before = MemoryFilter(category="general"), [], None
        while True:
            page = await memories.as_of(USER, START + 5, wanted, before=before, limit=4)
            assert page.total == 40
            seen += texts(page.memories)
            if not page.more:
                break
            assert len(page.memories) == 4
            before = page.memories[-1].number
        assert seen == [f"{n}" for n in range(39, -1, -3)]

    async def test_more_rows_than_are_looked_at_together(self, memories):
        many = [new(f"{n}", id=f"m{n}") for n in range(1_050)]
        await memories.add_many(USER, many)
        await memories.change(USER, "m0", MemoryChange(START + 10, tags=("now",)))
        await memories.change(USER, "m1", MemoryChange(START - 10, tags=("then",)))
        page = await memories.as_of(USER, START + 5, MemoryFilter(tags=("then",)))
        assert (texts(page.memories), page.more, page.total) == (["1"], False, 1_050)
        page = await memories.as_of(USER, START + 5, limit=1_000)
        assert (len(page.memories), page.more) == (1_000, True)
        before = page.memories[-1].number
        page = await memories.as_of(USER, START + 5, limit=1_000, before=before)
        assert (len(page.memories), page.more) == (50, False)


class TestInRam(InRam, AsOfContract):
    pass


class TestInSqlite(InSqlite, AsOfContract):
    pass


class TestInPostgres(InPostgres, AsOfContract):
    pass
