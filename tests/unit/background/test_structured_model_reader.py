"""A model fills schemas: what it is asked, and what of its answer is believed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from typing import Any

import pytest

from memtree.background.model_readers import StructuredModelReader
from memtree.background.spending import TOKENS, DailyLimits, MeteredModel, Spending
from memtree.days import day_of
from memtree.errors import SummarizerUnavailable
from memtree.memories.agents.extraction.agent_messages import StructuredReading
from memtree.memories.agents.extraction.merging import gathered
from memtree.memories.agents.schemas.memory_schema import MemorySchema
from memtree.memories.message_extraction import UserMessage
from memtree.memories.scope import Scope
from memtree.ports.models import ModelAnswer, Usage
from memtree.stores import RamStore
from tests.unit.background.test_model_reader import Scripted
from tests.unit.memories.books import HandClock

ME = Scope.of_agent("t", "a")
TEXT = {"type": "string"}
KEY = "sk-proj-" + "aB3dE5gH7jK9" * 4
PROFILE = MemorySchema(
    "UserProfile",
    json.dumps({"properties": {"name": TEXT, "pet": TEXT, "age": {"type": "integer"}}}),
    ("kind",),
)
SEAT = {"type": "string", "enum": ["window", "aisle"]}
TRAVEL = MemorySchema("TravelPreference", json.dumps({"properties": {"seat": SEAT}}), ("kind",))
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
    return [dict(one.data) for one in gathered(found, (PROFILE, TASK, TRAVEL))]


def reasons(row: StructuredReading) -> list[str]:
    return [str(skip.reason) for skip in row.skipped]


async def test_records_of_several_sentences() -> None:
    text = "My name is Bo. Rex, my old dog, sleeps all day. I finally turned forty."
    answer = said(
        record("1", "I finally turned forty", age="40"),
        record("1", "My name is Bo", name="Bo"),
        record("1", "Rex, my old dog, sleeps all day", pet="Rex"),
    )
    [row] = await Counted(Scripted(answer)).read(text, schemas=[PROFILE])
    assert data([row]) == [{"name": "Bo", "pet": "Rex", "age": 40}]
    first = row.findings[0]
    assert text[first.start : first.end] == "My name is Bo"


async def test_a_thing_is_a_memory_of_its_own() -> None:
    text = "Somebody ought to phone the bank. Remind me to call Ann."
    answer = said(
        record("1", "Somebody ought to phone the bank", "Task", title="phone the bank"),
        record("1", "Remind me to call Ann", "Task", title="call Ann"),
    )
    rows = await Counted(Scripted(answer)).read(text)
    assert data(rows) == [{"title": "phone the bank"}, {"title": "call Ann"}]


async def test_a_record_that_names_no_message_is_of_the_one_that_says_it() -> None:
    answer = said(record("", "My name is Bo", name="Bo"))
    rows = await Counted(Scripted(answer)).read("I play chess.", "My name is Bo.")
    assert [len(row.findings) for row in rows] == [0, 1]


async def test_what_is_not_grounded_is_told() -> None:
    answer = said(
        record("1", "I play chess", age="40"), record("1", "My name is Bo", name="Bo", pet="Rex")
    )
    [row] = await Counted(Scripted(answer)).read("I play chess. My name is Bo.")
    assert [(skip.text, skip.reason) for skip in row.skipped] == [
        ("I play chess", "not_grounded"),
        ("Rex", "not_grounded"),
    ]
    assert data([row]) == [{"name": "Bo"}]


async def test_a_secret_is_shown_to_nobody() -> None:
    model = Scripted(said(record("1", f"My key is {KEY}", name=KEY)))
    [row] = await Counted(model).read(f"I play chess. My key is {KEY}.")
    assert [(skip.shown, skip.reason) for skip in row.skipped] == [
        ("", "secret"),
        ("My key is [secret]", "not_grounded"),
    ]
    assert KEY not in str(model.asked)


async def test_a_message_gives_so_many_records() -> None:
    titles = [f"call number {n}" for n in range(10)]
    text = " ".join(f"I have to {title}." for title in titles)
    answer = said(*(record("1", f"I have to {title}", "Task", title=title) for title in titles))
    [row] = await Counted(Scripted(answer)).read(text)
    assert (len(row.findings), reasons(row)) == (8, ["cap", "cap"])


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
    assert (data(rows), [row.done for row in rows]) == ([], [True, True])
    assert reasons(rows[1]) == ["fiction"]
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
    assert data(rows) == [{"age": 40}]
    assert "no_answer" in reasons(rows[1])
    assert [row.done for row in rows] == [True, False]


async def test_what_a_sentence_takes_back_is_not_what_it_says() -> None:
    for value, wanted in (("window", [{"seat": "window"}]), ("aisle", [])):
        text = "Actually I prefer window seats, not aisle."
        model = Scripted(said(record("1", text, "TravelPreference", seat=value)))
        assert data(await Counted(model).read(text, schemas=[TRAVEL])) == wanted


async def test_kinds_that_nobody_can_fill_are_not_asked_for() -> None:
    hard = MemorySchema("Odd", json.dumps({"properties": {"a": {"const": 1}}, "required": ["a"]}))
    model = Scripted()
    [row] = await Counted(model).read("My name is Bo.", schemas=[hard])
    assert (data([row]), reasons(row), row.done) == ([], ["no_schema"], False)
    assert not model.asked
