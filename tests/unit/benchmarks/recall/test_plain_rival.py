"""The day's work that every recall table shows beside the product."""

from __future__ import annotations

from pathlib import Path

from benchmarks.recall.plain_rival import PlainRival
from memtree.conversation.message import Message
from memtree.text import tokens
from tests.made.saved_memories import TopicEmbedder
from tests.properties.strategies import prose

TEXTS = [
    *(" ".join(prose(n, 30).split()) for n in range(20)),
    "The launch code is marigold.",
    *(" ".join(prose(n, 30).split()) for n in range(20, 40)),
    "We sail into port at nine.",
    "Yes, at last!",
    *(" ".join(prose(n, 30).split()) for n in range(40, 50)),
]
MESSAGES = [Message.of({"role": "user", "content": text}) for text in TEXTS]
CODE, PORT, ANSWER = 20, 41, 42


async def _rival(keep: Path | None = None, overhead: int = 1) -> PlainRival:
    return await PlainRival.of(MESSAGES, TopicEmbedder(), keep, overhead)


async def test_a_turn_is_found_by_its_words():
    assert (await (await _rival()).order("Which launch code?"))[0] == CODE


async def test_a_turn_is_found_by_its_meaning():
    assert (await (await _rival()).order("Which port?"))[0] == PORT


async def test_a_turn_lends_its_scores_to_its_neighbours():
    assert set((await (await _rival()).order("Which port?"))[:3]) == {PORT - 1, PORT, ANSWER}


async def test_lines_fill_the_target_in_the_order_of_the_conversation():
    rival = await _rival()
    shown = (await rival.shown("Which port?", 300)).split("\n")
    assert shown == [text for text in TEXTS if text in shown]
    spent = tokens.count("Which port?") + sum(tokens.count(text) + 1 for text in shown)
    assert 230 < spent <= 300


async def test_a_turn_that_does_not_fit_is_skipped():
    # Long prose ranks between the two.
    assert await (await _rival()).chosen("Which launch code?", 20) == [CODE, ANSWER]


async def test_overhead_is_paid_for_each_turn():
    cheap = await (await _rival()).chosen("Which port?", 400)
    dear = await (await _rival(overhead=20)).chosen("Which port?", 400)
    assert len(dear) < len(cheap)


async def test_vectors_are_kept_for_the_next_run(tmp_path):
    first, second = TopicEmbedder(recipe="kept"), TopicEmbedder(recipe="kept")
    await PlainRival.of(MESSAGES, first, tmp_path)
    rival = await PlainRival.of(MESSAGES, second, tmp_path)
    assert first.asked
    assert not second.asked
    assert (await rival.order("Which port?"))[0] == PORT
