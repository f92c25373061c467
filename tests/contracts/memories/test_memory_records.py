"""Records of memories out of one scope and into another, in every store."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memtree.errors import BadRequest, Conflict, MemoryLimit
from memtree.memories.memory import EXTRACTED, SNAPSHOT, Memory, MemorySource, Tombstone
from memtree.memories.memory_store import MemoryFilter, MemoryRecord
from memtree.memories.scope import Scope
from tests.contracts.memory_backends import (
    START,
    InEveryStore,
    new,
    rewritten,
    save,
    terms,
    text_hash,
    texts,
)

USER, TARGET = Scope.of_user("tenant"), Scope.of_user("another")
EVERY = MemoryFilter(superseded=True, expired=True)


def hashed(record: MemoryRecord) -> MemoryRecord:
    text = record.memory.text
    return record._replace(text_hash=text_hash(text), terms=terms(text))


async def filled(memories, clock) -> None:
    """Memories in every state."""
    source = MemorySource("m1", 3, 9, "ab" * 32, "cd", "ef", START - 5)
    await memories.add(
        USER,
        new(
            "one", tags=("t",), data={"a": [1]}, source=source, source_type=EXTRACTED, tainted=True
        ),
    )
    await save(memories, USER, "old", "twin", "other twin", "gone", "forgotten")
    await memories.add(USER, new("expired", expires=START + 5))
    for n in range(2):
        await memories.change(USER, 1, rewritten(f"one {n}", at=START + n))
    clock.time = START + 10
    await memories.supersede(USER, "mem_old", new("new", created=clock()), "moved")
    await memories.mark_duplicate(USER, "mem_other-twin", "mem_twin")
    clock.time = START + 20
    await memories.merge(USER, "mem_new", "mem_twin", "merged")
    await memories.delete(USER, ["mem_gone"])
    await memories.delete(USER, ["mem_forgotten"], reason="asked to")


async def all_records(memories, scope: Scope, limit: int) -> list[MemoryRecord]:
    found: list[MemoryRecord] = []
    while part := await memories.records(scope, found[-1].memory.number if found else 0, limit):
        assert len(part) <= limit
        found += part
    return found


def without_numbers(record: MemoryRecord) -> MemoryRecord:
    """Return what is the same wherever it is kept."""
    stone = record.tombstone and replace(record.tombstone, number=0)
    older = tuple(replace(each, number=0) for each in record.versions)
    return MemoryRecord(replace(record.memory, number=0), older, stone, record.replaced)


class TestMemoryRecords(InEveryStore):
    async def test_all_but_what_is_deleted(self, memories, clock):
        await filled(memories, clock)
        found = await all_records(memories, USER, 2)
        said = {record.memory.text: record for record in found}
        assert list(said) == ["one 1", "old", "twin", "other twin", "expired", "new"]
        one, old, twin = said["one 1"], said["old"], said["twin"]
        assert [(each.text, each.version) for each in one.versions] == [("one", 1), ("one 0", 2)]
        assert one.tombstone is None
        assert old.memory.superseded_by == twin.memory.superseded_by == "mem_new"
        assert (old.tombstone.reason, old.tombstone.text) == ("moved", "old")
        assert said["other twin"].memory.duplicate_of == "mem_twin"
        assert said["new"].memory.supersedes == "mem_twin"
        assert said["new"].versions[0].supersedes == "mem_old"
        assert await memories.records(USER, 99) == []
        assert await memories.records(TARGET) == []

    @pytest.mark.parametrize("at_once", [1, 2, 3, 99])
    async def test_what_is_restored_is_the_same(self, memories, clock, at_once):
        await filled(memories, clock)
        before = await all_records(memories, USER, 99)
        stones = await memories.tombstones(USER)
        forgotten = [stone for stone in stones if not stone.text]
        await save(memories, TARGET, "was there")
        for at in range(0, len(before), at_once):
            part = [hashed(record) for record in before[at : at + at_once]]
            stored = await memories.restore(TARGET, part)
            assert [each.id for each in stored] == [record.memory.id for record in part]
            assert await memories.get(TARGET, [m.id for m in stored], deleted=True) == stored
        await memories.restore(TARGET, [], forgotten)
        after = (await all_records(memories, TARGET, 99))[1:]
        assert [*map(without_numbers, after)] == [*map(without_numbers, before)]
        assert [record.memory.number for record in after] == list(range(2, 2 + len(before)))
        again = await memories.tombstones(TARGET)
        assert {replace(s, number=0) for s in again} == {replace(s, number=0) for s in stones}
        assert len({stone.number for stone in again}) == len(again)
        for wanted in (
            MemoryFilter(),
            EVERY,
            MemoryFilter(tainted=True),
            MemoryFilter(tags=("t",)),
        ):
            pages = [await memories.page(scope, wanted) for scope in (USER, TARGET)]
            shown = [[m.id for m in page.memories if m.id != "mem_was-there"] for page in pages]
            assert shown[0] == shown[1]
        assert (await memories.state(TARGET)).total == (await memories.state(USER)).total + 1
        assert texts(await memories.history(TARGET, "mem_one")) == ["one 1", "one 0", "one"]

    async def test_what_is_restored_is_found_and_goes_on(self, memories, clock):
        await filled(memories, clock)
        await memories.restore(TARGET, [hashed(r) for r in await memories.records(USER)])
        added = await memories.add(TARGET, new("one 1", id="x", tainted=True), once=True)
        assert (added.existing, added.memory.id) == (True, "mem_one")
        rows = (await memories.search_rows(TARGET, "r", 0)).rows
        assert {row.terms for row in rows if row.live} == {
            terms("one 1"),
            terms("new"),
            terms("expired"),
        }
        changed = await memories.change(TARGET, "mem_one", rewritten("more"))
        assert changed.version == 4
        gone = await memories.delete(TARGET, ["mem_new"], purge=True)
        assert gone == ["mem_new"]
        left = {record.memory.id for record in await memories.records(TARGET)}
        assert left == {"mem_one", "mem_expired"}

    async def test_a_taken_id_and_then_none_is_kept(self, memories, store):
        await save(memories, TARGET, "two")
        records = [hashed(MemoryRecord(memory_of(text))) for text in ("one", "two", "three")]
        before = await store.counts()
        with pytest.raises(Conflict):
            await memories.restore(TARGET, records, [Tombstone("mem_x", 1, START)])
        with pytest.raises(Conflict):
            await memories.restore(USER, [records[0], records[2], records[0]])
        assert await store.counts() == before | {"memory_scopes": before["memory_scopes"]}
        assert await memories.records(USER) == []

    async def test_versions_must_be_all_that_there_were(self, memories):
        older = replace(memory_of("one"), version=2)
        for versions in ((), (older,), (memory_of("one"), memory_of("one"))):
            record = MemoryRecord(replace(memory_of("two"), version=3), versions)
            with pytest.raises(BadRequest):
                await memories.restore(USER, [hashed(record)])
        with pytest.raises(BadRequest):
            await memories.restore(USER, [MemoryRecord(replace(memory_of("x"), version=0))])
        assert await memories.records(USER) == []

    async def test_what_no_database_takes_is_refused(self, memories):
        for bad in (memory_of("a\ud800"), replace(memory_of("a"), id="\0")):
            with pytest.raises(BadRequest):
                await memories.restore(USER, [hashed(MemoryRecord(memory_of("b"))), bare(bad)])
        assert await memories.records(USER) == []

    async def test_links_that_lead_nowhere_are_dropped(self, memories):
        strange = replace(memory_of("a"), supersedes="mem_x", duplicate_of="mem_y")
        itself = replace(
            memory_of("b"), supersedes="mem_b", duplicate_of="mem_b", superseded_by="mem_b"
        )
        odd = replace(memory_of("c"), superseded_by="\0", duplicate_of="\ud800")
        await memories.restore(USER, [bare(each) for each in (strange, itself, odd)])
        page = await memories.page(USER)
        assert sorted(texts(page.memories)) == ["a", "b", "c"]
        assert not any(m.supersedes or m.duplicate_of for m in page.memories)

    async def test_what_was_superseded_by_something_that_never_comes(self, memories, clock):
        """It counts no more, stands in the past, and the store is sound."""
        old = replace(memory_of("old"), superseded_by="mem_never")
        await memories.restore(USER, [bare(old)])
        assert await memories.page(USER) == ((), False, 0)
        assert texts((await memories.page(USER, EVERY)).memories) == ["old"]
        (record,) = await memories.records(USER)
        assert record.memory.superseded_by == "mem_never"
        await memories.delete_matching(USER, EVERY, purge=True)
        assert await memories.records(USER) == []

    async def test_since_when_it_is_replaced_is_the_best_that_is_known(self, memories, clock):
        """Said, by its tombstone, by what took its place, or by its last change."""
        clock.time += 99
        newer = replace(memory_of("new"), created=START + 30)
        stone = Tombstone("x", 1, START + 20, "", "tombstone", "mem_new")
        rows = [
            bare(replace(memory_of(text), superseded_by="mem_new"))
            for text in ("said", "stone", "newer")
        ]
        rows[0] = rows[0]._replace(replaced=START + 10, tombstone=stone)
        rows[1] = rows[1]._replace(tombstone=stone)
        never = replace(memory_of("never"), superseded_by="mem_x", updated=START + 5)
        await memories.restore(USER, [*rows, bare(never), bare(newer)])
        since = {r.memory.text: r.replaced for r in await memories.records(USER)}
        assert since == {
            "said": START + 10, "stone": START + 20, "newer": START + 30, "never": START + 5,
            "new": None,
        }  # fmt: skip
        (found,) = [r for r in await memories.records(USER) if r.memory.text == "stone"]
        assert found.tombstone == replace(stone, id="mem_stone", number=found.memory.number)

    async def test_deleted_ones_stay_deleted(self, memories, clock):
        await memories.restore(USER, [bare(replace(memory_of("a"), deleted=START - 9))])
        assert (await memories.page(USER)).memories == ()
        assert texts(await memories.undelete(USER, ["mem_a"])) == ["a"]

    async def test_the_limit_is_of_live_ones(self, memories):
        old = replace(memory_of("old"), superseded_by="mem_new")
        both = [bare(old), bare(memory_of("new"))]
        stones = [Tombstone(f"mem_{n}", n, START) for n in range(5)]
        with pytest.raises(MemoryLimit):
            await memories.restore(USER, [*both, bare(memory_of("more"))], stones, most=1)
        await memories.restore(USER, both, stones, most=1)
        assert (await memories.state(USER)).total == 1

    async def test_whoever_follows_the_changes_hears_of_what_is_live(self, memories):
        old = replace(memory_of("old"), superseded_by="mem_new")
        await memories.restore(USER, [bare(old), bare(memory_of("new"))])
        events = await memories.changes(USER, 0)
        assert [(event.type, event.id) for event in events] == [("created", "mem_new")]

    async def test_what_they_were_extracted_from_is_done(self, memories):
        digest, key = b"\x12" * 32, b"\x34" * 16
        one = replace(memory_of("one"), source=MemorySource(digest=digest.hex()))
        snapshot = replace(memory_of("s"), kind=SNAPSHOT, thread_id=key.hex())
        odd = [
            replace(memory_of("odd"), source=MemorySource(digest="no hex")),
            replace(memory_of("odder"), kind=SNAPSHOT, thread_id="é"),
        ]
        await memories.restore(USER, [bare(each) for each in (one, snapshot, *odd)])
        assert await memories.extracted(USER, [digest]) == {digest}
        assert await memories.add_extracted(USER, digest, [new("again")], most=0) is None
        again = await memories.put_snapshot(USER, key, new("longer", id="x"))
        assert (again.id, again.text) == ("mem_s", "longer")

    async def test_nothing(self, memories, store):
        assert await memories.restore(USER, []) == []
        assert not any((await store.counts()).values())


def memory_of(text: str) -> Memory:
    return Memory(f"mem_{text[:9]}", 77, text, START, START)


def bare(memory: Memory) -> MemoryRecord:
    return MemoryRecord(memory, text_hash=text_hash(memory.text[:1]))
