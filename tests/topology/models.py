"""The three model servers behind the topology, in threads of the tests' process.

The chat model answers each request with a text that is made from its newest message, so a client
knows the one right answer; it asks for a tool where that message says LOOK, once a turn. Every
request is kept as it came. Summaries are scripted; what was asked and answered is kept with times.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from random import Random
from typing import Any

from tests.http.served.running import running
from tests.http.served.upstream import JSON, SSE, piece, reply, start
from tests.made.embeddings import Embeddings
from tests.made.summaries import SHORT, Answer, Asked, Part, Step, Summaries, json_of
from tests.programs.sessions import WORDS
from tests.programs.tap import NUMBER

LOOK = "Look it up first."
SENTENCES_OF_ANSWER = 6
ORDERS = "please your ignore must always never about short".split()  # no summary may give one
PIECES = 12  # of a streamed answer


@dataclass(frozen=True, slots=True)
class Seen:
    """A chat request as it reached the model; `number` is the client's."""

    number: int
    raw: bytes


def expected(newest: dict[str, Any]) -> dict[str, Any]:
    """The message with which the model answers."""
    digest = sha256(json.dumps(newest).encode()).hexdigest()
    random = Random(digest)
    text = f"Noted under {digest[:16]}. {sentences(random, SENTENCES_OF_ANSWER)}"
    if newest["role"] != "user" or not str(newest["content"]).endswith(LOOK):
        return {"role": "assistant", "content": text}
    function = {"name": "look", "arguments": json.dumps({"at": digest[:8]})}
    call = {"id": f"call_{digest[:12]}", "type": "function", "function": function}
    return {"role": "assistant", "content": text, "tool_calls": [call]}


def sentences(random: Random, count: int) -> str:
    """Each of ten words, so that it fits into a summary, and hardly ever met twice."""
    return " ".join(" ".join(random.choices(WORDS, k=10)).capitalize() + "." for _ in range(count))


def bare(message: dict[str, Any]) -> dict[str, Any]:
    """Without the recall block that memory may have put before its text."""
    content = message.get("content")
    if isinstance(content, str) and content.startswith("<recalled_context>"):
        return {**message, "content": content.split("</recalled_context>\n\n", 1)[1]}
    return message


class ChatModel:
    """The ASGI app. While `gate` is closed, streams stop in their middle. `pause`: seconds
    between two pieces of a stream."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.gate = threading.Event()
        self.gate.set()
        self.halfway = 0  # streams that wait at the gate
        self.pause = 0.005

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        raw, more = b"", True
        while more:
            message = await receive()
            raw, more = raw + message.get("body", b""), message.get("more_body", False)
        headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
        self.seen.append(Seen(int(headers.get(NUMBER, 0)), raw))
        body = json.loads(raw)
        said = expected(bare(body["messages"][-1]))
        if not body.get("stream"):
            await reply(send, 200, JSON, json.dumps(_whole(said)).encode())
            return
        await start(send, SSE)
        chunks = list(_chunks(said))
        for at, chunk in enumerate(chunks):
            if at == len(chunks) // 2 and not self.gate.is_set():
                await self._wait()
            await piece(send, b"data: " + json.dumps(chunk).encode() + b"\n\n")
            await asyncio.sleep(self.pause)
        await send({"type": "http.response.body", "body": b"data: [DONE]\n\n"})

    async def _wait(self) -> None:
        self.halfway += 1
        while not self.gate.is_set():  # noqa: ASYNC110  the gate belongs to another thread
            await asyncio.sleep(0.01)
        self.halfway -= 1


@dataclass(slots=True)
class Call:
    """One call for summaries. `ended`: when its answer went out, 0 where none did; `good`: it was
    one that summarises, with `bodies` by the text of what they summarise. Unix seconds."""

    asked: Asked
    at: float
    ended: float = 0.0
    good: bool = False
    bodies: dict[str, str] = field(default_factory=dict)


class CountedSummaries(Summaries):
    """`Summaries` with times."""

    def __init__(self, *steps: Step, **more: Any) -> None:
        super().__init__(*steps, **more)
        self.log: list[Call] = []

    async def _serve(self, asked: Asked, receive: Any, send: Any) -> None:
        call = Call(asked, time.time())
        self.log.append(call)
        await super()._serve(asked, receive, send)
        call.ended = time.time()

    async def _answer(self, step: Step | None, asked: Asked) -> Answer:
        if step is None:
            call = next(call for call in reversed(self.log) if call.asked is asked)
            said = {part.id: _summary(part) for part in asked.parts}
            call.bodies = {part.text: said[part.id][1] for part in asked.parts}
            call.good = True
            step = Answer(json_of(said))
        return await super()._answer(step, asked)


def _summary(part: Part) -> tuple[str, str]:
    """(headline, body) that pass every check and say what no other part's do: its first words."""
    words = [one for one in re.findall(r"\b[a-z]{4,12}\b", part.text) if one not in ORDERS]
    words = list(dict.fromkeys(words))[:16]
    return f"About {' '.join(words[:3])}", f"{SHORT}It is about {', '.join(words)}."


@dataclass(frozen=True, slots=True)
class Models:
    """`settings`: what proxies and workers need to find them."""

    chat: ChatModel
    summaries: CountedSummaries
    embeddings: Embeddings
    settings: dict[str, str]
    upstream: str


@contextmanager
def serving() -> Iterator[Models]:
    chat, summaries, embeddings = ChatModel(), CountedSummaries(), Embeddings()
    with running(chat) as one, running(summaries) as two, running(embeddings) as three:
        settings = {
            "MEMTREE_SUMMARY_BASE_URL": f"{two}/v1",
            "MEMTREE_SUMMARY_MODEL": "scripted",
            "MEMTREE_SUMMARY_SECONDS": "5",
            "MEMTREE_EMBEDDING_BASE_URL": f"{three}/v1",
            "MEMTREE_EMBEDDING_MODEL": "hashing",
        }
        yield Models(chat, summaries, embeddings, settings, f"{one}/v1")


def _whole(said: dict[str, Any]) -> dict[str, Any]:
    reason = "tool_calls" if "tool_calls" in said else "stop"
    choice = {"index": 0, "message": said, "finish_reason": reason}
    return {"id": "c", "object": "chat.completion", "model": "m", "choices": [choice]}


def _chunks(said: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The text in pieces, then the calls, then the end."""
    text = said["content"]
    size = len(text) // PIECES + 1
    for at in range(0, len(text), size):
        yield _chunk({"content": text[at : at + size]}, None)
    for index, call in enumerate(said.get("tool_calls", ())):
        yield _chunk({"tool_calls": [{"index": index, **call}]}, None)
    yield _chunk({}, "tool_calls" if "tool_calls" in said else "stop")


def _chunk(delta: dict[str, Any], reason: str | None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}
