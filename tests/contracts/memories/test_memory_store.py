"""`MemoryStore`, one by one: one contract, every back end."""

from __future__ import annotations

import pytest

from memtree.errors import BadRequest, Conflict, MemoryLimit, NotFound, VersionConflict
from memtree.memories.memory import Memory, MemoryChange, MemorySource
from memtree.memories.memory_store import MemoryFilter, ScopeState
from memtree.memories.scope import Scope
from tests.contracts.memory_backends import (
    CHAT,
    RECIPE,
    START,
    InEveryStore,
    new,
    rewritten,
    save,
    terms,
    text_hash,
    texts,
)

EVERYTHING = {
    "id": "mem_everything",
    "kind": "UserProfile",
    "data": {"name": "Ana\0", "langs": ["pt", 1, None, 2.5, True], "deep": {"a": {"b": []}}},
    "category": "preference",
    "tags": ("a", "b-c"),
    "source_type": "agent_inferred",
    "source_provider": "claude",
    "importance": 0.25,
    "capture_mode": "passive",
    "session_id": "session 1",
    "thread_id": "thread 1",
    "expires": START + 100.5,
    "last_confirmed": START - 3.25,
    "supersedes": "mem_elsewhere",
    "tainted": True,
    "source": MemorySource("m1", 3, 9, "ab" * 8, "cd" * 16),
}


