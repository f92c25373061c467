"""Check what was extracted from messages, in every store: once, and what was deleted stays away."""

from __future__ import annotations

import asyncio

import pytest

from memtree.errors import Conflict, MemoryLimit
from memtree.memories.memory_store import MemoryFilter
from memtree.memories.scope import Scope
from memtree.memories.user_memories import ForgetOrder, MemoryGroup
from tests.contracts.memory_backends import START, InEveryStore, new, rewritten, save, texts

USER, OTHER = Scope.of_user("tenant"), Scope.of_user("tenant", "other")
DIGESTS = [bytes([n]) * 32 for n in range(5)]


class TestExtraction(InEveryStore):
    async def test_a_message_is_done_once(self, memories):
        added = await memories.add_extracted(USER, DIGESTS[0], [new("one"), new("two")], most=0)
        assert [(each.memory.text, each.existing) for each in added] == [
            ("one", False),
            ("two", False),
        ]
        again = [new("three"), new("four")]
        assert await memories.add_extracted(USER, DIGESTS[0], again, most=0) is None
        assert texts((await memories.page(USER)).memories) == ["two", "one"]
        assert await memories.extracted(USER, DIGESTS) == {DIGESTS[0]}
        assert await memories.extracted(OTHER, DIGESTS) == set()
        assert await memories.extracted(USER, []) == set()
        assert (await memories.state(USER)).changed == 1  # one change, of both

    async def test_a_message_without_memories_is_done_as_well(self, memories):
        assert await memories.add_extracted(USER, DIGESTS[1], [], most=0) == []
        assert await memories.add_extracted(USER, DIGESTS[1], [new("late")], most=0) is None
        assert await memories.extracted(USER, DIGESTS) == {DIGESTS[1]}
        assert (await memories.state(USER)).changed == 0

    async def test_a_text_that_is_there_is_not_kept_twice(self, memories):
        await save(memories, USER, "there")
        given = [new("there", id="a"), new("twice", id="b"), new("new", id="c")]
        given += [new("twice", id="d")]
        added = await memories.add_extracted(USER, DIGESTS[0], given, most=0)
        assert [(each.memory.id, each.existing) for each in added] == [
            ("mem_there", True),
            ("b", False),
            ("c", False),
            ("b", True),
        ]
        assert [each.memory.number for each in added] == [1, 2, 3, 2]
        assert (await memories.page(USER)).total == 3

    async def test_a_persons_word_is_kept_beside_the_same_of_a_model(self, memories):
        await save(memories, USER, "there", source_type="model", tainted=True)
        (added,) = await memories.add_extracted(USER, DIGESTS[0], [new("there", id="a")], most=0)
        assert (added.memory.id, added.existing, added.memory.tainted) == ("a", False, False)

    async def test_an_order_to_forget_is_obeyed_once(self, memories):
        await save(memories, USER, "tea", "milk")
        await save(memories, OTHER, "coffee")
        assert (
            await memories.forget_once(USER, ForgetOrder(DIGESTS[0], "mem_coffee")) == []
        )  # another's
        assert await memories.forget_once(USER, ForgetOrder(DIGESTS[0], "mem_tea")) == ["mem_tea"]
        assert await memories.extracted(USER, DIGESTS) == {DIGESTS[0]}
        assert await memories.undelete(USER, ["mem_tea"])
        for ref in ("mem_tea", "mem_milk"):
            assert await memories.forget_once(USER, ForgetOrder(DIGESTS[0], ref)) == []
        assert texts((await memories.page(USER)).memories) == ["milk", "tea"]
        assert texts((await memories.page(OTHER)).memories) == ["coffee"]

    async def test_what_else_a_forgotten_memory_says_is_kept(self, memories):
        for number, purge in enumerate((False, True)):
            digest, tea, rest = DIGESTS[number], f"tea and milk {number}", f"milk {number}"
            await memories.add(USER, new(tea))
            id_ = f"mem_tea-and-milk-{number}"
            group = MemoryGroup(f"grp_{number}", "drinks", START, START)
            await memories.add_group(USER, group, 9)
            await memories.add_members(USER, group.id, [id_])
            order = ForgetOrder(digest, id_, new(rest))
            for expected in ([id_], []):
                assert await memories.forget_once(USER, order, purge=purge) == expected
            assert rest in texts((await memories.page(USER)).memories)
            assert tea not in texts((await memories.page(USER)).memories)
            members = await memories.page(USER, MemoryFilter(group=group.id))
            assert texts(members.memories) == [rest]
            stones = await memories.tombstones(USER, 9)
            assert [stone.text for stone in stones] == [""] * (number + 1)
        assert (await memories.page(USER)).total == 2
        assert texts(await memories.undelete(USER, ["mem_tea-and-milk-0"])) == ["tea and milk 0"]
        assert await memories.forget_once(USER, ForgetOrder(DIGESTS[2], "mem_none", new("x"))) == []
        assert (await memories.page(USER)).total == 3

    async def test_one_of_two_servers_obeys_an_order(self, memories):
        await save(memories, USER, "tea")
        obeyed = [
            memories.forget_once(USER, ForgetOrder(DIGESTS[0], "mem_tea"), purge=True)
            for _ in range(4)
        ]
        assert sorted(map(len, await asyncio.gather(*obeyed))) == [0, 0, 0, 1]

    async def test_what_was_deleted_stays_away(self, memories, clock):
        for purge in (False, True):
            digest = DIGESTS[purge]
            memory = new("gone", id=f"mem_{purge}")
            (added,) = await memories.add_extracted(USER, digest, [memory], most=0)
            assert await memories.delete(USER, [added.memory.id], purge=purge)
        clock.time += 40 * 86_400
        await memories.sweep_memories(clock(), 30)
        for digest in DIGESTS[:2]:
            assert await memories.add_extracted(USER, digest, [new("gone", id="x")], most=0) is None
        assert await memories.extracted(USER, DIGESTS) == {*DIGESTS[:2]}
        assert (await memories.page(USER)).total == 0

    async def test_nothing_is_marked_where_the_limit_is_met(self, memories):
        await save(memories, USER, "one")
        with pytest.raises(MemoryLimit):
            await memories.add_extracted(USER, DIGESTS[0], [new("two"), new("three")], most=2)
        assert await memories.extracted(USER, DIGESTS) == set()
        assert (await memories.page(USER)).total == 1
        same = [new("one", id="a"), new("two")]
        assert len(await memories.add_extracted(USER, DIGESTS[0], same, most=2)) == 2

    async def test_nothing_is_marked_where_an_id_is_taken(self, memories):
        await save(memories, USER, "one")
        taken = [new("two"), new("three", id="mem_one")]
        with pytest.raises(Conflict):
            await memories.add_extracted(USER, DIGESTS[0], taken, most=0)
        assert await memories.extracted(USER, DIGESTS) == set()
        assert (await memories.page(USER)).total == 1

    async def test_of_many_at_once_one_is_kept(self, memories):
        calls = [
            memories.add_extracted(USER, DIGESTS[n % 2], [new(f"{n}", id=f"m{n}")], most=0)
            for n in range(12)
        ]
        results = await asyncio.gather(*calls)
        assert sum(each is not None for each in results) == 2
        assert (await memories.page(USER)).total == 2


