"""Exports, and what the import reads of them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.agents.memory_schema import MemorySchema
from memtree.errors import BadRequest, StoreUnavailable
from memtree.memories.memory import Memory, Tombstone
from memtree.memories.memory_store import MemoryRecord
from memtree.memories.user_memories import MemoryGroup, SettingsChange, UserSettings
from memtree.transfer import export_format
from memtree.transfer.file_items import (
    FORMATS,
    FileEnd,
    FileGroup,
    FileHeader,
    FileItem,
    FileMemory,
    FileSchema,
    FileSettings,
    FileTombstone,
    LineResult,
)
from memtree.transfer.memory_file import PART_END, read_memory_file
from memtree.transfer.memory_transfer import PAGE
from tests.unit.transfer.exported import MOMENTS, NAMES, records
from tests.unit.transfer.transfers import ADA, BEN, Transfer, transferring

# ------------------------------------------------------------------------------------------------
# Exports: what they hold, whole or cut, while others write.


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


# ------------------------------------------------------------------------------------------------
# Memory file.


MEM0 = '{"results": [{"memory": "Likes té"}]}'
OWN = '{"type":"export","format":"memtree-memories","version":1}\n{"text":"Likes té"}\n'
KNOWN = {
    "mem0": MEM0,
    "memtree": OWN,
    "openmemory": '{"content": "Likes té", "state": "active"}\n{"content": "Likes té"}',
    "server-memory": '{"type":"entity","name":"A","entityType":"b","observations":["Likes té"]}',
    "chatgpt": '[{"mapping": {"n": {"message": {"author": {"role": "assistant"}, '
    '"recipient": "bio", "content": {"parts": ["Likes té"]}}}}}]',
    "claude-ai": '[{"conversations_memory": "Likes té", "project_memories": {}}]',
    "text": "Likes té",
}


def texts(raw: bytes, format_: str = "auto") -> list[str]:
    found = [getattr(item, "text", "") for item in read_memory_file(raw, format_).items]
    return [text for text in found if text]


def test_every_format_has_an_example():
    assert set(KNOWN) == set(FORMATS)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("format_", KNOWN)
def test_a_format_is_told_from_the_content_in_any_encoding(format_: str, encoding: str):
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    raw = mark + KNOWN[format_].encode(encoding)
    assert read_memory_file(raw).format == format_
    assert [text[-8:] for text in texts(raw)] == ["Likes té"] * len(texts(raw))
    assert texts(raw)
    assert texts(raw, format_) == texts(raw)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "empty"),
        (b" \r\n\t", "empty"),
        (b"\xef\xbb\xbf\n", "empty"),
        (b"\xff\xfea", "UTF-16"),
        ('{"a": 1}'.encode("utf-16-le"), "no memories"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' * 100_000, "nested too deeply"),
        (b'{"messages": [{"role": "user", "content": "a"}]}', "no memories"),
        (b"[]", "no memories"),
        (b"[1, 2", "cut"),
        (b'[{"memory": "\xff"}]', "byte 13"),
        (b'{"results": [nonsense]}', "not valid JSON"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_a_reason(raw: bytes, why: str):
    if why == "cut":  # neither JSON nor a list: a line of text
        assert texts(raw) == ["[1, 2"]
        return
    with pytest.raises(BadRequest, match=why) as caught:
        read_memory_file(raw)
    assert caught.value.message.startswith("the file ")


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        (b'[{"memory": "Likes', "cut_off"),
        (b"[nonsense]", "broken"),
        (b'[{"memory": "\xff"}]', "encoding"),
        (b"nonsense", "json"),
    ],
)
def test_a_broken_part_costs_itself(part: bytes, reason: str):
    file = read_memory_file(PART_END.join([part, MEM0.encode(), part, MEM0.encode()]))
    told = [(item.line, getattr(item, "reason", "")) for item in file.items]
    assert told == [(1, reason), (2, ""), (3, reason), (4, "")]


def test_latin_1_costs_its_lines_alone():
    file = read_memory_file("Likes tea\nLikes té\nLikes cake".encode("latin-1"))
    told = [getattr(item, "text", "") or getattr(item, "reason", "") for item in file.items]
    assert told == ["Likes tea", "encoding", "Likes cake"]


@pytest.mark.parametrize("format_", ["mem0", "openmemory", "memtree", "server-memory"])
def test_a_format_of_json_is_not_read_from_text(format_: str):
    with pytest.raises(BadRequest, match=format_):
        read_memory_file(b"Likes tea", format_)


def test_an_unknown_format_is_named():
    with pytest.raises(BadRequest) as caught:
        read_memory_file(b"Likes tea", "zep")
    assert caught.value.param == "format"


def test_lines_are_lines_where_the_first_of_them_is_broken():
    raw = b'{"type": "entity", "name"\n' + KNOWN["server-memory"].encode()
    found = read_memory_file(raw)
    assert (found.format, len(list(found.items))) == ("server-memory", 2)


@pytest.mark.parametrize("first", ["{\n", "{", '{"version": 1,\n'])
def test_a_document_over_many_lines_is_none_of_lines(first: str):
    entity = KNOWN["server-memory"]
    raw = f'{first} "entities": [\n {entity},\n {entity}\n ],\n "relations": [\n ]\n}}\n'
    assert read_memory_file(raw.encode()).format == "server-memory"
    assert texts(raw.encode()) == 2 * ["A: Likes té"]


def test_a_list_of_texts_is_text():
    assert texts(b'["- Likes tea", 5, "Likes cake"]') == ["Likes tea", "Likes cake"]


def test_an_export_of_a_later_version_is_not_guessed_at():
    with pytest.raises(BadRequest, match="version 1"):
        list(read_memory_file(OWN.replace('"version":1', '"version":2').encode()).items)


def test_a_long_line_is_a_line():
    long = b'{"text": "' + b"x" * 5_000_000 + b'"}\n{"text": "Likes tea"}\n'
    file = read_memory_file(b'{"text": "first"}\n' + long)
    assert [len(getattr(item, "text", "")) for item in file.items] == [5, 5_000_000, 9]


@pytest.mark.parametrize("name", ["memtree", "openmemory", "mem0", "chatgpt", "server-memory"])
def test_json_whose_beginning_is_lost_is_no_list(name):
    damaged = KNOWN[name].encode()[2:]
    with pytest.raises(BadRequest, match="line 2 does not begin any") as caught:
        read_memory_file(b"\n" + damaged)
    assert caught.value.param == "format"
    assert texts(damaged, "text")


def test_a_list_may_speak_of_json():
    raw = b'Likes tea\nThe header is {"alg": "none"}\nLikes cake'
    assert len(texts(raw)) == 3


# ------------------------------------------------------------------------------------------------
# Check what the export writes is what the import reads (`export_lines.py`, `own_lines.py`).


GROUP = MemoryGroup("grp_1", "Work", 1_000.5, 2_000.25, "what I do", "fact", 7)


def items(*written: bytes) -> list[FileItem]:
    return list(read_memory_file(b"".join(written), "memtree").items)


def read(**fields: Any) -> FileItem:
    """A memory's line with these fields."""
    line = {"type": "memory", "id": "mem_1", "text": "Likes tea", **fields}
    (item,) = items(msgspec.json.encode(line))
    return item


