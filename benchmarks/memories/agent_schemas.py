"""Schemas of structured memories: how long it takes to compile them, to hold 1,000 memories
against them, and how long the event loop stands still meanwhile; also with schemas and data that
were made to be slow. No outside data."""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
import time
import tracemalloc
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.report import Row
from benchmarks.subject import Bench
from memtree.agents.schema_book import SchemaBook
from memtree.agents.schema_limits import checked_schema
from memtree.agents.schema_validation import CompiledSchema, compiled, violation_of
from memtree.errors import SchemaInvalid, SchemaViolation
from memtree.jobs.runtime import SystemClock
from memtree.stores import open_memories, open_store

TENANT = "tenant"
MEMORIES = 1_000
BATCH = 100
TIMES = 7

PROFILE = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 200},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "mail": {"type": "string", "pattern": r"^[^@\s]+@[^@\s]+\.[a-z]{2,}$"},
        "mood": {"enum": ["good", "bad", "unknown"]},
        "nick": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "address": {"$ref": "#/$defs/address"},
        "visited": {"type": "array", "items": {"$ref": "#/$defs/address"}},
    },
    "required": ["name"],
    "additionalProperties": False,
    "$defs": {
        "address": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "zip": {"type": "string"}},
            "required": ["city"],
        }
    },
}
# All that the limits allow of a kind, and what they stop.
WIDE = {"type": "object", "properties": {f"f{at}": {"type": "string"} for at in range(190)}}
PATTERNS = {
    "type": "object",
    "properties": {f"f{at}": {"pattern": rf"^[a-z]{{1,{at + 9}}}-\d+$"} for at in range(60)},
}
DEEP: dict[str, Any] = {"type": "object", "additionalProperties": {"type": "integer"}}
for _ in range(6):
    DEEP = {"type": "object", "allOf": [DEEP], "unevaluatedProperties": False}
SLOW: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "nested unevaluatedProperties": (DEEP, {f"k{at}": at for at in range(500)}),
    "180 rules on 1,000 numbers": (
        {"properties": {"a": {"items": {"allOf": [{"type": "integer"}] * 180}}}},
        {"a": [7] * 1_000},
    ),
    "exact fractions": (
        {"properties": {"a": {"items": {"multipleOf": 0.1}}}},
        {"a": [0.3] * 5_000},
    ),
    "a pattern of 300 states": (
        {"properties": {"a": {"pattern": "[ab]*a[ab]{300}c"}}},
        {"a": "".join(random.Random(7).choices("ab", k=3_900))},
    ),
}
BOMBS = {
    "25 doublings": {
        "type": "object",
        "$defs": {
            "n0": True,
            **{f"n{at}": {"allOf": [{"$ref": f"#/$defs/n{at - 1}"}] * 2} for at in range(1, 26)},
        },
        "$ref": "#/$defs/n25",
    },
    "7,000 class escapes": {"type": "object", "properties": {"a": {"pattern": r"\s" * 7_000}}},
    "(a{1000}){1000}": {"type": "object", "properties": {"a": {"pattern": "(a{1000}){1000}"}}},
}


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    rows = [*_compiling(), *_holding(), *_refusing()]
    with tempfile.TemporaryDirectory(prefix="memtree-bench-") as folder:
        store = open_store(f"sqlite:///{Path(folder)}/schemas.db")
        try:
            rows += await _of_a_book(SchemaBook(open_memories(store), SystemClock()))
        finally:
            await store.close()
    return rows, []


def profile(at: int) -> dict[str, Any]:
    """Some 300 bytes of JSON."""
    return {
        "name": f"Person {at}",
        "age": at % 100,
        "mail": f"person{at}@mail.example",
        "mood": ("good", "bad", "unknown")[at % 3],
        "nick": None if at % 2 else f"P{at}",
        "address": {"city": "Graz", "zip": f"80{at % 100:02}"},
        "visited": [{"city": city} for city in ("Rome", "Oslo", "Lima", "Bonn")[: at % 5]],
    }


