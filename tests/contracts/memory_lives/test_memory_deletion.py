"""`MemoryStore`: what supersedes, duplicates, deletes and erases memories, in every back end."""

from __future__ import annotations

import pytest

from memtree.errors import NotFound
from memtree.memories.memory import Tombstone
from memtree.memories.memory_store import (
    ChangeEvent,
    MemoryFilter,
    ScopeState,
    ShownMemory,
    StoredSegment,
)
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

DAY = 86_400.0
EVERY = MemoryFilter(superseded=True, expired=True, deleted=True)
OVER = MemoryFilter(superseded=True, expired=True)


class TestMemoryDeletion(InEveryStore):
    # -- supersede and duplicates ---------------------------------------------------------

    async def test_a_newer_memory_takes_the_place_of_an_older(self, memories):
        await save(memories, CHAT, "port 8090", tags=("net",))
        newer = await memories.supersede(CHAT, 1, new("port 8091", supersedes="x"), "moved")
        assert (newer.number, newer.supersedes, newer.text) == (2, "mem_port-8090", "port 8091")
        assert await memories.get(CHAT, [1, 2]) == [newer]
        (old,) = await memories.get(CHAT, ["mem_port-8090"], deleted=True)
        assert (old.superseded_by, old.text, old.version) == (newer.id, "port 8090", 1)
        stone = Tombstone(old.id, 1, START, "moved", "port 8090", newer.id)
        assert await memories.tombstones(CHAT) == [stone]
        assert await memories.state(CHAT) == ScopeState(2, 1, 0)
        assert await memories.changes(CHAT, 1) == [
            ChangeEvent(2, "deleted", old.id, 1),
            ChangeEvent(2, "created", newer.id, 1),
        ]
        assert texts((await memories.page(CHAT)).memories) == ["port 8091"]
        with_old = await memories.page(CHAT, MemoryFilter(superseded=True))
        assert texts(with_old.memories) == ["port 8091", "port 8090"]
        with pytest.raises(NotFound):
            await memories.supersede(CHAT, 1, new("port 8092"), "")

    async def test_a_duplicate_answers_with_the_one_that_counts(self, memories):
        one, two, three = await save(memories, CHAT, "one", "two", "three")
        assert await memories.mark_duplicate(CHAT, two, one)
        assert not await memories.mark_duplicate(CHAT, two, one)
        assert not await memories.mark_duplicate(CHAT, three, two)
        assert not await memories.mark_duplicate(CHAT, three, three)
        assert not await memories.mark_duplicate(CHAT, "mem_none", one)
        assert not await memories.mark_duplicate(Scope.of_user("tenant"), three, one)
        assert texts(await memories.get(CHAT, [two])) == ["one"]
        assert texts(await memories.get(CHAT, [2, 1])) == ["one"]
        (as_it_is,) = await memories.get(CHAT, [two], deleted=True)
        assert (as_it_is.text, as_it_is.duplicate_of) == ("two", one)
        assert texts((await memories.page(CHAT)).memories) == ["three", "one"]
        assert texts((await memories.page(CHAT, EVERY)).memories) == ["three", "one"]
        assert await memories.matching(CHAT, EVERY) == [1, 3]
        assert (await memories.state(CHAT)).total == 2
        assert await memories.changes(CHAT, 3) == [ChangeEvent(4, "deleted", two, 1)]

    async def test_duplicates_of_a_duplicate_follow(self, memories):
        one, two, three = await save(memories, CHAT, "one", "two", "three")
        await memories.mark_duplicate(CHAT, three, two)
        assert await memories.mark_duplicate(CHAT, two, one)
        assert texts(await memories.get(CHAT, [three])) == ["one"]
        changed = await memories.change(CHAT, three, rewritten("uno"))
        assert (changed.id, changed.version) == (one, 2)
        assert [m.version for m in await memories.history(CHAT, three)] == [2, 1]

    async def test_a_duplicate_goes_and_comes_with_the_one_that_counts(self, memories):
        one, two = await save(memories, CHAT, "one", "two")
        await memories.mark_duplicate(CHAT, two, one)
        assert await memories.delete(CHAT, [two, one]) == [one]
        assert await memories.versions(CHAT, [(one, 1), (two, 1)]) == {}
        assert await memories.get(CHAT, [one, two]) == []
        assert texts(await memories.undelete(CHAT, [two])) == ["one"]
        assert texts(await memories.get(CHAT, [two])) == ["one"]
        assert (await memories.state(CHAT)).total == 1
        assert await memories.delete(CHAT, [two], purge=True) == [one]
        assert await memories.get(CHAT, [one, two], deleted=True) == []

    # -- delete and undelete --------------------------------------------------------------

    async def test_a_deleted_memory_is_in_no_answer(self, memories, clock):
        one, _ = await save(memories, CHAT, "one", "two")
        await memories.put_vectors(CHAT, RECIPE, {1: (1, b"v1"), 2: (1, b"v2")})
        await memories.change(CHAT, one, rewritten("uno"))
        await memories.put_shown(CHAT, "talk", [ShownMemory(one, 1, START)], START + DAY)
        clock.time += 60
        assert await memories.delete(CHAT, [one, "mem_none", 1]) == [one]
        assert await memories.delete(CHAT, [one]) == []
        assert texts(await memories.get(CHAT, [one, 2])) == ["two"]
        page = await memories.page(CHAT)
        assert (texts(page.memories), page.total) == (["two"], 1)
        assert await memories.versions(CHAT, [(one, 1), (one, 2)]) == {}
        assert await memories.history(CHAT, one) == []
        assert await memories.shown(CHAT, "talk") == []
        assert await memories.matching(CHAT, MemoryFilter()) == [2]
        assert await memories.without_vectors(CHAT, RECIPE, 9) == []
        assert await memories.tombstones(CHAT) == []
        rows = (await memories.search_rows(CHAT, RECIPE, 0)).rows
        assert [(row.number, row.live) for row in rows] == [(1, False), (2, True)]
        (kept,) = await memories.get(CHAT, [one], deleted=True)
        assert kept.deleted == START + 60
        assert await memories.changes(CHAT, 4) == [ChangeEvent(5, "deleted", one, 2)]

    async def test_a_deletion_leaves_a_tombstone_where_a_reason_is_given(self, memories, clock):
        one, two, three = await save(memories, CHAT, "one", "two", "three")
        await memories.delete(CHAT, [one], reason="wrong")
        clock.time += 1
        await memories.delete(CHAT, [two], reason="")
        await memories.delete(CHAT, [three])
        stones = await memories.tombstones(CHAT)
        assert stones == [
            Tombstone(two, 2, START + 1, ""),
            Tombstone(one, 1, START, "wrong"),
        ]
        assert await memories.tombstones(CHAT, 1) == stones[:1]
        assert await memories.tombstones(Scope.of_user("tenant")) == []

    async def test_what_is_undeleted_is_as_it_was(self, memories):
        one, _ = await save(memories, CHAT, "one", "two", tags=("t",))
        await memories.put_vectors(CHAT, RECIPE, {1: (1, b"v")})
        before = await memories.get(CHAT, [one])
        await memories.delete(CHAT, [one], reason="mistake")
        assert await memories.undelete(CHAT, [one, "mem_two", "mem_none"]) == before
        assert await memories.undelete(CHAT, [one]) == []
        assert await memories.get(CHAT, [one]) == before
        assert await memories.tombstones(CHAT) == []
        assert (await memories.state(CHAT)).total == 2
        assert texts(await memories.without_vectors(CHAT, RECIPE, 9)) == ["two"]
        assert (await memories.add(CHAT, new("one", id="mem_3"), once=True)).existing

    async def test_what_expired_meanwhile_stays_deleted(self, memories, clock):
        await save(memories, CHAT, "one", expires=START + 10)
        await memories.delete(CHAT, [1])
        clock.time += 10
        assert await memories.undelete(CHAT, [1]) == []

    async def test_what_expired_is_shown_where_it_is_asked_for(self, memories, clock):
        await save(memories, CHAT, "one", expires=START + 10)
        await save(memories, CHAT, "two")
        clock.time += 10
        assert texts(await memories.get(CHAT, [1, 2])) == ["two"]
        page = await memories.page(CHAT, MemoryFilter(expired=True))
        assert (texts(page.memories), page.total) == (["two", "one"], 1)
        assert list(await memories.versions(CHAT, [("mem_one", 1)])) == [("mem_one", 1)]
        assert await memories.matching(CHAT, MemoryFilter()) == [2]
        assert texts(await memories.get(CHAT, [1, 2], over=True)) == ["one", "two"]
        (row, _) = (await memories.search_rows(CHAT, RECIPE, 0)).rows
        assert (row.live, row.expires) == (True, START + 10)

    async def test_what_expired_is_deleted_and_comes_back_expired(self, memories, clock):
        await save(memories, CHAT, "one", expires=START + 10)
        await save(memories, CHAT, "two")
        clock.time += 10
        assert await memories.deletable(CHAT, ["mem_one"]) == ["mem_one"]
        assert await memories.delete(CHAT, [1]) == ["mem_one"]
        assert (await memories.page(CHAT, OVER)).memories[1:] == ()
        assert (await memories.state(CHAT)).total == 1
        assert texts(await memories.undelete(CHAT, ["mem_one"])) == ["one"]
        assert texts((await memories.page(CHAT, OVER)).memories) == ["two", "one"]
        assert (await memories.state(CHAT)).total == 1

    @pytest.mark.parametrize("purge", [False, True])
    async def test_what_is_superseded_is_deleted_with_the_text_of_its_tombstone(
        self, memories, purge
    ):
        await save(memories, CHAT, "old")
        await memories.supersede(CHAT, 1, new("now"), "moved")
        assert [stone.text for stone in await memories.tombstones(CHAT)] == ["old"]
        assert await memories.delete(CHAT, ["mem_old"], purge=purge) == ["mem_old"]
        assert await memories.tombstones(CHAT) == []
        assert texts((await memories.page(CHAT, OVER)).memories) == ["now"]
        assert [record.memory.text for record in await memories.records(CHAT)] == ["now"]
        assert await memories.undelete(CHAT, ["mem_old"]) == [] or not purge
        assert texts((await memories.page(CHAT)).memories) == ["now"]

    @pytest.mark.parametrize("purge", [False, True])
    @pytest.mark.parametrize("by_filter", [False, True])
    async def test_twins_go_together_in_every_state(self, memories, clock, purge, by_filter):
        await memories.add(CHAT, new("same", id="mem_first", expires=START + 5))
        clock.time += 5
        await save(memories, CHAT, "old")
        await memories.supersede(CHAT, "mem_old", new("other"), "")
        await memories.change(CHAT, "mem_old", rewritten("same"))
        await memories.add(CHAT, new("same", id="mem_live", category="fact"))
        await save(memories, Scope.of_user("tenant"), "same")
        wanted = MemoryFilter(category="fact") if by_filter else ["mem_live"]
        gone = ["mem_live", "mem_first", "mem_old"]
        assert sorted(await memories.deletable(CHAT, wanted, purge=purge)) == sorted(gone)
        how = memories.delete_matching if by_filter else memories.delete
        assert sorted(await how(CHAT, wanted, purge=purge)) == sorted(gone)
        assert texts((await memories.page(CHAT, OVER)).memories) == ["other"]
        assert texts((await memories.page(Scope.of_user("tenant"))).memories) == ["same"]

    async def test_passages_of_documents_have_no_twins(self, memories):
        scope = Scope.of_namespace("tenant", "docs")
        await memories.add(scope, new("same", id="mem_a", thread_id="a"))
        await memories.add(scope, new("same", id="mem_b", thread_id="b"))
        assert await memories.delete_matching(scope, MemoryFilter(thread_id="a")) == ["mem_a"]
        assert [row.id for row in (await memories.page(scope)).memories] == ["mem_b"]

    async def test_data_of_another_case_are_no_twin(self, memories):
        scope = Scope.of_agent("tenant", "shop")
        for n, sku in enumerate(("a-1", "A-1", "a-1")):
            made = new(f"sku {sku}", id=f"mem_{n}", kind="item", data={"sku": sku})
            await memories.add(scope, made)
        assert await memories.delete(scope, ["mem_0"]) == ["mem_0", "mem_2"]

    # -- purge ----------------------------------------------------------------------------

    async def test_what_is_purged_is_gone_for_good(self, memories):
        one, two, three = await save(memories, CHAT, "one", "two", "three")
        await memories.change(CHAT, one, rewritten("uno"))
        await memories.put_vectors(CHAT, RECIPE, {1: (2, b"v"), 2: (1, b"w")})
        await memories.put_shown(
            CHAT, "talk", [ShownMemory(one, 2, START), ShownMemory(two, 1, START)], START + DAY
        )
        await memories.put_segment(CHAT, RECIPE, StoredSegment(5, 0, b"index"))
        await memories.delete(CHAT, [three])
        assert await memories.delete(CHAT, [three, one, "mem_none"], purge=True) == [three, one]
        assert await memories.get(CHAT, [one, three], deleted=True) == []
        assert await memories.undelete(CHAT, [one, three]) == []
        assert await memories.versions(CHAT, [(one, 1), (one, 2)]) == {}
        assert await memories.segment(CHAT, RECIPE) is None
        assert [row.id for row in await memories.shown(CHAT, "talk")] == [two]
        rows = await memories.search_rows(CHAT, RECIPE, 0)
        assert [row.number for row in rows.rows] == [2]
        assert rows.state == ScopeState(7, 1, 1)
        # Whoever follows the changes hears of the one that was live.
        assert await memories.changes(CHAT, 6) == [ChangeEvent(7, "deleted", one, 2)]
        assert await memories.delete(CHAT, [one], purge=True) == []
        assert (await memories.state(CHAT)).purges == 1

    async def test_older_words_go_with_the_newer(self, memories):
        await save(memories, CHAT, "one")
        await memories.supersede(CHAT, 1, new("two"), "")
        await memories.supersede(CHAT, 2, new("three"), "")
        await memories.delete(CHAT, [3], purge=True, reason="private")
        assert (await memories.page(CHAT, EVERY)).memories == ()
        assert await memories.tombstones(CHAT) == [Tombstone("mem_three", 3, START, "private")]

    async def test_the_newer_stays_when_the_older_goes(self, memories):
        await save(memories, CHAT, "one")
        await memories.supersede(CHAT, 1, new("two"), "")
        await memories.delete(CHAT, [1], purge=True)
        (newer,) = (await memories.page(CHAT, EVERY)).memories
        assert (newer.text, newer.supersedes, newer.version) == ("two", None, 1)
        assert await memories.tombstones(CHAT) == []

    # -- sweep ----------------------------------------------------------------------------

    async def test_all_of_a_tenant_is_erased_and_nothing_of_another(self, memories):
        other, user = Scope.of_chat("other", "c"), Scope.of_user("tenant", "u")
        for scope in (CHAT, user, other):
            await save(memories, scope, "kept")
            await save(memories, scope, "forgotten")
            await memories.delete(scope, ["mem_forgotten"], reason="wrong")
        await memories.supersede(CHAT, "mem_kept", new("newer"), "")
        assert await memories.erase_memories("tenant") == 5
        for scope in (CHAT, user):
            assert (await memories.page(scope, EVERY)).memories == ()
            assert await memories.tombstones(scope) == []
            assert (await memories.state(scope)).total == 0
        assert texts((await memories.page(other, EVERY)).memories) == ["forgotten", "kept"]
        assert await memories.erase_memories("tenant") == 0
        await save(memories, CHAT, "anew")

    async def test_the_sweep_erases_what_ended_long_ago(self, memories, clock):
        other = Scope.of_user("tenant", "somebody")
        await save(memories, CHAT, "deleted", "live")
        await save(memories, other, "expired", expires=START + DAY)
        await save(memories, other, "expires late", expires=START + 99 * DAY)
        await memories.delete(CHAT, ["mem_deleted"])
        assert await memories.sweep_memories(START + 30 * DAY - 1, 30) == 0
        assert await memories.sweep_memories(START + 30 * DAY, 30) == 1
        assert await memories.get(CHAT, ["mem_deleted"], deleted=True) == []
        assert await memories.sweep_memories(START + 31 * DAY, 30) == 1
        assert texts((await memories.page(other, EVERY)).memories) == ["expires late"]
        assert texts((await memories.page(CHAT)).memories) == ["live"]
        assert await memories.state(CHAT) == ScopeState(4, 1, 1)
        assert await memories.sweep_memories(START + 31 * DAY, 30) == 0
        assert await memories.state(CHAT) == ScopeState(4, 1, 1)

    async def test_no_days_are_at_once(self, memories):
        await save(memories, CHAT, "one")
        await memories.delete(CHAT, [1])
        assert await memories.sweep_memories(START, 0) == 1

    async def test_the_sweep_takes_what_passes(self, memories, clock):
        await memories.add(CHAT, new("one"))
        await memories.put_shown(CHAT, "talk", [ShownMemory("mem_one", 1, START)], START + 10)
        await memories.delete(CHAT, [1], purge=True)
        await memories.add(CHAT, new("two"))
        await memories.sweep_memories(START + DAY, 30)
        assert await memories.changes(CHAT, 0) == [ChangeEvent(3, "created", "mem_two", 1)]

    async def test_vectors_of_a_recipe_that_ended_are_dropped(self, store, memories):
        await save(memories, CHAT, "one", "two")
        for recipe, vector in (("old", b"o"), ("new", b"n")):
            await memories.put_vectors(CHAT, recipe, {1: (1, vector)})
        await memories.put_segment(CHAT, "old", StoredSegment(4, 0, b"index"))
        for day in range(40):
            now = START + day * DAY
            await store.keep_recipe("new", now)
            await store.sweep(now)
            await memories.sweep_memories(now, 30)
        assert await memories.segment(CHAT, "old") is None
        assert texts(await memories.without_vectors(CHAT, "old", 9)) == ["one", "two"]
        assert texts(await memories.without_vectors(CHAT, "new", 9)) == ["two"]
        assert await memories.count_without_vectors(CHAT, "old") == 2
        assert await memories.count_without_vectors(CHAT, "new") == 1
        (one, _) = (await memories.search_rows(CHAT, "new", 0)).rows
        assert one.vector == b"n"
        await memories.put_vectors(CHAT, "new", {2: (1, b"n2")})
        assert await memories.without_vectors(CHAT, "new", 9) == []
        assert await memories.count_without_vectors(CHAT, "new") == 0
