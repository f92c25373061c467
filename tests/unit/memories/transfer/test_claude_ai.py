from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.memories.transfer.file_items import FileMemory, LineResult
from memtree.memories.transfer.memory_file import read_memory_file

TEXT = """**Work context**

Nora is a ceramic artist in Ghent.
She sells online.

# Brief history
*Recent months*:
- Keeps bees.
* Likes *tea*
2. [2026-03-07] Moved to Linz.

**She is never to be called before noon.**
"""
POINTS = [
    ("Nora is a ceramic artist in Ghent.\nShe sells online.", ("work-context",)),
    ("Keeps bees.", ("brief-history", "recent-months")),
    ("Likes *tea*", ("brief-history", "recent-months")),
    ("Moved to Linz.", ("brief-history", "recent-months")),
    ("**She is never to be called before noon.**", ("brief-history", "recent-months")),
    ("Rebuilds her shop.", ()),
    ("Uses Astro.", ("notes",)),
]
EXPORT = {
    "conversations_memory": TEXT.replace("\n", "\r\n"),
    "project_memories": {"p1": "Rebuilds her shop."},
    "memory_files": [{"path": "/a.md", "content": "## Notes\nUses Astro."}],
    "account_uuid": "a",
}


def read(value: Any, **how: Any) -> list[FileMemory]:
    file = read_memory_file(json.dumps(value, **how).encode())
    assert file.format == "claude-ai"
    items = list(file.items)
    assert all(isinstance(item, FileMemory) for item in items)
    return [item for item in items if isinstance(item, FileMemory)]


@pytest.mark.parametrize("indent", [None, 1])
def test_each_point_is_a_memory_with_its_heading_as_a_tag(indent: int | None):
    for value in ([EXPORT], EXPORT):
        assert [(item.text, item.tags) for item in read(value, indent=indent)] == POINTS
    dated = next(item for item in read(EXPORT) if item.text == "Moved to Linz.")
    assert dated.created == 1772841600.0


def test_fields_that_are_missing_or_odd_are_no_memories():
    odd = {"conversations_memory": None, "project_memories": {"p": 5}, "memory_files": [[], {}, 1]}
    assert read([odd, {"project_memories": "Paints."}])[0].text == "Paints."
    items = list(read_memory_file(json.dumps([EXPORT, 5]).encode()).items)
    assert isinstance(items[-1], LineResult)
    assert items[-1].reason == "not_an_object"
