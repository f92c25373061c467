"""A model fills schemas: what it is asked, and what it adds to what rules find."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from typing import Any

import pytest

from memtree.background.extracting.metered_model import MeteredModel
from memtree.background.extracting.structured_model_reader import StructuredModelReader
from memtree.background.summarizing.spending import TOKENS, DailyLimits, Spending
from memtree.days import day_of
from memtree.errors import SummarizerUnavailable
from memtree.memories.agents.extraction.structured_readers import StructuredReading
from memtree.memories.agents.schemas.memory_schema import MemorySchema
from memtree.memories.agents.slot_filling.merging import gathered
from memtree.memories.message_extraction import UserMessage
from memtree.memories.scope import Scope
from memtree.ports.chat_model import ModelAnswer
from memtree.ports.models import Usage
from memtree.stores import RamStore
from tests.unit.background.extracting.test_model_reader import Scripted
from tests.unit.memories.books import HandClock

ME = Scope.of_agent("t", "a")
TEXT = {"type": "string"}
KEY = "sk-proj-" + "aB3dE5gH7jK9" * 4
PROFILE = MemorySchema(
    "UserProfile",
    json.dumps({"properties": {"name": TEXT, "pet": TEXT, "age": {"type": "integer"}}}),
    ("kind",),
)
TASK = MemorySchema("Task", json.dumps({"properties": {"title": TEXT}, "required": ["title"]}))


def record(message: str, quote: str, kind: str = "UserProfile", **values: str) -> dict[str, Any]:
    rows = [{"field": name, "value": value} for name, value in values.items()]
    return {"message": message, "quote": quote, "kind": kind, "values": rows}


def said(*records: dict[str, Any]) -> str:
    return json.dumps({"records": list(records)})


class Counted:
    def __init__(self, model: Scripted, limits: DailyLimits | None = None) -> None:
        self.store, self.clock = RamStore(), HandClock()
        spending = Spending(self.store, self.clock, limits=limits or DailyLimits())
        self.metered = MeteredModel(model, spending)
        self.reader = StructuredModelReader(self.metered)

    async def read(
        self, *texts: str, schemas: Sequence[MemorySchema] = (PROFILE, TASK)
    ) -> Sequence[StructuredReading]:
        messages = [UserMessage(text.encode(), text, date(2026, 3, 4)) for text in texts]
        return await self.reader.read(ME, messages, schemas)


def data(rows: Sequence[StructuredReading]) -> list[Any]:
    found = [(at, each) for at, row in enumerate(rows) for each in row.findings]
    return [dict(one.data) for one in gathered(found)]


def reasons(row: StructuredReading) -> list[str]:
    return [str(skip.reason) for skip in row.skipped]


async def test_a_model_adds_to_what_rules_find() -> None:
    text = "My name is Bo. Rex, my old dog, sleeps all day."
    model = Scripted(said(record("1", "Rex, my old dog, sleeps all day", pet="Rex", name="Rex")))
    [row] = await Counted(model).read(text, schemas=[PROFILE])
    assert data([row]) == [{"name": "Bo", "pet": "Rex"}]  # the name is known by rule
    text = "My name is Bo. I finally turned forty."
    model = Scripted(said(record("1", "I finally turned forty", age="40", name="forty")))
    [row] = await Counted(model).read(text)
    assert data([row]) == [{"name": "Bo", "age": 40}]


async def test_a_thing_that_rules_found_is_not_found_twice() -> None:
    text = "Remind me to call Ann."
    model = Scripted(said(record("1", text, "Task", title="call Ann")))
    assert data(await Counted(model).read(text)) == [{"title": "call Ann"}]
    text = "Somebody ought to phone the bank, that somebody is me."
    quote = "Somebody ought to phone the bank"
    model = Scripted(said(record("1", quote, "Task", title="phone the bank")))
    assert data(await Counted(model).read(text)) == [{"title": "phone the bank"}]


async def test_what_is_not_grounded_is_told() -> None:
    model = Scripted(said(record("1", "I play chess", age="40")))
    [row] = await Counted(model).read("I play chess.")
    assert reasons(row) == ["no_schema", "not_grounded"]


async def test_what_the_model_is_shown() -> None:
    model = Scripted(said())
    await Counted(model).read(f"I play chess. My key is {KEY}.\n\n```\nsecret code\n```\n> quoted")
    [question] = model.asked
    shown = question.messages[1]["content"]
    assert "I play chess." in shown
    for hidden in (KEY, "secret code", "quoted"):
        assert hidden not in shown
    assert "UserProfile: name (text); pet (text); age (whole number)" in shown


async def test_a_message_without_own_words_costs_nothing() -> None:
    model = Scripted()
    rows = await Counted(model).read("```\ncode\n```", "Let's role-play: I'm Bo, you are Ann.")
    assert data(rows) == []
    assert not model.asked


async def test_a_model_that_is_down_is_asked_again_later() -> None:
    with pytest.raises(SummarizerUnavailable):
        await Counted(Scripted(SummarizerUnavailable("down"))).read("I play chess.")


async def test_a_limit_of_the_day_leaves_messages_undone() -> None:
    counted = Counted(Scripted(), DailyLimits(tokens=10))
    assert await counted.read("I play chess.") == []
    assert counted.metered.totals.calls["limited"] == 1


async def test_calls_are_counted() -> None:
    counted = Counted(Scripted(said()))
    await counted.read("I play chess.")
    day = day_of(counted.clock.now())
    assert (await counted.store.tallies("t", day, day))[TOKENS] == 120


async def test_an_answer_nobody_can_read_is_asked_for_again_message_by_message() -> None:
    model = Scripted(
        "sorry", said(record("1", "I'm turning forty", age="40")), ModelAnswer("no", True, Usage())
    )
    rows = await Counted(model).read("I'm turning forty tomorrow.", "My name is Bo.")
    assert len(model.asked) == 3
    assert data(rows)[-1]["name"] == "Bo"  # by rule
    assert "no_answer" in reasons(rows[1])
    assert [row.done for row in rows] == [True, False]


CUSTOMER = MemorySchema(
    "Customer",
    json.dumps({"properties": dict.fromkeys(("name", "role", "company", "city"), TEXT)}),
    ("name",),
)


async def test_a_memory_that_rules_found_gets_the_fields_that_the_model_adds() -> None:
    text = "My name is Bo and I'm a baker at Crumb & Co in Graz."
    values = {"name": "Bo", "role": "baker", "company": "Crumb & Co", "city": "Graz"}
    [row] = await Counted(Scripted(said(record("1", text, "Customer", **values)))).read(
        text, schemas=[CUSTOMER]
    )
    assert data([row]) == [values]
    values["name"] = "Ann"  # which nobody said
    [row] = await Counted(Scripted(said(record("1", text, "Customer", **values)))).read(
        text, schemas=[CUSTOMER]
    )
    assert data([row]) == [values | {"name": "Bo"}]


async def test_what_a_sentence_takes_back_is_not_what_it_says() -> None:
    seat = {"type": "string", "enum": ["window", "aisle"]}
    travel = MemorySchema("TravelPreference", json.dumps({"properties": {"seat": seat}}), ("kind",))
    for value, wanted in (("window", [{"seat": "window"}]), ("aisle", [])):
        text = "Actually I prefer window seats, not aisle."
        model = Scripted(said(record("1", text, "TravelPreference", seat=value)))
        rows = await Counted(model).read("Hm.", text, schemas=[travel])
        found = [each for each in data(rows) if each.get("seat") == value]
        assert found == wanted


async def test_kinds_that_nobody_can_fill_are_not_asked_for() -> None:
    hard = MemorySchema("Odd", json.dumps({"properties": {"a": {"const": 1}}, "required": ["a"]}))
    model = Scripted()
    assert data(await Counted(model).read("My name is Bo.", schemas=[hard])) == []
    assert not model.asked
