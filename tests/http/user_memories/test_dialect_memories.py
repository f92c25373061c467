"""Chat memory and side requests on `/messages` and `/responses`: as on chat."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest

from tests.http.served.speaking import MessagesSpeaker, Speaker, messages
from tests.http.served.speaking import responses as responses_
from tests.made.scripted import Call, Say

Opened = Callable[..., AbstractAsyncContextManager[Speaker]]
BOTH = pytest.mark.parametrize("opened", [messages, responses_])
TEA = "The user prefers tea"
SYSTEM = ("system", "instructions")


async def saved(said: Speaker, text: str = TEA) -> None:
    answer = await said.client.post(
        "/v1/chat/api/c1/memory",
        json={"messageId": "m1", "content": text},
        headers=said.credentials,
    )
    assert answer.status_code in (200, 201), answer.text


@BOTH
async def test_memories_stand_with_the_newest_question_and_never_in_the_system(opened: Opened):
    async with opened(memories_placement="system") as said:
        said.fields["system" if isinstance(said, MessagesSpeaker) else "instructions"] = "be brief"
        await saved(said)
        await said.say("hi", x_chat_id="c1")
        answer = await said.say("what do I prefer?", x_chat_id="c1")
        assert answer.headers["x-memtree-memories"]
        sent = said.sent
        assert [sent[name] for name in SYSTEM if name in sent] == ["be brief"]
        history = sent[said.history]
        assert TEA in json.dumps(history[-1])
        assert TEA not in json.dumps(history[:-1])
        assert said.server.invalid == []


@BOTH
async def test_no_turn_is_refused_because_memories_moved_on_to_newer_words(opened: Opened):
    async with opened() as said:
        await saved(said)
        await said.say("hi", x_chat_id="c1")
        for _ in range(3):
            await said.say("what do I prefer?", x_chat_id="c1")
            assert TEA in json.dumps(said.sent[said.history][-1])
        assert said.server.invalid == []
        assert len(said.server.seen) == 4


@BOTH
@pytest.mark.parametrize("stream", [True, False])
async def test_the_model_saves_and_recalls(opened: Opened, stream: bool):
    async with opened() as said:
        said.fields["stream"] = stream
        save = Call("save_memory", {"content": TEA, "category": "preference"})
        recall = Call("recall_memory", {"query": "what does the user prefer"})
        said.server.steps.extend([Say("", (save,)), Say("", (recall,)), Say("Noted.")])
        answer = await said.post([said.user("I like tea, remember?")], x_chat_id="c1")
        assert answer.status_code == 200
        assert "save_memory" not in answer.text.partition('"tools"')[0]
        assert TEA in json.dumps(said.sent[said.history][-1])
        assert len(said.server.seen) == 3
        assert said.server.invalid == []
        page = await said.client.get("/v1/chat/api/c1/memories", headers=said.credentials)
        assert TEA in page.text


@BOTH
async def test_a_compaction_goes_whole(opened: Opened):
    """Its answer is the client's own memory of all that was said."""
    order = (
        "Your task is to create a detailed summary of the conversation so far. Another agent will "
        "continue from your summary."
    )
    async with opened() as said:
        await said.until_folded()
        said.fields.pop("thinking", None)
        posted = [*said.items, said.user(order)]
        posted = [item for item in posted if item.get("type") != "reasoning"]
        answer = await said.post(posted)
        assert answer.headers["x-memtree-state"] == "passed"
        assert answer.headers["x-memtree-reason"].startswith("side-request")
