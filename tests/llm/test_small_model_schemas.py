"""A real small model that fills schemas: whatever it writes, every value that is kept was said."""

from __future__ import annotations

import json
from datetime import date

import pytest

from memtree.agents.memory_schema import MemorySchema
from memtree.jobs.model_readers import StructuredModelReader
from memtree.jobs.runtime import SystemClock
from memtree.jobs.spending import TOKENS, MeteredModel, Spending
from memtree.memories.message_extraction import UserMessage
from memtree.memories.scope import Scope
from memtree.models.chat_endpoint import ChatEndpoint
from memtree.stores import RamStore

pytestmark = pytest.mark.llm

ME = Scope.of_agent("t", "a")
TEXT = {"type": "string"}
PROFILE = MemorySchema(
    "UserProfile",
    json.dumps({"properties": {"name": TEXT, "age": {"type": "integer"}, "city": TEXT}}),
    ("kind",),
    "Facts about the user",
)
SAID = [
    "The name is Marta, I finally turned thirty.",
    "What is the capital of France?",
    "```python\ncity = 'Paris'\n```\nWhy does this fail?",
]


async def test_every_value_that_is_kept_was_said(url: str) -> None:
    store, clock = RamStore(), SystemClock()
    spending = Spending(store, clock)
    metered = MeteredModel(ChatEndpoint(url, "small", parallel=1, seconds=900), spending)
    reader = StructuredModelReader(metered)
    try:
        for text in SAID:
            message = UserMessage(text.encode(), text, date(2026, 3, 4))
            [row] = await reader.read(ME, [message], [PROFILE])
            values = {path[0]: value for one in row.findings for path, value in one.values}
            print(values, [skip.reason for skip in row.skipped])
            assert values.get("name", "Marta") in text
            assert values.get("age", 30) == 30
            assert "Paris" not in str(values)
            assert not values or text == SAID[0]
    finally:
        await metered.close()
    told = metered.totals.tokens
    day = spending.today
    assert (await store.tallies("t", day, day))[TOKENS] == told["input"] + told["output"] > 500
