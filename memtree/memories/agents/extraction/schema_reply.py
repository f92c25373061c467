"""Reads what a model answered: records, whatever it put around them.

Read as well: reasoning before the JSON, code fences and prose around it, a bare list, values as an
object instead of a list, and of an answer that was cut off the records that are complete.

    >>> read('{"records": []}', ["1"])
    ModelRecords(records=(), readable=True)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from memtree.memories.agents.extraction.schema_prompt import KEY
from memtree.memories.extraction.model.reply import LONGEST, REACH, outermost_values
from memtree.summaries.replies import answered

RECORDS = 200  # that are read
VALUES = 60  # of one record


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """One record as the model has it, not judged yet. `message`: "" where it names none of those
    that were asked about. `values`: texts by the name of their field, in order."""

    message: str
    quote: str
    kind: str
    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ModelRecords:
    """`readable`: there was an answer, if only that there is nothing."""

    records: tuple[ModelRecord, ...] = ()
    readable: bool = False


def read(text: str, ids: Collection[str]) -> ModelRecords:
    """The records about messages with these ids, in the order of the answer, each once. Linear."""
    records: dict[ModelRecord, None] = {}
    readable = False
    for value in outermost_values(answered(text[:REACH])):
        rows = value.get(KEY) if isinstance(value, dict) else value
        if isinstance(rows, list):
            parsed = [record for row in rows if (record := _record(row, ids))]
            readable = readable or bool(parsed) or not rows or isinstance(value, dict)
            records.update(dict.fromkeys(parsed))
        elif record := _record(value, ids):
            readable = True
            records[record] = None
    return ModelRecords(tuple(records)[:RECORDS], readable)


def _record(value: Any, ids: Collection[str]) -> ModelRecord | None:
    if not isinstance(value, dict):
        return None
    message, quote, kind = value.get("message"), value.get("quote"), value.get("kind")
    if not isinstance(quote, str) or not isinstance(kind, str) or len(quote) > LONGEST:
        return None
    named = isinstance(message, str | int) and not isinstance(message, bool)
    id_ = str(message)[:20].lower().removeprefix("message").strip(" #:") if named else ""
    values = tuple(_values(value.get("values") or value.get("data")))[:VALUES]
    if not values or not quote.strip():
        return None
    return ModelRecord(id_ if id_ in ids else "", quote, kind.strip(), values)


def _values(given: Any) -> Iterator[tuple[str, str]]:
    if isinstance(given, dict):
        for name, value in list(given.items())[:VALUES]:
            yield from _texts(name, value)
    elif isinstance(given, list):
        for row in given[:VALUES]:
            if isinstance(row, dict) and isinstance(row.get("field"), str):
                yield from _texts(row["field"], row.get("value"))


def _texts(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, list):
        for item in value[:VALUES]:
            if isinstance(item, str | int | float):
                yield from _texts(name, item)
    elif isinstance(value, dict):
        for inner, item in list(value.items())[:VALUES]:
            if not isinstance(item, dict):
                yield from _texts(f"{name}.{inner}", item)
    elif isinstance(value, bool):
        yield name.strip(), "true" if value else "false"
    elif isinstance(value, str | int | float):
        text = str(value).strip()
        if 0 < len(text) <= LONGEST:
            yield name.strip(), text
