"""Deleting all that a filter lets through, and what goes with a deleted memory, in every store."""

from __future__ import annotations

import pytest

from memtree.memories.memory import MemoryChange
from memtree.memories.memory_store import ANY, MemoryFilter, ScopeState
from memtree.memories.scope import Scope
from memtree.memories.user_memories import MemoryGroup
from memtree.stores.memories import removal
from tests.contracts.memory_backends import RECIPE, START, InEveryStore, new, rewritten, save, texts

USER, OTHER = Scope.of_user("tenant"), Scope.of_user("tenant", "other")
STORED = MemoryFilter(superseded=True, expired=True)
EVERY = MemoryFilter(superseded=True, expired=True, deleted=True)
FACTS = MemoryFilter(category="fact")


class TestBulkDeletion(InEveryStore):
    @pytest.fixture
    async def filled(self, memories):
        """Four of six are facts; one of those was superseded by another."""
        for n in range(6):
            await memories.add(USER, new(f"{n}", category="fact" if n % 2 else "general"))
        await memories.supersede(USER, "mem_1", new("6", category="fact"), "why")
        await memories.put_vectors(USER, RECIPE, dict.fromkeys((1, 2, 3, 4, 7), (1, b"v")))
        await save(memories, OTHER, "theirs", category="fact")
        return memories

    async def live(self, memories) -> str:
        return "".join(texts((await memories.page(USER)).memories)[::-1])

    async def test_all_that_a_filter_lets_through_in_one_change(self, filled):
        before = await filled.state(USER)
        assert await filled.delete_matching(USER, FACTS) == ["mem_3", "mem_5", "mem_6"]
        assert await self.live(filled) == "024"
        assert await filled.state(USER) == ScopeState(before.changed + 1, 3, 0)
        events = await filled.changes(USER, before.changed)
        assert {(e.type, e.id) for e in events} == {
            ("deleted", f"mem_{number}") for number in (3, 5, 6)
        }
        assert await filled.delete_matching(USER, FACTS) == []
        assert await filled.state(USER) == ScopeState(before.changed + 1, 3, 0)
        assert (await filled.page(OTHER)).total == 1
        assert await filled.tombstones(USER) == []  # nor of the one that was superseded

    async def test_they_come_back(self, filled):
        gone = await filled.delete_matching(USER, ANY)
        assert await self.live(filled) == ""
        assert sorted(m.id for m in await filled.undelete(USER, gone)) == gone
        assert await self.live(filled) == "023456"
        assert [stone.text for stone in await filled.tombstones(USER)] == ["1"]
        assert texts((await filled.page(USER, STORED)).memories) == list("6543210")

    async def test_tombstones_for_a_reason(self, filled):
        await filled.delete_matching(USER, FACTS, reason="asked to")
        stones = await filled.tombstones(USER)
        assert {(stone.id, stone.reason, stone.text) for stone in stones} == {
            (f"mem_{number}", "asked to", "") for number in (3, 5, 6)
        }

    async def test_everything_that_is_stored(self, filled, clock):
        await save(filled, USER, "7", expires=START + 5)
        clock.time += 9
        ids = [f"mem_{number}" for number in range(8)]
        assert await filled.delete_matching(USER, STORED) == ids
        assert (await filled.page(USER, STORED)).memories == ()
        assert await filled.records(USER) == []

    @pytest.mark.parametrize("wanted", [STORED, EVERY])
    async def test_purged_with_what_was_deleted_before(self, filled, wanted, store):
        await filled.delete(USER, ["mem_0"])
        gone = await filled.delete_matching(USER, wanted, purge=True)
        assert gone == [f"mem_{number}" for number in range(0 if wanted.deleted else 1, 7)]
        left = (await filled.page(USER, EVERY)).memories
        assert texts(left) == ([] if wanted.deleted else ["0"])
        counts = await store.counts()
        assert counts["memories"] == 1 + len(left)
        assert counts["memory_vectors"] == len(left)
        state = await filled.state(USER)
        assert (state.total, state.purges) == (0, 1)
        events = await filled.changes(USER, state.changed - 1)
        assert {event.type for event in events} == {"deleted"}
        assert len(events) == 5  # those that counted until now

    @pytest.mark.parametrize("purge", [False, True])
    async def test_more_than_are_taken_together(self, memories, monkeypatch, purge):
        monkeypatch.setattr(removal, "ROWS", 3)
        monkeypatch.setattr(removal, "ROWS", 3)
        for n in range(10):
            await memories.add(USER, new(f"{n}"))
        for n in range(0, 10, 3):
            await memories.supersede(USER, f"mem_{n}", new(f"newer {n}"), "")
        await memories.mark_duplicate(USER, "mem_1", "mem_8")
        gone = await memories.delete_matching(USER, STORED, reason="", purge=purge)
        assert len(gone) == 13  # without the twin, which goes with the one that counts
        state = await memories.state(USER)
        assert (state.total, state.purges) == (0, int(purge))
        left = await memories.get(USER, list(range(1, 15)), deleted=True)
        assert len(left) == (0 if purge else 14)
        assert all(memory.deleted for memory in left)
        assert len(await memories.tombstones(USER)) == 9
        if not purge:
            await memories.undelete(USER, gone)
            assert (await memories.state(USER)).total == 9

    async def test_a_sweep_takes_as_many_at_a_time(self, memories, store, clock):
        await memories.add_many(USER, [new(f"{n}") for n in range(2_100)])
        await memories.delete_matching(USER, ANY)
        assert await memories.sweep_memories(clock() + 31 * 86_400, 30) == 2_100
        assert (await store.counts())["memories"] == 0
        assert (await memories.state(USER)).purges == 3

    async def test_a_filter_that_means_none(self, filled):
        nobody = Scope.of_user("nobody")
        for purge in (False, True):
            assert await filled.delete_matching(nobody, ANY, purge=purge) == []
            of_none = MemoryFilter(tags=("none",))
            assert await filled.delete_matching(USER, of_none, purge=purge) == []
        assert await self.live(filled) == "023456"

    async def test_of_a_group_and_of_a_time(self, filled):
        await filled.add_group(USER, MemoryGroup("grp", "t", START, START), 9)
        await filled.add_members(USER, "grp", ["mem_0", "mem_3"])
        await save(filled, USER, "later", created=START + 50)
        assert await filled.delete_matching(USER, MemoryFilter(group="grp")) == ["mem_0", "mem_3"]
        late = MemoryFilter(created_from=START + 50)
        assert await filled.delete_matching(USER, late) == ["mem_later"]
        assert await self.live(filled) == "2456"


