"""Answers by a model: when it is asked, what that costs, and what becomes of a failure."""

from __future__ import annotations

import asyncio
import json

import pytest

from memtree.background.answering.memory_answers import MemoryAnswers, open_answers
from memtree.background.summarizing.spending import TOKENS, DailyLimits, Spending
from memtree.config import Settings
from memtree.days import day_of
from memtree.errors import SummarizerUnavailable, Unavailable, UpstreamTimeout
from memtree.memories.agents.search.answers import UNKNOWN
from memtree.memories.memory import Memory
from memtree.ports.models import ModelAnswer, ModelQuestion, Usage
from memtree.stores import RamStore
from tests.unit.memories.books import HandClock

PORT = Memory("mem_1", 1, "The staging port is 8090", 0.0, 0.0)
SAID = json.dumps({"answer": "8090.", "sources": [1]})


class Scripted:
    """A `ChatModel` that gives one answer; an error is raised, None never comes."""

    recipe = "scripted"

    def __init__(self, answer: str | Exception | None = SAID) -> None:
        self.said = answer
        self.asked: list[ModelQuestion] = []
        self.closed = False

    async def answer(self, question: ModelQuestion) -> ModelAnswer:
        self.asked.append(question)
        if isinstance(self.said, Exception):
            raise self.said
        if self.said is None:
            await asyncio.sleep(600)
        return ModelAnswer(self.said or "", True, Usage(100, 20))

    async def close(self) -> None:
        self.closed = True


class Counted:
    def __init__(self, model: Scripted, limits: DailyLimits | None = None) -> None:
        self.store, self.clock = RamStore(), HandClock()
        spending = Spending(self.store, self.clock, limits=limits or DailyLimits())
        self.answers = MemoryAnswers(model, spending, seconds=0.05)

    async def tallied(self) -> dict[str, int]:
        day = day_of(self.clock.now())
        return dict(await self.store.tallies("t", day, day))


async def test_an_answer_names_its_sources_and_is_paid():
    model = Scripted()
    of = Counted(model)
    found = await of.answers.answer("t", "which port?", [PORT])
    assert (found.text, found.sources) == ("8090.", ("mem_1",))
    assert "The staging port is 8090" in model.asked[0].messages[1]["content"]
    assert (await of.tallied())[TOKENS] == 120
    assert of.answers.totals == {"grounded": 1}
    assert model.asked[0].fruitful(SAID, True)
    assert not model.asked[0].fruitful("8090", True)


async def test_where_nothing_was_found_nobody_is_asked():
    model = Scripted()
    assert await Counted(model).answers.answer("t", "which port?", []) == UNKNOWN
    assert model.asked == []


async def test_over_the_limit_of_a_day_nobody_is_asked():
    model = Scripted()
    with pytest.raises(Unavailable, match="limit"):
        await Counted(model, DailyLimits(tokens=10)).answers.answer("t", "which port?", [PORT])
    assert model.asked == []


async def test_a_model_that_is_down_costs_what_it_may_have_cost():
    of = Counted(Scripted(SummarizerUnavailable("down", cost=(7, 1))))
    with pytest.raises(SummarizerUnavailable):
        await of.answers.answer("t", "which port?", [PORT])
    assert (await of.tallied())[TOKENS] == 8


async def test_a_model_that_is_late_is_not_waited_for():
    of = Counted(Scripted(None))
    with pytest.raises(UpstreamTimeout):
        await of.answers.answer("t", "which port?", [PORT])
    assert (await of.tallied())[TOKENS] > 100  # it may have been spent


async def test_what_cannot_be_read_is_an_error_that_says_so():
    with pytest.raises(Unavailable, match="read"):
        await Counted(Scripted("no JSON")).answers.answer("t", "which port?", [PORT])


@pytest.mark.slow
async def test_without_a_model_there_are_no_answers():
    assert open_answers(Settings(), RamStore(), HandClock()) is None
    assert open_answers(Settings(summary_model="m"), RamStore(), HandClock()) is None
    named = Settings(summary_model="m", summary_base_url="http://localhost:1/v1")
    assert open_answers(named, None, HandClock()) is None
    opened = open_answers(named, RamStore(), HandClock())
    assert opened is not None
    await opened.close()