@pytest.mark.slow
@given(records(), st.lists(NAMES, max_size=3))
def test_a_memory_is_read_as_it_was_written(record: MemoryRecord, groups: list[str]):
    (item,) = items(export_format.memory_line(record, groups))
    assert isinstance(item, FileMemory), item
    assert item.groups == tuple(groups)
    assert item.record is not None
    assert item.record.memory == record.memory
    assert item.record.tombstone == record.tombstone
    assert item.record.replaced == record.replaced
    assert [replace(each, number=0) for each in record.versions] == list(item.record.versions)


@given(MOMENTS)
def test_times_are_kept_to_the_microsecond(seconds: float):
    record = MemoryRecord(Memory("mem_1", 1, "a", seconds, seconds))
    (item,) = items(export_format.memory_line(record, ()))
    assert isinstance(item, FileMemory)
    assert item.created == seconds


def test_everything_else_of_an_export_is_read_as_well():
    left = Tombstone("mem_9", 0, 5.5, "outdated", "", None)
    settings = UserSettings(save=True, history=False, top_k=7, threshold=0.25)
    assert items(
        export_format.header_line(1_000.0),
        export_format.settings_line(settings),
        export_format.group_line(GROUP),
        export_format.group_line(MemoryGroup("grp_2", "Home", 1.0, 1.0)),
        export_format.tombstone_line(left),
        export_format.end_line(memories=3, groups=2, tombstones=1, changed=True),
    ) == [
        FileHeader(1),
        FileSettings(2, SettingsChange(True, False, 7, 0.25)),
        FileGroup(3, replace(GROUP, members=0)),
        FileGroup(4, MemoryGroup("grp_2", "Home", 1.0, 1.0)),
        FileTombstone(5, left),
        FileEnd(6, 3),
    ]


def test_a_schema_is_one_line_however_it_was_written():
    document = (
        '{\r\n "type": "object",\n "title": "a\\nb",\n "maxProperties": 9223372036854775807\n}'
    )
    kept = MemorySchema("Profile", document, ("name", "kind"), "Who\nit is", 1.5, 2.5)
    line = export_format.schema_line(kept)
    assert line.count(b"\n") == 1
    (item,) = items(line)
    assert isinstance(item, FileSchema), item
    assert item == FileSchema(1, replace(kept, document=item.schema.document))
    assert json.loads(item.schema.document) == json.loads(document)