class TestMemoryStore(InEveryStore):
    SOUND = False

    # -- add ------------------------------------------------------------------------------

    async def test_a_memory_comes_back_as_it_was_given(self, memories):
        added = await memories.add(CHAT, new("all of it \0 é 😀", **EVERYTHING))
        expected = Memory(
            number=1, text="all of it \0 é 😀", created=START, updated=START, **EVERYTHING
        )
        assert added == (expected, False)
        assert await memories.get(CHAT, [expected.id]) == [expected]
        assert await memories.get(CHAT, [1]) == [expected]
        assert (await memories.page(CHAT)).memories == (expected,)

    async def test_a_short_memory_has_the_defaults(self, memories):
        added = await memories.add(CHAT, new("short"))
        assert added.memory == Memory("mem_short", 1, "short", START, START)

    async def test_numbers_count_up_in_the_tenant(self, memories):
        other = Scope.of_agent("tenant", "agent", "subject")
        await save(memories, CHAT, "one")
        await save(memories, other, "two")
        await save(memories, Scope.of_chat("another", "chat"), "first")
        await save(memories, CHAT, "three")
        assert [m.number for m in await memories.get(CHAT, ["mem_one", "mem_three"])] == [1, 3]
        assert [m.number for m in await memories.get(other, ["mem_two"])] == [2]
        await memories.delete(CHAT, [3], purge=True)
        assert (await memories.add(CHAT, new("four"))).memory.number == 4  # 3 is never used again

    async def test_once_gives_what_is_there(self, memories, clock):
        first = await memories.add(CHAT, new("same", id="mem_1"), once=True)
        again = await memories.add(CHAT, new("same", id="mem_2", category="fact"), once=True)
        assert again == (first.memory, True)
        assert await memories.state(CHAT) == ScopeState(1, 1, 0)
        other = await memories.add(Scope.of_chat("tenant", "other"), new("same"), once=True)
        assert not other.existing
        plain = await memories.add(CHAT, new("same", id="mem_3"))
        assert not plain.existing
        assert (await memories.add(CHAT, new("same", id="mem_4"), once=True)) == (
            plain.memory,
            True,
        )

    async def test_once_asks_for_live_ones(self, memories, clock):
        await memories.add(CHAT, new("gone", id="mem_1"))
        await memories.delete(CHAT, ["mem_1"])
        assert not (await memories.add(CHAT, new("gone", id="mem_2"), once=True)).existing
        await memories.add(CHAT, new("brief", id="mem_3", expires=START + 10))
        clock.time += 10
        assert not (await memories.add(CHAT, new("brief", id="mem_4"), once=True)).existing

    async def test_the_limit_is_the_tenants(self, memories, clock):
        other = Scope.of_user("tenant", "somebody")
        await memories.add(CHAT, new("one", expires=START + 10), most=2)
        await memories.add(other, new("two"), most=2)
        with pytest.raises(MemoryLimit, match="2 memories"):
            await memories.add(CHAT, new("three"), most=2)
        assert await memories.state(CHAT) == ScopeState(1, 1, 0)
        assert (await memories.add(CHAT, new("one"), once=True, most=2)).existing
        await memories.add(Scope.of_chat("another", "chat"), new("one"), most=2)
        clock.time += 10
        await memories.add(CHAT, new("three"), most=2)
        with pytest.raises(MemoryLimit):
            await memories.add(CHAT, new("four"), most=2)
        await memories.delete(other, ["mem_two"])
        await memories.add(CHAT, new("four"), most=2)

    async def test_an_id_is_taken_once(self, memories):
        await memories.add(CHAT, new("one", id="mem_1"))
        with pytest.raises(Conflict):
            await memories.add(CHAT, new("two", id="mem_1"))
        assert await memories.state(CHAT) == ScopeState(1, 1, 0)

    @pytest.mark.parametrize("id_", ["mem_\0", "mem_\ud800"])
    async def test_an_id_is_plain_text(self, memories, id_):
        with pytest.raises(BadRequest):
            await memories.add(CHAT, new("one", id=id_))
        assert await memories.state(CHAT) == ScopeState()

    @pytest.mark.parametrize("data", [{"n": 2**70}, {"s": "\ud800"}, {"o": {1, object}}])
    async def test_what_cannot_be_kept_is_refused(self, memories, data):
        with pytest.raises(BadRequest):
            await memories.add(CHAT, new("one", data=data))
        assert await memories.state(CHAT) == ScopeState()

    # -- get and page ---------------------------------------------------------------------

    async def test_what_is_asked_for_comes_in_that_order(self, memories):
        await save(memories, CHAT, "one", "two", "three")
        refs = ["mem_three", 1, "mem_nothing", 3, 99, "mem_two", 2**70, -1, "\0", "\ud800"]
        assert texts(await memories.get(CHAT, refs)) == ["three", "one", "two"]
        assert await memories.get(CHAT, []) == []
        assert await memories.get(Scope.of_chat("tenant", "new"), [1]) == []

    async def test_pages_go_back_in_time(self, memories):
        await save(memories, CHAT, *"abcde")
        first = await memories.page(CHAT, limit=2)
        assert (texts(first.memories), first.more, first.total) == (["e", "d"], True, 5)
        second = await memories.page(CHAT, before=first.memories[-1].number, limit=2)
        assert (texts(second.memories), second.more) == (["c", "b"], True)
        last = await memories.page(CHAT, before=second.memories[-1].number, limit=2)
        assert (texts(last.memories), last.more, last.total) == (["a"], False, 5)
        assert (await memories.page(CHAT, before=2**80, limit=1)).memories == first.memories[:1]
        assert (await memories.page(CHAT, before=-1)).memories == ()
        assert await memories.page(Scope.of_user("tenant")) == ((), False, 0)

    # -- change ---------------------------------------------------------------------------

    async def test_a_change_leaves_what_it_does_not_name(self, memories):
        old = (await memories.add(CHAT, new("old", **EVERYTHING))).memory
        changed = await memories.change(CHAT, old.id, rewritten("new"))
        assert (changed.text, changed.version, changed.updated) == ("new", 2, START + 9)
        kept = ("data", "tags", "category", "expires", "source", "created", "number", "tainted")
        assert [getattr(changed, name) for name in kept] == [getattr(old, name) for name in kept]
        assert await memories.get(CHAT, [1]) == [changed]
        assert await memories.history(CHAT, 1) == [changed, old]
        named = [(old.id, 1), (old.id, 2), (old.id, 3), ("mem_no", 1)]
        assert await memories.versions(CHAT, named) == {
            (old.id, 1): old,
            (old.id, 2): changed,
        }

    async def test_every_field_of_a_change(self, memories):
        await memories.add(CHAT, new("old", **EVERYTHING))
        change = MemoryChange(
            START + 1,
            category=None,
            tags=("z",),
            data=None,
            expires=None,
            last_confirmed=START + 1,
            tainted=False,
        )
        changed = await memories.change(CHAT, 1, change)
        assert (changed.category, changed.tags, changed.data, changed.expires) == (
            None,
            ("z",),
            None,
            None,
        )
        assert (changed.last_confirmed, changed.tainted) == (START + 1, False)
        assert texts((await memories.page(CHAT, MemoryFilter(tags=("z",)))).memories) == ["old"]
        assert (await memories.page(CHAT, MemoryFilter(tags=("a",)))).memories == ()

    async def test_a_change_of_another_version_is_refused(self, memories):
        await save(memories, CHAT, "one")
        await memories.change(CHAT, 1, rewritten("two"), if_version=1)
        with pytest.raises(VersionConflict):
            await memories.change(CHAT, 1, rewritten("three"), if_version=1)
        assert texts(await memories.get(CHAT, [1])) == ["two"]
        assert await memories.state(CHAT) == ScopeState(2, 1, 0)

    async def test_only_live_memories_change(self, memories, clock):
        await save(memories, CHAT, "one")
        await save(memories, CHAT, "two", expires=START + 5)
        await memories.delete(CHAT, ["mem_one"])
        clock.time += 5
        for ref in ("mem_one", "mem_two", "mem_none", 9):
            if ref != "mem_two":  # expired: it may be given more time
                with pytest.raises(NotFound):
                    await memories.change(CHAT, ref, rewritten("new"))
            with pytest.raises(NotFound):
                await memories.supersede(CHAT, ref, new("new"), "")
        with pytest.raises(NotFound):
            await memories.change(Scope.of_chat("tenant", "new"), 1, rewritten("new"))

    async def test_what_expired_may_be_given_more_time(self, memories, clock):
        await save(memories, CHAT, "one", expires=START + 5)
        clock.time += 5
        await memories.change(CHAT, "mem_one", MemoryChange(clock.time, expires=None))
        assert texts(await memories.get(CHAT, [1])) == ["one"]
        assert (await memories.state(CHAT)).total == 1

    async def test_what_is_superseded_changes_and_stays_so(self, memories):
        await save(memories, CHAT, "old")
        await memories.put_vectors(CHAT, RECIPE, {1: (1, b"v")})
        await memories.supersede(CHAT, 1, new("now"), "")
        changed = await memories.change(CHAT, "mem_old", rewritten("older"))
        assert (changed.text, changed.superseded_by) == ("older", "mem_now")
        assert texts((await memories.page(CHAT)).memories) == ["now"]

    async def test_the_new_text_is_found_instead_of_the_old(self, memories):
        await save(memories, CHAT, "old")
        await memories.put_vectors(CHAT, RECIPE, {1: (1, b"v")})
        await memories.change(CHAT, 1, rewritten("new"))
        assert not (await memories.add(CHAT, new("old", id="mem_2"), once=True)).existing
        assert (await memories.add(CHAT, new("new", id="mem_3"), once=True)).existing
        (row, _) = (await memories.search_rows(CHAT, RECIPE, 0)).rows
        assert (row.terms, row.vector) == (terms("new"), None)
        assert text_hash("old") != text_hash("new")
