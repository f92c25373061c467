"""`MemoryStore`: filters, changes, what a search reads, and what a conversation was shown."""

from __future__ import annotations

import pytest

from memtree.memories.memory_store import (
    ANY,
    ChangeEvent,
    MemoryFilter,
    ScopeState,
    SearchRow,
    ShownMemory,
    StoredSegment,
)
from memtree.memories.scope import Scope
from memtree.stores import SqliteStore
from memtree.stores.memories.search_data import PACKED_ROWS
from tests.contracts.memory_backends import (
    CHAT,
    RECIPE,
    START,
    InEveryStore,
    new,
    rewritten,
    save,
    terms,
    texts,
)

NOWHERE = Scope.of_chat("tenant", "nobody's")


class TestMemorySearch(InEveryStore):
    # -- filters --------------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("wanted", "found"),
        [
            (ANY, "abcd"),
            (MemoryFilter(category="fact"), "ab"),
            (MemoryFilter(category=""), "d"),
            (MemoryFilter(kind="k"), "b"),
            (MemoryFilter(kind=""), "acd"),
            (MemoryFilter(source_type="user"), "abd"),
            (MemoryFilter(session_id="s\0"), "a"),
            (MemoryFilter(session_id="s"), ""),
            (MemoryFilter(thread_id="t"), "c"),
            (MemoryFilter(tags=("x",)), "abc"),
            (MemoryFilter(tags=("x", "y")), "b"),
            (MemoryFilter(tags=("y", "x")), "b"),
            (MemoryFilter(tags=("x-y",)), "c"),
            (MemoryFilter(tags=("%",)), ""),
            (MemoryFilter(tags=("x\ny",)), ""),
            (MemoryFilter(tags=("\ud800",)), ""),
            (MemoryFilter(category="fact", tags=("y",)), "b"),
            (MemoryFilter(deleted=True), "abcde"),
            (MemoryFilter(expired=True), "abcdf"),
            (MemoryFilter(deleted=True, expired=True, superseded=True), "abcdefg"),
            (MemoryFilter(superseded=True, category="fact"), "abg"),
        ],
    )
    async def test_a_filter(self, memories, clock, wanted, found):
        await save(memories, CHAT, "a", category="fact", tags=("x",), session_id="s\0")
        await save(memories, CHAT, "b", category="fact", tags=("x", "y"), kind="k")
        await save(
            memories,
            CHAT,
            "c",
            category="preference",
            tags=("x", "x-y"),
            source_type="agent",
            thread_id="t",
        )
        await save(memories, CHAT, "d")
        await save(memories, CHAT, "e")
        await save(memories, CHAT, "f", expires=START + 5)
        await save(memories, CHAT, "g", category="fact")
        await memories.delete(CHAT, ["mem_e"])
        await memories.supersede(CHAT, "mem_g", new("h"), "")
        clock.time += 5
        page = await memories.page(CHAT, wanted)
        shown = [row for row in page.memories if row.text != "h"]
        assert "".join(reversed(texts(shown))) == found
        assert page.total == 5
        numbers = await memories.matching(CHAT, wanted)
        assert numbers == sorted(row.number for row in page.memories)
        assert await memories.matching(NOWHERE, wanted) == []

    async def test_a_filter_goes_over_pages(self, memories):
        await save(memories, CHAT, *(f"{n} odd" if n % 2 else f"{n}" for n in range(10)))
        await save(memories, CHAT, "x", tags=("t",))
        await save(memories, CHAT, "y", "z")
        page = await memories.page(CHAT, MemoryFilter(tags=("t",)), limit=1)
        assert (texts(page.memories), page.more) == (["x"], False)

    # -- changes --------------------------------------------------------------------------

    async def test_every_write_is_a_change(self, memories):
        assert await memories.state(CHAT) == ScopeState(0, 0, 0)
        one, two, three = await save(memories, CHAT, "one", "two", "three")
        await memories.change(CHAT, two, rewritten("zwei"))
        await memories.delete(CHAT, [one, three])
        await memories.undelete(CHAT, [three])
        assert await memories.state(CHAT) == ScopeState(6, 2, 0)
        assert await memories.changes(CHAT, 0) == [
            ChangeEvent(4, "updated", two, 2),
            ChangeEvent(5, "deleted", one, 1),
            ChangeEvent(6, "created", three, 1),
        ]
        assert await memories.changes(CHAT, 5) == [ChangeEvent(6, "created", three, 1)]
        assert await memories.changes(CHAT, 6) == []
        assert await memories.changes(NOWHERE, 0) == []
        assert await memories.state(NOWHERE) == ScopeState()

    async def test_a_change_of_many_is_given_whole(self, memories):
        ids = await save(memories, CHAT, *"abcdef")
        await memories.delete(CHAT, ids[:4])
        assert [event.id for event in await memories.changes(CHAT, 0, 1)] == [ids[4]]
        assert [event.id for event in await memories.changes(CHAT, 6, 1)] == ids[:4]

    async def test_what_changes_nothing_is_no_change(self, memories):
        await save(memories, CHAT, "one")
        await memories.delete(CHAT, ["mem_none"])
        await memories.undelete(CHAT, ["mem_one"])
        await memories.put_vectors(CHAT, RECIPE, {1: (7, b"v"), 99: (1, b"v")})
        await memories.put_vectors(CHAT, RECIPE, {})
        await memories.put_vectors(NOWHERE, RECIPE, {1: (1, b"v")})
        await memories.put_shown(CHAT, "talk", [ShownMemory("mem_one", 1, 1.0)], START + 9)
        await memories.put_segment(CHAT, RECIPE, StoredSegment(1, 0, b""))
        assert await memories.state(CHAT) == ScopeState(1, 1, 0)
        assert await memories.state(NOWHERE) == ScopeState()

    # -- search ---------------------------------------------------------------------------

    async def test_rows_come_with_their_vectors(self, memories):
        await save(memories, CHAT, "one", "two;\0 \x01")
        await save(memories, CHAT, "three", expires=START + 5.125, session_id="a; b é")
        await memories.put_vectors(CHAT, RECIPE, {1: (1, b"\0;\xff"), 3: (1, b" ")})
        await memories.put_vectors(CHAT, "another", {2: (1, b"2")})
        await memories.delete(CHAT, ["mem_one"])
        rows = await memories.search_rows(CHAT, RECIPE, 0)
        assert rows.state == ScopeState(6, 2, 0)
        assert rows.rows == (
            SearchRow(1, False, None, terms("one"), b"\0;\xff"),
            SearchRow(2, True, None, terms("two;\0 \x01"), None),
            SearchRow(3, True, START + 5.125, terms("three"), b" ", "a; b é"),
        )
        assert await memories.search_rows(NOWHERE, RECIPE, 0) == (ScopeState(), ())

    async def test_only_what_changed_is_read_again(self, memories):
        await save(memories, CHAT, "one", "two", "three")
        await memories.put_vectors(CHAT, RECIPE, {2: (1, b"v")})
        rows = await memories.search_rows(CHAT, RECIPE, 3)
        assert [row.number for row in rows.rows] == [2]
        assert (await memories.search_rows(CHAT, RECIPE, 4)).rows == ()
        await memories.delete(CHAT, ["mem_three"])
        rows = await memories.search_rows(CHAT, RECIPE, 4)
        assert [(row.number, row.live) for row in rows.rows] == [(3, False)]

    async def test_new_vectors_are_no_event(self, memories):
        await save(memories, CHAT, "one")
        await memories.put_vectors(CHAT, RECIPE, {1: (1, b"v")})
        assert (await memories.state(CHAT)).changed == 2
        assert await memories.changes(CHAT, 1) == []

    async def test_a_vector_is_of_a_text(self, memories):
        await save(memories, CHAT, "one")
        await memories.put_vectors(CHAT, RECIPE, {1: (1, b"v1")})
        await memories.change(CHAT, 1, rewritten("two"))
        assert texts(await memories.without_vectors(CHAT, RECIPE, 9)) == ["two"]
        await memories.put_vectors(CHAT, RECIPE, {1: (1, b"late")})
        assert (await memories.search_rows(CHAT, RECIPE, 0)).rows[0].vector is None
        await memories.put_vectors(CHAT, RECIPE, {1: (2, b"v2")})
        await memories.put_vectors(CHAT, RECIPE, {1: (2, b"v3")})
        assert (await memories.search_rows(CHAT, RECIPE, 0)).rows[0].vector == b"v3"
        assert await memories.without_vectors(CHAT, RECIPE, 9) == []

    async def test_those_without_vectors_come_oldest_first(self, memories, clock):
        assert not await memories.any_memories()
        await save(memories, CHAT, "a", "b", "c", "d")
        assert await memories.any_memories()
        await save(memories, CHAT, "e", expires=START + 5)
        await save(memories, Scope.of_user("tenant"), "f")
        await save(memories, Scope.of_agent("other", "agent", "x"), "g")
        await memories.put_vectors(CHAT, RECIPE, {2: (1, b"v")})
        await memories.put_vectors(CHAT, "another", {1: (1, b"v"), 2: (1, b"v")})
        await memories.delete(CHAT, ["mem_c"])
        clock.time += 5
        assert texts(await memories.without_vectors(CHAT, RECIPE, 9)) == ["a", "d"]
        assert texts(await memories.without_vectors(CHAT, RECIPE, 1)) == ["a"]
        assert texts(await memories.without_vectors(CHAT, "another", 9)) == ["d"]
        assert texts(await memories.without_vectors(CHAT, "third", 9)) == ["a", "b", "d"]
        assert await memories.without_vectors(NOWHERE, RECIPE, 9) == []
        scopes = await memories.scopes_without_vectors(RECIPE, 9)
        assert scopes == [CHAT, Scope.of_user("tenant"), Scope.of_agent("other", "agent", "x")]
        assert await memories.scopes_without_vectors(RECIPE, 1) == [CHAT]
        await memories.put_vectors(CHAT, RECIPE, {1: (1, b"v"), 4: (1, b"v")})
        assert CHAT not in await memories.scopes_without_vectors(RECIPE, 9)

    async def test_a_newer_segment_stays(self, memories):
        await save(memories, CHAT, "one", "two")
        assert await memories.segment(CHAT, RECIPE) is None
        await memories.put_segment(NOWHERE, RECIPE, StoredSegment(1, 0, b"x"))
        await memories.put_segment(CHAT, RECIPE, StoredSegment(2, 0, b"two\0"))
        await memories.put_segment(CHAT, RECIPE, StoredSegment(1, 0, b"one"))
        assert await memories.segment(CHAT, RECIPE) == StoredSegment(2, 0, b"two\0")
        assert await memories.segment(CHAT, "another") is None
        await memories.delete(CHAT, ["mem_one"], purge=True)
        assert await memories.segment(CHAT, RECIPE) is None
        await memories.put_segment(CHAT, RECIPE, StoredSegment(9, 0, b"before the purge"))
        assert await memories.segment(CHAT, RECIPE) is None
        await memories.put_segment(CHAT, RECIPE, StoredSegment(3, 1, b"after"))
        assert await memories.segment(CHAT, RECIPE) == StoredSegment(3, 1, b"after")

    # -- injection ------------------------------------------------------------------------

    async def test_what_a_conversation_was_shown(self, memories, clock):
        one, two, three = await save(memories, CHAT, "one", "two", "three")
        shown = [ShownMemory(one, 1, 1.5), ShownMemory(three, 2, 2.25)]
        given = [shown[1], shown[0], ShownMemory("mem_none", 1, 0.0)]
        await memories.put_shown(CHAT, "talk \0", given, START + 10)
        assert await memories.shown(CHAT, "talk \0") == shown
        assert await memories.shown(CHAT, "another") == []
        assert await memories.shown(NOWHERE, "talk \0") == []
        await memories.put_shown(CHAT, "talk \0", [ShownMemory(two, 1, 3.0)], START + 10)
        assert await memories.shown(CHAT, "talk \0") == [ShownMemory(two, 1, 3.0)]
        await memories.put_shown(NOWHERE, "talk", shown, START + 10)
        clock.time += 10
        assert await memories.shown(CHAT, "talk \0") == []

    async def test_only_a_deletion_takes_what_was_shown(self, memories, clock):
        one, two, three = await save(memories, CHAT, "one", "two", "three")
        four = (await save(memories, CHAT, "four", expires=START + 1))[0]
        every = [ShownMemory(each, 1, 1.0) for each in (one, two, three, four)]
        await memories.put_shown(CHAT, "talk", every, START + 10)
        await memories.supersede(CHAT, one, new("uno"), "")
        await memories.mark_duplicate(CHAT, two, three)
        clock.time += 1
        assert await memories.shown(CHAT, "talk") == every
        wanted = [(row.id, row.version) for row in every]
        assert list(await memories.versions(CHAT, wanted)) == wanted
        await memories.delete(CHAT, [three])
        assert [row.id for row in await memories.shown(CHAT, "talk")] == [one, four]
        await memories.put_shown(CHAT, "talk", [], START + 10)
        assert await memories.shown(CHAT, "talk") == []

    # -- maintenance ----------------------------------------------------------------------

    async def test_the_scopes_of_a_tenant(self, memories, clock):
        user = Scope.of_user("tenant", "u")
        await save(memories, user, "one", expires=START + 5)
        await save(memories, CHAT, "two", "three")
        await save(memories, NOWHERE, "gone")
        await save(memories, Scope.of_user("another"), "four")
        await memories.delete(NOWHERE, ["mem_gone"])
        assert await memories.memory_scopes("tenant") == [(CHAT, 2), (user, 1)]
        clock.time += 5
        assert await memories.memory_scopes("tenant") == [(CHAT, 2)]
        assert await memories.memory_scopes("nobody") == []
        another = (Scope.of_user("another"), 1)
        assert await memories.memory_scopes(None) == [another, (CHAT, 2)]


async def test_many_rows_come_in_parts(monkeypatch, tmp_path):
    monkeypatch.setattr("memtree.stores.memories.search_data.PACKED_ROWS", 3)
    assert PACKED_ROWS > 3
    store = SqliteStore(tmp_path / "store.db")
    memories = store.memories()
    for count in range(8):
        rows = (await memories.search_rows(CHAT, RECIPE, 0)).rows
        assert [row.number for row in rows] == list(range(1, count + 1))
        await save(memories, CHAT, f"{count}")
    await store.close()
