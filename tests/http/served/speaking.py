"""Clients of the Messages and of the Responses API that talk until memory folds."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any

import httpx

from memtree.context.context_memory import ContextMemory
from tests.http.served.fakes import edge, real_memory
from tests.http.served.running import running
from tests.wire.servers.messages_server import MessagesServer
from tests.wire.servers.responses_server import ResponsesServer
from tests.wire.servers.vendor import VendorServer

Json = dict[str, Any]

ON = {"x-polychat-memory": "on", "x-memtree-mode": "stable"}
OFF = {"x-polychat-memory": "off"}
FILLER = "the garden has a pump and a shed near the road where seven people work each day " * 12
LONG_FILLER = FILLER * 6  # a history of this has a fold after some fifteen turns


class Speaker:
    """`items`: the history so far. `fields`: of each request beside it."""

    path = ""
    history = ""
    credentials: Mapping[str, str] = MappingProxyType({})

    def __init__(self, client: httpx.AsyncClient, server: VendorServer, **fields: Any) -> None:
        self.client, self.server, self.fields = client, server, fields
        self.items: list[Json] = []

    def user(self, text: str) -> Json:
        raise NotImplementedError

    def answered(self, body: Json) -> Sequence[Json]:
        raise NotImplementedError

    async def post(self, items: Sequence[Json], path: str = "", **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.post(
            path or self.path,
            json={**self.fields, self.history: list(items)},
            headers={**self.credentials, **ON, **named},
        )

    async def say(self, text: str, **headers: str) -> httpx.Response:
        """One turn."""
        posted = [*self.items, self.user(text)]
        answer = await self.post(posted, **headers)
        if answer.status_code == 200:
            self.items = [*posted, *self.answered(answer.json())]
        return answer

    async def until_folded(self, turns: int = 80) -> httpx.Response:
        """Talk until the history goes folded."""
        for number in range(turns):
            answer = await self.say(f"question {number} about bed {number * 7}: {LONG_FILLER}")
            assert answer.status_code == 200, answer.text
            if answer.headers["x-memtree-state"] == "packed":
                return answer
        raise AssertionError("it was never folded")

    @property
    def sent(self) -> Json:
        """Return what the upstream got last."""
        return self.server.last.body


class MessagesSpeaker(Speaker):
    path = "/v1/messages?beta=true"
    history = "messages"
    credentials = MappingProxyType({"x-api-key": "k", "anthropic-version": "2023-06-01"})

    def user(self, text: str) -> Json:
        return {"role": "user", "content": text}

    def answered(self, body: Json) -> Sequence[Json]:
        return [{"role": "assistant", "content": body["content"]}]


class ResponsesSpeaker(Speaker):
    path = "/v1/responses"
    history = "input"
    credentials = MappingProxyType({"authorization": "Bearer k"})

    def user(self, text: str) -> Json:
        part = {"type": "input_text", "text": text}
        return {"type": "message", "role": "user", "content": [part]}

    def answered(self, body: Json) -> Sequence[Json]:
        return list(body["output"])


@asynccontextmanager
async def messages(
    server: MessagesServer | None = None, memory: ContextMemory | None = None, **settings: Any
) -> AsyncIterator[MessagesSpeaker]:
    server = server or MessagesServer()
    fields = {"model": "claude-opus-5-5", "max_tokens": 1_000, "thinking": {"type": "adaptive"}}
    with running(server) as base:
        used = memory or real_memory()
        async with edge(f"{base}/v1", used, **{"target_tokens": 4_000, **settings}) as client:
            yield MessagesSpeaker(client, server, **fields)


@asynccontextmanager
async def responses(
    server: ResponsesServer | None = None, memory: ContextMemory | None = None, **settings: Any
) -> AsyncIterator[ResponsesSpeaker]:
    server = server or ResponsesServer()
    fields = {
        "model": "gpt-6.1",
        "instructions": "be brief",
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }
    with running(server) as base:
        used = memory or real_memory()
        async with edge(f"{base}/v1", used, **{"target_tokens": 4_000, **settings}) as client:
            yield ResponsesSpeaker(client, server, **fields)


def events(raw: str) -> list[Json]:
    """The data of a stream's events."""
    lines = [line[6:] for line in raw.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]
