"""A body that finds no room in memory is refused in the form of each API, and leaves nothing."""

from __future__ import annotations

import gc
import gzip
import json
import weakref
from functools import partial
from typing import Any

import pytest

from memtree.context.answer import Answer
from memtree.context.answer_details import AnswerDetails
from memtree.context.turn_request import CompressRequest
from memtree.errors import ContextOverflow
from memtree.process import threads
from memtree_proxy.http.body_budget import FREE, BodyBudget
from memtree_proxy.server import app
from tests.http.served.fakes import FakeMemory
from tests.http.served.fakes import edge as served
from tests.http.served.upstream import FakeUpstream

TEXT = "x" * (2 * FREE)
CHAT: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": TEXT}]}
RESPONSE = {"model": "m", "input": TEXT}
DOCUMENTS = {"documents": [{"id": "d", "text": TEXT}]}
ROUTES = {
    "/v1/chat/completions": (CHAT, "error"),
    "/v1/messages": ({**CHAT, "max_tokens": 1}, "type"),
    "/v1/responses": (RESPONSE, "error"),
    "/context_memory": (CHAT, "error"),
    "/v1/memory": (CHAT, "error"),
    "/v1/rag/shelf/documents": (DOCUMENTS, "error"),
    "/memories/import": (CHAT, "error"),
    "/mcp": (CHAT, "error"),
}


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("path", ROUTES)
async def test_no_room(
    path: str, packed: bool, base: str, upstream: FakeUpstream, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(app, "BodyBudget", lambda most: BodyBudget(FREE // 2, wait=0.01))
    body, form = ROUTES[path]
    raw = json.dumps(body).encode()
    headers = {"x-polychat-memory": "on", "authorization": "Bearer one"}
    if packed:
        # Files may unpack to twenty times their size.
        raw = gzip.compress(raw + b" " * FREE, 0 if "memor" in path or "rag" in path else 9)
        headers["content-encoding"] = "gzip"
    async with served(base) as client:
        answer = await client.post(path, content=raw, headers=headers)
    assert answer.status_code == 429, answer.text
    assert int(answer.headers["retry-after"]) > 0
    assert form in answer.json()
    assert not upstream.seen


async def test_room_is_given_back(base: str, monkeypatch: pytest.MonkeyPatch):
    budget = BodyBudget(8 * FREE, wait=0.01)
    monkeypatch.setattr(app, "BodyBudget", lambda most: budget)
    packed = partial(gzip.compress, json.dumps(CHAT).encode())
    async with served(base, max_body_bytes=4 * FREE) as client:
        for path in ("/v1/chat/completions", "/context_memory", "/v1/chat/completions"):
            answer = await client.post(path, content=packed(), headers={"content-encoding": "gzip"})
            assert answer.status_code != 429
            assert budget.used == 0


async def test_a_request_begins_as_nobody_s(base: str):
    """Its bytes and threads must not count to the tenant of the one before on its connection."""
    threads.OWNER.set("before")
    async with served(base) as client:
        await client.get("/health")
        assert threads.OWNER.get() == ""


class Refusing(FakeMemory):
    async def compress_with_details(self, ask: CompressRequest) -> tuple[Answer, AnswerDetails]:
        error = ContextOverflow(1_000, 2_000)
        self.error = weakref.ref(error)
        raise error


async def test_an_answered_error_holds_no_body(base: str):
    """Its frames do, and a task that raised it refers to itself by them."""
    memory = Refusing()
    gc.disable()
    try:
        async with served(base, memory) as client:
            answer = await client.post("/context_memory", json=CHAT)
            assert answer.status_code == 413
            assert memory.error() is None
    finally:
        gc.enable()
