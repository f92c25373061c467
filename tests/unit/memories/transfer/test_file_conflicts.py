"""Conflicts come back with the memories of a file."""

from __future__ import annotations

import pytest

from memtree.memories.draft import MemoryDraft
from tests.fakes import HashingEmbedder
from tests.unit.memories.transfer.transfers import ADA, BEN, transferring

PORTS = ("The staging port is 8090.", "The staging port is 8091.")
SECRET = "AKIAIOSFODNN7EXAMPLQ"


@pytest.mark.parametrize("keep_ids", [True, False])
async def test_an_open_conflict_is_told_where_it_is_imported(keep_ids):
    async with transferring(HashingEmbedder()) as t:
        for text in PORTS:
            await t.book.save(ADA, MemoryDraft(text))
        raw = await t.exported()
        await t.imported(raw, BEN, keep_ids=keep_ids)
        if keep_ids:
            await t.imported(raw, BEN, keep_ids=True)  # the rest of a run that was killed
        older, newer = await t.memories(BEN)
        assert [each.text for each in (older, newer)] == [*PORTS]
        assert [(each.id, each.differs) for each in newer.updates] == [
            (older.id, ("8090 -> 8091",))
        ]
        assert older.updates == ()
        assert (await t.store.state(BEN)).conflicts == 1


async def test_a_rehearsal_keeps_none():
    async with transferring(HashingEmbedder()) as t:
        for text in PORTS:
            await t.book.save(ADA, MemoryDraft(text))
        await t.imported(await t.exported(), BEN, dry_run=True)
        assert (await t.store.state(BEN)).conflicts == 0


@pytest.mark.parametrize(
    ("updates", "kept"),
    [
        ([{"id": "mem_a", "differs": ["8090 -> 8091"]}], 1),
        ([{"id": "mem_a", "differs": ["a\nb -> c"]}], 1),
        ([{"id": "mem_gone", "differs": ["8090 -> 8091"]}], 0),
        ([{"id": "mem_a", "differs": [f"key {SECRET} -> none"]}], 0),
        ([{"id": "mem_b", "differs": ["8090 -> 8091"]}], 0),
    ],
)
async def test_only_what_came_along_and_may_be_shown(updates, kept):
    lines = [
        {"type": "export", "format": "memtree-memories", "version": 1},
        {"type": "memory", "id": "mem_a", "text": PORTS[0]},
        {"type": "memory", "id": "mem_b", "text": PORTS[1], "possible_update_of": updates},
        {"type": "end"},
    ]
    async with transferring() as t:
        report = await t.imported(lines, keep_ids=True)
        (newer,) = [each for each in await t.memories() if each.id == "mem_b"]
        assert (report.imported, len(newer.updates)) == (2, kept)
        assert all("\n" not in told for each in newer.updates for told in each.differs)


@pytest.mark.parametrize("updates", ["x", [1], [{"id": "mem_a", "differs": "x"}],
                                     [{"id": "mem_a", "differs": ["x" * 301]}]])  # fmt: skip
async def test_what_is_no_conflict_makes_its_line_invalid(updates):
    lines = [
        {"type": "export", "format": "memtree-memories", "version": 1},
        {"type": "memory", "id": "mem_a", "text": PORTS[0], "possible_update_of": updates},
        {"type": "end"},
    ]
    async with transferring() as t:
        report = await t.imported(lines, keep_ids=True)
        assert report.imported == 0
