"""Check what the export writes is what the import reads (`export_lines.py`, `own_lines.py`)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.memories.agents.schemas.memory_schema import MemorySchema
from memtree.memories.memory import Memory, Tombstone
from memtree.memories.ports import MemoryRecord
from memtree.memories.transfer import export_lines
from memtree.memories.transfer.file_items import (
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
from memtree.memories.transfer.memory_file import read_memory_file
from memtree.memories.user_memories import MemoryGroup, SettingsChange, UserSettings
from tests.unit.memories.transfer.exported import MOMENTS, NAMES, records

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
    (item,) = items(export_lines.memory_line(record, groups))
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
    (item,) = items(export_lines.memory_line(record, ()))
    assert isinstance(item, FileMemory)
    assert item.created == seconds


def test_everything_else_of_an_export_is_read_as_well():
    left = Tombstone("mem_9", 0, 5.5, "outdated", "", None)
    settings = UserSettings(save=True, history=False, top_k=7, threshold=0.25)
    assert items(
        export_lines.header_line(1_000.0),
        export_lines.settings_line(settings),
        export_lines.group_line(GROUP),
        export_lines.group_line(MemoryGroup("grp_2", "Home", 1.0, 1.0)),
        export_lines.tombstone_line(left),
        export_lines.end_line(memories=3, groups=2, tombstones=1, changed=True),
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
    line = export_lines.schema_line(kept)
    assert line.count(b"\n") == 1
    (item,) = items(line)
    assert isinstance(item, FileSchema), item
    assert item == FileSchema(1, replace(kept, document=item.schema.document))
    assert json.loads(item.schema.document) == json.loads(document)


def test_a_line_holds_no_more_than_is_said():
    line = export_lines.memory_line(MemoryRecord(Memory("mem_1", 5, "Likes tea", 0.0, 0.0)), ())
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