class TestLineage(InEveryStore):
    """A memory that another one replaced is older words for the same thing: it is deleted with
    it."""

    @pytest.fixture
    async def line(self, memories):
        """One after the other, each of them changed once; the first has a twin."""
        await save(memories, USER, "first", "twin", "stays")
        await memories.change(USER, "mem_first", rewritten("first again"))
        await memories.mark_duplicate(USER, "mem_twin", "mem_first")
        await memories.supersede(USER, "mem_first", new("second"), "one")
        await memories.supersede(USER, "mem_second", new("third"), "two")
        return memories

    async def answers(self, memories) -> dict[str, object]:
        ids = ["mem_first", "mem_twin", "mem_second", "mem_third"]
        return {
            "page": texts((await memories.page(USER, STORED)).memories),
            "history": [texts(await memories.history(USER, id_)) for id_ in ids],
            "versions": await memories.versions(USER, [(id_, 1) for id_ in ids]),
            "tombstones": [stone.text for stone in await memories.tombstones(USER)],
            "records": [record.memory.id for record in await memories.records(USER)],
        }

    async def test_no_answer_holds_it_while_it_is_deleted(self, line):
        before = await self.answers(line)
        state = await line.state(USER)
        assert await line.delete(USER, ["mem_third"]) == ["mem_third"]
        assert await line.state(USER) == ScopeState(state.changed + 1, 1, 0)
        events = await line.changes(USER, state.changed)
        assert [(event.type, event.id) for event in events] == [("deleted", "mem_third")]
        assert await self.answers(line) == {
            "page": ["stays"],
            "history": [[], [], [], []],
            "versions": {},
            "tombstones": [],
            "records": ["mem_stays"],
        }
        assert texts(await line.undelete(USER, ["mem_third"])) == ["third"]
        assert await self.answers(line) == before

    async def test_it_does_not_come_back_alone(self, line):
        await line.delete(USER, ["mem_third"])
        state = await line.state(USER)
        assert await line.undelete(USER, ["mem_first", "mem_second"]) == []
        assert await line.state(USER) == state
        back = await line.undelete(USER, ["mem_first", "mem_third"])
        assert {memory.id for memory in back} >= {"mem_third"}
        assert (await line.state(USER)).total == 2

    async def test_what_was_deleted_for_itself_comes_back_for_itself(self, line, clock):
        """The deletion is that of a filter which lets through what was superseded, and not what
        took its place."""
        await line.change(USER, "mem_third", MemoryChange(START, category="general"))
        first = MemoryFilter(superseded=True, created_before=START + 1, category="")
        gone = await line.delete_matching(USER, first)
        assert gone == ["mem_first", "mem_stays", "mem_second"]
        assert texts((await line.page(USER, STORED)).memories) == ["third"]
        clock.time += 5
        await line.delete(USER, ["mem_third"])
        await line.undelete(USER, ["mem_third"])
        assert texts((await line.page(USER, STORED)).memories) == ["third"]
        await line.undelete(USER, gone)
        found = texts((await line.page(USER, STORED)).memories)
        assert sorted(found) == ["first again", "second", "stays", "third"]
        assert (await line.state(USER)).total == 2

    async def test_the_sweep_erases_the_whole_line(self, line, store, clock):
        await line.delete(USER, ["mem_third"])
        assert await line.sweep_memories(clock() + 31 * 86_400, 30) == 4
        counts = await store.counts()
        assert (counts["memories"], counts["memory_history"], counts["memory_tombstones"]) == (
            1,
            0,
            0,
        )