def test_a_line_holds_no_more_than_is_said():
    line = export_format.memory_line(MemoryRecord(Memory("mem_1", 5, "Likes tea", 0.0, 0.0)), ())
    assert msgspec.json.decode(line) == {
        "type": "memory",
        "id": "mem_1",
        "memory_id": 5,
        "version": 1,
        "text": "Likes tea",
        "source_type": "user",
        "created_at": "1970-01-01T00:00:00.000Z",
        "updated_at": "1970-01-01T00:00:00.000Z",
    }


def test_a_text_alone_is_a_memory_without_an_id():
    (item,) = items(b'{"text": "Likes tea", "tags": ["Food"]}')
    assert item == FileMemory(1, "Likes tea", tags=("food",))


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"text": 5}, "text"),
        ({"text": ["a"]}, "text"),
        ({"id": "a b"}, "id"),
        ({"id": 5}, "id"),
        ({"category": 5}, "category"),
        ({"tags": "food"}, "tags"),
        ({"tags": ["x" * 40]}, "tags"),
        ({"created_at": "yesterday"}, "created_at"),
        ({"created_at": 1772879400}, "created_at"),
        ({"expires_at": "2026-99-01"}, "expires_at"),
        ({"importance": "0.5"}, "importance"),
        ({"importance": 2}, "importance"),
        ({"importance": True}, "importance"),
        ({"version": "1"}, "version"),
        ({"version": 1.5}, "version"),
        ({"version": 0}, "version"),
        ({"version": float("inf")}, "version"),
        ({"tainted": "no"}, "tainted"),
        ({"data": [1]}, "data"),
        ({"source": "a"}, "source"),
        ({"source": {"start": -1}}, "start"),
        ({"source": {"digest": "x" * 2_000}}, "digest"),
        ({"kind": "x" * 2_000}, "kind"),
        ({"supersedes": "a b"}, "supersedes"),
        ({"groups": "grp_1"}, "groups"),
        ({"groups": ["a b"]}, "groups"),
        ({"groups": ["grp_1"] * 1_001}, "groups"),
        ({"versions": [5]}, "versions"),
        ({"versions": [{"text": "a", "version": 1}]}, "versions"),
        ({"confidence": "high"}, "confidence"),
        ({"confidence": 1.5}, "confidence"),
        ({"confidence": float("nan")}, "confidence"),
        ({"happened_at": 5}, "happened_at"),
        ({"mentions": {"name": "Ada"}}, "mentions"),
        ({"mentions": ["Ada"]}, "mentions"),
        ({"mentions": [{"name": 5}]}, "name"),
        ({"mentions": [{"name": "x" * 2_000}]}, "name"),
        ({"mentions": [{"name": "Ada"}] * 1_001}, "mentions"),
        ({"tombstone": []}, "tombstone"),
        ({"type": "note"}, "type"),
        ({"type": 5}, "type"),
        ({"type": "group", "title": ""}, "title"),
        ({"type": "group", "title": "x" * 300}, "title"),
        ({"type": "group", "id": None, "title": "Work"}, "id"),
        ({"type": "tombstone", "id": None}, "id"),
        ({"type": "schema", "json_schema": {}}, "name"),
        ({"type": "schema", "name": "Profile"}, "json_schema"),
        ({"type": "schema", "name": "Profile", "json_schema": "{}"}, "json_schema"),
        ({"type": "schema", "name": 5, "json_schema": {}}, "name"),
        ({"type": "schema", "name": "P", "json_schema": {}, "unique_on": "a"}, "unique_on"),
        ({"type": "schema", "name": "P", "json_schema": {}, "unique_on": [1]}, "unique_on"),
        ({"type": "settings", "top_k": 0}, "top_k"),
        ({"type": "settings", "memories_save_enabled": "on"}, "memories_save_enabled"),
    ],
)
def test_a_field_of_a_wrong_type_makes_its_line_invalid(fields: dict[str, Any], name: str):
    item = read(**fields)
    assert isinstance(item, LineResult), item
    assert (item.line, item.reason) == (1, "field")
    assert name in item.message


def test_a_schema_with_half_a_character_is_none():
    head = b'{"type": "export", "format": "memtree-memories", "version": 1}\n'
    raw = head + b'{"type": "schema", "name": "P", "json_schema": {"title": "\\ud800"}}'
    (_, item) = items(raw)
    assert isinstance(item, LineResult)
    assert "json_schema" in item.message


def test_the_line_of_a_sound_memory_is_no_such_line():
    assert isinstance(read(), FileMemory)
