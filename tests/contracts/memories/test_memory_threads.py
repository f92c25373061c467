"""`MemoryStore`: a thread is replaced as one, in every back end."""

from __future__ import annotations

import asyncio

import pytest

from memtree.errors import Conflict, MemoryLimit
from memtree.memories.memory_store import ANY, MemoryFilter, ScopeState
from memtree.memories.scope import Scope
from memtree.stores import SqliteStore
from tests.contracts.memory_backends import RECIPE, START, Clock, InEveryStore, new, save, texts

HERE = Scope.of_namespace("tenant", "handbook")
OF_A = MemoryFilter(thread_id="a")
EVERY = MemoryFilter(superseded=True, expired=True, deleted=True)


def passages(*said: str, thread: str = "a", version: int = 1):
    ids = [f"mem_{thread}{version}-{at}" for at in range(len(said))]
    return [new(text, id=id_, thread_id=thread) for text, id_ in zip(said, ids, strict=True)]


class TestMemoryThreads(InEveryStore):
    @pytest.fixture
    async def filled(self, memories):
        assert await memories.replace_thread(HERE, "a", passages("one", "two")) == 0
        assert await memories.replace_thread(HERE, "b", passages("three", thread="b")) == 0
        return memories

    async def live(self, memories, wanted=ANY):
        """Oldest first."""
        return texts((await memories.page(HERE, wanted)).memories)[::-1]

    async def test_a_thread_is_kept_in_its_order(self, filled):
        assert await self.live(filled, OF_A) == ["one", "two"]
        assert await self.live(filled) == ["one", "two", "three"]
        assert await filled.state(HERE) == ScopeState(2, 3, 0)

    async def test_another_one_takes_its_place_in_one_step(self, filled):
        assert await filled.replace_thread(HERE, "a", passages("two", "four", version=2)) == 2
        assert await self.live(filled) == ["three", "two", "four"]
        assert await filled.state(HERE) == ScopeState(3, 3, 0)
        events = [(each.type, each.id) for each in await filled.changes(HERE, 2)]
        assert events == [
            ("deleted", "mem_a1-0"), ("deleted", "mem_a1-1"),
            ("created", "mem_a2-0"), ("created", "mem_a2-1"),
        ]  # fmt: skip
        assert await filled.tombstones(HERE) == []
        assert await filled.get(HERE, ["mem_a1-0", "mem_a1-1"]) == []

    async def test_with_nothing_in_its_place_it_is_gone(self, filled):
        assert await filled.replace_thread(HERE, "a", []) == 2
        assert await filled.replace_thread(HERE, "a", []) == 0
        assert await filled.replace_thread(Scope.of_user("nobody"), "a", []) == 0
        assert await self.live(filled) == ["three"]
        assert await filled.state(HERE) == ScopeState(3, 1, 0)

    async def test_what_was_replaced_is_erased_by_the_next_sweep(self, filled, store):
        await filled.put_vectors(HERE, RECIPE, {1: (1, b"1"), 2: (1, b"2"), 3: (1, b"3")})
        await filled.replace_thread(HERE, "a", passages("two", version=2))
        assert len(await self.live(filled, EVERY)) == 4
        assert await filled.sweep_memories(START, 30) == 2
        assert await self.live(filled, EVERY) == ["three", "two"]
        counts = await store.counts()
        assert (counts["memories"], counts["memory_vectors"]) == (2, 2)

    async def test_nobody_brings_back_what_was_replaced(self, filled):
        await filled.replace_thread(HERE, "a", passages("two", version=2))
        assert await filled.undelete(HERE, ["mem_a1-0", 1, 2]) == []
        assert await self.live(filled) == ["three", "two"]

    async def test_the_limit_is_judged_by_what_is_there_afterwards(self, filled):
        assert await filled.replace_thread(HERE, "a", passages("x", "y", version=2), most=3) == 2
        before = await filled.state(HERE)
        for thread in ("a", "b", "c"):
            too_much = passages("1", "2", "3", "4", thread=thread, version=3)
            with pytest.raises(MemoryLimit):
                await filled.replace_thread(HERE, thread, too_much, most=3)
        assert await self.live(filled) == ["three", "x", "y"]
        assert await filled.state(HERE) == before

    async def test_an_id_that_is_taken_changes_nothing(self, filled):
        with pytest.raises(Conflict):
            await filled.replace_thread(HERE, "a", passages("x", thread="b"))
        assert await self.live(filled) == ["one", "two", "three"]

    async def test_vectors_of_what_stays_are_kept(self, filled):
        await filled.put_vectors(HERE, RECIPE, {1: (1, b"1"), 2: (1, b"2")})
        await filled.put_vectors(HERE, "another", {2: (1, b"-2")})
        await filled.replace_thread(HERE, "a", passages("two", "four", "two", version=2))
        rows = (await filled.search_rows(HERE, RECIPE, 0)).rows
        vectors = {row.number: row.vector for row in rows if row.live}
        assert vectors == {3: None, 4: b"2", 5: None, 6: b"2"}
        others = (await filled.search_rows(HERE, "another", 0)).rows
        assert {row.number for row in others if row.vector} == {2, 4, 6}
        assert texts(await filled.without_vectors(HERE, RECIPE, 9)) == ["three", "four"]
        assert texts(await filled.without_vectors(HERE, "another", 9)) == ["three", "four"]
        assert await filled.scopes_without_vectors(RECIPE, 9) == [HERE]
        await filled.put_vectors(HERE, RECIPE, {3: (1, b"3"), 5: (1, b"4")})
        assert await filled.scopes_without_vectors(RECIPE, 9) == []
        assert await filled.without_vectors(HERE, RECIPE, 9) == []

    async def test_an_index_learns_of_it_from_what_changed(self, filled):
        after = (await filled.state(HERE)).changed
        await filled.replace_thread(HERE, "a", passages("four", version=2))
        found = await filled.search_rows(HERE, RECIPE, after)
        assert found.state.purges == 0
        assert [(row.number, row.live) for row in found.rows] == [(1, False), (2, False), (4, True)]

    async def test_a_thread_of_another_scope_stays(self, filled):
        others = [
            Scope.of_namespace("tenant", "other"),
            Scope.of_namespace("another", "handbook"),
            Scope.of_user("tenant", "handbook"),
            Scope.of_chat("tenant", "handbook"),
        ]
        for other in others:
            await save(filled, other, "theirs", thread_id="a")
        assert await filled.replace_thread(HERE, "a", passages("four", version=2)) == 2
        for other in others:
            assert texts((await filled.page(other)).memories) == ["theirs"]

    @pytest.mark.parametrize("thread", ["\0", "a' OR 1=1 --", "漢" * 200])
    async def test_any_id_names_its_own_thread(self, filled, thread):
        await filled.replace_thread(HERE, thread, [new("odd", thread_id=thread)])
        assert await filled.replace_thread(HERE, thread, []) == 1
        assert await self.live(filled) == ["one", "two", "three"]

    async def test_many_at_once_leave_one_whole_thread(self, filled):
        wanted = [passages(f"{n} first", f"{n} last", version=n) for n in range(2, 9)]
        replaced = await asyncio.gather(
            *(filled.replace_thread(HERE, "a", each) for each in wanted)
        )
        assert replaced == [2] * 7
        first, last = await self.live(filled, OF_A)
        assert first.split()[0] == last.split()[0]
        assert (await filled.state(HERE)).total == 3


async def test_a_replaced_text_is_gone_from_the_file_after_a_sweep(tmp_path):
    clock = Clock()
    store = SqliteStore(tmp_path / "store.db", now=clock)
    memories = store.memories()
    rows = [new(f"canary of a text {n}", id=f"m{n}", thread_id="a") for n in range(50)]
    await memories.replace_thread(HERE, "a", rows)
    await memories.replace_thread(HERE, "a", passages("stays"))

    def held(word: bytes) -> bool:
        return any(word in path.read_bytes() for path in tmp_path.iterdir())

    assert held(b"canary of a text")
    assert await memories.sweep_memories(clock(), 30) == 50
    assert not held(b"canary")
    assert held(b"stays")
    await store.close()
