from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.memories.agents.extraction.schema_prompt import ModelRecord, read

RECORD = {
    "message": "1",
    "quote": "I'm Bo",
    "kind": "UserProfile",
    "values": [{"field": "name", "value": "Bo"}],
}
BO = ModelRecord("1", "I'm Bo", "UserProfile", (("name", "Bo"),))


def said(*records: Any) -> str:
    return json.dumps({"records": list(records)})


@pytest.mark.parametrize(
    "text",
    [
        said(RECORD),
        said(RECORD, RECORD),
        json.dumps([RECORD]),
        json.dumps(RECORD),
        f"<think>Hm, {{}}</think>Here it is:\n```json\n{said(RECORD)}\n```",
        said(RECORD)[:-2] + ', {"message": "1", "quo',
        said({**RECORD, "values": {"name": "Bo"}}),
        said({**RECORD, "message": 1, "values": None, "data": {"name": "Bo"}}),
    ],
)
def test_records_however_they_are_written(text: str) -> None:
    assert read(text, ["1"]).records == (BO,)
    assert read(text, ["1"]).readable


@pytest.mark.parametrize(
    "record",
    [
        {**RECORD, "quote": ""},
        {**RECORD, "quote": 5},
        {**RECORD, "kind": None},
        {**RECORD, "values": []},
        {**RECORD, "values": "name"},
        {**RECORD, "values": [{"field": 5, "value": "Bo"}]},
        {**RECORD, "quote": "x" * 3_000},
        "record",
    ],
)
def test_what_is_none(record: Any) -> None:
    assert read(said(record), ["1"]).records == ()


def test_values_of_all_types_are_texts() -> None:
    values = {"age": 30, "smokes": True, "likes": ["a", 1], "address": {"city": "Graz"}, "n": None}
    [record] = read(said({**RECORD, "values": values}), ["1"]).records
    assert record.values == (
        ("age", "30"),
        ("smokes", "true"),
        ("likes", "a"),
        ("likes", "1"),
        ("address.city", "Graz"),
    )


def test_a_message_that_was_not_asked_about_is_none() -> None:
    assert read(said({**RECORD, "message": "7"}), ["1"]).records[0].message == ""


def test_no_answer_is_not_readable() -> None:
    assert not read("I cannot do that.", ["1"]).readable
    assert read('{"records": []}', ["1"]).readable
