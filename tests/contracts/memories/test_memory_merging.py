"""Letting one memory count in the place of another that is there already, in every store."""

from __future__ import annotations

import asyncio

import pytest

from memtree.errors import BadRequest, NotFound
from memtree.memories.memory import Memory, Tombstone
from memtree.memories.memory_store import MemoryFilter, ScopeState
from memtree.memories.scope import Scope
from tests.contracts.memory_backends import RECIPE, START, InEveryStore, new, save, texts

USER = Scope.of_user("tenant")
STORED = MemoryFilter(superseded=True)


class TestMerging(InEveryStore):
    @pytest.fixture
    async def both(self, memories, clock):
        await save(memories, USER, "port 8090", "port 8091")
        await memories.put_vectors(USER, RECIPE, {1: (1, b"v"), 2: (1, b"w")})
        clock.time = START + 10
        return memories

    async def test_the_newer_counts_and_both_stay(self, both):
        merged = await both.merge(USER, "mem_port-8091", 1, "moved")
        assert (merged.text, merged.supersedes) == ("port 8091", "mem_port-8090")
        assert (merged.version, merged.updated) == (2, START + 10)
        assert (await both.page(USER)).memories == (merged,)
        old, newer = await both.get(USER, [1, 2], deleted=True)
        assert (old.superseded_by, old.version, newer) == (merged.id, 1, merged)
        assert texts(await both.history(USER, 1)) == ["port 8090"]
        versions = await both.history(USER, 2)
        assert [(each.version, each.supersedes) for each in versions] == [
            (2, "mem_port-8090"),
            (1, None),
        ]
        stone = Tombstone("mem_port-8090", 1, START + 10, "moved", "port 8090", merged.id)
        assert await both.tombstones(USER) == [stone]

    async def test_it_is_one_change(self, both):
        before = await both.state(USER)
        await both.merge(USER, 2, 1, "")
        assert await both.state(USER) == ScopeState(before.changed + 1, 1, 0)
        events = await both.changes(USER, before.changed)
        assert {(each.type, each.id) for each in events} == {
            ("deleted", "mem_port-8090"),
            ("updated", "mem_port-8091"),
        }

    async def test_its_vector_stays(self, both):
        await both.merge(USER, 2, 1, "")
        rows = (await both.search_rows(USER, RECIPE, 0)).rows
        assert [(row.live, row.vector) for row in rows] == [(False, b"v"), (True, b"w")]
        assert await both.without_vectors(USER, RECIPE, 9) == []

    async def test_the_older_may_count(self, both):
        """The caller says which of two is right."""
        assert (await both.merge(USER, 1, 2, "")).text == "port 8090"
        assert texts((await both.page(USER)).memories) == ["port 8090"]

    async def test_one_that_took_a_place_before(self, both):
        await both.supersede(USER, 2, new("port 8092"), "")
        await save(both, USER, "port 9000")
        merged = await both.merge(USER, "mem_port-8092", 1, "")
        merged = await both.merge(USER, merged.id, "mem_port-9000", "")
        assert merged.supersedes == "mem_port-9000"
        every = (await both.page(USER, STORED)).memories
        replaced = {memory.text for memory in every if memory.superseded_by == merged.id}
        assert replaced == {"port 8090", "port 8091", "port 9000"}
        assert {stone.replaced_by for stone in await both.tombstones(USER)} == {merged.id}
        assert await both.delete(USER, ["mem_port-8091"], purge=True)
        (left,) = await both.get(USER, [merged.id])
        assert left.supersedes == "mem_port-9000"  # of the one that is gone it said nothing

    async def test_a_line_of_merges(self, both):
        await save(both, USER, "port 8092")
        await both.merge(USER, 2, 1, "")
        await both.merge(USER, 3, 2, "")
        assert texts((await both.page(USER)).memories) == ["port 8092"]
        await both.delete(USER, [3])
        assert (await both.page(USER, STORED)).memories == ()

    async def test_what_is_not_live_is_not_merged(self, both, clock):
        await save(both, USER, "gone", "expired", expires=clock() + 5)
        await both.delete(USER, ["mem_gone"])
        clock.time += 9
        state = await both.state(USER)
        for ref, older in [(1, 9), (9, 1), (1, "mem_gone"), ("mem_gone", 1), (1, "mem_expired")]:
            with pytest.raises(NotFound) as missing:
                await both.merge(USER, ref, older, "")
            assert missing.value.param == ("with" if ref == 1 else None)
        with pytest.raises(NotFound):
            await both.merge(Scope.of_user("nobody"), 1, 2, "")
        assert await both.state(USER) == state

    async def test_with_itself(self, both):
        await save(both, USER, "twin")
        await both.mark_duplicate(USER, "mem_twin", "mem_port-8090")
        for ref, older in [(1, 1), (1, "mem_port-8090"), ("mem_twin", 1), (1, "mem_twin")]:
            with pytest.raises(BadRequest):
                await both.merge(USER, ref, older, "")
        assert (await both.state(USER)).total == 2

    async def test_of_two_at_once_one_wins(self, both):
        calls = (both.merge(USER, 1, 2, ""), both.merge(USER, 2, 1, ""))
        results = await asyncio.gather(*calls, return_exceptions=True)
        assert sum(isinstance(each, Memory) for each in results) == 1
        assert sum(isinstance(each, NotFound) for each in results) == 1
        assert (await both.state(USER)).total == 1
