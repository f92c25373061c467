"""A server with warm caches answers as one that has none: what goes upstream, and what is told.

The same random sequence of requests goes to a server that keeps its caches, to one whose caches
hold next to nothing, and to one that begins with empty ones at each request. Each has a store of
its own. Which histories went whole lately is no cache in this sense: it says what a provider has.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import httpx
import pytest

from memtree.context.context_memory import ContextMemory
from memtree.context.warm_conversations import PassedHistories
from memtree.jobs.embedding import NoQueue
from memtree.jobs.growing import StageOne
from memtree.jobs.runtime import ContextCaches
from memtree.process.bounded import CacheLimits
from memtree.stores import open_store
from memtree_proxy.server.app import create_app
from tests.http.served.fakes import services
from tests.http.served.upstream import FakeUpstream
from tests.properties.process import Clock
from tests.wire.conversations import Exchange, as_chat, as_messages, as_responses, conversation

WRITE = {"chat": as_chat, "messages": as_messages, "responses": as_responses}
PATHS = {"chat": "chat/completions", "messages": "messages", "responses": "responses"}
ARRAYS = {"chat": "messages", "messages": "messages", "responses": "input"}
OWN = ("x-memtree-ms", "x-memtree-request", "x-memtree-request-id", "x-request-id", "date")
REQUESTS = 14
WORDS = 90
SEEDS = (8, 9)  # both find a beginning that is read too far
JUNK: tuple[Any, ...] = (None, {"role": "tool"}, {"role": "user"}, {"type": "item_reference"})


@dataclass(frozen=True, slots=True)
class Posted:
    path: str
    body: bytes
    headers: dict[str, str]
    seconds: float
    deletes: bool = False


class Server:
    """`megabytes`: of its caches; `anew`: they are empty at each request."""

    def __init__(self, base: str, megabytes: int, *, anew: bool = False) -> None:
        self.clock, self._base, self._megabytes, self._anew = Clock(), base, megabytes, anew
        self._store, self._passed = open_store("memory:"), PassedHistories()
        self._begin()

    def _begin(self) -> None:
        caches = ContextCaches.of(CacheLimits.of(self._megabytes))
        self._memory = ContextMemory(
            self._store,
            StageOne(child=False),
            NoQueue(),
            self.clock,
            facts=caches.message_infos,
            read=caches.read_histories,
            caches=caches.trees._replace(passed=self._passed),
        )
        self._services = services(
            self._base,
            self._memory,
            anthropic_upstream=self._base,
            cache_mb=self._megabytes,
        )
        self._app = create_app(self._services)

    async def post(self, path: str, body: bytes, headers: dict[str, str]) -> httpx.Response:
        if self._anew:
            await self.close()
            self._begin()
        transport = httpx.ASGITransport(self._app)
        async with httpx.AsyncClient(transport=transport, base_url="http://edge") as client:
            client.headers.clear()
            answer = await client.post(path, content=body, headers=headers)
        await self._memory.close()
        return answer

    async def close(self) -> None:
        await self._memory.close()
        await self._services.upstreams.close()


def requests(seed: int) -> Iterator[Posted]:
    """A client whose conversation grows, is asked again, branches, is edited, and changes its API,
    its settings and its tenant on the way."""
    rng = Random(seed)
    tools = rng.choice(("on", "off"))  # an epoch goes on with those that it began with
    talk, other = conversation(seed, 40, WORDS)[:-1], conversation(seed + 1, 6, WORDS)[:-1]
    dialect, length, before = "chat", 18, ""
    raw = b""
    for number in range(REQUESTS):
        kind = rng.choice(("turn", "turn", "turn", "again", "branch", "edit", "back"))
        dialect = rng.choice(tuple(PATHS)) if rng.random() < 0.25 else dialect
        if not raw or kind != "again" or before != dialect:
            length += {"turn": 1, "back": -3}.get(kind, 0)
            shown = talk[:length] if kind != "branch" else (*talk[: length - 3], *other[:2])
            raw, before = written(rng, dialect, shown, edited=kind == "edit"), dialect
        yield posted(rng, dialect, raw, tools, deletes=number > 4 and rng.random() < 0.07)


def written(rng: Random, dialect: str, shown: tuple[Exchange, ...], *, edited: bool) -> bytes:
    steps = shown[-1].steps
    asked = replace(shown[-1], steps=steps[: rng.choice((0, 0, len(steps)))])
    made: Any = WRITE[dialect]((*shown[:-1], asked))  # type: ignore[operator]
    body = {"model": "m", **(made if isinstance(made, dict) else {"messages": made})}
    items = body[ARRAYS[dialect]]
    if edited:
        at = rng.randrange(len(items))
        change = rng.choice(("drop", "rule", "twice", "junk"))
        if change == "drop":
            del items[at]
        else:
            rule = {"role": "system", "content": "It is late."}
            items.insert(at, {"rule": rule, "twice": items[at], "junk": rng.choice(JUNK)}[change])
    if rng.random() < 0.2:  # other fields behind the array
        body = {**body, ARRAYS[dialect]: body.pop(ARRAYS[dialect]), "user": "me"}
    if rng.random() < 0.2 and dialect == "messages":
        body["thinking"] = {"type": "enabled", "budget_tokens": 1_024}
    raw = json.dumps(body).encode()
    return rng.choice((*[raw] * 8, raw[:-9], raw[:-90] + b"\xff" + raw[-90:], raw + b"x"))


def posted(rng: Random, dialect: str, raw: bytes, tools: str, *, deletes: bool) -> Posted:
    headers = {
        "anthropic-version": "2023-06-01",
        "x-polychat-memory": rng.choice(("on", "on", "on", "on", "off")),
        "x-memtree-target": rng.choice(("2000", "2000", "2000", "6000")),
        "x-memtree-mode": rng.choice(("stable", "stable", "stable", "auto", "fresh")),
        "x-memtree-recall-tools": tools,
    }
    tenant = rng.choice("aaab")
    path = "/context_memory" if rng.random() < 0.15 else f"/v1/{PATHS[dialect]}"
    headers["x-api-key" if path == "/context_memory" else "authorization"] = (
        tenant if path == "/context_memory" else f"Bearer {tenant}"
    )
    if rng.random() < 0.15:
        raw, headers["content-encoding"] = gzip.compress(raw, mtime=0), "gzip"
    return Posted(path, raw, headers, rng.choice((1, 20, 70, 400)), deletes)


async def told(server: Server, upstream: FakeUpstream, one: Posted) -> object:
    """All that a client and the upstream see of a request."""
    server.clock.time += one.seconds
    if one.deletes:
        everything = json.dumps({"all": True}).encode()
        await server.post("/context_memory/delete", everything, {"x-api-key": "a"})
    upstream.seen.clear()
    answer = await server.post(one.path, one.body, one.headers)
    headers = {name: value for name, value in answer.headers.items() if name not in OWN}
    said: Any = answer.content
    if one.path == "/context_memory":
        said = {name: value for name, value in answer.json().items() if name not in ("id", "ms")}
        said.get("error", {}).pop("request_id", None)
        headers.pop("content-length", None)
    return answer.status_code, headers, said, [(seen.path, seen.body) for seen in upstream.seen]


@pytest.mark.parametrize("seed", [SEEDS[0], pytest.param(SEEDS[1], marks=pytest.mark.long)])
async def test_no_answer_depends_on_what_is_cached(
    seed: int, upstream: FakeUpstream, base: str
) -> None:
    states = set()
    async with AsyncExitStack() as stack:
        servers = [Server(base, 512), Server(base, 1), Server(base, 512, anew=True)]
        for server in servers:
            stack.push_async_callback(server.close)
        for number, one in enumerate(requests(seed)):
            warm, small, anew = [await told(server, upstream, one) for server in servers]
            assert warm == anew, f"request {number}: {one.path} {one.headers}"
            assert small == anew, f"request {number} with small caches: {one.path} {one.headers}"
            states.add(warm[1].get("x-memtree-state"))  # type: ignore[index]
    assert {"packed", "off"} <= states
