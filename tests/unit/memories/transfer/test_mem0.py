"""Fixtures in the shape of what mem0's `get_all` answers, and of both files of OpenMemory's
backup."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.memories.transfer.file_items import FileMemory, LineResult, LineStatus
from memtree.memories.transfer.memory_file import read_memory_file

CREATED = "2026-03-07T02:30:00.123456-08:00"
TEA: dict[str, Any] = {
    "id": "0b8f8f6e-8a8e-4b5f-9f4e-5d1f6f6f0001",
    "memory": "Likes green tea",
    "hash": "d41d8cd98f00b204e9800998ecf8427e",
    "metadata": {"app": "kitchen"},
    "categories": ["Food", "preferences"],
    "created_at": CREATED,
    "updated_at": None,
    "user_id": "ada",
}
DOG = {"id": "2", "memory": "Has a beagle named Otto", "user_id": "ada", "categories": None}
BACKUP: dict[str, Any] = {
    "user": {"id": "u", "user_id": "ada", "name": None, "email": None, "metadata": {}},
    "apps": [{"id": "p", "name": "openmemory", "description": None, "is_active": True}],
    "categories": [{"id": "c1", "name": "Home"}, {"id": "c2", "name": "Pets"}],
    "memories": [
        {"id": "1", "user_id": "u", "content": "Lives in Graz", "metadata": {"a": 1},
         "state": "active", "created_at": "2026-03-07T10:30:00+00:00",
         "category_ids": ["c1", "c9"]},
        {"id": "2", "user_id": "u", "content": "Lived in Linz", "state": "deleted"},
        {"id": "3", "user_id": "u", "content": "Has a cat", "state": "paused"},
        {"id": "4", "user_id": "u", "content": None, "state": "active"},
    ],
    "memory_categories": [{"memory_id": "1", "category_id": "c1"}],
    "status_history": [],
    "export_meta": {"version": "1"},
}  # fmt: skip


def read(value: Any, format_: str = "auto") -> tuple[str, list[Any]]:
    file = read_memory_file(json.dumps(value).encode(), format_)
    return file.format, list(file.items)


@pytest.mark.parametrize(
    "document",
    [
        {"results": [TEA, DOG]},
        {"count": 2, "next": None, "previous": None, "results": [TEA, DOG]},
        [TEA, DOG],
        {"memories": [TEA, DOG]},
    ],
)
def test_every_form_of_mem0_is_read(document: Any):
    format_, (tea, dog) = read(document)
    assert format_ == "mem0"
    assert tea == FileMemory(
        1,
        "Likes green tea",
        tags=("food", "preferences"),
        created=1772879400.123456,
        data={"app": "kitchen"},
        user="ada",
    )
    assert (dog.text, dog.created, dog.tags) == ("Has a beagle named Otto", None, ())


def test_an_expiration_date_is_kept():
    _, (tea,) = read({"results": [{**TEA, "expiration_date": "2026-03-07"}]})
    assert tea.expires == 1772841600.0


def test_what_is_no_memory_of_mem0_is_told():
    graph = [{"source": "ada", "relationship": "likes", "target": "tea"}]
    _, found = read({"results": [TEA, {"memory": 5}, "text"], "relations": graph})
    assert [(one.line, one.reason) for one in found[1:]] == [
        (2, "no_text"), (3, "not_an_object"), (1, "relation"),
    ]  # fmt: skip


def test_the_document_of_openmemory_is_read():
    format_, found = read(BACKUP)
    assert format_ == "openmemory"
    assert found[0] == FileMemory(
        1, "Lives in Graz", tags=("home",), created=1772879400.0, data={"a": 1}, user="u"
    )
    assert [(one.line, one.status, one.reason) for one in found[1:]] == [
        (2, LineStatus.SKIPPED, "not_active"),
        (3, LineStatus.SKIPPED, "not_active"),
        (4, LineStatus.INVALID, "no_text"),
    ]


def test_its_lines_name_their_categories():
    lines = [
        {"id": "1", "content": "Lives in Graz", "metadata": {}, "created_at": CREATED,
         "updated_at": CREATED, "state": "active", "app": "openmemory", "categories": ["Home"]},
        {"id": "2", "content": "Lived in Linz", "state": "archived", "categories": []},
        {"id": "3", "content": "x", "state": "never heard of"},
    ]  # fmt: skip
    raw = "".join(json.dumps(line) + "\n" for line in lines).encode()
    file = read_memory_file(raw)
    first, *others = file.items
    assert file.format == "openmemory"
    assert first == FileMemory(1, "Lives in Graz", tags=("home",), created=1772879400.123456)
    messages = [one.message for one in others if isinstance(one, LineResult)]
    assert messages == [
        "it is archived where it comes from",
        "it is not active where it comes from",
    ]
