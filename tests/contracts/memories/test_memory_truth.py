"""`MemoryStore`: rows that say the same, and rows that may replace others, in every back end."""

from __future__ import annotations

import pytest

from memtree.memories.memory import MemoryChange, PossibleUpdate
from memtree.memories.memory_store import MemoryFilter
from memtree.memories.scope import Scope
from tests.contracts.memory_backends import (
    CHAT,
    RECIPE,
    START,
    InEveryStore,
    new,
    rewritten,
    save,
    texts,
)

CONFLICTS = MemoryFilter(conflicts=True)
DIFFERS = ("8090 -> 8091",)


class TestMemoryTruth(InEveryStore):
    # -- twins ----------------------------------------------------------------------------

    async def test_what_is_saved_again_is_one_memory_with_all_that_was_said_of_it(self, memories):
        await memories.add(
            CHAT,
            new("same", id="mem_1", tags=("a",), expires=START + 9, session_id="s", tainted=True),
        )
        await memories.put_vectors(CHAT, RECIPE, {1: (1, b"v")})
        await memories.add(CHAT, new("same", id="mem_2", tags=("b",), expires=START + 99))
        added = await memories.add(CHAT, new("same", id="mem_3", standing="wish"))
        assert (await memories.state(CHAT)).total == 1
        (row,) = (await memories.page(CHAT)).memories
        assert row == added.memory
        assert (row.id, row.tags, row.expires, row.tainted) == ("mem_3", ("b", "a"), None, False)
        assert await memories.twins(CHAT, ["mem_3"]) == {"mem_3": ["mem_1", "mem_2"]}
        assert [each.id for each in await memories.get(CHAT, ["mem_1", 2])] == ["mem_3"]
        assert await memories.matching(CHAT, MemoryFilter(session_id="s")) == [3]
        assert await memories.matching(CHAT, MemoryFilter(session_id="other")) == []

    async def test_twins_change_together(self, memories):
        for n in range(3):
            await memories.add(CHAT, new("same", id=f"mem_{n}"))
        await memories.supersede(CHAT, "mem_0", new("now"), "")
        assert texts((await memories.page(CHAT)).memories) == ["now"]
        await memories.delete(CHAT, ["mem_now"])
        assert (await memories.page(CHAT, MemoryFilter(superseded=True))).memories == ()

    async def test_what_comes_to_say_the_same_is_one_memory(self, memories):
        await memories.add(CHAT, new("same", id="mem_1", tags=("a",), expires=START + 99))
        await memories.add(CHAT, new("other", id="mem_2", tags=("b",), tainted=True))
        change = rewritten("same")
        changed = await memories.change(CHAT, "mem_2", change)
        assert (changed.id, changed.tags, changed.expires) == ("mem_2", ("b", "a"), None)
        assert not changed.tainted
        assert (await memories.state(CHAT)).total == 1
        assert await memories.twins(CHAT, ["mem_2"]) == {"mem_2": ["mem_1"]}
        await memories.add(CHAT, new("old", id="mem_3"))
        by = await memories.supersede(CHAT, "mem_3", new("same", id="mem_4"), "")
        assert by.tags == ("b", "a")
        assert (await memories.state(CHAT)).total == 1
        assert [each.id for each in await memories.get(CHAT, ["mem_1", "mem_2"])] == ["mem_4"]
        assert texts((await memories.page(CHAT)).memories) == ["same"]

    async def test_agents_and_kinds_keep_each_row(self, memories):
        agent = Scope.of_agent("tenant", "a")
        for scope, kind in ((agent, ""), (CHAT, "snapshot")):
            for n in range(2):
                await memories.add(scope, new("same", id=f"mem_{n}", kind=kind))
            assert (await memories.state(scope)).total == 2

    # -- conflicts ------------------------------------------------------------------------

    async def paired(self, memories, **older) -> None:
        await save(memories, CHAT, "8090", **older)
        await save(memories, CHAT, "8091")
        await memories.put_updates(CHAT, "mem_8091", [PossibleUpdate("mem_8090", "", DIFFERS)])

    async def test_a_conflict_is_told_wherever_the_newer_one_is_read(self, memories):
        await self.paired(memories)
        told = (PossibleUpdate("mem_8090", "8090", DIFFERS),)
        (row,) = await memories.get(CHAT, ["mem_8091"])
        assert row.updates == told
        assert [each.updates for each in (await memories.page(CHAT)).memories] == [told, ()]
        versions = await memories.versions(CHAT, [("mem_8091", 1)])
        assert [each.updates for each in versions.values()] == [told]
        assert texts((await memories.page(CHAT, CONFLICTS)).memories) == ["8091"]
        assert texts((await memories.page(CHAT, MemoryFilter(conflicts=False))).memories) == [
            "8090"
        ]
        assert (await memories.state(CHAT)).conflicts == 1

    @pytest.mark.parametrize(
        "end", ["both", "delete", "purge", "supersede", "merge", "edit", "edit newer"]
    )
    async def test_a_conflict_ends(self, memories, end):
        await self.paired(memories)
        if end == "both":
            assert await memories.keep_both(CHAT, "mem_8090", "mem_8091")
            assert not await memories.keep_both(CHAT, "mem_8090", "mem_8091")
        elif end in ("delete", "purge"):
            await memories.delete(CHAT, ["mem_8090"], purge=end == "purge")
        elif end == "supersede":
            await memories.supersede(CHAT, "mem_8090", new("none"), "")
        elif end == "merge":
            await memories.merge(CHAT, "mem_8091", "mem_8090", "")
        else:
            ref = "mem_8090" if end == "edit" else "mem_8091"
            await memories.change(CHAT, ref, rewritten("other"))
        assert (await memories.page(CHAT, CONFLICTS)).memories == ()
        assert all(not each.updates for each in (await memories.page(CHAT)).memories)
        assert (await memories.state(CHAT)).conflicts == 0

    async def test_what_expired_is_in_no_conflict(self, memories, clock):
        await self.paired(memories, expires=START + 5)
        clock.time += 5
        assert [each.updates for each in await memories.get(CHAT, ["mem_8091"])] == [()]

    async def test_a_conflict_comes_back_with_what_was_deleted(self, memories):
        await self.paired(memories)
        await memories.delete(CHAT, ["mem_8090"])
        await memories.undelete(CHAT, ["mem_8090"])
        assert texts((await memories.page(CHAT, CONFLICTS)).memories) == ["8091"]

    async def test_what_is_not_there_is_in_no_conflict(self, memories):
        await save(memories, CHAT, "8091")
        pair = [PossibleUpdate("mem_none", ""), PossibleUpdate("mem_8091", "")]
        await memories.put_updates(CHAT, "mem_8091", pair)
        await memories.put_updates(CHAT, "mem_none", pair)
        assert not await memories.keep_both(CHAT, "mem_8091", "mem_none")
        assert (await memories.page(CHAT, CONFLICTS)).memories == ()

    # -- standing -------------------------------------------------------------------------

    async def test_standing_ones_are_counted_and_chosen(self, memories):
        await save(memories, CHAT, "plain")
        await save(memories, CHAT, "wish", standing="wish")
        assert (await memories.state(CHAT)).standing == 1
        assert texts((await memories.page(CHAT, MemoryFilter(standing=True))).memories) == ["wish"]
        await memories.change(CHAT, "mem_plain", MemoryChange(START, standing="fact"))
        await memories.change(CHAT, "mem_wish", MemoryChange(START, standing=""))
        rows = (await memories.page(CHAT, MemoryFilter(standing=True))).memories
        assert [(each.text, each.standing) for each in rows] == [("plain", "fact")]
