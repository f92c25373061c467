"""Chat memory, side requests and shadow mode on `/messages` and `/responses`: as on chat."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import httpx
import pytest

from memtree_proxy.server.app import create_app
from tests.http.served.fakes import real_memory, services
from tests.http.served.running import running
from tests.http.served.speaking import FILLER, MessagesSpeaker, ResponsesSpeaker, Speaker, messages
from tests.http.served.speaking import responses as responses_
from tests.made.scripted import Call, Say
from tests.wire.servers.messages_server import MessagesServer
from tests.wire.servers.responses_server import ResponsesServer

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


@pytest.mark.parametrize(
    ("server", "speaker", "fields"),
    [
        (MessagesServer, MessagesSpeaker, {"model": "claude-opus-5-5", "max_tokens": 9}),
        (ResponsesServer, ResponsesSpeaker, {"model": "gpt-6.1", "store": False}),
    ],
)
async def test_shadow_mode_measures_and_changes_nothing(
    server: Any, speaker: Any, fields: dict[str, Any]
):
    with running(server()) as base:
        built = services(f"{base}/v1", real_memory(), target_tokens=4_000)
        app = create_app(built)
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://edge") as client:
            said = speaker(client, server(), **fields)
            texts = [f"question {number} about beds: {FILLER}" for number in range(80)]
            posted = []
            for text in texts:
                posted += [said.user(text), _answer(said)]
            answer = await said.post([*posted, said.user("and now?")], x_memtree_mode="shadow")
            assert (answer.status_code, answer.headers["x-memtree-state"]) == (200, "shadow")
            await app.state.shadows.settle()
            page = await client.get("/metrics")
            assert 'outcome="folded"} 1.0' in page.text
        await built.upstreams.close()


def _answer(said: Speaker) -> dict[str, Any]:
    if isinstance(said, MessagesSpeaker):
        return {"role": "assistant", "content": "so it is"}
    part = {"type": "output_text", "text": "so it is", "annotations": []}
    return {"type": "message", "role": "assistant", "content": [part]}