def _compiling() -> list[Row]:
    rows = []
    shapes = {"typical": PROFILE, "190 fields": WIDE, "60 patterns": PATTERNS}
    for name, document in shapes.items():
        text = json.dumps(document)
        took = _timed(partial(_compiled, text), TIMES)
        rows.append(Row(f"check and compile, {name}", took[len(took) // 2] * 1e3, "ms"))
    tracemalloc.start()
    text = json.dumps(PROFILE)
    kept = [compiled(checked_schema(text)) for _ in range(50)]
    rows.append(Row("Python's memory of one", tracemalloc.get_traced_memory()[0] / len(kept), "B"))
    tracemalloc.stop()
    return rows


def _holding() -> list[Row]:
    schema = compiled(checked_schema(json.dumps(PROFILE)))
    sound = [profile(at) for at in range(MEMORIES)]
    broken = [{**one, "age": "x"} for one in sound]
    rows = []
    for name, memories in (("1,000 memories that keep to it", sound), ("that do not", broken)):
        took = _timed(partial(_held, schema, memories), TIMES)
        rows.append(Row(f"held against it, {name}", took[len(took) // 2] * 1e3, "ms"))
    for name, (document, data) in SLOW.items():
        slow = compiled(checked_schema(json.dumps({"type": "object", **document})))
        took = _timed(partial(_held, slow, [data]), TIMES)
        told = violation_of(slow, data)
        refused = told is not None and "too much" in told.rule
        label = f"{name}{' (refused)' if refused else ''}"
        rows.append(Row(label, took[len(took) // 2] * 1e3, "ms", goal=25, at_most=True))
    return rows


def _refusing() -> list[Row]:
    rows = []
    for name, document in BOMBS.items():
        text = json.dumps(document)
        took = _timed(partial(_refused, text), TIMES)
        rows.append(Row(f"refused: {name}", took[len(took) // 2] * 1e3, "ms", 20, at_most=True))
    return rows


def _compiled(text: str) -> None:
    compiled(checked_schema(text))


def _held(schema: CompiledSchema, memories: Sequence[dict[str, Any]]) -> None:
    for one in memories:
        violation_of(schema, one)


def _refused(text: str) -> None:
    try:
        _compiled(text)
    except SchemaInvalid:
        return
    raise AssertionError("it was not refused")


async def _of_a_book(book: SchemaBook) -> list[Row]:
    await book.put(TENANT, "Profile", json.dumps(PROFILE), ["name"])
    for name, (document, _) in SLOW.items():
        kind = name.replace(" ", "_").replace(",", "")
        await book.put(TENANT, kind, {"type": "object", **document})
    singles = [[("Profile", profile(at), "memories[0]")] for at in range(MEMORIES)]
    batches = [[item for (item,) in singles[at : at + BATCH]] for at in range(0, MEMORIES, BATCH)]
    slow = [
        [(name.replace(" ", "_").replace(",", ""), data, "memories[0]")] * 5
        for name, (_, data) in SLOW.items()
    ]
    _, held = await _watched(_idle)
    rows = [Row("nothing to do: event loop held, most", held[-1] * 1e3, "ms")]
    for label, requests in (
        ("one memory a request", singles),
        ("100 a request", batches),
        ("5 slow ones a request", slow),
    ):
        took, held = await _watched(partial(_checked, book, requests))
        rows += [
            Row(f"{label}: p50", took[len(took) // 2] * 1e3, "ms"),
            Row(f"{label}: p99", took[int(len(took) * 0.99)] * 1e3, "ms"),
            Row(f"{label}: event loop held, p99", held[int(len(held) * 0.99)] * 1e3, "ms"),
            Row(f"{label}: event loop held, most", held[-1] * 1e3, "ms"),
        ]
    return rows


async def _idle() -> list[float]:
    await asyncio.sleep(0.2)
    return []


async def _checked(book: SchemaBook, requests: Sequence[Any]) -> list[float]:
    took = []
    for items in requests:
        begun = time.perf_counter()
        try:
            await book.check(TENANT, items)
        except SchemaViolation:
            pass
        took.append(time.perf_counter() - begun)
    return sorted(took)


async def _watched(
    work: Callable[[], Awaitable[list[float]]],
) -> tuple[list[float], list[float]]:
    """Return how long `work` took, and by how much each tick of a millisecond was late meanwhile;
    sorted."""
    late: list[float] = []
    done = asyncio.Event()

    async def tick() -> None:
        while not done.is_set():
            begun = time.perf_counter()
            await asyncio.sleep(0.001)
            late.append(max(0.0, time.perf_counter() - begun - 0.001))

    ticking = asyncio.create_task(tick())
    try:
        took = await work()
    finally:
        done.set()
        await ticking
    return took, sorted(late)


def _timed(work: Callable[[], object], times: int) -> list[float]:
    """CPU seconds, sorted: a busy machine takes longer, not more."""
    took = []
    for _ in range(times):
        begun = time.thread_time()
        work()
        took.append(time.thread_time() - begun)
    return sorted(took)
