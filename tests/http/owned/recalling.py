"""Shared by the tests of recall tools: scripted models in front of memory that folded something."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx

from memtree.history import json_body
from memtree_proxy.server.app import create_app
from tests.http.served.fakes import edge, real_memory, services
from tests.http.served.running import running
from tests.http.served.upstream import JSON, SSE, piece, reply, start
from tests.made.scripted import Answer, Call, Say, Script, Scripted
from tests.outgoing import problems, without_recall
from tests.programs.sessions import chat

CHAT = "/v1/chat/completions"
KEY = {"authorization": "Bearer key"}
ON = {
    **KEY,
    "x-polychat-memory": "on",
    "x-memtree-mode": "stable",
    "accept-encoding": "gzip",
}
FACT = "The launch code of the harbour crane is KX-4471, said the foreman."
SEARCH = Call("memory_search", {"query": "launch code of the crane"})
READ_FILE = {
    "type": "function",
    "function": {"name": "read_file", "parameters": {"type": "object"}},
}


def body(**fields: Any) -> dict[str, Any]:
    """Some 11,500 tokens; the fact stands in message 6, far from what is asked."""
    said = chat(170, words=60)
    said[5] = {"role": "user", "content": FACT}
    asked = {"role": "user", "content": "Thanks, that was all about the garden. What is next?"}
    system = {"role": "system", "content": "be brief"}
    return {"model": "scripted", "messages": [system, *said, asked], **fields}


def large(**fields: Any) -> dict[str, Any]:
    return body(target_tokens=4_000, **fields)


class Rounds:
    """Scripted answers in front of real memory, and what was sent for them."""

    def __init__(self, script: Script, client: httpx.AsyncClient) -> None:
        self.script, self.client = script, client

    async def post(self, posted: dict[str, Any], **headers: str) -> httpx.Response:
        self.posted = {k: v for k, v in posted.items() if k != "target_tokens"}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.post(CHAT, json=posted, headers={**ON, **named})

    @property
    def sent(self) -> list[dict[str, Any]]:
        return [seen.body for seen in self.script.seen]

    def results(self, round_: int) -> list[str]:
        """Return what the tools had told the model when round `round_` (from 0) was asked for."""
        return [m["content"] for m in self.sent[round_]["messages"] if m["role"] == "tool"]

    def check(self, rounds: int) -> None:
        """Each request is sound, and begins with the one before it."""
        assert len(self.sent) == rounds
        for sent in self.sent:
            stripped, found = without_recall(self.posted, sent)
            assert found == []
            assert problems(self.posted, stripped) == []
        for earlier, later in zip(self.script.seen, self.script.seen[1:], strict=False):
            before, after = (
                json_body.split(seen.raw).fragment("messages") for seen in (earlier, later)
            )
            assert before
            assert after
            assert after.startswith(before[:-1])


@asynccontextmanager
async def rounds(*steps: Any, memory: Any = None, **settings: Any) -> AsyncIterator[Rounds]:
    upstream = Scripted()
    script = upstream.script("key", steps)
    with running(upstream) as above:
        settings = {"recall_tools": True, **settings}
        async with edge(f"{above}/v1", memory or real_memory(), **settings) as client:
            yield Rounds(script, client)


class Sequel:
    """An upstream that answers its n-th request with the n-th of `answers` (status, headers, body),
    `hang`, or (`linger`, body) for one that never ends; the last one stands for all that follow."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.bodies: list[bytes] = []
        self.left = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        raw, more = b"", True
        while more:
            message = await receive()
            raw, more = raw + message.get("body", b""), message.get("more_body", False)
        self.bodies.append(raw)
        answer = self.answers[min(len(self.bodies), len(self.answers)) - 1]
        if answer == "hang" or answer[0] == "linger":
            await start(send, SSE)
            await piece(send, b": thinking\n\n" if answer == "hang" else answer[1])
            while (await receive())["type"] != "http.disconnect":
                pass
            self.left = True
            return
        await reply(send, *answer)


def streamed(step: Say) -> tuple[int, Any, bytes]:
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return 200, SSE, b"".join(Answer(step, "x", usage).stream(False))


@asynccontextmanager
async def sequel(*answers: Any, **settings: Any) -> AsyncIterator[tuple[Sequel, httpx.AsyncClient]]:
    upstream = Sequel(*answers)
    with running(upstream) as above:
        memory = real_memory()
        async with edge(f"{above}/v1", memory, recall_tools=True, **settings) as client:
            yield upstream, client


def told(status: int, message: str) -> tuple[int, Any, bytes]:
    return status, JSON, json.dumps({"error": {"message": message}}).encode()


@contextmanager
def served(*answers: Any) -> Iterator[tuple[Sequel, str]]:
    upstream = Sequel(*answers)
    with running(upstream) as above:
        built = services(f"{above}/v1", real_memory(), recall_tools=True, mode="stable")
        with running(create_app(built), built.upstreams) as address:
            yield upstream, address
