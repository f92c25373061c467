"""Exports: what they hold, whole or cut, while others write."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from memtree.errors import StoreUnavailable
from memtree.memories.transfer.memory_transfer import PAGE
from memtree.memories.user_memories import MemoryGroup
from tests.unit.memories.transfer.transfers import ADA, BEN, Transfer, transferring


def decoded(raw: bytes) -> list[dict[str, Any]]:
    assert not raw or raw.endswith(b"\n")
    return [msgspec.json.decode(line) for line in raw.splitlines()]


async def filled(t: Transfer, count: int) -> None:
    await t.imported([{"text": f"Number {at}"} for at in range(count)])


async def test_an_empty_scope_is_an_export_as_well():
    async with transferring() as t:
        head, settings, end = decoded(await t.exported())
        assert (await t.store.state(ADA)).changed == 0
    assert head == {
        "type": "export",
        "format": "memtree-memories",
        "version": 1,
        "exported_at": "1970-01-12T13:46:40.000Z",
    }
    assert settings["type"] == "settings"
    assert end == {"type": "end", "memories": 0, "groups": 0, "tombstones": 0}


@pytest.mark.slow
async def test_every_page_is_there_in_order():
    async with transferring() as t:
        await filled(t, 2 * PAGE + 3)
        _, _, *memories, end = decoded(await t.exported())
    assert [line["text"] for line in memories] == [f"Number {at}" for at in range(2 * PAGE + 3)]
    assert end["memories"] == len(memories)


async def test_memories_name_their_groups():
    async with transferring() as t:
        tea, dog = await t.saved("Likes tea"), await t.saved("Has a beagle")
        await t.store.add_group(ADA, MemoryGroup("grp_1", "Home", 1.0, 2.5, "d"), 10)
        await t.store.add_members(ADA, "grp_1", [dog.id])
        _, _, group, *memories, end = decoded(await t.exported())
    assert group == {
        "type": "group",
        "id": "grp_1",
        "title": "Home",
        "description": "d",
        "created_at": "1970-01-01T00:00:01.000Z",
        "updated_at": "1970-01-01T00:00:02.500Z",
    }
    assert {line["id"]: line.get("groups") for line in memories} == {
        tea.id: None,
        dog.id: ["grp_1"],
    }
    assert end["groups"] == 1


async def test_no_other_scope_is_in_it():
    async with transferring() as t:
        await t.saved("Likes tea")
        await t.saved("A canary", BEN)
        await t.store.add_group(BEN, MemoryGroup("grp_1", "A canary", 1.0, 2.0), 10)
        raw = await t.exported()
    assert b"canary" not in raw
    assert b"Likes tea" in raw
    assert b"tenant" not in raw


@pytest.mark.slow
async def test_what_comes_meanwhile_comes_at_the_end_and_is_told():
    async with transferring() as t:
        await filled(t, PAGE + 1)
        lines = t.transfer.export(ADA)
        pieces = [await anext(lines), await anext(lines)]
        await t.saved("Came later")
        pieces += [piece async for piece in lines]
        *memories, end = decoded(b"".join(pieces))
        assert decoded(await t.exported())[-1].get("changed_meanwhile") is None
    assert memories[-1]["text"] == "Came later"
    assert (end["memories"], end["changed_meanwhile"]) == (PAGE + 2, True)


@pytest.mark.slow
@pytest.mark.parametrize("pages", [0, 1, 2])
async def test_it_ends_where_it_is_no_longer_allowed(pages: int):
    left = pages

    async def allowed() -> bool:
        nonlocal left
        left -= 1
        return left >= 0

    async with transferring() as t:
        await filled(t, 2 * PAGE)
        found = decoded(b"".join([piece async for piece in t.transfer.export(ADA, allowed)]))
    assert len(found) == 2 + pages * PAGE
    assert found[-1]["type"] != "end"


@pytest.mark.slow
async def test_a_store_that_fails_is_no_end(monkeypatch: pytest.MonkeyPatch):
    async with transferring() as t:
        await filled(t, PAGE + 1)
        lines = t.transfer.export(ADA)
        await anext(lines)
        await anext(lines)

        async def broken(*_: object) -> None:
            raise StoreUnavailable("gone")

        monkeypatch.setattr(type(t.store), "records", broken)
        with pytest.raises(StoreUnavailable):
            await anext(lines)
