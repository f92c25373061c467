"""One contract for every summariser."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from memtree.errors import SummarizerUnavailable
from memtree.models.chat_endpoint import ChatEndpoint, ChatSummarizer
from memtree.ports.models import Summarizer
from memtree.text import tokens
from memtree.tree.node import Summary
from memtree.tree.summary_check import check
from memtree.tree.summary_prompts import CHAT, CODING, SourcePiece, leaf_task, node_task, prompt
from memtree.tree.summary_replies import mended
from tests.made.embeddings import Silence, Status
from tests.made.summaries import (
    Answer,
    Hand,
    Held,
    Script,
    ScriptedSummarizer,
    Step,
    Summaries,
    fenced,
    garbage,
    half,
    nothing_but_reasoning,
    one_missing,
    refusal,
    serving,
    thinking,
)

LEAVES = [
    leaf_task(
        "1",
        [
            SourcePiece("user", 0, "The import in src/load.py fails since Monday. Please fix it."),
            SourcePiece("assistant", 1, "The header row was skipped. I changed skip=1 to skip=0."),
        ],
        CODING,
    ),
    leaf_task(
        "2", [SourcePiece("user", 4, "We meet in Lisbon on 4 May. Anna brings the boat.")], CODING
    ),
]
NODE = node_task("9", [Summary("Trip", "They meet in Lisbon."), Summary("Boat", "Anna.")], 1, CHAT)
ODD = leaf_task("1", [SourcePiece("user", 0, "naïve 日本語 🙂 \ud800 lone\x00. It works.")], CHAT)


class SummarizerContract:
    """Fixtures: `script` (what answers) and `summarizer` (who asks it)."""

    async def test_a_draft_for_each_task(self, summarizer: Summarizer, script: Script) -> None:
        written = await summarizer.write(LEAVES)
        assert list(written.drafts) == ["1", "2"]
        for task in LEAVES:
            assert check(mended(written.drafts[task.id]), task, tokens.count) == []
        assert script.calls == 1
        assert script.asked[0].messages == prompt(LEAVES)

    async def test_a_node(self, summarizer: Summarizer) -> None:
        written = await summarizer.write([NODE])
        assert check(mended(written.drafts["9"]), NODE, tokens.count) == []

    async def test_odd_text(self, summarizer: Summarizer) -> None:
        assert list((await summarizer.write([ODD])).drafts) == ["1"]

    async def test_tokens_are_told(self, summarizer: Summarizer, script: Script) -> None:
        usage = (await summarizer.write(LEAVES)).usage
        assert (usage.input, usage.output) == (script.input_tokens, script.output_tokens)
        assert usage.input == sum(tokens.count(one["content"]) for one in prompt(LEAVES))
        assert not usage.counted

    async def test_the_cache_is_told(self, summarizer: Summarizer, script: Script) -> None:
        script.steps = [Answer("{}", cached=64)]
        assert (await summarizer.write(LEAVES)).usage.cached == 64

    async def test_without_usage_tokens_are_counted(
        self, summarizer: Summarizer, script: Script
    ) -> None:
        script.steps = [Answer("Headline: A\nBody: b", usage=False)]
        usage = (await summarizer.write(LEAVES[:1])).usage
        assert usage.counted
        assert usage.input == script.input_tokens > 300
        assert usage.output == tokens.count("Headline: A\nBody: b")

    @pytest.mark.parametrize("step", [fenced, thinking])
    async def test_what_stands_around_it_does_no_harm(
        self, summarizer: Summarizer, script: Script, step: Step
    ) -> None:
        expected = (await summarizer.write(LEAVES)).drafts
        script.always = step
        assert (await summarizer.write(LEAVES)).drafts == expected

    @pytest.mark.parametrize("step", [half, one_missing])
    async def test_what_is_complete_is_kept(
        self, summarizer: Summarizer, script: Script, step: Step
    ) -> None:
        expected = (await summarizer.write(LEAVES)).drafts
        script.always = step
        assert (await summarizer.write(LEAVES)).drafts == {"1": expected["1"]}

    @pytest.mark.parametrize("step", [garbage, refusal, nothing_but_reasoning])
    async def test_nothing_to_read_is_no_draft_and_costs(
        self, summarizer: Summarizer, script: Script, step: Step
    ) -> None:
        script.always = step
        written = await summarizer.write(LEAVES)
        assert not written.drafts
        assert (written.usage.input, written.usage.output) == (
            script.input_tokens,
            script.output_tokens,
        )

    @pytest.mark.parametrize("status", [401, 404, 429, 500, 503])
    async def test_a_failure_is_one_kind_of_error(
        self, summarizer: Summarizer, script: Script, status: int
    ) -> None:
        script.always = Status(status)
        with pytest.raises(SummarizerUnavailable) as failure:
            await summarizer.write(LEAVES)
        assert failure.value.cost == (0, 0)

    async def test_who_is_told_to_wait_long_tells_it(
        self, summarizer: Summarizer, script: Script
    ) -> None:
        script.steps = [Status(429, {"retry-after": "7000"})]
        with pytest.raises(SummarizerUnavailable) as failure:
            await summarizer.write(LEAVES)
        assert failure.value.wait == pytest.approx(7_000, abs=1)
        assert script.calls == 1

    async def test_a_cancelled_call_breaks_nothing(
        self, summarizer: Summarizer, script: Script
    ) -> None:
        script.steps = [Silence()] * 8
        calls = [asyncio.create_task(summarizer.write(LEAVES)) for _ in range(8)]
        while not script.open:  # noqa: ASYNC110  what is waited for has no event
            await asyncio.sleep(0.001)
        for call in calls:
            call.cancel()
        await asyncio.wait(calls)
        script.steps = []
        assert (await summarizer.write(LEAVES)).drafts

    async def test_many_callers_at_once(self, summarizer: Summarizer, script: Script) -> None:
        event = asyncio.Event()
        script.steps = [Held(event)] * 2
        calls = [asyncio.create_task(summarizer.write(LEAVES)) for _ in range(6)]
        while script.open < 2:  # noqa: ASYNC110  what is waited for has no event
            await asyncio.sleep(0.001)
        event.set()
        found = [(await call).drafts for call in calls]
        assert found == [found[0]] * 6

    async def test_the_recipe_is_named(self, summarizer: Summarizer) -> None:
        assert summarizer.recipe

    async def test_closing_twice(self, summarizer: Summarizer) -> None:
        await summarizer.close()
        await summarizer.close()
        with pytest.raises(SummarizerUnavailable, match="closed"):
            await summarizer.write(LEAVES)


class TestScriptedSummarizer(SummarizerContract):
    @pytest.fixture
    def script(self) -> ScriptedSummarizer:
        return ScriptedSummarizer()

    @pytest.fixture
    def summarizer(self, script: ScriptedSummarizer) -> Summarizer:
        return script


class TestChatSummarizer(SummarizerContract):
    @pytest.fixture
    async def script(self) -> AsyncIterator[Summaries]:
        async with serving(Summaries()) as server:
            yield server

    @pytest.fixture
    async def summarizer(self, script: Summaries) -> AsyncIterator[Summarizer]:
        hand = Hand()
        one = ChatSummarizer(ChatEndpoint(script.url, "m", clock=hand, sleep=hand.sleep))
        yield one
        await one.close()
