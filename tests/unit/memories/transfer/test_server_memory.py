from __future__ import annotations

import json
from typing import Any

from memtree.memories.transfer.file_items import FileMemory
from memtree.memories.transfer.memory_file import read_memory_file

ADA = {
    "type": "entity",
    "name": "Ada Klein",
    "entityType": "person",
    "observations": ["Plays the cello", "Speaks French "],
}
LAB = {"type": "entity", "name": "Harbour Lab", "entityType": "organization", "observations": []}
WORKS = {"type": "relation", "from": "Ada Klein", "to": "Harbour Lab", "relationType": "works_at"}
TEXTS = [
    "Ada Klein: Plays the cello",
    "Ada Klein: Speaks French",
    "Harbour Lab: organization",
    "Ada Klein works at Harbour Lab",
]


def read(*lines: Any) -> tuple[str, list[Any]]:
    file = read_memory_file("\n".join(json.dumps(line) for line in lines).encode())
    return file.format, list(file.items)


def test_each_observation_and_each_relation_is_a_memory():
    format_, found = read(ADA, LAB, WORKS)
    assert format_ == "server-memory"
    assert [one.text for one in found] == TEXTS
    assert [one.line for one in found] == [1, 1, 2, 3]
    assert [one.tags for one in found] == [("person",), ("person",), ("organization",), ()]


def test_a_graph_that_the_tool_answers_is_read_as_well():
    graph = {"entities": [ADA, LAB], "relations": [WORKS]}
    format_, found = read(graph)
    assert (format_, [one.text for one in found]) == ("server-memory", TEXTS)


def test_one_line_is_a_file():
    assert [one.text for one in read(ADA)[1]] == TEXTS[:2]


def test_what_is_broken_is_told_and_the_rest_is_read():
    _, found = read(
        {**ADA, "observations": ["Plays the cello", 7]},
        {**ADA, "name": " "},
        {**ADA, "observations": "Plays the cello"},
        {**WORKS, "to": None},
        {"type": "note", "entityType": "x"},
        {**LAB, "observations": ["Opened in 2019"]},
    )
    told = [one.text if isinstance(one, FileMemory) else (one.line, one.reason) for one in found]
    assert told == [
        "Ada Klein: Plays the cello",
        (1, "not_a_memory"),
        (2, "not_a_memory"),
        (3, "not_a_memory"),
        (4, "not_a_memory"),
        (5, "not_a_memory"),
        "Harbour Lab: Opened in 2019",
    ]
