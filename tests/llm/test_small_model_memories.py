"""A real small model that looks for memories: whatever it writes, what is kept was said."""

from __future__ import annotations

from datetime import date

import pytest

from memtree.jobs.model_readers import ModelReader
from memtree.jobs.runtime import SystemClock
from memtree.jobs.spending import TOKENS, MeteredModel, Spending
from memtree.memories.message_extraction import UserMessage
from memtree.memories.scope import Scope
from memtree.models.chat_endpoint import ChatEndpoint
from memtree.stores import RamStore
from memtree.tree import faithfulness

pytestmark = pytest.mark.llm

ME = Scope.of_user("t")
SAID = [
    "I'm allergic to nuts. What can I bake for my daughter's birthday?",
    "I prefer short answers without bullet points, and I never use tabs.",
    "We moved from Oslo to Graz in 2021 because my wife works at the university there.",
    "I'm a backend engineer, mostly Go and PostgreSQL.",
    "What is the capital of France?",
    "```python\nowner = 'I live in Paris'\n```\nWhy does this fail?",
]


async def test_what_is_kept_was_said_and_every_message_is_done(url: str) -> None:
    store, clock = RamStore(), SystemClock()
    endpoint = ChatEndpoint(url, "small", parallel=1, seconds=300)
    spending = Spending(store, clock)
    metered = MeteredModel(endpoint, spending)
    reader = ModelReader(metered)
    messages = [UserMessage(text.encode(), text, date(2026, 3, 4)) for text in SAID]
    kept = 0
    try:
        for message in messages:
            [row] = await reader.read(ME, [message])
            for memory in row.candidates:
                kept += 1
                quoted = message.text[memory.start : memory.end]
                assert quoted.strip()
                assert not quoted.endswith("?")
                assert "Paris" not in memory.text
                assert not list(faithfulness.invented_numbers(memory.text, message.text))
            print([memory.text for memory in row.candidates], [s.reason for s in row.skipped])
    finally:
        await metered.close()
    print(f"{kept} memories of {len(SAID)} messages, {dict(metered.totals.tokens)}")
    assert kept, "none of four sentences that say something"
    day = spending.today
    tallied = await store.tallies("t", day, day)
    told = metered.totals.tokens
    assert tallied[TOKENS] == told["input"] + told["output"] > 1_000