class TestSnapshots(InEveryStore):
    async def test_a_snapshot_is_replaced(self, memories):
        first = await memories.put_snapshot(USER, b"key", new("one", id="a", kind="snapshot"))
        assert (first.id, first.version, first.kind) == ("a", 1, "snapshot")
        newer = new("one and two", id="b", created=START + 5, expires=START + 99)
        second = await memories.put_snapshot(USER, b"key", newer)
        assert (second.id, second.version, second.text) == ("a", 2, "one and two")
        assert (second.updated, second.expires) == (START + 5, START + 99)
        assert await memories.put_snapshot(USER, b"key", new("one and two", id="c")) is None
        assert (await memories.page(USER)).memories == (second,)
        assert texts(await memories.history(USER, "a")) == ["one and two", "one"]

    async def test_snapshots_of_other_keys_and_scopes_are_others(self, memories):
        for scope, key in ((USER, b"a"), (USER, b"b"), (OTHER, b"a")):
            assert await memories.put_snapshot(scope, key, new("same", id=f"{scope} {key!r}"))
        assert (await memories.page(USER)).total == 2
        assert (await memories.page(OTHER)).total == 1

    async def test_a_snapshot_is_no_message(self, memories):
        await memories.put_snapshot(USER, DIGESTS[0], new("one"))
        assert await memories.extracted(USER, DIGESTS) == set()
        assert await memories.add_extracted(USER, DIGESTS[0], [], most=0) == []
        await memories.add_extracted(USER, DIGESTS[1], [], most=0)
        assert await memories.put_snapshot(USER, DIGESTS[1], new("two"))

    @pytest.mark.parametrize("how", ["delete", "purge", "supersede", "expire"])
    async def test_a_snapshot_that_is_gone_does_not_come_back(self, memories, clock, how):
        await memories.put_snapshot(USER, b"key", new("one", id="a", expires=START + 50))
        if how == "supersede":
            await memories.supersede(USER, "a", new("by hand", id="b"), "")
        elif how == "expire":
            clock.time += 60
        else:
            await memories.delete(USER, ["a"], purge=how == "purge")
        state = await memories.state(USER)
        for _ in range(2):
            assert await memories.put_snapshot(USER, b"key", new("two", id="c")) is None
        assert await memories.state(USER) == state
        clock.time += 40 * 86_400
        await memories.sweep_memories(clock(), 30)
        assert await memories.put_snapshot(USER, b"key", new("two", id="c")) is None

    async def test_a_snapshot_that_is_brought_back_goes_on(self, memories):
        await memories.put_snapshot(USER, b"key", new("one", id="a"))
        await memories.delete(USER, ["a"])
        await memories.undelete(USER, ["a"])
        assert (await memories.put_snapshot(USER, b"key", new("two", id="b"))).text == "two"

    async def test_what_a_person_changed_is_replaced_as_well(self, memories):
        await memories.put_snapshot(USER, b"key", new("one", id="a"))
        await memories.change(USER, "a", rewritten("by hand"))
        assert (await memories.put_snapshot(USER, b"key", new("two", id="b"))).version == 3

    async def test_the_limit_holds_for_snapshots(self, memories):
        await memories.put_snapshot(USER, b"key", new("one"), most=1)
        with pytest.raises(MemoryLimit):
            await memories.put_snapshot(USER, b"another", new("two"), most=1)
        assert await memories.put_snapshot(USER, b"key", new("three"), most=1)
        assert await memories.put_snapshot(USER, b"another", new("two"), most=2)
