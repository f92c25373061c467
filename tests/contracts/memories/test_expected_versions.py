"""Writes that were made from a memory, in every store: nothing is stored where that has changed."""

from __future__ import annotations

from dataclasses import replace

from memtree.agents.agent_memory import NOBODY
from memtree.memories.memory import MemoryChange
from tests.contracts.agents.test_agent_memories import (
    AGENT,
    ANN,
    OTHER,
    UPDATED,
    live,
    note,
    profile,
    written,
)
from tests.contracts.memory_backends import START, InEveryStore


class TestExpectedVersions(InEveryStore):
    async def test_what_was_made_from_another_version_is_not_stored(self, memories):
        await memories.write(AGENT, [profile("blue"), note("other")])
        await memories.change(AGENT, "mem_blue", MemoryChange(START + 1, tags=("t",)))
        for expected in (("mem_blue", 1), ("mem_nobody", 1), ("mem_other", 1), NOBODY):
            red = replace(profile("red"), expected=expected)
            assert await memories.write(AGENT, [note("n"), red], done=[b"1"]) is None
        assert await live(memories, AGENT) == ["blue", "other"]
        assert await memories.extracted(AGENT, [b"1"]) == set()
        red = replace(profile("red"), expected=("mem_blue", 2))
        assert await written(memories, AGENT, red) == [("red", UPDATED, "mem_blue")]

    async def test_what_was_made_from_a_memory_that_is_gone_is_not_stored(self, memories, clock):
        await memories.write(
            AGENT, [profile("blue"), profile("ann", key=b"ann", expires=START + 5)]
        )
        await memories.delete(AGENT, ["mem_blue"])
        await memories.write(ANN, [profile("red", key=b"red")])
        clock.time += 5
        for id_ in ("mem_blue", "mem_ann", "mem_red"):
            write = replace(profile("new"), expected=(id_, 1))
            assert await memories.write(AGENT, [write]) is None
        for key in (b"profile", b"ann", b"red", b""):
            write = replace(profile(f"for {key!r}", key=key), expected=NOBODY)
            assert len(await memories.write(AGENT, [write])) == 1

    async def test_who_has_unique_values(self, memories, clock):
        put = [profile("blue"), profile("red", key=b"red"), profile("ann", key=b"ann")]
        await memories.write(AGENT, [*put, profile("late", key=b"late", expires=START + 5)])
        await memories.write(AGENT, [profile("green")])
        await memories.write(ANN, [profile("hers", key=b"hers")])
        await memories.delete(AGENT, ["mem_ann"])
        clock.time += 5
        keys = [b"red", b"profile", b"ann", b"late", b"hers", b"nobody's", b""]
        found = await memories.unique_holders(AGENT, "Profile", keys)
        assert {key: row.id for key, row in found.items()} == {
            b"red": "mem_red",
            b"profile": "mem_green",
        }
        assert found[b"red"].data == {"colour": "red"}
        assert await memories.unique_holders(AGENT, "Note", keys) == {}
        assert await memories.unique_holders(OTHER, "Profile", keys) == {}
        assert await memories.unique_holders(AGENT, "Profile", []) == {}
